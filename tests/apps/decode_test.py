"""nfx decode on logs as engines write them, and as they should not."""
import codecs
import csv
import gzip
import json
import os
import pathlib
import pty
import random
import shutil
import signal
import struct
import subprocess
import tempfile
import threading
import unittest
import zipfile

from support import ENVIRONMENT, HEADER, ORDER, PATIENCE_S, PROGRAM, FolderTest, expect, fix, run, run_in

PARTIES = [(453, 2), (448, "B1"), (447, "D"), (452, 1), (802, 2), (523, "s1"), (803, 1), (523, "s2"), (803, 2),
           (448, "B2"), (447, "D"), (452, 3)]
LOGON = [(35, "A"), (34, 1), (49, "C"), (56, "V"), (52, "20240102-12:00:00"), (98, 0), (108, 30)]

# What nfx does with bytes that are not UTF-8.
codecs.register_error("as_latin_1", lambda e: (e.object[e.start:e.end].decode("latin-1"), e.end))


def decode(data, *options):
    code, out, err = run("decode", *options, data=data)
    if code != 0:
        raise AssertionError(f"exit code {code}: {err}")
    return out


def decode_json(data, *options):
    return [json.loads(line) for line in decode(data, "--json", *options).splitlines()]


class Finding(unittest.TestCase):
    def test_every_usual_separator_is_understood(self):
        for separator in ["\x01", "|", "^A", "\\x01", "\\u0001", "<SOH>", ";", " | ", "~", "\t"]:
            with self.subTest(separator=separator):
                [message] = decode_json(b"12:00 out: " + fix(ORDER, separator=separator) + b"\n")
                self.assertTrue(message["ok"], message.get("problem"))
                self.assertEqual(message["fields"][-2], {"tag": 44, "name": "Price", "value": "12.5"})

    def test_separators_of_letters_and_symbols_are_found_by_body_length(self):
        for separator in ["[SOH]", "{SOH}", "\u2401", "\u00a6", "&#x1;", "\\x1", "<0x01>", "%01", " :: "]:
            with self.subTest(separator=separator):
                message = fix(ORDER).decode().replace("\x01", separator).encode("utf-8")
                fields = decode_json(b"10:00 recv " + message + b"\nnext line\n")[0]
                self.assertTrue(fields["ok"], fields)
                self.assertEqual(fields["fields"][-2], {"tag": 44, "name": "Price", "value": "12.5"})

    def test_one_field_per_line_is_a_message(self):
        for separator in ["\n", "\r\n", "\n  "]:
            for end in ["\n", "\n\nnext 5=6\n", ""]:
                with self.subTest(separator=separator, end=end):
                    one = fix(ORDER).decode().rstrip("\x01").replace("\x01", separator)
                    messages = decode_json(("sent:\n" + one + "\n\nreceived:\n" + one + end).encode())
                    self.assertEqual([each["ok"] for each in messages], [True, True])

    def test_a_log_in_utf16_is_read(self):
        text = "10:00 sent " + fix(ORDER, separator="|").decode() + "\r\n"
        for encoding in ["utf-16", "utf-16-le", "utf-16-be"]:
            messages = decode_json((text * 2).encode(encoding))
            self.assertEqual([each["ok"] for each in messages], [True, True])

    def test_masked_values_are_shown_with_what_is_wrong(self):
        line = b"8=FIX.4.4|9=***|35=A|49=A|56=B|34=1|52=20240105-10:00:00|98=0|108=30|554=***|10=000|\n"
        self.assertIn("HeartBtInt", decode(line))
        [message] = decode_json(line)
        self.assertFalse(message["ok"])

    def test_prefix_line_and_header_are_shown(self):
        out = decode(b"nothing here\n2024-01-02 12:00:00 INFO out " + fix(ORDER) + b"\n")
        self.assertIn("line 2: NewOrderSingle (D) #2 CLIENT -> VENUE 20240102-12:00:00.000 FIX.4.4  "
                      "[2024-01-02 12:00:00 INFO out]\n", out)

    def test_fields_show_tag_name_value_and_meaning(self):
        out = decode(fix(ORDER))
        self.assertIn("\n     54 Side                     1 (BUY)\n", out)
        self.assertIn("\n     55 Symbol                   IBM\n", out)

    def test_several_messages_without_lines_are_separated(self):
        self.assertEqual([m["type"] for m in decode_json(fix(ORDER) * 3 + fix(LOGON))], ["D", "D", "D", "A"])

    def test_several_messages_on_one_text_line_are_separated(self):
        self.assertEqual([m["ok"] for m in decode_json(fix(ORDER, separator="|") * 3)], [True, True, True])

    def test_a_last_separator_that_is_missing_does_no_harm(self):
        [soh, text] = decode_json(fix(ORDER)[:-1] + b"\n" + fix(ORDER, separator="|")[:-1] + b" (sent)\n")
        self.assertTrue(soh["ok"])
        self.assertTrue(text["ok"])

    def test_a_separator_within_a_text_stays_there(self):
        [message] = decode_json(fix(HEADER + [(58, "a|b")], separator="|"))
        self.assertTrue(message["ok"])
        self.assertIn({"tag": 58, "name": "Text", "value": "a|b"}, message["fields"])

    def test_8_equals_fix_within_a_text_starts_no_message(self):
        self.assertEqual(len(decode_json(fix(HEADER + [(58, "8=FIX.4.4")]) + fix(HEADER + [(108, "8=FIX.4.4")]))), 2)

    def test_a_message_may_follow_a_key_or_a_time_without_a_blank(self):
        for before in ["msg=", "raw_message=", "x1=", "10:00:01.123", "20240102-10:00:01", "1718000000123"]:
            for separator in ["\x01", "|", "\\x01"]:
                with self.subTest(before=before, separator=separator):
                    line = before.encode() + fix(ORDER, separator=separator)
                    [first, second] = decode_json(line + b"\n" + line + b"\n")
                    self.assertEqual([first["ok"], second["ok"], second["line"]], [True, True, 2])
                    self.assertEqual(second["prefix"], before)

    def test_messages_without_a_last_separator_are_separated(self):
        for separator in ["\x01", "|", "^A", " | "]:
            with self.subTest(separator=separator):
                line = fix(ORDER, separator=separator).removesuffix(separator.encode())
                self.assertEqual([each["ok"] for each in decode_json(line * 3 + b"\n")], [True, True, True])

    def test_a_message_within_a_message_that_was_cut_is_found(self):
        cut, whole = fix(ORDER, separator="|"), fix(LOGON, separator="|")
        first, second = decode_json(cut[:cut.index(b"|56=") + 9] + b"10:00:01.123" + whole + b"\n")
        self.assertEqual([first["ok"], second["ok"], second["type"]], [False, True, "A"])

    def test_a_tag_that_ends_in_8_starts_no_message(self):
        for separator in ["\x01", "|", "\\x01", "<SOH>"]:
            with self.subTest(separator=separator):
                odd = fix(HEADER + [(1408, "FIX.4.4"), (9, 5), (108, "FIX.4.2"), (9, 6)], separator=separator)
                self.assertEqual(len(decode_json(odd + b"\n")), 1)

    def test_data_fields_may_hold_separators_lines_and_check_sums(self):
        data = "x\x0110=123\x01\n8=y"
        [message, other] = decode_json(fix(HEADER + [(354, len(data)), (355, data)]) + fix(ORDER))
        self.assertTrue(message["ok"], message.get("problem"))
        self.assertIn(data, [f["value"] for f in message["fields"]])
        self.assertEqual(other["line"], 2)

    def test_the_outcome_does_not_depend_on_how_input_is_cut(self):
        log = (b"prefix " + fix(ORDER) + b"\nx " + fix(HEADER + PARTIES, separator="|") + b"\n" + fix(ORDER, length_off=9) +
               fix(LOGON, length_off=-3) + b"\n" + fix(ORDER)[:70] + b"\ntext 8=FIX and more\n" +
               fix(ORDER, separator="^A", sum_off=1) + fix(LOGON))
        whole = decode(log)
        for seed in range(5):
            random.seed(seed)
            process = subprocess.Popen([PROGRAM, "decode"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT)
            at = 0
            while at < len(log):
                size = random.choice([1, 2, 3, 5, 17, 64])
                process.stdin.write(log[at:at + size])
                process.stdin.flush()
                at += size
            out, _ = process.communicate(timeout=PATIENCE_S)
            self.assertEqual(out.decode("utf-8"), whole, f"seed {seed}")

    def test_a_growing_pipe_is_shown_as_it_grows(self):
        process = subprocess.Popen([PROGRAM, "decode", "--one-line"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   env=ENVIRONMENT)
        # The second one's BodyLength points beyond what has come: its CheckSum has to do.
        for message, expected in [(fix(ORDER), b"ClOrdID=abc"), (fix(LOGON, length_off=500), b"BAD: BodyLength is")]:
            process.stdin.write(message)
            process.stdin.flush()
            self.assertIn(expected, process.stdout.readline())
        process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, 0)

    def test_a_message_beyond_the_limit_is_reported_and_skipped(self):
        long = fix(HEADER + [(58, "x" * (9 * 1024 * 1024))], separator="|")
        [first, second] = decode_json(long + b"\n" + fix(ORDER))
        self.assertIn("longer than 8 MiB", first["problem"])
        self.assertTrue(second["ok"])

    def test_input_without_messages_fails(self):
        expect(run("decode", data=b"no message\n"), code=1, out="", err="no FIX message found")


class Explaining(unittest.TestCase):
    def problem(self, data):
        [message] = decode_json(data)
        self.assertFalse(message["ok"])
        return message["problem"], message["fields"]

    def test_wrong_check_sum_and_body_length_are_shown_next_to_the_right_ones(self):
        for separator in ["\x01", "|"]:
            with self.subTest(separator=separator):
                good = fix(ORDER)
                length = len(good) - good.index(b"35=") - 7
                total = int(good[-4:-1])
                problem, fields = self.problem(fix(ORDER, separator=separator, sum_off=1))
                self.assertIn(f"CheckSum is {(total + 1) % 256:03d}, the bytes sum to {total:03d} (byte {len(good) - 4})", problem)
                self.assertEqual(len(fields), len(ORDER) + 3)
                problem, _ = self.problem(fix(ORDER, separator=separator, length_off=2) + b"\n")
                self.assertIn(f"BodyLength is {length + 2}, the body has {length} bytes (byte 12)", problem)

    def test_a_tag_that_is_not_a_number_is_found_and_what_follows_is_read(self):
        problem, fields = self.problem(fix(HEADER + [("x1", "1"), (55, "Q")]))
        where = fix(HEADER + [("x1", "1"), (55, "Q")]).index(b"x1=")
        self.assertEqual(problem, f"a tag is not a number (byte {where})")
        self.assertIn({"tag": None, "value": "x1=1"}, fields)
        self.assertIn({"tag": 55, "name": "Symbol", "value": "Q"}, fields)

    def test_a_data_length_that_does_not_fit_is_explained(self):
        problem, _ = self.problem(fix(HEADER + [(354, 50), (355, "abc")]))
        self.assertIn("a data field does not have the length announced", problem)

    def test_a_wrong_header_order_is_explained(self):
        problem, _ = self.problem(b"8=FIX.4.4|35=0|9=5|10=000|\n")
        self.assertIn("not the first three fields (byte 10)", problem)

    def test_a_cut_off_message_is_shown_as_far_as_it_goes(self):
        [cut, whole] = decode_json(fix(ORDER)[:70] + b"\n" + fix(ORDER) + b"\n")
        self.assertIn("cut off", cut["problem"])
        self.assertEqual(cut["type"], "D")
        self.assertTrue(whole["ok"])

    def test_validation_names_the_field_and_sets_the_exit_code(self):
        expect(run("decode", "--validate", data=fix(HEADER + [(11, "abc")])), code=1,
               out="INVALID: Required tag missing: ")
        out, _ = expect(run("decode", "--validate", data=fix(ORDER)))
        self.assertNotIn("INVALID", out)

    def test_a_version_without_a_dictionary_is_not_validated(self):
        [message] = decode_json(fix(ORDER, begin="FIX.9.9"), "--validate")
        self.assertIn("no dictionary for FIX.9.9", message["not_validated"])

    def test_a_given_dictionary_names_its_own_fields(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "venue.xml"
            file.write_text(
                '<fix type="FIX" major="9" minor="9" servicepack="0"><header>'
                '<field name="BeginString" required="Y"/><field name="BodyLength" required="Y"/>'
                '<field name="MsgType" required="Y"/></header>'
                '<messages><message name="VenueNews" msgtype="U1" msgcat="app"><field name="Mood" required="Y"/></message>'
                '</messages><trailer><field name="CheckSum" required="Y"/></trailer><components/><fields>'
                '<field number="8" name="BeginString" type="STRING"/><field number="9" name="BodyLength" type="LENGTH"/>'
                '<field number="35" name="MsgType" type="STRING"/><field number="10" name="CheckSum" type="STRING"/>'
                '<field number="7001" name="Mood" type="CHAR"><value enum="G" description="GOOD"/></field>'
                '</fields></fix>', encoding="utf-8")
            out = decode(fix([(35, "U1"), (7001, "G")], begin="FIX.9.9"), "--dictionary", str(file))
        self.assertIn("VenueNews (U1)", out)
        self.assertIn("Mood                     G (GOOD)", out)


def sent_at(time, seq=2, **fields):
    """A message with this SendingTime."""
    body = {35: "D", 34: seq, 49: "CLIENT", 56: "VENUE", 52: time, 11: "abc", **{int(tag[1:]): value for tag, value in fields.items()}}
    return fix(list(body.items()))


class Inputs(FolderTest):
    """Several logs, compressed logs, archives and folders."""

    def write(self, name, data):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return str(path)

    def seqs(self, *options):
        return [int(message["seq"]) for message in decode_json(b"", *options)]

    def test_several_logs_are_merged_by_time(self):
        first = self.write("a.log", b"".join(sent_at(f"20240102-12:00:0{i}", i) + b"\n" for i in (1, 3, 5)))
        second = self.write("b.log", b"".join(sent_at(f"20240102-12:00:0{i}", i) + b"\n" for i in (2, 4, 6)))
        self.assertEqual(self.seqs(first, second), [1, 2, 3, 4, 5, 6])
        out = decode(b"", "--one-line", first, second)
        self.assertIn("a.log line 2: NewOrderSingle (D) #3", out)
        self.assertIn('"file":', decode(b"", "--json", first, second))

    def test_times_of_the_logs_count_more_than_sending_times_and_local_ones_are_converted(self):
        # The second one is written by a machine five hours west of UTC; its second message was sent late.
        first = self.write("a.log", b"20240102-12:00:02.500 : " + sent_at("20240102-12:00:02", 2) + b"\n")
        second = self.write("b.log", b"2024-01-02 07:00:01,000 in " + sent_at("20240102-12:00:01", 1) + b"\n" +
                            b"2024-01-02 07:00:03,000 in " + sent_at("20240102-12:00:00", 3) + b"\n")
        self.assertEqual(self.seqs(first, second), [1, 2, 3])

    def test_messages_of_one_log_stay_in_their_order(self):
        first = self.write("a.log", b"".join(sent_at(f"20240102-12:00:0{i}", i) for i in (5, 1, 9)))
        second = self.write("b.log", sent_at("20240102-12:00:06", 6))
        self.assertEqual(self.seqs(first, second), [5, 1, 6, 9])

    def test_more_logs_than_may_be_open_are_merged(self):
        paths = [self.write(f"{i % 7}/{i:03d}.log", sent_at(f"20240102-12:{i // 60:02d}:{i % 60:02d}", i) +
                            sent_at(f"20240102-13:{i // 60:02d}:{i % 60:02d}", 1000 + i)) for i in range(150)]
        self.assertEqual(self.seqs(str(self.folder)), [*range(150), *range(1000, 1150)])
        self.assertEqual(len(paths), 150)

    def test_folders_are_read_without_hidden_files(self):
        self.write("d/x/b.log", sent_at("20240102-12:00:02", 2))
        self.write("d/a.log", sent_at("20240102-12:00:01", 1))
        self.write("d/.hidden", sent_at("20240102-12:00:01", 7))
        self.write("d/.git/x", sent_at("20240102-12:00:01", 8))
        self.write("d/notes.txt", b"no message")
        self.assertEqual(self.seqs(str(self.folder / "d")), [1, 2])

    def test_compressed_logs_are_read(self):
        log = b"".join(sent_at("20240102-12:00:01", i) + b"\n" for i in range(1, 5000))
        whole = decode(log, "--json")
        half = len(log) // 2
        for compressed in (gzip.compress(log), gzip.compress(log[:half]) + gzip.compress(log[half:])):
            code, out, err = run("decode", "--json", self.write("a.log.gz", compressed))
            if code != 0 and "zlib1g-dev" in err:
                self.skipTest("built without zlib")
            self.assertEqual(out, whole)
            self.assertEqual(decode(compressed, "--json"), whole)
        expect(run("decode", "--json", self.write("cut.gz", gzip.compress(log)[:-9])), code=1,
               err="cut.gz: ends within compressed data at byte")
        self.assertIn("cannot be decompressed", run("decode", self.write("bad.gz", b"\x1f\x8b\x08nothing of this kind"))[2])

    def test_a_log_compressed_with_zstandard_is_read(self):
        if shutil.which("zstd") is None:
            self.skipTest("the command zstd is missing")
        log = sent_at("20240102-12:00:01", 1) * 300
        packed = subprocess.run(["zstd", "-c"], input=log, capture_output=True, check=True).stdout
        code, out, err = run("decode", "--json", self.write("a.zst", packed))
        if code != 0 and "libzstd-dev" in err:
            self.skipTest("built without libzstd")
        self.assertEqual(out, decode(log, "--json"))

    def test_the_files_in_a_zip_archive_are_read(self):
        path = self.folder / "logs.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("day/b.log", sent_at("20240102-12:00:02", 2))
            archive.writestr("a.log", sent_at("20240102-12:00:01", 1) + b"\n" + sent_at("20240102-12:00:03", 3))
        code, _, err = run("decode", str(path))
        if code != 0 and "libzip-dev" in err:
            self.skipTest("built without libzip")
        self.assertEqual(self.seqs(str(path)), [1, 2, 3])
        self.assertIn("logs.zip/day/b.log line 1: ", decode(b"", "--one-line", str(path)))

    def test_a_field_per_line_with_its_name_is_a_message(self):
        fields = fix(ORDER).decode().rstrip("\x01").split("\x01")
        for meaning in ("{value}", "{value} (BUY)", "BUY ({value})"):
            lines = []
            for tag, value in (field.split("=") for field in fields):
                text = meaning.format(value=value) if tag in ("35", "54") else value
                lines.append(f"    Name of it ({tag}): {text}" + (" [Good]" if tag == "10" else ""))
            text = "Frame 1: 2024-01-02 12:00:01\n" + "\n".join(lines) + "\n\nFrame 2:\n" + "\n".join(lines)
            text = text.replace("Name of it (8)", "BeginString (8)")
            with self.subTest(meaning=meaning):
                first, second = decode_json(text.encode())
                self.assertEqual([first["ok"], second["ok"], first["line"], second["line"]], [True, True, 2, 19])
                self.assertIn({"tag": 54, "name": "Side", "value": "1", "meaning": "BUY"}, first["fields"])

    def test_byte_arrays_of_journalctl_are_messages(self):
        entries = [{"__REALTIME_TIMESTAMP": "1704196801000000", "MESSAGE": list(b"sent " + fix(ORDER))},
                   {"__REALTIME_TIMESTAMP": "1704196802000000", "MESSAGE": "a line of text"},
                   {"__REALTIME_TIMESTAMP": "1704196803000000", "MESSAGE": list(fix(LOGON))}]
        for separators in [(",", ":"), (", ", " : ")]:
            log = "".join(json.dumps(entry, separators=separators) + "\n" for entry in entries).encode()
            with self.subTest(separators=separators):
                first, second = decode_json(log)
                self.assertEqual([first["ok"], second["ok"], first["line"], second["line"]], [True, True, 1, 3])


class Filtering(unittest.TestCase):
    LOG = b"\n".join([
        sent_at("20240102-09:00:00", 1, _49="C1", _56="V", _54=1, _58="first"),
        b"10:00 quote " + sent_at("20240102-09:30:00", 2, _49="V", _56="C1", _35="8", _54=2, _39=0),
        sent_at("20240103-09:15:00", 3, _49="C2", _56="V", _54=1, _58="x" * 9),
        sent_at("20240103-10:00:00", 4, _49="V", _56="C2", _35="8", _54=1, _39=2)])

    def check(self, expected, *options):
        self.assertEqual([int(m["seq"]) for m in decode_json(self.LOG, *options)], expected, options)

    def test_sessions_are_chosen_in_both_directions(self):
        self.check([1, 2], "--session", "C1->V")
        self.check([1, 2], "--session", "V->C1")
        self.check([3, 4], "--session", "C2")
        self.check([1, 2, 3, 4], "--session", "C2", "--session", "C1->V")
        self.check([], "--session", "C1->C2")

    def test_types_are_chosen_by_code_or_name(self):
        self.check([2, 4], "--type", "8")
        self.check([2, 4], "--type", "ExecutionReport")
        self.check([1, 2, 3, 4], "--type", "8,NewOrderSingle")

    def test_fields_are_chosen_by_presence_or_value(self):
        self.check([1, 3], "--tag", "58")
        self.check([1, 3, 4], "--tag", "54=1")
        self.check([4], "--tag", "Side=1", "--tag", "OrdStatus")
        self.check([], "--tag", "58=firs")

    def test_times_are_limits_of_a_moment_or_of_every_day(self):
        self.check([2, 3, 4], "--from", "20240102-09:30:00")
        self.check([3, 4], "--from", "2024-01-03")
        self.check([2], "--from", "2024-01-02T09:00:00.001", "--to", "2024-01-03")
        self.check([1, 3], "--to", "09:30")
        self.check([4], "--from", "10:00")

    def test_texts_are_found_in_messages_and_before_them(self):
        self.check([1], "--text", "first")
        self.check([2], "--text", "quote")
        self.check([1], "--text", "54=1|58=f")
        self.check([], "--text", "first", "--text", "quote")

    def test_values_that_cannot_be_read_are_wrong_usage(self):
        for options, part in [(("--from", "noon"), "noon is not a time"), (("--tag", "NoSuchField=1"), "no field is named"),
                              (("--session", "->V"), "expected SENDER")]:
            expect(run("decode", *options, data=self.LOG), code=2, out="", err=part)


def order_message(time, seq, sender, target, type, **fields):
    return sent_at(f"20240102-{time}", seq, _49=sender, _56=target, _35=type, **fields)


class Orders(FolderTest):
    """A client's order A1000001 becomes B2000001 at a venue, is replaced and filled; others happen meanwhile."""

    def setUp(self):
        super().setUp()
        other = dict(_11="X9000001", _37="O9000001", _17="E9000001")
        client = [
            order_message("10:00:00.000", 1, "C", "BRK", "D", _11="A1000001", _54=1, _38=100, _44="12.5"),
            order_message("10:00:00.001", 2, "C", "BRK", "D", **other),
            order_message("10:00:00.010", 1, "BRK", "C", "8", _11="A1000001", _37="B2000001", _17="E1000001", _39=0, _150=0),
            order_message("10:00:00.500", 3, "C", "BRK", "G", _11="A1000002", _41="A1000001", _38=200),
            order_message("10:00:00.510", 2, "BRK", "C", "8", _11="A1000002", _41="A1000001", _37="B2000001", _17="E1000002",
                          _39=0, _150=5),
            order_message("10:00:02.000", 3, "BRK", "C", "8", _11="A1000002", _37="B2000001", _17="E1000003", _39=2, _150="F",
                          _32=200, _31="12.5", _14=200, _151=0),
            order_message("10:00:02.500", 4, "BRK", "C", "j", _11="", _379="A1000002", _58="late")]
        venue = [
            order_message("10:00:00.005", 7, "BRK", "V", "D", _11="B2000001", _38=100),
            order_message("10:00:00.006", 8, "BRK", "V", "D", **other),
            order_message("10:00:01.900", 9, "V", "BRK", "8", _11="B2000001", _37="NONE", _17="E1000003", _39=2)]
        self.client, self.venue = self.folder / "client.log", self.folder / "venue.log"
        self.client.write_bytes(b"\n".join(b"in " + each for each in client) + b"\n")
        self.venue.write_bytes(b"".join(each.replace(b"\x01", b"|") + b"\n" for each in venue))

    def seqs(self, id, *options):
        paths = options or (str(self.client), str(self.venue))
        return [f'{m["sender"]}{m["seq"]}' for m in decode_json(b"", "--order", id, *paths)]

    LIFE = ["C1", "BRK7", "BRK1", "C3", "BRK2", "V9", "BRK3", "BRK4"]

    def test_every_identifier_leads_to_the_whole_life_across_sessions(self):
        for id in ("A1000001", "A1000002", "B2000001", "E1000003", "E1000001"):
            with self.subTest(id=id):
                self.assertEqual(self.seqs(id), self.LIFE)

    def test_compressed_logs_give_the_same_life(self):
        packed = self.folder / "client.log.gz"
        packed.write_bytes(gzip.compress(self.client.read_bytes()))
        if "zlib1g-dev" in run("decode", "--summary", str(packed))[2]:
            self.skipTest("built without zlib")
        self.assertEqual(self.seqs("A1000001", str(packed), str(self.venue)), self.LIFE)

    def test_lines_and_prefixes_are_those_of_the_whole_log(self):
        def places(*options):
            return [(m["line"], m["prefix"]) for m in decode_json(b"", *options, str(self.client)) if m["fields"][7]["value"] != "X9000001"]
        self.assertEqual(places("--order", "A1000001"), places())

    def test_short_identifiers_stay_in_their_session_and_kind(self):
        log = self.folder / "short.log"
        log.write_bytes(b"".join([
            order_message("10:00:00", 1, "C", "BRK", "D", _11="1"),
            order_message("10:00:01", 2, "BRK", "C", "8", _11="1", _37="2", _17="0", _39=0),
            order_message("10:00:02", 3, "C", "BRK", "D", _11="2"),
            order_message("10:00:03", 4, "BRK", "C", "8", _11="2", _37="1", _17="0", _39=8),
            order_message("10:00:04", 5, "C", "BRK", "F", _11="3", _41="1")]))
        self.assertEqual(self.seqs("3", str(log)), ["C1", "BRK2", "C5"])

    def test_a_list_of_orders_connects_none_of_them(self):
        log = self.folder / "list.log"
        several = fix([(35, "E"), (34, 1), (49, "C"), (56, "B"), (52, "20240102-10:00:00"), (66, "L"), (73, 2), (11, "A7000001"),
                       (67, 1), (11, "A7000002"), (67, 2)])
        log.write_bytes(several + order_message("10:00:01", 2, "C", "B", "F", _11="A7000003", _41="A7000001") +
                        order_message("10:00:02", 3, "C", "B", "F", _11="A7000004", _41="A7000002"))
        self.assertEqual(self.seqs("A7000001", str(log)), ["C1", "C2"])

    def test_an_identifier_that_begins_like_another_is_another(self):
        log = self.folder / "similar.log"
        log.write_bytes(order_message("10:00:00", 1, "C", "B", "D", _11="A7000001") +
                        order_message("10:00:01", 2, "C", "B", "D", _11="A70000011") +
                        order_message("10:00:02", 3, "C", "B", "D", _11="A7000001-2", _58="11=A7000001"))
        self.assertEqual(self.seqs("A7000001", str(log)), ["C1"])

    def test_a_large_log_is_searched_across_its_parts(self):
        log = self.folder / "large.log"
        filler = order_message("10:00:00", 5, "C", "BRK", "D", _11="Z8000001", _58="y" * 4000) + b"\n"
        each = 17 * 1024 * 1024 // len(filler)
        parts = [filler * each] * 4
        marks = [order_message("10:00:00", i, "C", "BRK", "D", _11="A7000001") + b"\n" for i in range(5)]
        log.write_bytes(marks[0] + b"".join(part + mark for part, mark in zip(parts, marks[1:])))
        found = decode_json(b"", "--order", "A7000001", str(log))
        self.assertEqual([(m["line"], m["seq"]) for m in found], [(1 + i * (each + 1), str(i)) for i in range(5)])

    def test_the_table_shows_what_happened(self):
        out = decode(b"", "--order", "A1000001", str(self.client), str(self.venue))
        head, *rows = out.splitlines()
        self.assertEqual(head.split(), ["TIME", "AFTER", "SESSION", "TYPE", "CLORDID", "SIDE", "STATUS", "QTY", "PRICE", "LAST",
                                        "CUM", "LEAVES", "TEXT"])
        self.assertEqual(len(rows), 8)
        self.assertRegex(rows[0], r"20240102-10:00:00.000000 +C -> BRK +NewOrderSingle +A1000001 +BUY +100 +12.5")
        self.assertRegex(rows[3], r"490.000 ms .*A1000002 \(was A1000001\)")
        self.assertRegex(rows[6], r"FILLED.* 200 @ 12.5 +200 +0")

    def test_the_ladder_has_an_arrow_per_message(self):
        lines = decode(b"", "--order", "A1000001", "--ladder", str(self.client), str(self.venue)).splitlines()
        self.assertEqual(lines[0].split(), ["C", "BRK", "V"])
        self.assertRegex(lines[1], r"^20240102-10:00:00.000000  \|-- NewOrderSingle A1000001 BUY 100 12.5 -*-> \| +\|$")
        self.assertRegex(lines[2], r"^20240102-10:00:00.005000  \| +\|-- NewOrderSingle B2000001 100 -*-> \|$")
        self.assertRegex(lines[3], r"^20240102-10:00:00.010000  \|<- ExecutionReport A1000001 NEW -*-- \| +\|$")
        self.assertEqual(len(lines), 9)

    def test_an_unknown_order_and_standard_input_are_errors(self):
        expect(run("decode", "--order", "NOSUCH01", str(self.client)), code=1, out="", err="identifier NOSUCH01")
        expect(run("decode", "--order", "A1000001", data=b"x"), code=2, out="", err="not standard input")


class Summaries(unittest.TestCase):
    @staticmethod
    def message(seq, time="10:00:00", sender="C", target="V", type="0", **fields):
        return sent_at(f"20240102-{time}", seq, _49=sender, _56=target, _35=type, **fields) + b"\n"

    def gaps(self, *messages):
        code, out, _ = run("decode", "--gaps", data=b"".join(messages))
        self.assertEqual(code, 1 if "missing C" in out or "missing V" in out else 0)
        return [line for line in out.splitlines() if line.startswith("missing")]

    def test_missing_numbers_are_named_with_the_message_after_them(self):
        self.assertEqual(self.gaps(self.message(1), self.message(2), self.message(5), self.message(7)),
                         ["missing C -> V: 3 to 4 before standard input line 3", "missing C -> V: 6 before standard input line 4"])
        self.assertEqual(self.gaps(self.message(8), self.message(9), self.message(1, sender="V", target="C")), [])

    def test_resent_messages_and_gap_fills_close_a_gap(self):
        again = [self.message(3, _43="Y"), self.message(4, _43="Y", type="4", _123="Y", _36=6), self.message(7)]
        self.assertEqual(self.gaps(self.message(2), self.message(6), *again), [])
        self.assertEqual(self.gaps(self.message(2), self.message(6), *again[:1], self.message(7)),
                         ["missing C -> V: 4 to 5 before standard input line 2"])

    def test_a_new_day_begins_with_number_one(self):
        self.assertEqual(self.gaps(self.message(5), self.message(1, time="11:00:00", type="A"), self.message(2, time="11:00:01")), [])
        self.assertEqual(self.gaps(self.message(5), self.message(9, type="4", _36=20), self.message(20)), [])

    def test_the_same_log_twice_has_no_gaps(self):
        log = [self.message(i, time=f"10:00:0{i}") for i in range(1, 6)]
        self.assertEqual(self.gaps(*log, *log), [])

    def test_answers_are_matched_with_requests_and_timed(self):
        log = b""
        for i in range(100):
            log += self.message(i + 1, f"10:00:{i % 60:02d}.000", type="D", _11=f"order{i}")
            log += self.message(i + 1, f"10:00:{i % 60:02d}.{5 if i else 900:03d}", "V", "C", "8", _11=f"order{i}")
            log += self.message(i + 200, f"10:00:{i % 60:02d}.950", "V", "C", "8", _11=f"order{i}")
        out = decode(log, "--summary")
        self.assertRegex(out, r"\n +100 +5\.\d ms +5\.\d ms +900\.0 ms  NewOrderSingle -> ExecutionReport\n")
        self.assertRegex(out, r"\n +100 +\d+ +0 +0  20240102-10:00:00.000  20240102-10:00:59.000  C -> V\n")

    def test_summary_counts_by_type(self):
        out = decode(fix(ORDER) * 3 + fix(LOGON, sum_off=1), "--summary")
        self.assertTrue(out.startswith("         1  A  Logon\n         3  D  NewOrderSingle\n4 messages, 1 bad\n"), out)


class Tables(unittest.TestCase):
    def test_csv_has_a_line_per_message_and_the_chosen_fields(self):
        log = fix(ORDER) + b"\n" + fix(HEADER + [(11, "x"), (58, 'say "hi", twice'), (554, "pass")])
        rows = list(csv.DictReader(decode(log, "--csv", "--fields", "ClOrdID,58,Price,554").splitlines()))
        self.assertEqual([row["ClOrdID"] for row in rows], ["abc", "x"])
        self.assertEqual([row["58"] for row in rows], ["", 'say "hi", twice'])
        self.assertEqual([row["Price"] for row in rows], ["12.5", ""])
        self.assertEqual([row["554"] for row in rows], ["", "***"])
        self.assertEqual([row["place"] for row in rows], ["1", "2"])
        self.assertEqual(rows[0]["name"], "NewOrderSingle")
        self.assertEqual(rows[0]["time"], "20240102-12:00:00.000")


class Redacting(FolderTest):
    SECRETS = ["s3cret", "n3wpass", "r4w\x01data", "cipher77", "quoted9"]

    def copy(self, log, *options):
        source, target = self.folder / "in.log", self.folder / "out.log"
        source.write_bytes(log)
        target.unlink(missing_ok=True)
        expect(run("decode", str(source), "--redact", str(target), *options))
        return target.read_bytes()

    LOGON = fix(LOGON + [(95, 8), (96, "r4w\x01data"), (553, "user"), (554, "s3cret"), (925, "n3wpass"), (1401, 8),
                         (1402, "cipher77"), (1, "ACC1")])

    def test_the_copy_has_no_secrets_and_validates(self):
        for separator in ("\x01", "|", "^A", " | "):
            message = self.LOGON if separator == "\x01" else fix(LOGON + [(553, "user"), (554, "s3cret"), (925, "n3wpass"), (1, "ACC1")],
                                                                 separator=separator)
            log = b"10:00 in " + message + b"\nsaid 554=quoted9 once\n" + fix(ORDER, separator=separator) + b" end\n"
            copied = self.copy(log)
            with self.subTest(separator=separator):
                for secret in self.SECRETS:
                    self.assertNotIn(secret.encode(), copied)
                self.assertTrue(copied.startswith(b"10:00 in 8=FIX.4.4" + separator.encode()), copied)
                self.assertIn(fix(ORDER, separator=separator) + b" end\n", copied)
                self.assertIn(b"user", copied)
                first, second = decode_json(copied, "--show-secrets")
                self.assertEqual([first["ok"], second["ok"]], [True, True])
                values = {field["tag"]: field["value"] for field in first["fields"]}
                self.assertEqual((values[554], values[925]), ("***", "***"))

    def test_a_log_without_secrets_is_copied_byte_by_byte(self):
        log = (b"\x00 text\r\n" + fix(ORDER)[:-1] + b"\r\n" + fix(ORDER, separator="|", sum_off=1) + b"\n" + fix(ORDER)[:60] + b"\n" +
               fix(HEADER + [(58, "a|b")], separator="|") + b"tail without a line end")
        self.assertEqual(self.copy(log), log)

    def test_malformed_messages_lose_their_secrets_and_keep_what_is_wrong(self):
        for log in (self.LOGON[:-3], self.LOGON.replace(b"95=8", b"95=9"), fix([(35, "A"), ("x", 1), (554, "s3cret")]),
                    b"8=FIX.4.4|9=5|35=A|554=s3cret|10=000|\n"):
            copied = self.copy(log)
            for secret in ("s3cret", "n3wpass", "cipher77"):
                self.assertNotIn(secret.encode(), copied)
            [message] = decode_json(copied)
            self.assertFalse(message["ok"])

    def test_chosen_fields_keep_which_values_are_equal(self):
        log = b"".join(sent_at("20240102-10:00:00", i, _1=account) for i, account in enumerate(["A", "B", "A"]))
        accounts = [[f["value"] for f in m["fields"] if f["tag"] == 1][0] for m in decode_json(self.copy(log, "--redact-also", "Account"))]
        self.assertEqual(accounts, ["redacted-1", "redacted-2", "redacted-1"])

    def test_an_existing_file_stays(self):
        target = self.folder / "there"
        target.write_bytes(b"x")
        code, _, _ = run("decode", "--redact", str(target), data=fix(ORDER))
        self.assertNotEqual(code, 0)
        self.assertEqual(target.read_bytes(), b"x")


class Following(FolderTest):
    """Logs that grow, rotate and shrink while they are read."""

    def setUp(self):
        super().setUp()
        self.path = self.folder / "session.log"
        self.path.write_bytes(self.line(1))
        self.number = 1
        self.process = subprocess.Popen([PROGRAM, "decode", "--json", "--follow", str(self.path)], stdout=subprocess.PIPE, env=ENVIRONMENT)
        self.addCleanup(self.end)
        # What was rotated before it began is not read.
        self.expect_all()

    def end(self):
        self.process.kill()
        self.process.communicate()

    @staticmethod
    def line(seq):
        return b"10:00:00 " + sent_at("20240102-10:00:00", seq) + b"\n"

    def append(self, count=1, path=None):
        with open(path or self.path, "ab") as file:
            for _ in range(count):
                self.number += 1
                file.write(self.line(self.number))
                file.flush()

    def expect_all(self, first=1):
        watchdog = threading.Timer(60, self.process.kill)
        watchdog.start()
        try:
            seqs = [int(json.loads(self.process.stdout.readline())["seq"]) for _ in range(first, self.number + 1)]
        finally:
            watchdog.cancel()
        self.assertEqual(seqs, list(range(first, self.number + 1)))

    def test_what_is_appended_is_shown(self):
        self.append(3)
        self.expect_all(2)
        self.append(100)
        self.expect_all(5)

    def test_rotation_by_renaming_loses_nothing(self):
        for generation in range(5):
            self.append(50)
            renamed = self.folder / f"session.log.{generation}"
            os.rename(self.path, renamed)
            # The writer goes on with the renamed file until it notices.
            self.append(10, renamed)
            self.append(10)
        self.expect_all(2)
        os.rename(self.path, self.folder / "elsewhere")
        self.append(2, self.folder / "elsewhere")
        self.append(2)
        self.expect_all(self.number - 3)

    def test_generations_that_come_and_go_between_two_looks_are_read(self):
        os.kill(self.process.pid, signal.SIGSTOP)
        for generation in range(4):
            self.append(5)
            os.rename(self.path, self.folder / f"session.log.{generation}")
            os.utime(self.folder / f"session.log.{generation}", ns=(generation * 10**9, generation * 10**9))
        self.append(5)
        os.kill(self.process.pid, signal.SIGCONT)
        self.expect_all(2)

    def test_a_truncated_log_is_read_from_its_beginning(self):
        self.append(20)
        self.expect_all(2)
        os.truncate(self.path, 0)
        self.append(3)
        self.expect_all(22)

    def test_standard_input_and_archives_cannot_be_followed(self):
        expect(run("decode", "--follow", data=b"x"), code=2, out="", err="--follow follows files")


class Captures(FolderTest):
    """pcap and pcapng, written packet by packet."""

    CLIENT, VENUE = ("10.0.0.1", 40001), ("10.0.0.2", 9878)

    def setUp(self):
        super().setUp()
        code, _, err = run("decode", data=pcap([]))
        if "libpcap-dev" in err:
            self.skipTest("built without libpcap")

    def decode(self, packets, container=None, **options):
        code, out, err = run("decode", "--json", data=(container or pcap)(packets, **options))
        self.err = err
        return [json.loads(line) for line in out.splitlines()]

    def segments(self, data, size=100, seq=1000, **options):
        """The stream in segments of this size, after a SYN."""
        yield tcp(self.CLIENT, self.VENUE, seq - 1, b"", flags=2, **options)
        for at in range(0, len(data), size):
            yield tcp(self.CLIENT, self.VENUE, seq + at, data[at:at + size], **options)

    MESSAGES = [sent_at("20240102-10:00:00", i, _58="x" * 43) for i in range(1, 51)]
    LOG = b"".join(MESSAGES)

    def check_all(self, messages, count=50):
        self.assertEqual([int(m["seq"]) for m in messages], list(range(1, count + 1)))
        self.assertTrue(all(m["ok"] for m in messages))

    def test_both_formats_and_every_network_are_read(self):
        for link, frame in [(1, ethernet), (1, vlan), (101, raw_ip), (113, linux_cooked), (276, linux_cooked_v2), (0, loopback)]:
            for container in (pcap, pcapng):
                with self.subTest(link=link, frame=frame.__name__, container=container.__name__):
                    packets = [frame(each) for each in self.segments(self.LOG)]
                    self.check_all(self.decode(packets, container, link=link))
        self.check_all(self.decode([ethernet(each, 0x86DD) for each in self.segments(self.LOG, v6=True)]))

    def test_place_time_and_connection_are_those_of_the_packet(self):
        [message, _] = self.decode([ethernet(each) for each in self.segments(b"".join(self.MESSAGES[:2]), size=80)])
        self.assertEqual(message["file"], "standard input 10.0.0.1:40001 > 10.0.0.2:9878")
        self.assertEqual(message["packet"], 3)
        out = decode(pcap([ethernet(each) for each in self.segments(self.LOG)]), "--one-line", "--to", "2024-01-01")
        self.assertEqual(out.count("\n"), 0)

    def test_segments_sent_again_overlapping_and_out_of_order_are_put_in_order(self):
        segments = list(self.segments(self.LOG, size=70, seq=2**32 - 500))
        for seed in range(20):
            random.seed(seed)
            shuffled = segments[:2] + segments[2:]
            for i in range(2, len(shuffled) - 3):
                j = i + random.randrange(3)
                shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
            for _ in range(20):
                at = random.randrange(len(self.LOG) - 300)
                size = random.randrange(1, 300)
                again = tcp(self.CLIENT, self.VENUE, (2**32 - 500 + at) % 2**32, self.LOG[at:at + size])
                shuffled.insert(random.randrange(2, len(shuffled)), again)
            with self.subTest(seed=seed):
                self.check_all(self.decode([ethernet(each) for each in shuffled]))

    def test_missing_bytes_are_reported_and_end_a_message(self):
        segments = list(self.segments(self.LOG, size=100))
        del segments[5]
        messages = self.decode([ethernet(each) for each in segments])
        self.assertIn("10.0.0.1:40001 > 10.0.0.2:9878: 100 bytes before packet", self.err)
        self.assertIn("were not captured", self.err)
        bad = [m for m in messages if not m["ok"]]
        self.assertTrue(1 <= len(bad) <= 2, bad)
        self.assertTrue(48 <= len([m for m in messages if m["ok"]]) <= 49)

    def test_packets_cut_by_the_snapshot_length_are_reported(self):
        packets = [ethernet(each) for each in self.segments(self.LOG, size=100)]
        messages = self.decode([(each[:100], len(each)) for each in packets])
        self.assertIn("were not captured", self.err)
        self.assertNotIn(True, [m["ok"] for m in messages])

    def test_ports_that_are_used_again_begin_a_new_stream(self):
        packets = [*self.segments(b"".join(self.MESSAGES[:25]), seq=5000), *self.segments(b"".join(self.MESSAGES[25:]), seq=900)]
        self.check_all(self.decode([ethernet(each) for each in packets]))

    def test_both_directions_are_apart(self):
        answer = sent_at("20240102-10:00:00", 1, _49="VENUE", _56="CLIENT")
        packets = [tcp(self.CLIENT, self.VENUE, 1, self.LOG[:60]), tcp(self.VENUE, self.CLIENT, 1, answer[:60]),
                   tcp(self.CLIENT, self.VENUE, 61, self.MESSAGES[0][60:]), tcp(self.VENUE, self.CLIENT, 61, answer[60:])]
        self.assertEqual([m["sender"] for m in self.decode([ethernet(each) for each in packets])], ["CLIENT", "VENUE"])

    def test_a_compressed_capture_is_read(self):
        packets = [ethernet(each) for each in self.segments(self.LOG)]
        code, out, _ = run("decode", "--json", data=gzip.compress(pcap(packets)))
        self.check_all([json.loads(line) for line in out.splitlines()])

    def test_damaged_captures_end_with_a_note(self):
        whole = pcap([ethernet(each) for each in self.segments(self.LOG)])
        code, out, err = run("decode", "--json", data=whole[:-30])
        self.assertEqual([json.loads(line)["ok"] for line in out.splitlines()], [True] * 49 + [False])
        self.assertIn("after packet", err)
        expect(run("decode", data=pcap([], link=127)), code=1, out="", err="its network is")
        expect(run("decode", data=whole[:10]), code=1, out="")


def checked_ip4(source, target, segment):
    address = [bytes(map(int, host.split("."))) for host in (source, target)]
    return struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(segment), 0, 0, 64, 6, 0) + address[0] + address[1] + segment


def tcp(source, target, seq, payload, flags=16, v6=False):
    segment = struct.pack(">HHIIBBHHH", source[1], target[1], seq % 2**32, 0, 0x50, flags, 1000, 0, 0) + payload
    if not v6:
        return checked_ip4(source[0], target[0], segment)
    ends = [bytes(15) + bytes([int(host.split(".")[3])]) for host in (source[0], target[0])]
    options = struct.pack(">BB6x", 6, 0)
    return struct.pack(">IHBB", 6 << 28, len(options) + len(segment), 60, 64) + ends[0] + ends[1] + options + segment


def ethernet(packet, ethertype=0x0800):
    return bytes(12) + struct.pack(">H", ethertype) + packet


def vlan(packet):
    return bytes(12) + struct.pack(">HHHHH", 0x88A8, 5, 0x8100, 7, 0x0800) + packet


def raw_ip(packet):
    return packet


def linux_cooked(packet):
    return bytes(14) + struct.pack(">H", 0x0800) + packet


def linux_cooked_v2(packet):
    return struct.pack(">H18x", 0x0800) + packet


def loopback(packet):
    return struct.pack("<I", 2) + packet


def with_size(packet):
    return packet if isinstance(packet, tuple) else (packet, len(packet))


def pcap(packets, link=1):
    out = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link)
    for i, (data, size) in enumerate(map(with_size, packets)):
        out += struct.pack("<IIII", 1704189600, i, len(data), size) + data
    return out


