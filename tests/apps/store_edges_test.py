"""nfx store at its edges: what resets have archived, what killed processes left in memory, and what is half written."""
import os
import re
import shutil
import signal
import subprocess
import unittest

from store_support import DESK, SEGMENT_SIZE, StoreTest
from support import ENVIRONMENT, PATIENCE_S, PROGRAM, run

FIRST = "20260102-10"  # the hour in which journal_maker's clock begins


class Archive(StoreTest):
    def put_away(self):
        """Two sequence-number epochs archived, a third begun. Filled beyond the half, a segment has its successor made."""
        text = "x" * 3000
        journal = self.journal()
        for numbering in ["one", "two"]:
            for number in range(1, SEGMENT_SIZE // 2 // 3000 + 4):
                journal.say(f"message {number} D {numbering}{number}{text}", "sync")
            journal.say("reset", "sync")
        journal.say("message 1 D three1", "sync")
        self.assertEqual(journal.end(), 0)
        return [file.name for file in sorted((self.session_folder() / "archive").iterdir())]

    def test_ls_names_what_is_archived_and_its_last_sequence_numbers(self):
        names = self.put_away()
        self.assertEqual(len(names), 2)
        found = self.the_one("ls", self.store, "--format", "json")
        self.assertEqual((found["archived"], [each["name"] for each in found["archive"]]), (2, names))
        last = SEGMENT_SIZE // 2 // 3000 + 4
        self.assertEqual([(each["next_out"], each["next_out_after"]) for each in found["archive"]],
                         [(1, last), (last, last)])
        text = self.nfx("ls", self.store)
        for name in names:
            self.assertIn(f"archive    {name}  begun {FIRST}", text)

    def test_cat_and_export_read_one_of_them_or_all(self):
        names = self.put_away()
        now = self.nfx("cat", self.store, "--raw")
        self.assertEqual(re.findall(r"\|58=([a-z]+\d+)", now), ["three1"])
        each = [re.findall(r"\|58=(one\d+|two\d+|three\d+)x", self.nfx("cat", self.store, "--raw", "--archive", name))
                for name in names]
        self.assertEqual((each[0][0], each[1][0]), ("one1", "two1"))
        self.assertEqual(each[0], [f"one{n}" for n in range(1, len(each[0]) + 1)])
        everything = self.nfx("cat", self.store, "--raw", "--archive", "all")
        self.assertEqual(re.findall(r"\|58=(one\d+|two\d+)x", everything), each[0] + each[1])
        exported = self.nfx("export", self.store, "--to", "-", "--archive", names[0].removesuffix(".nfxj"))
        self.assertEqual(exported.count("58=one"), len(each[0]))
        self.assertNotIn("58=two", exported)

    def test_a_segment_that_is_not_archived_is_answered_with_those_that_are(self):
        names = self.put_away()
        error = self.fails("cat", self.store, "--archive", "00000009")
        self.assertIn('no segment "00000009" is archived', error)
        self.assertIn(names[0], error)
        self.make("message 1 D a", identity="FIX.4.4:DESK->OTHER")
        self.assertIn("is archived; leave out --archive",
                      self.fails("cat", self.store, "--session", "FIX.4.4:DESK->OTHER", "--archive", "all"))

    def test_an_export_of_a_segment_that_is_not_there_makes_no_file(self):
        self.put_away()
        self.fails("export", self.store, "--to", self.folder / "out", "--archive", "nonsense")
        self.assertFalse((self.folder / "out").exists())

    def test_verify_finds_damage_in_the_archive(self):
        names = self.put_away()
        self.assertIn(f"{DESK} {names[1]}: ok", self.nfx("verify", self.store))
        file = self.session_folder() / "archive" / names[1]
        content = file.read_bytes()
        at = content.index(b"58=two2x")
        file.write_bytes(content[:at] + b"58=tw02x" + content[at + 8:])
        out = self.nfx("verify", self.store, code=2)
        self.assertIn(f"{DESK} {names[1]}: DAMAGED", out)
        self.assertIn(f"{file}: damaged at byte", out)
        self.assertIn(f"{DESK}: ok", out)
        self.nfx("verify", self.store, "--archive", names[0])
        self.nfx("verify", self.store, "--archive", names[1], code=2)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


class OtherVersion(StoreTest):
    """A journal that a later release has written, with another format."""

    TEXT = (": the journal has format version 2, and this program reads version 1; use the release of NexusFIX that wrote "
            "it, or a later one")

    def setUp(self):
        super().setUp()
        self.make("message 1 D first")
        segment = self.segments()[0]
        self.folder_of_session = segment.parent
        content = bytearray(segment.read_bytes())
        checksum = 976  # of the header; all that is before it is covered
        self.assertEqual(content[8:12] + content[checksum:checksum + 4],
                         (1).to_bytes(4, "little") + crc32c(content[:checksum]).to_bytes(4, "little"))
        content[8:12] = (2).to_bytes(4, "little")
        content[checksum:checksum + 4] = crc32c(content[:checksum]).to_bytes(4, "little")
        segment.write_bytes(content)
        self.segment = segment
        self.before = self.files()

    def files(self):
        return {file: file.read_bytes() for file in self.store.rglob("*") if file.is_file()}

    def test_is_listed_with_the_version(self):
        found = self.the_one("ls", self.store, "--format", "json", code=1)
        self.assertEqual((found["identity"], found["state"]), (DESK, "other version"))
        self.assertEqual(found["problem"], str(self.segment) + self.TEXT)

    def test_is_neither_read_nor_changed(self):
        for command in ("cat", "tail", "verify", "export --to -", "repair --gap-fill", "seq show"):
            with self.subTest(command):
                first, *rest = command.split(" --", 1)
                arguments = ["--" + rest[0]] if rest else []
                result = self.fails(first, self.store, *" ".join(arguments).split(), code=1)
                self.assertIn(str(self.segment) + self.TEXT, result)
        self.assertEqual(self.files(), self.before)

    def test_is_not_served(self):
        config = self.folder / "e.toml"
        config.write_text(f'[[session]]\nsender_comp_id = "DESK"\ntarget_comp_id = "VENUE"\nlisten = "127.0.0.1:0"\n'
                          f'store_directory = "{self.store}"\nstore_ring_directory = "{self.rings}"\n', encoding="utf-8")
        code, out, err = run("serve", str(config))
        self.assertEqual((code, out, err), (1, "", f"nfx: {self.segment}{self.TEXT}\n"))
        self.assertEqual(self.files(), self.before)


class Rings(StoreTest):
    def listed(self, *arguments, code=0):
        return self.objects("rings", "--ring-directory", self.rings, "--format", "json", *arguments, code=code)

    def killed(self, *lines):
        journal = self.journal()
        journal.say(*lines)
        journal.kill()
        return journal.pid

    def test_the_ring_of_a_live_session_is_held_and_stays(self):
        journal = self.journal()
        journal.say("message 1 D a", "sync")
        ring, = self.listed("--remove")
        self.assertEqual((ring["state"], ring["pid"], ring["removed"]), ("held", journal.pid, False))
        self.assertEqual(ring["folder"], str(self.session_folder()))
        self.assertEqual(len(list(self.rings.iterdir())), 1)
        self.assertIn(f"held: open in process {journal.pid}", self.nfx("rings", "--ring-directory", self.rings))

    def test_a_ring_that_the_files_lack_stays_and_is_taken_by_the_next_opening(self):
        self.killed("message 1 D a", "sync", "message 2 D b")
        ring, = self.listed("--remove")
        self.assertEqual((ring["state"], ring["removed"]), ("needed", False))
        self.assertGreater(ring["lacking"], 50)
        self.make("message 3 D c")
        self.assertEqual([m["number"] for m in self.objects("cat", self.store, "--json")], [1, 2, 3])
        self.assertEqual(self.listed(), [])

    def test_ls_counts_what_only_the_ring_of_a_killed_process_has_and_changes_nothing(self):
        self.killed("message 1 D a", "sync", "message 2 D b", "message 3 D c")
        for _ in range(2):
            found = self.the_one("ls", self.store, "--ring-directory", self.rings, "--format", "json")
            self.assertEqual((found["state"], found["messages"], found["last"], found["next_out"]), ("killed", 3, 3, 4))
            self.assertGreaterEqual(found["ring_records"], 2)
        text = self.nfx("ls", self.store, "--ring-directory", self.rings)
        self.assertIn("messages   3, from 1 to 3", text)
        self.assertIn("are only in the memory that a killed process left", text)
        files = self.the_one("ls", self.store, "--ring-directory", self.store, "--format", "json")
        self.assertEqual((files["messages"], files["next_out"], files["ring_records"]), (1, 2, 0))
        self.assertEqual(self.listed()[0]["state"], "needed")

    def test_ls_of_a_killed_session_whose_files_have_everything_says_so(self):
        self.killed("message 1 D a", "sync")
        self.assertIn("left nothing in memory that the files lack", self.nfx("ls", self.store, "--ring-directory", self.rings))

    def test_a_ring_whose_content_is_in_the_files_is_removed_on_request(self):
        pid = self.killed("message 1 D a", "sync")
        ring, = self.listed()
        self.assertEqual((ring["state"], ring["pid"], ring["removed"]), ("written", pid, False))
        text = self.nfx("rings", "--remove", "--ring-directory", self.rings)
        self.assertIn("everything is in the files; removed", text)
        self.assertIn("1 ring, 1 removed", text)
        self.assertEqual(list(self.rings.iterdir()), [])
        self.make("message 2 D b")
        self.assertEqual([m["number"] for m in self.objects("cat", self.store, "--json")], [1, 2])

    def test_a_ring_whose_store_is_gone_is_removed_on_request(self):
        self.killed("message 1 D a", "sync", "message 2 D b")
        shutil.rmtree(self.store)
        self.assertEqual(self.listed()[0]["state"], "orphaned")
        self.assertTrue(self.listed("--remove")[0]["removed"])
        self.assertEqual(self.listed(), [])

    def test_a_ring_whose_store_is_gone_stays_while_its_process_lives(self):
        journal = self.journal()
        journal.say("message 1 D a", "sync")
        shutil.rmtree(self.store)
        ring, = self.listed("--remove")
        self.assertEqual((ring["state"], ring["removed"]), ("held", False))
        journal.kill()

    def test_what_is_not_a_ring_is_unknown_and_stays(self):
        other = self.rings / "nexusfix-0123456789abcdef.ring"
        other.write_bytes(bytes(70000))
        (self.rings / "somebody-elses").write_bytes(bytes(70000))
        ring, = self.listed("--remove")
        self.assertEqual((ring["state"], ring["removed"]), ("unknown", False))
        self.assertTrue(other.exists())

    def test_its_size_is_the_memory_that_it_takes(self):
        file = self.rings / "nexusfix-0123456789abcdef.ring"
        file.write_bytes(bytes(range(256)) * 16)
        os.truncate(file, 4096 + (16 << 20))
        ring, = self.listed()
        self.assertEqual((ring["bytes"], ring["memory"]), (4096 + (16 << 20), 512 * file.stat().st_blocks))
        self.assertLess(ring["memory"], 1 << 20)
        self.assertRegex(self.nfx("rings", "--ring-directory", self.rings), r"\.ring  \d+ [KM]?i?B in memory, up to \d+ [KM]iB\n")

    def test_a_folder_that_is_not_there_is_named(self):
        self.assertIn("/nowhere", self.fails("rings", "--ring-directory", "/nowhere", code=1))


class WhileItIsWritten(StoreTest):
    def half_a_record(self, journal):
        """What a process has put there in the middle of its write."""
        journal.say("message 1 D a", "sync")
        segment = self.segments()[0]
        content = bytearray(segment.read_bytes())
        end = len(bytes(content).rstrip(b"\0")) + 7 & ~7
        content[end:end + 40] = b"\x90\0\0\0" + b"\x11" * 36
        segment.write_bytes(content)

    def test_half_a_record_of_a_live_session_is_not_torn(self):
        journal = self.journal()
        self.half_a_record(journal)
        self.assertIn(": ok, 2 records, 1 message, 1 segment", self.nfx("verify", self.store))
        found = self.the_one("ls", self.store, "--format", "json")
        self.assertNotIn("torn", found)
        self.assertEqual([m["number"] for m in self.objects("cat", self.store, "--json")], [1])
        self.assertEqual([m["number"] for m in self.objects("tail", self.store, "--json")], [1])

    def test_following_passes_over_half_a_record_until_it_is_whole(self):
        journal = self.journal()
        self.half_a_record(journal)
        process = subprocess.Popen([PROGRAM, "store", "tail", "-f", str(self.store), "--raw"], stdout=subprocess.PIPE,
                                   env=ENVIRONMENT, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait, PATIENCE_S)
        self.addCleanup(process.kill)
        self.assertIn("58=a", process.stdout.readline())
        journal.say("message 2 D b", "sync")
        self.assertIn("58=b", process.stdout.readline())
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(PATIENCE_S), 0)


if __name__ == "__main__":
    unittest.main()
