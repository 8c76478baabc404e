"""examples/drop_copy.py: a copy of a stream as files, each record once and in order, across takeovers and kills of the
copy itself. NFX_COPY_PYTHON names a Python with nats-py; NFX_COPY_MESSAGES is how many messages there are."""
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

from cluster_support import SKIPPED, Up, test_with_cluster
from support import PATIENCE_S, run

PYTHON = os.environ.get("NFX_COPY_PYTHON", sys.executable)
COPY = str(pathlib.Path(os.environ["NFX_EXAMPLES"], "drop_copy.py"))
WRITER = os.environ["NFX_CLUSTER_WRITER"]
MESSAGES, TAKEOVERS = int(os.environ.get("NFX_COPY_MESSAGES", "100000")), 5
LONG_S = 600
READ_PARQUET = """
import json, pathlib, sys, pyarrow.parquet
for part in sorted(pathlib.Path(sys.argv[1]).glob("*.parquet")):
    table = pyarrow.parquet.read_table(part)
    at = table.schema.get_field_index("stored_ns")
    for row in table.set_column(at, "stored_ns", table["stored_ns"].cast("int64")).to_pylist():
        print(json.dumps(row))
"""


def has(module):
    return subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0


class Copy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.up = Up()
        cls.addClassCleanup(cls.up.stop)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)

    @classmethod
    def writer(cls, session, messages, takeovers):
        return subprocess.Popen([WRITER, cls.up.settings["url"], cls.up.settings["ca"], cls.up.folder / "gateway.creds",
                                 "NEXUSFIX", session, str(messages), str(takeovers)], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def copier(self, output, *options):
        return subprocess.Popen([PYTHON, "-B", COPY, *self.up.options("reader"), "--output", str(self.folder / output), *options],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def finish(self, process):
        try:
            out, err = process.communicate(timeout=LONG_S)
        finally:
            process.kill()
        self.assertEqual(process.returncode, 0, err)
        return out

    def rows(self, output):
        for part in sorted((self.folder / output).glob("*.csv")):
            with part.open(newline="", encoding="utf-8") as file:
                for row in csv.DictReader(file):
                    yield {**row, **{name: int(row[name]) for name in
                                     ("sequence", "frame", "record", "epoch", "number", "stored_ns")}}

    def check_order(self, rows, session, messages, takeovers):
        """Compares with the numbers of the writer, one row at a time."""
        count, before = 0, (0, 0)
        epochs = set()
        for row in rows:
            if row["session"] != session:
                continue
            count += 1
            self.assertEqual((row["number"], row["direction"], row["kind"]), (count, "out", "message"))
            self.assertIn(f"|11={count}|", row["message"])
            self.assertNotIn("hunter2", row["message"])
            self.assertNotIn("ter|", row["message"])
            self.assertEqual("554=***|95=7|96=***|" in row["message"], count % 1000 == 1)
            self.assertGreater((row["frame"], row["record"]), before)
            before = (row["frame"], row["record"])
            self.assertEqual(row["gateway"], f"{row['epoch']:016x}")
            epochs.add(row["epoch"])
        self.assertEqual(count, messages)
        self.assertEqual(epochs, set(range(1, takeovers + 2)))

    def test_each_record_is_copied_once_in_order_across_takeovers_and_kills_of_the_copy(self):
        begin = time.monotonic()
        writer = self.writer("DESK", MESSAGES, TAKEOVERS)
        # Killed at several moments, each time with parts that are finished and one that is not.
        for parts in (1, 3):
            copier = self.copier("copy", "--format", "csv", "--rows", str(MESSAGES // 20))
            end = time.monotonic() + LONG_S
            while len(list((self.folder / "copy").glob("*.csv"))) < parts:
                self.assertIsNone(copier.poll(), "the copy has ended")
                self.assertLess(time.monotonic(), end)
                time.sleep(0.01)
            copier.kill()
            copier.communicate()
        self.finish(writer)
        written = time.monotonic() - begin
        self.finish(self.copier("copy", "--format", "csv", "--rows", str(MESSAGES // 20), "--once"))
        self.check_order(self.rows("copy"), "DESK", MESSAGES, TAKEOVERS)
        begin = time.monotonic()
        self.finish(self.copier("again", "--format", "csv", "--session", "DESK", "--once"))
        copied = time.monotonic() - begin
        self.check_order(self.rows("again"), "DESK", MESSAGES, TAKEOVERS)
        print(f"{MESSAGES} messages, {TAKEOVERS} takeovers: written and copied in {written:.1f} s, copied again in "
              f"{copied:.1f} s, each once and in order")
        # Nothing is left to copy.
        before = sorted(path.name for path in (self.folder / "copy").iterdir())
        self.finish(self.copier("copy", "--format", "csv", "--once"))
        self.assertEqual(sorted(path.name for path in (self.folder / "copy").iterdir()), before)
        state = json.loads((self.folder / "copy" / "state.json").read_text(encoding="utf-8"))
        self.assertEqual(list(state["sessions"]), ["DESK"])

    def test_parquet_has_the_lines_of_tail(self):
        if not has("pyarrow"):
            self.skipTest("pyarrow is missing")
        self.finish(self.writer("SMALL", 2500, 2))
        self.finish(self.copier("small", "--session", "SMALL", "--once", "--rows", "700"))
        self.assertGreater(len(list((self.folder / "small").glob("*.parquet"))), 1)
        read = subprocess.run([PYTHON, "-c", READ_PARQUET, str(self.folder / "small")], check=True, capture_output=True,
                              text=True, timeout=PATIENCE_S)
        rows = [json.loads(line) for line in read.stdout.splitlines()]
        _, out, _ = run("cluster", "tail", *self.up.options("reader"), "--session", "SMALL", "--json")
        lines = [line for line in map(json.loads, out.splitlines()) if line["kind"] == "message"]
        for name in ("sequence", "frame", "record", "epoch", "gateway", "direction", "number", "message"):
            self.assertEqual([row[name] for row in rows], [line[name] for line in lines], name)
        self.assertEqual([f"{row['stored_ns'] % 10**9:09d}" for row in rows],
                         [line["stored"].rpartition(".")[2] for line in lines])

    def test_another_session_in_the_same_folder_is_refused(self):
        pathlib.Path(self.folder, "other").mkdir()
        pathlib.Path(self.folder, "other", "state.json").write_text(
            '{"last": 7, "sessions": {}, "prefix": "NEXUSFIX.s.", "chosen": "A"}', encoding="utf-8")
        copier = self.copier("other", "--session", "B", "--format", "csv")
        _, err = copier.communicate(timeout=PATIENCE_S)
        self.assertEqual(copier.returncode, 1)
        self.assertIn("has a copy of other sessions; choose another folder", err)


if __name__ == "__main__":
    if not has("nats, nkeys"):
        print(f"SKIPPED: nats-py and nkeys are missing in {PYTHON} (pip install nats-py nkeys)")
        sys.exit(SKIPPED)
    test_with_cluster()