def pcapng(packets, link=1):
    def block(kind, body):
        body += bytes(-len(body) % 4)
        return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)
    out = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)) + block(1, struct.pack("<HHI", link, 0, 65535))
    for i, (data, size) in enumerate(map(with_size, packets)):
        time = 1704189600 * 10**6 + i
        out += block(6, struct.pack("<IIIII", 0, time >> 32, time & 0xFFFFFFFF, len(data), size) + data)
    return out


class Page(FolderTest):
    def test_the_commands_of_the_page_work(self):
        """Those of the first block of docs/decode.md; --follow would not end."""
        page = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "decode.md").read_text(encoding="utf-8")
        commands = [line.split("#")[0].split() for line in page.split("```sh\n")[1].split("```")[0].splitlines()]
        log = b"".join(sent_at(f"20240102-09:35:0{i}", i, _11="A1B2C3", _55="IBM") + b"\n" for i in range(1, 5))
        (self.folder / "logs").mkdir()
        for name, data in [("session.log", log), ("logs/day.log", log), ("old.log.gz", gzip.compress(log)),
                           ("trading.pcap", pcap([ethernet(tcp(Captures.CLIENT, Captures.VENUE, 1, log))]))]:
            (self.folder / name).write_bytes(data)
        ran = 0
        for program, *arguments in commands:
            self.assertEqual(program, "nfx")
            if "--follow" in arguments:
                continue
            code, out, err = run_in(self.folder, *arguments)
            if "was built without" in err:
                continue
            # The orders lack fields that --validate requires.
            self.assertEqual(code, 1 if "--validate" in arguments else 0, f"{arguments}: {err}")
            self.assertNotEqual(out + err, "", arguments)
            ran += 1
        self.assertGreaterEqual(ran, 5)


