"""nfx store import: imports QuickFIX's file stores, made by QuickFIX itself or written in their formats."""
import os
import struct
import subprocess
import unittest

from store_support import SEGMENT_SIZE, StoreTest
from support import PATIENCE_S, fix

QUICKFIX = os.environ.get("NFX_QUICKFIX_STORE_MAKER")


def message(number, kind="D", sender="DESK", target="VENUE", begin="FIX.4.4"):
    fields = [(35, kind), (34, number), (49, sender), (56, target), (52, "20260102-11:12:13.456"), (58, f"text {number}")]
    return fix(fields, begin)


class ImportTest(StoreTest):
    def setUp(self):
        super().setUp()
        self.quickfix = self.folder / "quickfix"
        self.quickfix.mkdir()

    def write(self, name, extension, content):
        (self.quickfix / f"{name}.{extension}").write_bytes(content if isinstance(content, bytes) else content.encode())

    def write_body(self, name, messages, header):
        """The body file, and a header entry for each (number, bytes) as `header` writes it."""
        offset, entries = 0, []
        for number, text in messages:
            entries.append(header(number, offset, len(text)))
            offset += len(text)
        self.write(name, "body", b"".join(text for _, text in messages))
        self.write(name, "header", b"".join(entries))

    def write_text_store(self, name="FIX.4.4-DESK-VENUE", messages=(), next_out=1, next_in=1, begun="20260101-07:08:09"):
        self.write_body(name, messages, lambda number, offset, size: f"{number},{offset},{size} ".encode())
        self.write(name, "seqnums", f"{next_out:010d} : {next_in:010d}")
        self.write(name, "session", begun)

    def importing(self, *arguments):
        return [self.quickfix, "--into", self.store, "--ring-directory", self.rings, "--segment-size", SEGMENT_SIZE,
                *arguments]

    def take_over(self, *arguments, code=0):
        return self.nfx("import", *self.importing(*arguments), code=code)

    def refused(self, *arguments, code=2):
        return self.fails("import", *self.importing(*arguments), code=code)

    def standing(self, identity):
        found = self.the_one("ls", self.store, "--session", identity, "--format", "json")
        return {key: found[key] for key in ["state", "next_in", "next_out", "messages", "since"]}

    def kept(self, *arguments):
        """The messages as stored in the journal, by number."""
        log = self.nfx("export", self.store, "--to", "-", *arguments)
        messages = [line.split(" : ")[1].encode() for line in log.splitlines()]
        return {int(each.split(b"\x0134=")[1].split(b"\x01")[0]): each for each in messages}


