"""nfx store: what it shows, checks, repairs and sets of journals that JournalStore made."""
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import unittest

from store_support import DESK, StoreTest
from support import ENVIRONMENT, PATIENCE_S, PROGRAM, run

OTHER = "FIXT.1.1:DESK->OTHER:night"


def overwrite(path, old, new):
    """Replaces bytes of a file in their place."""
    content = path.read_bytes()
    assert content.count(old) == 1 and len(old) == len(new), (path, old)
    path.write_bytes(content.replace(old, new))


class Which(StoreTest):
    def test_an_unknown_session_is_answered_with_those_there_are(self):
        self.make("message 1 D a")
        self.make("message 1 D a", identity=OTHER)
        error = self.fails("cat", self.store, "--session", "FIX.4.4:DESK->VENU")
        self.assertIn('no such session "FIX.4.4:DESK->VENU"; did you mean FIX.4.4:DESK->VENUE?', error)
        self.assertIn(OTHER, error)

    def test_a_folder_that_is_not_a_store_is_named(self):
        self.assertIn(f"cannot read {self.store}: No such file", self.fails("ls", self.store))
        self.assertIn(f"{self.folder}: no session is stored here", self.fails("cat", self.folder))
        self.assertIn("Not a directory", self.fails("verify", PROGRAM))

    def test_one_session_is_meant_by_identity_by_its_folders_name_and_by_its_folder(self):
        self.make("message 1 D a")
        self.make("message 1 D b", identity=OTHER)
        folder = self.session_folder(OTHER)
        for arguments in [(self.store, "--session", OTHER), (self.store, "--session", folder.name), (folder,)]:
            found = self.the_one("ls", *arguments, "--format", "json")
            self.assertEqual(found["identity"], OTHER)

    def test_a_copy_of_a_sessions_folder_is_read_whatever_its_name(self):
        self.make("message 1 D a")
        shutil.copytree(self.session_folder(), self.folder / "backup of monday")
        self.assertEqual(self.the_one("ls", self.folder / "backup of monday", "--format", "json")["identity"], DESK)

    def test_what_needs_one_session_requires_a_choice_among_several(self):
        self.make("message 1 D a")
        self.make("message 1 D b", identity=OTHER)
        for command in [("seq set", "--next-in", "1", "--reason", "x"), ("export", "--to", "-"), ("repair", "--gap-fill")]:
            self.assertIn("has 2 sessions: choose one with --session", self.fails(command[0], self.store, *command[1:]))


class List(StoreTest):
    def test_a_session_that_ended_in_order_is_clean_and_counted(self):
        self.make("message 2 D a", "out 3", "out 4", "message 4 D b", "in 6", "in 7")
        found = self.the_one("ls", self.store, "--format", "json")
        self.assertEqual(found["identity"], DESK)
        self.assertEqual({k: found[k] for k in ["state", "next_in", "next_out", "messages", "first", "last"]},
                         {"state": "clean", "next_in": 7, "next_out": 5, "messages": 2, "first": 2, "last": 4})
        self.assertEqual(found["committed"], found["end"])
        text = self.nfx("ls", self.store)
        self.assertIn(f"{DESK}  clean\n", text)
        self.assertIn("next in 7, next out 5", text)
        self.assertIn("2, from 2 to 4", text)

    def test_a_session_that_a_process_holds_names_it(self):
        journal = self.journal()
        journal.say("message 1 D a", "sync")
        found = self.the_one("ls", self.store, "--format", "json")
        self.assertEqual((found["state"], found["pid"]), (f"open in process {journal.pid}", journal.pid))
        self.assertIn(f"open in process {journal.pid}", self.nfx("ls", self.store))

    def test_a_session_whose_process_was_killed_is_killed_and_not_held(self):
        journal = self.journal()
        journal.say("message 1 D a", "sync")
        journal.kill()
        found = self.the_one("ls", self.store, "--format", "json")
        self.assertEqual(found["state"], "killed")
        self.assertNotIn("pid", found)

    def test_messages_before_a_reset_do_not_count(self):
        self.make("message 1 D a", "message 2 D b", "reset", "message 1 D c")
        found = self.the_one("ls", self.store, "--format", "json")
        self.assertEqual((found["messages"], found["last"], found["next_out"]), (1, 1, 2))
        self.assertEqual(found["since"], "20260102-10:00:03.000000000")

    def test_a_store_without_sessions_lists_none(self):
        self.store.mkdir()
        self.assertEqual(self.objects("ls", self.store, "--format", "json"), [])
        self.assertIn("no session is stored here", self.nfx("ls", self.store))


