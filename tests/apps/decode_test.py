"""nfx decode on logs as engines write them, and as they should not."""
import codecs
import gzip
import json
import os
import pathlib
import pty
import random
import subprocess
import shutil
import tempfile
import unittest
import zipfile

from support import ENVIRONMENT, HEADER, ORDER, PATIENCE_S, PROGRAM, FolderTest, expect, fix, run

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
        self.check([4], "--from", "2024-01-02T00:00:00", "--from", "10:00")

    def test_texts_are_found_in_messages_and_before_them(self):
        self.check([1], "--text", "first")
        self.check([2], "--text", "quote")
        self.check([1], "--text", "54=1|58=f")
        self.check([], "--text", "first", "--text", "quote")

    def test_values_that_cannot_be_read_are_wrong_usage(self):
        for options, part in [(("--from", "noon"), "noon is not a time"), (("--tag", "NoSuchField=1"), "no field is named"),
                              (("--session", "->V"), "expected SENDER")]:
            expect(run("decode", *options, data=self.LOG), code=2, out="", err=part)


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

    def test_summary_counts_by_type(self):
        out = decode(fix(ORDER) * 3 + fix(LOGON, sum_off=1), "--summary")
        self.assertEqual(out, "         1  A  Logon\n         3  D  NewOrderSingle\n4 messages, 1 bad\n")


if __name__ == "__main__":
    unittest.main()