@unittest.skipUnless(QUICKFIX, "QuickFIX is missing; install the package libquickfix-dev and configure again")
class OfQuickfix(ImportTest):
    def make_quickfix(self, sender, target, qualifier, next_out, next_in, *messages):
        subprocess.run([QUICKFIX, str(self.quickfix), "FIX.4.4", sender, target, qualifier, str(next_out), str(next_in),
                        *messages], check=True, timeout=PATIENCE_S)

    def test_sequence_numbers_time_and_application_messages_are_imported(self):
        self.make_quickfix("DESK", "VENUE", "", 6, 42, "1:A", "2:D", "3:0", "4:8", "5:D")
        out = self.take_over()
        self.assertIn("FIX.4.4:DESK->VENUE  from FIX.4.4-DESK-VENUE (QuickFIX)", out)
        self.assertIn("next in 42, next out 6", out)
        self.assertIn("3 messages imported; 2 session messages left out", out)
        begun = (self.quickfix / "FIX.4.4-DESK-VENUE.session").read_text()
        self.assertEqual(self.standing("FIX.4.4:DESK->VENUE"), {
            "state": "clean", "next_in": 42, "next_out": 6, "messages": 3, "since": begun + ".000000000"})
        body = (self.quickfix / "FIX.4.4-DESK-VENUE.body").read_bytes()
        kept = self.kept()
        self.assertEqual(list(kept), [2, 4, 5])
        for each in kept.values():
            self.assertIn(each, body)
        self.nfx("verify", self.store)

    def test_the_messages_distinguish_hyphens_in_comp_ids_from_qualifiers(self):
        self.make_quickfix("MY-DESK", "THE-VENUE", "", 2, 1, "1:D")
        self.make_quickfix("DESK", "VENUE", "night", 3, 1, "2:D")
        self.take_over()
        self.assertEqual(self.standing("FIX.4.4:MY-DESK->THE-VENUE")["next_out"], 2)
        self.assertEqual(self.standing("FIX.4.4:DESK->VENUE:night")["next_out"], 3)

    def test_without_messages_a_name_with_two_comp_ids_is_enough(self):
        self.make_quickfix("DESK", "VENUE", "", 7, 9)
        self.take_over()
        self.assertEqual(self.standing("FIX.4.4:DESK->VENUE")["next_in"], 9)

    def test_a_name_that_can_be_read_in_several_ways_requires_the_session(self):
        self.make_quickfix("MY-DESK", "VENUE", "", 7, 9)
        error = self.refused()
        self.assertIn("--session", error)
        for reading in ["'FIX.4.4:MY-DESK->VENUE'", "'FIX.4.4:MY->DESK-VENUE'", "'FIX.4.4:MY->DESK:VENUE'"]:
            self.assertIn(reading, error)
        self.take_over("--session", "FIX.4.4:MY-DESK->VENUE")
        self.assertEqual(self.standing("FIX.4.4:MY-DESK->VENUE")["next_out"], 7)

    def test_a_session_that_no_file_can_be_of_is_refused(self):
        self.make_quickfix("DESK", "VENUE", "", 7, 9)
        self.assertIn("FIX.4.4-DESK-VENUE", self.refused("--session", "FIX.4.4:OTHER->VENUE"))
        self.assertFalse(self.store.exists())

    def test_seq_explain_reports_where_the_sequence_numbers_come_from(self):
        self.make_quickfix("DESK", "VENUE", "", 7, 9, "6:D")
        self.take_over()
        why = self.nfx("seq explain", self.store)
        self.assertRegex(why, r"next in 1 -> 9, imported: from .*/FIX\.4\.4-DESK-VENUE of QuickFIX, 1 message\n")
        self.assertIn("out 1 -> 7: 1 message stored, imported", why)

    def test_imported_messages_are_distinguished_from_those_the_session_sent(self):
        self.make_quickfix("DESK", "VENUE", "", 7, 9, "6:D")
        self.take_over()
        self.make("message 7 D ours")
        self.assertEqual([(m["number"], m.get("imported", False)) for m in self.objects("cat", self.store, "--json")],
                         [(6, True), (7, False)])
        self.assertRegex(self.nfx("cat", self.store, "--raw"), r"#6 imported 8=FIX.*\n.* #7 8=FIX")
        self.assertRegex(self.nfx("cat", self.store, "--one-line"), r", imported: .* #6 .*\n[^,]*: .* #7 ")