class Cat(StoreTest):
    def test_messages_come_decoded_with_the_time_at_which_they_were_stored(self):
        self.make("message 1 D first", "message 2 8 second")
        lines = self.nfx("cat", self.store, "--one-line").splitlines()
        self.assertEqual(len(lines), 2)
        self.assertTrue(lines[0].startswith("20260102-10:00:01.000000000: NewOrderSingle (D) #1 DESK -> VENUE"), lines[0])
        self.assertIn("Text=first", lines[0])
        self.assertIn("ExecutionReport (8) #2", lines[1])
        fields = self.nfx("cat", self.store)
        self.assertRegex(fields, r"\n +58 Text +second\n")

    def test_a_range_of_numbers_can_be_chosen(self):
        self.make(*[f"message {n} D text{n}" for n in range(1, 10)])
        found = self.objects("cat", self.store, "--json", "--from", 4, "--to", 6)
        self.assertEqual([each["number"] for each in found], [4, 5, 6])
        self.assertEqual(found[0]["stored"], "20260102-10:00:04.000000000")
        self.assertEqual(found[0]["session"], DESK)
        self.assertIn("--from 6 is after --to 4", self.fails("cat", self.store, "--from", 6, "--to", 4))

    def test_raw_shows_the_fields_as_they_are_stored(self):
        self.make("message 1 D x")
        self.assertRegex(self.nfx("cat", self.store, "--raw"),
                         r"^20260102-10:00:01\.0{9} #1 8=FIX\.4\.4\|9=\d+\|35=D\|34=1\|.*\|58=x\|10=\d{3}\|\n$")

    def test_all_shows_the_records_between_the_messages(self):
        journal = self.journal()
        journal.say("message 1 D x", "in 5", "reset", "out 7")
        journal.end()
        found = self.objects("cat", self.store, "--json", "--all")
        kinds = [each.get("record", "message") for each in found]
        self.assertEqual(kinds, ["opened", "message", "next_inbound", "reset", "next_outbound", "closed"])
        self.assertEqual((found[0]["pid"], found[2]["number"]), (journal.pid, 5))
        text = self.nfx("cat", self.store, "--one-line", "--all")
        self.assertIn("20260102-10:00:02.000000000 next in 5\n", text)
        self.assertIn(f"opened by process {journal.pid}\n", text)

    def test_a_message_that_has_another_number_than_it_is_stored_under_shows_both(self):
        self.make("bytes 7 8=FIX.4.4|9=5|35=D|10=183|")
        self.assertIn("stored as 7", self.nfx("cat", self.store, "--one-line"))

    def test_several_sessions_come_under_their_names(self):
        self.make("message 1 D x")
        self.make("message 1 D y", identity=OTHER)
        lines = self.nfx("cat", self.store, "--one-line").splitlines()
        self.assertEqual((lines[0], lines[2]), (DESK, OTHER))

    def test_secrets_are_masked_unless_requested(self):
        self.make("bytes 1 8=FIX.4.4|9=22|35=D|34=1|554=hunter2|10=000|")
        self.assertNotIn("hunter2", self.nfx("cat", self.store, "--raw") + self.nfx("cat", self.store, "--json"))
        self.assertIn("hunter2", self.nfx("cat", self.store, "--raw", "--show-secrets"))

    def test_damage_ends_what_is_shown_and_is_named(self):
        self.make(*[f"message {n} D text{n}end" for n in range(1, 4)])
        overwrite(self.segments()[0], b"58=text2end", b"58=text9end")
        code, out, err = run("store", "cat", str(self.store), "--json")
        self.assertEqual((code, out.count("\n")), (1, 1))
        self.assertIn("damaged at byte", err)


