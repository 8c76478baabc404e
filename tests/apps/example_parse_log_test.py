"""examples/parse_log.cpp: names, counts, and the places of what is wrong."""
import subprocess
import unittest

from examples_support import BUILT, EXAMPLES, ExampleTest
from support import ENVIRONMENT, HEADER, ORDER, PATIENCE_S, expect, fix


class ParseLog(ExampleTest):
    def run_on(self, *lines, dictionary=()):
        log = self.folder / "session.log"
        log.write_bytes(b"\n".join(lines) + b"\n")
        return self.run_program(log, *dictionary)

    @staticmethod
    def run_program(*arguments):
        done = subprocess.run([BUILT / "parse_log", *arguments], capture_output=True, text=True, timeout=PATIENCE_S,
                              env=ENVIRONMENT, check=False)
        return done.returncode, done.stdout, done.stderr

    def test_fields_have_names_and_messages_are_counted(self):
        heartbeat = fix([(35, 0), *HEADER[1:]], separator="|")
        code, out, err = self.run_on(fix(ORDER), b"started", b"20240102-12:00:00.1 in " + heartbeat, fix(ORDER) + b"  # note")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("line 1: NewOrderSingle\n  BeginString(8) = FIX.4.4 \n", out)
        self.assertIn("  Side(54) = 1 BUY\n", out)
        self.assertIn("line 3: Heartbeat\n", out)
        self.assertTrue(out.endswith("1 Heartbeat\n2 NewOrderSingle\n0 lines are wrong\n"), out)

    def test_a_line_that_is_no_message_is_reported_with_its_place(self):
        good = fix(ORDER)
        before = b"12:00 "
        for line, text in ((fix(ORDER, sum_off=1), "CheckSum is not the sum of the bytes"),
                           (fix(ORDER, length_off=1), "BodyLength does not lead to CheckSum"),
                           (before + good.replace(b"\x0155=", b"\x015x="), "a tag is not a number"),
                           (b"8=FIX.4.4", ""), (before + b"8=FIX", "")):
            with self.subTest(text):
                out, _ = expect(self.run_on(good, line), code=1)
                self.assertRegex(out, rf"(?m)^line 2, column \d+: .*{text}$")
                self.assertTrue(out.endswith("1 NewOrderSingle\n1 lines are wrong\n"), out)
                if "tag" in text:
                    self.assertIn(f"column {line.index(b'5x=') + 1}:", out)

    def test_what_the_dictionary_does_not_allow_is_reported_with_its_field(self):
        expect(self.run_on(fix([*HEADER, (54, "X"), (40, 1), (11, "a"), (55, "A"), (38, 1)])), code=1,
               out=["  wrong: Side(54), ", "  wrong: TransactTime(60), ", "1 lines are wrong\n"])

    def test_with_another_dictionary(self):
        line = fix([(35, "U1"), *HEADER[1:], (9002, 1)])
        expect(self.run_on(line, dictionary=[EXAMPLES / "custom_dictionary/venue.xml"]),
               out=["line 1: PauseRequest\n", "  PauseAction(9002) = 1 PAUSE\n"])
        expect(self.run_on(line), code=1, out="1 unknown\n")

    def test_wrong_arguments_are_one_line_and_2(self):
        for arguments, text in (([], "usage: parse_log LOG [DICTIONARY]"), (["missing.log"], "cannot open missing.log"),
                                (["/dev/null", "missing.xml"], "missing.xml")):
            expect(self.run_program(*arguments), code=2, out="", err=text, err_lines=1)


if __name__ == "__main__":
    unittest.main()