class Names(ImportTest):
    def test_a_colon_in_a_comp_id_is_escaped_as_the_engine_does(self):
        self.write_text_store("FIX.4.4-DE:SK-VEN:UE", next_out=7, next_in=9)
        self.take_over()
        self.assertEqual(self.standing("FIX.4.4:DE:SK->VEN%3AUE")["next_out"], 7)

    def test_a_colon_in_a_comp_id_of_a_message_is_escaped_as_the_engine_does(self):
        messages = [(6, message(6, sender="DE->SK", target="VEN:UE"))]
        self.write_text_store("FIX.4.4-DE->SK-VEN:UE-q1", messages, next_out=7, next_in=9)
        self.take_over()
        self.assertEqual(self.standing("FIX.4.4:DE-%3ESK->VEN%3AUE:q1")["messages"], 1)

    def test_a_session_with_escaped_comp_ids_finds_its_files(self):
        self.write_text_store("FIX.4.4-DE-SK-VEN:UE%25", next_out=7, next_in=9)
        self.refused("--session", "FIX.4.4:DE-SK->VEN:UE%25")
        self.take_over("--session", "FIX.4.4:DE-SK->VEN%3AUE%2525")
        self.assertEqual(self.standing("FIX.4.4:DE-SK->VEN%3AUE%2525")["next_out"], 7)

    def test_a_name_that_begins_with_no_version_requires_the_session(self):
        for name in ["FIXFKX.:.4-DE[SK-VENUE", "FIX.5.0-DESK-VENUE", "FIXED-DESK-VENUE"]:
            self.write_text_store(name, next_out=7, next_in=9)
            self.assertIn(f"{self.quickfix / name}.*: the name is not BeginString-SenderCompID-TargetCompID", self.refused())
            (self.quickfix / f"{name}.seqnums").unlink()


class OfOthers(ImportTest):
    def write_java_store(self, name, messages, next_out, next_in):
        def text(value):
            return struct.pack(">H", len(value)) + value.encode()
        self.write_body(name, messages, lambda number, offset, size: struct.pack(">iqi", number, offset, size))
        self.write(name, "senderseqnums", text(str(next_out)))
        self.write(name, "targetseqnums", text(str(next_in)) + b"9")  # a longer number was there before
        self.write(name, "session", text("20260101-07:08:09.123"))

    def test_a_store_of_quickfixj_is_imported_with_sub_ids_in_its_name(self):
        self.write_java_store("FIX.4.4-DESK_SUB-VENUE_LOC-q1", [(1, message(1, "A")), (2, message(2)), (3, message(3))], 4, 12)
        self.assertIn("(QuickFIX/J)", self.take_over())
        self.assertEqual(self.standing("FIX.4.4:DESK->VENUE:q1"), {
            "state": "clean", "next_in": 12, "next_out": 4, "messages": 2, "since": "20260101-07:08:09.123000000"})
        self.assertEqual(self.kept(), {2: message(2), 3: message(3)})

    def test_characters_that_quickfixj_replaced_come_back_from_the_messages(self):
        self.write_java_store("FIX.4.4-DE_SK-VEN_UE", [(1, message(1, sender="DE/SK", target="VEN#UE"))], 2, 1)
        self.take_over()
        self.assertEqual(self.standing("FIX.4.4:DE/SK->VEN#UE")["messages"], 1)

    def test_an_underscore_without_messages_may_be_a_sub_id_and_requires_the_session(self):
        self.write_java_store("FIX.4.4-DESK_SUB-VENUE", [], 4, 12)
        self.assertIn("--session", self.refused())
        self.take_over("--session", "FIX.4.4:DESK->VENUE")
        self.assertEqual(self.standing("FIX.4.4:DESK->VENUE")["next_in"], 12)

    def test_a_store_of_quickfixgo_is_imported(self):
        name = "FIX.4.4-DESK-VENUE"
        self.write_body(name, [(1, message(1)), (2, message(2))],
                        lambda number, offset, size: f"{number},{offset},{size}\n".encode())
        self.write(name, "senderseqnums", f"{3:019d}")
        self.write(name, "targetseqnums", f"{8:019d}")
        self.write(name, "session", "2026-01-01T07:08:09.5+01:00")
        self.assertIn("(QuickFIX/Go)", self.take_over())
        self.assertEqual(self.standing("FIX.4.4:DESK->VENUE"), {
            "state": "clean", "next_in": 8, "next_out": 3, "messages": 2, "since": "20260101-06:08:09.500000000"})