class Tail(StoreTest):
    def follow(self, *arguments):
        process = subprocess.Popen([PROGRAM, "store", "tail", "-f", str(self.store), *arguments],
                                   stdout=subprocess.PIPE, env=ENVIRONMENT)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait, PATIENCE_S)
        self.addCleanup(process.kill)
        return process

    def line_of(self, process):
        ready, _, _ = select.select([process.stdout], [], [], PATIENCE_S)
        self.assertTrue(ready, "nothing came")
        # Unbuffered: select must not miss what a buffer holds already.
        line = b""
        while not line.endswith(b"\n"):
            byte = os.read(process.stdout.fileno(), 1)
            self.assertTrue(byte, "it ended")
            line += byte
        return line.decode()

    def test_the_last_messages_are_shown(self):
        self.make(*[f"message {n} D text{n}" for n in range(1, 20)])
        self.assertEqual([m["number"] for m in self.objects("tail", self.store, "--json")], list(range(10, 20)))
        self.assertEqual([m["number"] for m in self.objects("tail", self.store, "--json", "-n", 2)], [18, 19])

    def test_following_shows_what_a_live_session_sends_until_sigterm(self):
        journal = self.journal()
        journal.say("message 1 D early", "message 2 D late", "sync")
        process = self.follow("--raw", "-n", "1")
        self.assertIn("58=late", self.line_of(process))
        for number in range(3, 6):
            journal.say(f"message {number} D number{number}", "sync")
            self.assertIn(f"58=number{number}", self.line_of(process))
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(PATIENCE_S), 0)

    def test_following_continues_through_a_reset_and_the_next_process(self):
        journal = self.journal()
        journal.say("message 1 D a", "sync")
        process = self.follow("--raw", "--all", "-n", "1")
        self.assertIn("58=a", self.line_of(process))
        journal.say("reset", "message 1 D b", "sync")
        self.assertIn("reset", self.line_of(process))
        self.assertIn("58=b", self.line_of(process))
        journal.end()
        self.assertIn("closed in order", self.line_of(process))
        self.make("message 2 D c")
        self.assertIn("opened by", self.line_of(process))
        self.assertIn("58=c", self.line_of(process))
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(PATIENCE_S), 0)


class Verify(StoreTest):
    def test_a_whole_journal_is_ok(self):
        self.make("message 1 D a", "in 2", "message 2 D b")
        self.assertRegex(self.nfx("verify", self.store), rf"^{re.escape(DESK)}: ok, 5 records, 2 messages, 1 segment")

    def test_a_changed_byte_before_the_commit_is_damage_with_file_and_offset(self):
        self.make("message 1 D first", "message 2 D second")
        segment = self.segments()[0]
        overwrite(segment, b"58=first", b"58=fjrst")
        out = self.nfx("verify", self.store, code=2)
        self.assertIn("DAMAGED", out)
        offset = int(re.search(rf"{re.escape(str(segment))}: damaged at byte (\d+): the checksum", out)[1])
        self.assertLess(offset, segment.read_bytes().index(b"58=fjrst"))
        self.assertIn("nfx store repair", out)

    def test_a_record_torn_after_the_commit_is_torn_and_nothing_is_lost(self):
        journal = self.journal()
        journal.say("message 1 D a", "sync")
        journal.kill()
        segment = self.segments()[0]
        content = segment.read_bytes()
        end = len(content.rstrip(b"\0")) + 7 & ~7
        segment.write_bytes(content[:end] + b"\x50\0\0\0torn" + content[end + 8:])
        self.assertIn("torn at byte", self.nfx("verify", self.store, code=1))

    def test_a_message_whose_own_check_sum_is_wrong_is_named(self):
        self.make("bytes 3 8=FIX.4.4|9=10|35=D|34=3|10=000|")
        out = self.nfx("verify", self.store, code=2)
        self.assertIn("message 3 is not a valid FIX message: ", out)

    def test_a_message_under_another_number_than_its_own_is_named(self):
        journal = self.journal()
        journal.say("message 1 D a")
        journal.end()
        message = next(f for f in self.segments()[0].read_bytes().split(b"8=FIX")[1:])
        text = "8=FIX" + message[:message.index(b"\x0110=") + 8].decode().replace("\x01", "|")
        self.make(f"bytes 5 {text}")
        self.assertIn("message 5 has MsgSeqNum 1", self.nfx("verify", self.store, code=2))

    def test_numbers_that_go_back_without_a_reason_are_named(self):
        self.make("message 5 D a", "message 3 D b")
        self.assertIn("message 3 is stored where 6 was next", self.nfx("verify", self.store, code=2))

    def test_numbers_may_go_back_by_a_reset_or_when_they_are_set(self):
        self.make("message 5 D a", "out 3", "message 3 D b", "reset", "message 1 D c")
        self.assertIn(": ok", self.nfx("verify", self.store))

    def test_the_worst_of_several_sessions_is_the_answer(self):
        self.make("message 1 D a")
        self.make("message 5 D a", "message 3 D b", identity=OTHER)
        out = self.nfx("verify", self.store, code=2)
        self.assertIn(f"{DESK}: ok", out)
        self.assertIn(f"{OTHER}: DAMAGED", out)


