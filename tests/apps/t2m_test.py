"""nfx t2m: publisher and receiver, two processes; every message arrives, its stages add up, and the books are the same."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from report_page import check
from support import PATIENCE_S, PROGRAM, expect, run


class T2m(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "run.json"

    def measure(self, *options, messages=3000):
        code, out, err = run("t2m", "run", "--rate", "5000", "--messages", str(messages), "--json", str(self.file), *options)
        self.assertEqual(code, 0, out + err)
        result = json.loads(self.file.read_text())["runs"][0]
        self.assertEqual(result["missing"], 0)
        self.assertEqual(result["anomalies"], 0)
        self.assertEqual(result["not_kept"], 0)
        return result, out

    def stage(self, result, name):
        return next(each for each in result["stages"] if each["stage"] == name)

    def test_both_feeds_give_the_same_books_on_every_run(self):
        runs = [self.measure("--feed", feed, "--names", "4")[0] for feed in ("itch", "dbn", "itch", "dbn")]
        self.assertEqual(len({each["book_hash"] for each in runs}), 1)
        other, _ = self.measure("--names", "4", "--seed", "2")
        self.assertNotEqual(other["book_hash"], runs[0]["book_hash"])

    def test_websocket_and_fix_are_measured_as_datagrams_are(self):
        for feed in ("ws", "fix"):
            hashes = []
            for names in ("1", "4", "4"):
                result, _ = self.measure("--feed", feed, "--names", names)
                hashes.append(result["book_hash"])
                for stage in ("read", "frame", "parse", "book", "model", "tick to model", "due to model"):
                    # Messages that are read together have one read between them: many on a busy machine.
                    self.assertGreaterEqual(self.stage(result, stage)["count"], 1000, f"{feed} {stage}")
                # By the kernel's clock and not ours: nothing comes before it was due.
                self.assertGreaterEqual(self.stage(result, "due to model")["P50_ns"],
                                        self.stage(result, "tick to model")["P50_ns"])
            self.assertEqual(hashes[1], hashes[2], f"{feed}: the books are not the same on every run")
            self.assertNotEqual(hashes[0], hashes[1])

    def test_any_number_of_names_that_the_feed_has(self):
        self.measure("--feed", "ws", "--names", "12")
        expect(run("t2m", "run", "--feed", "fix", "--names", "5"), code=2, err="the demonstration's venue has 4 names")

    def test_orders_leave_on_every_feed(self):
        for feed in ("dbn", "ws", "fix"):
            for mode in ("block", "spin"):
                result, _ = self.measure("--orders", "--feed", feed, "--mode", mode)
                self.assertGreater(result["orders"]["nfx_orders_sent_total.place"], 0, feed)
                self.assertEqual(result["orders"]["nfx_orders_unknown_fills_total"], 0, feed)
                self.assertGreater(self.stage(result, "tick to order")["count"], 0, feed)

    def test_the_stages_of_a_message_add_up_to_its_total(self):
        result, _ = self.measure("--load", "bursts", "--burst", "20")
        self.assertEqual(len(result["slowest"]), 100)
        for each in result["slowest"]:
            stages = sum(ns for name, ns in each["stages_ns"].items() if name != "late")
            self.assertEqual(stages, each["total_ns"])
        totals = [each["total_ns"] for each in result["slowest"]]
        self.assertEqual(totals, sorted(totals, reverse=True))
        self.assertGreaterEqual(self.stage(result, "due to model")["max_ns"], self.stage(result, "tick to model")["P50_ns"])

    def test_a_percentile_needs_enough_messages(self):
        result, out = self.measure()
        model = self.stage(result, "tick to model")
        self.assertIsNotNone(model["P99_ns"])
        self.assertIsNone(model["P99.9_ns"])
        self.assertIn("fewer than ten messages are beyond it", out)

    def test_a_slow_model_is_named_by_its_stage(self):
        result, _ = self.measure("--slow-model-every", "50")
        model, book = self.stage(result, "model"), self.stage(result, "book")
        self.assertGreaterEqual(model["P99_ns"], 50_000)
        self.assertLess(model["P50_ns"], 50_000)
        self.assertLess(book["P50_ns"], model["P99_ns"])  # other work of the host may slow one in a hundred

    def test_a_burst_waits_in_the_queue(self):
        result, _ = self.measure("--load", "bursts", "--burst", "500", messages=20_000)
        queued = self.stage(result, "queued")
        self.assertGreater(queued["max_ns"], 20 * self.stage(result, "service")["P50_ns"])

    def test_orders_take_the_same_thread_to_the_venue(self):
        result, out = self.measure("--orders")
        self.assertGreater(result["orders"]["nfx_orders_sent_total.place"], 0)
        self.assertEqual(result["orders"]["nfx_orders_unknown_fills_total"], 0)
        self.assertGreater(self.stage(result, "tick to order")["count"], 0)
        self.assertIn("orders: ", out)

    def test_the_report_opens_in_a_browser(self):
        page = self.file.with_suffix(".html")
        self.measure("--orders", "--report", str(page))
        charts = check(self, page.read_text(encoding="utf-8"))["charts"]
        self.assertEqual([chart["title"].split(",")[0] for chart in charts],
                         ["Percentiles (logarithmic)", "Where the time of a message goes", "The slowest messages"])
        # The lines to the model; those to an order need enough orders for a percentile.
        self.assertGreaterEqual(len(charts[0]["points"]), 2)
        self.assertGreater(len(charts[2]["bars"]), 30)

    def test_the_report_of_a_comparison_has_the_published_one_beside_it(self):
        page = self.file.with_suffix(".html")
        expect(run("t2m", "compare", "--runs", "1", "--messages", "2000", "--noise", "0", "--no-isolate", "--report",
                   str(page)))
        charts = check(self, page.read_text(encoding="utf-8"))["charts"]
        # All percentiles, two charts of one name and one of four, and three of each of the six runs.
        self.assertEqual(len(charts), 1 + 3 + 6 * 3)
        gains = next(chart for chart in charts if chart["title"].startswith("What is gained over not pinning"))
        self.assertLessEqual({"P75 published", "P95 pinned"}, set(gains["names"]))
        self.assertTrue(any(chart["title"].startswith("Tick to model, 4 names") for chart in charts))

    def test_the_raw_loop_of_a_comparison_receives_the_same_messages(self):
        for feed in ("itch", "dbn"):
            out, _ = expect(run("t2m", "compare", "--runs", "2", "--messages", "500", "--noise", "0", "--no-isolate",
                                "--feed", feed, "--json", str(self.file)))
            runs = json.loads(self.file.read_text())["runs"]
            raw = [each for each in runs if each["conditions"].endswith("raw recvmsg()")]
            own = [each for each in runs if each not in raw and ", 1 name, " in each["conditions"]]
            self.assertGreaterEqual(len(raw), 2)
            self.assertEqual(len(raw), len(own))
            for each in raw + own:
                self.assertEqual((each["missing"], each["anomalies"], each["not_kept"]), (0, 0, 0))
            # A datagram of ITCH may have no event, and the raw loop sees it too.
            self.assertGreaterEqual(raw[0]["messages"], own[0]["messages"])
            self.assertEqual(raw[0]["publisher"]["sent"], own[0]["publisher"]["sent"])
            self.assertEqual(len({each["messages"] for each in raw}), 1)
            self.assertIn("raw, not pinned", out)
            self.assertRegex(out, r"to the model, times the raw loop: P50 \d+\.\d\d")
        out, _ = expect(run("t2m", "compare", "--runs", "1", "--messages", "2000", "--noise", "0", "--no-isolate",
                            "--feed", "ws"))
        self.assertNotIn("raw", out)

    def test_conditions_are_compared_in_turns(self):
        code, out, err = run("t2m", "compare", "--runs", "2", "--messages", "500", "--noise", "1", "--no-isolate",
                             "--json", str(self.file))
        self.assertIn(code, (0, 1), out + err)  # a host with one CPU refuses the pinned rows
        self.assertGreaterEqual(len(json.loads(self.file.read_text())["runs"]), 4)
        self.assertIn("not pinned", out)
        self.assertIn("pinned and isolated         left out: --no-isolate", out)
        self.assertIn("P50 of the 2 runs from", out)

    def test_a_replay_has_the_books_and_the_orders_of_the_run(self):
        """NFX_T2M_RUNS=20 for more of them."""
        total = 0
        for feed in ("itch", "dbn", "ws", "fix"):
            for number in range(int(os.environ.get("NFX_T2M_RUNS", "2"))):
                recording = self.file.parent / f"{feed}-{number}"
                live, _ = self.measure("--feed", feed, "--orders", "--names", "4", "--seed", str(number + 1),
                                       "--record", str(recording), messages=2000)
                self.assertEqual(live["warnings"], [each for each in live["warnings"] if "not recorded" not in each])
                out, _ = expect(run("t2m", "replay", str(recording)))
                self.assertIn(f"orders {live['order_hash']}; books {live['book_hash']}\n", out, f"{feed} {number}")
                orders = int(re.search(r"inputs, (\d+) orders", out).group(1))
                self.assertEqual(orders, sum(count for name, count in live["orders"].items()
                                             if name.startswith("nfx_orders_sent_total")))
                total += orders
        self.assertGreater(total, 0)

    def test_what_this_machine_cannot_keep_is_refused(self):
        cpu = min(os.sched_getaffinity(0))
        for options in (("--mode", "spin"), ("--mode", "spin", "--pin")):
            refused = subprocess.run([PROGRAM, "t2m", "run", *options], capture_output=True, text=True, check=False,
                                     timeout=PATIENCE_S, preexec_fn=lambda: os.sched_setaffinity(0, {cpu}))
            self.assertEqual(refused.returncode, 2, refused.stdout + refused.stderr)
            self.assertIn("publisher and receiver, would share one CPU", refused.stderr)

    def test_wrong_usage_is_named(self):
        expect(run("t2m", "run", "--load", "recorded"), code=2, err="--recording")
        expect(run("t2m", "run", "--feed", "pigeon"), code=2)


if __name__ == "__main__":
    unittest.main()