class Showing(unittest.TestCase):
    def test_groups_are_indented_by_nesting(self):
        out = decode(fix(HEADER + PARTIES + [(55, "IBM")]))
        self.assertIn("    453 NoPartyIDs               2\n"
                      "  [1]   448 PartyID                  B1\n", out)
        self.assertIn("        802 NoPartySubIDs            2\n"
                      "      [1]   523 PartySubID               s1\n"
                      "            803 PartySubIDType           1 (FIRM)\n"
                      "      [2]   523 PartySubID               s2\n", out)
        self.assertIn("\n     55 Symbol                   IBM\n", out)

    def test_entries_may_begin_with_another_member(self):
        for parties, second in [([(453, 2), (452, 1), (448, "B1"), (452, 3), (448, "B2")], "452 PartyRole"),
                                ([(453, 2), (448, "B1"), (452, 1), (452, 3), (448, "B2")], "452 PartyRole")]:
            out = decode(fix(HEADER + parties + [(55, "IBM")]))
            self.assertIn(f"  [2]   {second} ", out)
            self.assertNotIn("[3]", out)
            self.assertIn("\n     55 Symbol                   IBM\n", out)

    def test_json_nests_groups(self):
        [message] = decode_json(fix(HEADER + PARTIES + [(55, "IBM")]))
        [parties] = [f for f in message["fields"] if f["tag"] == 453]
        self.assertEqual([entry[0]["value"] for entry in parties["entries"]], ["B1", "B2"])
        [subs] = [f for f in parties["entries"][0] if f["tag"] == 802]
        self.assertEqual([[f["value"] for f in entry] for entry in subs["entries"]], [["s1", "1"], ["s2", "2"]])
        self.assertEqual([f["tag"] for f in message["fields"]][-2:], [55, 10])

    def test_secrets_are_masked_everywhere_unless_requested(self):
        fields = LOGON + [(95, 7), (96, "raw\x01sec"), (553, "user"), (554, "oldpass"), (925, "newpass"),
                          (1401, 8), (1402, "cipher77")]
        log = b"quoted 554=inprefix " + fix(fields) + b"\n" + fix([(35, "A"), (554, "oldpass")], separator="|", sum_off=1)
        broken = fix(LOGON + [(95, 70), (96, "raw\x01sec")])
        for options in [[], ["--one-line"], ["--json"]]:
            out = decode(log + b"\n" + broken, *options)
            for secret in ["raw", "sec\n", "oldpass", "newpass", "cipher77", "inprefix"]:
                self.assertNotIn(secret, out, options)
            self.assertIn("***", out)
            self.assertIn("user", out)
            self.assertRegex(out, r"RawDataLength\W+(value\W+)?7")
            shown = decode(log, "--show-secrets", *options)
            for secret in ["oldpass", "newpass", "cipher77", "raw"]:
                self.assertIn(secret, shown, options)

    def test_control_characters_never_reach_the_terminal(self):
        out = decode(b"\x1b[2J" + fix(HEADER + [(58, "\x1b[31mred\xe9\x7f"), ("\x1b", "x")]))
        self.assertNotIn("\x1b", out)
        self.assertIn("\\x1b[31mred\\xe9\\x7f", out)

    def test_json_keeps_every_byte(self):
        for seed in range(20):
            random.seed(seed)
            text = "".join(chr(random.choice([*range(2, 256), 34, 92])) for _ in range(200))
            [message] = decode_json(fix(HEADER + [(58, text)]), "--show-secrets")
            [field] = [f for f in message["fields"] if f["tag"] == 58]
            self.assertEqual(field["value"], text.encode("latin-1").decode("utf-8", "as_latin_1"), f"seed {seed}")

    def test_json_keeps_utf8_and_escapes_other_bytes(self):
        text = "caf\xc3\xa9 \"q\" \\ \xff\t\xc2\x85"
        [message] = decode_json(fix(HEADER + [(58, text)]))
        [field] = [f for f in message["fields"] if f["tag"] == 58]
        self.assertEqual(field["value"], "caf\u00e9 \"q\" \\ \u00ff\t\u0085")

    def on_a_terminal(self, *options, environment=None):
        """The first bytes printed when standard output is a terminal."""
        try:
            ours, theirs = pty.openpty()
        except OSError as error:
            self.skipTest(f"no terminal to be had: {error}")
        process = subprocess.Popen([PROGRAM, "decode", *options], stdin=subprocess.PIPE, stdout=theirs,
                                   env={**ENVIRONMENT, **(environment or {})})
        os.close(theirs)
        process.communicate(fix(LOGON), timeout=PATIENCE_S)
        out = os.read(ours, 4096)
        os.close(ours)
        return out

    def test_colour_is_used_only_when_requested_or_on_a_terminal(self):
        self.assertNotIn("\x1b", decode(fix(ORDER)))
        self.assertIn("\x1b[", decode(fix(ORDER), "--color", "always"))
        self.assertIn(b"\x1b[", self.on_a_terminal())
        self.assertNotIn(b"\x1b", self.on_a_terminal("--color", "never"))
        self.assertNotIn(b"\x1b", self.on_a_terminal(environment={"NO_COLOR": "1"}))

    def test_only_selects_by_code_or_name(self):
        log = fix(ORDER) + fix(LOGON) + fix([(35, "0"), (34, 3), (49, "C"), (56, "V"), (52, "20240102-12:00:00")])
        self.assertEqual([m["type"] for m in decode_json(log, "--only", "A,0")], ["A", "0"])
        self.assertEqual([m["type"] for m in decode_json(log, "--only", "NewOrderSingle", "--only", "0")], ["D", "0"])

    def test_only_leaves_the_file_argument_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "messages.log"
            file.write_bytes(fix(ORDER))
            code, out, _ = run("decode", "--only", "D", str(file))
        self.assertEqual(code, 0)
        self.assertIn("NewOrderSingle", out)


if __name__ == "__main__":
    unittest.main()