class Repair(StoreTest):
    def damage(self):
        self.make(*[f"message {n} D text{n}end" for n in range(1, 6)])
        shutil.copytree(self.session_folder(), self.folder / "copy")
        overwrite(self.segments()[0], b"58=text3end", b"58=text9end")
        self.nfx("verify", self.store, code=2)

    def numbers(self):
        return [each["number"] for each in self.objects("cat", self.store, "--json")]

    def test_gap_fill_leaves_out_what_cannot_be_read(self):
        self.damage()
        self.assertIn(DESK, self.nfx("repair", self.session_folder(), "--gap-fill"))
        self.assertEqual(self.numbers(), [1, 2, 4, 5])
        self.nfx("verify", self.store)

    def test_a_copy_gives_back_what_cannot_be_read(self):
        self.damage()
        self.nfx("repair", self.session_folder(), "--from", self.folder / "copy")
        self.assertEqual(self.numbers(), [1, 2, 3, 4, 5])
        self.nfx("verify", self.store)

    def test_the_kind_of_repair_must_be_specified(self):
        self.make("message 1 D a")
        self.assertIn("--gap-fill", self.fails("repair", self.store))

    def test_a_session_that_is_held_is_left_alone(self):
        journal = self.journal()
        journal.say("message 1 D a", "sync")
        self.assertIn(str(journal.pid), self.fails("repair", self.store, "--gap-fill", code=1))


