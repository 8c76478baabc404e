"""tutorials.py notices a page that is not true."""
import argparse
import contextlib
import io
import pathlib
import tempfile
import unittest

import tutorials

SERVER = ("Start it and leave it running:\n```sh\npython3 -c 'import signal, sys; signal.signal(signal.SIGINT, lambda *_: (print(\"bye\"), "
          "sys.exit(0))); print(\"ready\", flush=True); signal.pause()'\n```\n```text\nready\n```\n")


class Tutorials(unittest.TestCase):
    def follow(self, text):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            root = pathlib.Path(folder)
            (root / "nexusfix-engine.pc").touch()
            page = root / "tutorial-test.md"
            page.write_text(text, encoding="utf-8")
            return tutorials.follow(page, argparse.Namespace(prefix=root, compiler="sh"))

    def refuses(self, text, reason):
        with self.assertRaisesRegex(tutorials.Failed, reason):
            self.follow(text)

    def test_output_may_differ_in_times_and_dots_alone(self):
        block = "```sh\necho 20261130-07:02:51.400 order 5 of 7\n```\n```text\n{}\n```\n"
        self.assertEqual(self.follow(block.format("20240102-10:00:00.123 order ... of 7")), 0)
        self.refuses(block.format("20240102-10:00:00.123 order 6 of 7"), "did not print")

    def test_each_shown_line_is_printed_once_for_each_time(self):
        self.refuses("```sh\necho a\n```\n```text\na\na\n```\n", "did not print")

    def test_exit_code_is_that_of_the_page(self):
        self.refuses("```sh\nexit 3\n```\n", "exit code 3, not 0")
        self.assertEqual(self.follow("It ends with exit code 3:\n```sh\ntrue\nexit 3\n```\n"), 0)

    def test_file_is_written_and_its_port_replaced(self):
        page = ("Write `a.toml`:\n```toml\nlisten = \"127.0.0.1:9878\"\n```\n"
                "```sh\ngrep -c 127.0.0.1:9878 a.toml\n! grep 127.0.0.1:98''78 a.toml\n```\n")
        self.assertEqual(self.follow(page), 0)

    def test_program_without_a_name_is_part_of_an_example(self):
        self.refuses("It has:\n```cpp\nint never_in_an_example;\n```\n", "not in an example")

    def test_command_that_goes_on_is_ended_by_the_page(self):
        self.assertEqual(self.follow(SERVER + "\nPress Ctrl-C in the first terminal:\n```text\nbye\n```\n"), 0)
        self.refuses(SERVER, "ends without ending")
        self.refuses(SERVER + "```sh\ntrue\n```\n", "still runs in the first terminal")
        self.assertEqual(self.follow(SERVER + "\nIn the second terminal:\n```sh\ntrue\n```\nPress Ctrl-C in the first terminal.\n"), 0)


if __name__ == "__main__":
    unittest.main()