class Care(ImportTest):
    def test_a_session_that_is_in_use_is_replaced_only_on_request(self):
        self.make("message 1 D mine")
        self.write_text_store(messages=[(4, message(4))], next_out=5, next_in=6)
        self.assertIn("--replace", self.refused())
        self.assertEqual(self.standing("FIX.4.4:DESK->VENUE")["next_out"], 2)
        self.take_over("--replace")
        self.assertEqual(self.standing("FIX.4.4:DESK->VENUE")["next_out"], 5)
        self.assertEqual(self.kept("--from-number", 2), {4: message(4)})

    def test_a_session_that_is_held_is_refused_by_its_holder(self):
        journal = self.journal()
        journal.say("sync")
        self.write_text_store(next_out=5)
        self.assertIn(str(journal.pid), self.refused("--replace", code=1))

    def test_nothing_is_written_when_one_of_several_cannot_be(self):
        self.write_text_store("FIX.4.4-DESK-VENUE", next_out=5)
        self.write_text_store("FIX.4.4-MY-DESK-VENUE", next_out=5)
        self.refused()
        self.assertFalse(self.store.exists())

    def test_a_dry_run_reports_what_would_be_done_and_writes_nothing(self):
        self.write_text_store(messages=[(1, message(1))], next_out=2)
        self.assertIn("1 message imported", self.take_over("--dry-run"))
        self.assertFalse(self.store.exists())

    def test_a_message_that_is_damaged_is_left_out_and_named(self):
        self.write_text_store(messages=[(1, message(1)), (2, message(2)[:-3] + b"xx\x01"), (3, message(9))], next_out=4)
        out = self.take_over(code=1)
        self.assertIn("1 message imported", out)
        self.assertIn("2 messages LEFT OUT", out)
        self.assertIn("message 2 at byte", out)
        self.assertEqual(list(self.kept()), [1])
        self.assertEqual(self.standing("FIX.4.4:DESK->VENUE")["next_out"], 4)

    def test_a_message_that_was_stored_but_not_counted_is_left_out(self):
        self.write_text_store(messages=[(1, message(1)), (2, message(2))], next_out=2)
        self.assertIn("1 message left out: stored under sequence numbers from 2 on", self.take_over())
        self.assertEqual(list(self.kept()), [1])

    def test_of_a_number_that_was_stored_twice_the_later_counts(self):
        self.write_text_store(messages=[(1, message(1)), (1, message(1, "8"))], next_out=2)
        self.take_over()
        self.assertEqual(self.kept(), {1: message(1, "8")})

    def test_a_header_that_is_cut_off_at_its_end_is_noted_and_one_damaged_inside_is_refused(self):
        self.write_text_store(messages=[(1, message(1))], next_out=2)
        header = self.quickfix / "FIX.4.4-DESK-VENUE.header"
        header.write_bytes(header.read_bytes() + b"2,12")
        self.assertIn("the last entry is cut off", self.take_over())
        header.write_bytes(b"1,x,3 " + header.read_bytes())
        self.assertIn(f'{header}: "1,x,3" is not an entry', self.refused("--replace"))

    def test_a_store_that_fills_several_segments_is_imported_whole(self):
        large = [(n, fix([(35, "D"), (34, n), (49, "DESK"), (56, "VENUE"), (52, "20260102-11:12:13"), (58, "x" * 4000)]))
                 for n in range(1, 201)]
        self.write_text_store(messages=large, next_out=201)
        self.take_over()
        found = self.the_one("ls", self.store, "--format", "json")
        self.assertEqual((found["messages"], found["segments"] > 2), (200, True))
        self.assertEqual(self.kept(), dict(large))

    def test_a_folder_without_a_file_store_is_named(self):
        self.assertIn("there is no NAME.seqnums", self.refused())
        self.quickfix.rmdir()
        self.assertIn(str(self.quickfix), self.refused())

    def test_sequence_numbers_that_are_invalid_are_refused_with_the_file(self):
        self.write_text_store()
        self.write("FIX.4.4-DESK-VENUE", "seqnums", "garbage")
        self.assertIn(str(self.quickfix / "FIX.4.4-DESK-VENUE.seqnums"), self.refused())


if __name__ == "__main__":
    unittest.main()