class Numbers(StoreTest):
    def set(self, *arguments):
        return self.nfx("seq set", self.store, "--ring-directory", self.rings, *arguments)

    def test_the_sequence_numbers_are_shown(self):
        self.make("message 1 D a", "in 9")
        self.assertIn(f"{DESK}  next in 9, next out 2", self.nfx("seq show", self.store))
        found = self.the_one("seq show", self.store, "--format", "json")
        self.assertEqual((found["next_in"], found["next_out"]), (9, 2))

    def test_what_is_set_by_hand_stays_with_its_reason(self):
        self.make("message 1 D a", "in 9")
        out = self.set("--next-in", 5, "--next-out", 12, "--reason", "agreed by phone")
        self.assertIn("next in  9 -> 5", out)
        self.assertIn("next out 2 -> 12", out)
        found = self.the_one("seq show", self.store, "--format", "json")
        self.assertEqual((found["next_in"], found["next_out"]), (5, 12))
        why = self.nfx("seq explain", self.store)
        self.assertIn("next in 9 -> 5, set by hand: agreed by phone", why)
        self.assertIn("next out 2 -> 12, set by hand: agreed by phone", why)
        self.nfx("verify", self.store)
        # The engine continues from there.
        self.make("message 12 D b")
        self.assertEqual(self.the_one("seq show", self.store, "--format", "json")["next_out"], 13)

    def test_setting_a_number_back_reports_which_messages_it_covers(self):
        self.make("message 1 D a", "message 2 D b", "message 3 D c")
        self.assertIn("stored up to 3", self.set("--next-out", 2, "--reason", "peer lost them"))
        self.make("message 2 D again")
        self.nfx("verify", self.store)
        self.assertEqual(self.the_one("ls", self.store, "--format", "json")["messages"], 2)

    def test_numbers_of_a_session_that_begins_now(self):
        self.make("message 1 D a", "message 2 D b", "in 9")
        before = self.the_one("seq show", self.store, "--format", "json")["since"]
        out = self.set("--new-session", "--next-out", 2, "--reason", "power loss")
        self.assertIn("a new session", out)
        self.assertIn("next in  9 -> 1", out)
        self.assertIn("next out 3 -> 2", out)
        self.assertNotIn("stored up to", out)
        found = self.the_one("seq show", self.store, "--format", "json")
        self.assertEqual((found["next_in"], found["next_out"]), (1, 2))
        self.assertGreater(found["since"], before)
        # Nothing of the session before is sent again.
        self.assertNotIn("58=a", self.nfx("cat", self.store, "--one-line"))
        self.nfx("verify", self.store)

    def test_a_session_that_is_held_is_not_set(self):
        journal = self.journal()
        journal.say("sync")
        error = self.fails("seq set", self.store, "--ring-directory", self.rings, "--next-in", 5, "--reason", "x", code=1)
        self.assertIn(str(journal.pid), error)
        journal.end()
        self.assertEqual(self.the_one("seq show", self.store, "--format", "json")["next_in"], 1)

    def test_a_session_whose_process_was_killed_keeps_what_only_its_ring_had(self):
        journal = self.journal()
        journal.say("message 1 D a", "sync", "message 2 D only_in_the_ring")
        journal.kill()
        self.set("--next-in", 5, "--reason", "x")
        found = self.the_one("ls", self.store, "--format", "json")
        self.assertEqual((found["messages"], found["next_out"], found["next_in"]), (2, 3, 5))

    def test_the_sequence_numbers_of_a_copy_are_not_set(self):
        self.make("message 1 D a")
        copy = self.folder / "copy"
        shutil.copytree(self.session_folder(), copy)
        self.assertIn("is a copy", self.fails("seq set", copy, "--next-in", 5, "--reason", "x"))

    def test_a_reason_and_a_number_are_needed(self):
        self.make("message 1 D a")
        self.assertIn("--reason", self.fails("seq set", self.store, "--next-in", 5))
        self.assertIn("--reason needs", self.fails("seq set", self.store, "--next-in", 5, "--reason", ""))
        self.assertIn("nothing to set", self.fails("seq set", self.store, "--reason", "x"))
        self.fails("seq set", self.store, "--next-in", 0, "--reason", "x")


class Explain(StoreTest):
    def history(self, *arguments):
        found = self.the_one("seq explain", self.store, "--format", "json", *arguments)
        return found, [each["kind"] for each in found["history"]]

    def test_steps_from_message_to_message_are_summarised(self):
        self.make("out 2", "in 2", "message 2 D a", "in 3", "message 3 D b", "in 4", "out 5")
        found, kinds = self.history()
        self.assertEqual(kinds, ["opened", "traffic", "closed"])
        self.assertEqual((found["stored"], found["not_stored"], found["last_message"]), (2, 2, 3))
        text = self.nfx("seq explain", self.store)
        self.assertIn("out 1 -> 5: 2 messages stored, 2 sequence numbers of session messages; in 1 -> 4", text)
        self.assertIn("last message stored: 3, MsgType D, 20260102-10:00:05.000000000", text)

    def test_resets_kills_jumps_and_numbers_that_went_back_are_listed_individually(self):
        journal = self.journal()
        journal.say("message 1 D a", "in 2", "in 9", "in 4", "sync")
        journal.kill()
        self.make("message 2 D b", "reset", "message 1 D c")
        found, kinds = self.history()
        self.assertEqual(kinds, ["opened", "traffic", "jump", "back", "killed", "opened", "traffic", "reset", "traffic",
                                 "closed"])
        texts = [each["text"] for each in found["history"]]
        self.assertIn("next in 2 -> 9 in one step", texts[2])
        self.assertIn("next in went back 9 -> 4", texts[3])
        self.assertIn(f"process {journal.pid} did not close it", texts[4])
        self.assertIn("next in was 4, next out was 3; both begin at 1", texts[7])

    def test_only_the_last_entries_are_listed_and_the_others_counted(self):
        for number in range(2, 7):  # each opening is used: one that is not leaves no record
            self.make(f"in {number}")
        found, kinds = self.history("--last", 3)
        self.assertEqual((kinds, found["left_out"]), (["opened", "traffic", "closed"], 12))
        self.assertIn("older entries left out: 12", self.nfx("seq explain", self.store, "--last", 3))


class Export(StoreTest):
    def test_a_fix_log_is_what_nfx_decode_reads_back(self):
        self.make("message 1 D a", "message 2 D b")
        log = self.folder / "desk.log"
        self.assertIn(f"2 messages to {log}", self.nfx("export", self.store, "--to", log))
        lines = log.read_bytes().split(b"\n")
        self.assertRegex(lines[0], rb"^20260102-10:00:01\.000000000 : 8=FIX\.4\.4\x01.*\x0110=\d{3}\x01$")
        self.assertEqual((len(lines), lines[2]), (3, b""))
        code, out, _ = run("decode", "--validate", "--summary", str(log))
        self.assertIn("2 messages, 0 bad", out)
        self.assertEqual(os.stat(log).st_mode & 0o777, 0o600)

    def test_a_hex_dump_has_every_byte_at_its_offset(self):
        self.make("message 1 D a", "message 2 D b")
        packets = self.nfx("export", self.store, "--to", "-", "--format", "text").split("\n\n")
        log = self.nfx("export", self.store, "--to", "-").splitlines()
        for packet, line in zip(packets, log):
            stamp, *rows = packet.splitlines()
            self.assertEqual(stamp, line.split(" : ")[0])
            content = b""
            for row in rows:
                offset, *digits = row.split()
                self.assertEqual(int(offset, 16), len(content))
                content += bytes.fromhex("".join(digits))
            self.assertEqual(content.decode(), line.split(" : ")[1])

    def test_json_holds_the_messages_of_the_range(self):
        self.make(*[f"message {n} D t" for n in range(1, 6)])
        found = self.objects("export", self.store, "--to", "-", "--format", "json", "--from-number", 2, "--to-number", 3)
        self.assertEqual([each["number"] for each in found], [2, 3])

    def test_a_file_that_is_there_is_overwritten_only_on_request(self):
        self.make("message 1 D a")
        file = self.folder / "out.log"
        file.write_text("mine")
        self.assertIn("--force", self.fails("export", self.store, "--to", file))
        self.assertEqual(file.read_text(), "mine")
        self.nfx("export", self.store, "--to", file, "--force")
        self.assertIn("58=a", file.read_text())

    @unittest.skipUnless(shutil.which("text2pcap"), "text2pcap is missing; install the package wireshark-common")
    def test_text2pcap_makes_a_capture_of_the_hex_dump(self):
        self.make("message 1 D a", "message 2 D b")
        dump, capture = self.folder / "dump.txt", self.folder / "dump.pcap"
        self.nfx("export", self.store, "--to", dump, "--format", "text")
        result = subprocess.run(["text2pcap", "-F", "pcap", "-T", "5001,5002", "-t", "%Y%m%d-%H:%M:%S.%f", dump, capture],
                                capture_output=True, text=True, check=False, timeout=PATIENCE_S,
                                env={**ENVIRONMENT, "TZ": "UTC"})
        self.assertEqual(result.returncode, 0, result.stderr)
        content = pathlib.Path(capture).read_bytes()
        self.assertIn(b"58=a\x01", content)
        self.assertIn(b"58=b\x01", content)


if __name__ == "__main__":
    unittest.main()
