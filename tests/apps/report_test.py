"""The page of reports, with made-up data: names that others chose, values that span decades, losses, and nothing at all."""
import json
import pathlib
import unittest

from report_page import check

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "apps/nfx/report/report.html"
LIBRARY = next((file for name in ("chart.min.js", "Chart.min.js") for folder in ("/usr", "/usr/local")
                if (file := pathlib.Path(folder) / "share/javascript/chart.js" / name).exists()), None)
EVIL = "</script><script>alert(1)</script><b onload='x'>\u202e"


def page(kind, data):
    """As report_page() fills it in; tests of the commands have its own."""
    text = SOURCE.read_text(encoding="utf-8").replace("@TITLE@", "a report").replace("@KIND@", kind)
    text = text.replace("@DATA@", json.dumps(data).replace("<", "\\u003c"))
    return text.replace("@CHARTS@", LIBRARY.read_text(encoding="utf-8") if LIBRARY else "")


def noise(**changes):
    over = {"1us": 3, "10us": 1}
    cpu = {"cpu": 1, "p50_us": 0.5, "p90_us": 1, "p99_us": 2, "p99.9_us": 3, "max_us": 8000, "lost_percent": 0.1, "stalls_over": over,
           "hops": 0, "involuntary_switches": 1, "voluntary_switches": 0, "worst_us_by_s": [[0, 2], [1, 0], [2, 8000]],
           "worst_us_by_rarity": [[1, 0.5], [3, 8000]],
           "causes": [{"kind": "task", "name": EVIL, "stalls": 2, "total_us": 8000, "worst_us": 7999},
                      {"kind": "timer", "name": "", "stalls": 1, "total_us": 2, "worst_us": 2}]}
    report = {"kernel": EVIL, "clock": "TSC", "seconds": 1, "pinned": True, "fifo_priority": 0, "interrupted": False,
              "attribution": {"done": True}, "notes": [EVIL], "cpus": [cpu, {"cpu": 2, "error": EVIL}],
              "longest_stalls": [{"at_s": 0.5, "us": 8000, "cpu": 1, "cause": {"kind": "task", "name": EVIL}}]}
    return {**report, **changes}


def stage(name, p50, **changes):
    figures = {f"{p}_ns": p50 * (i + 1) for i, p in enumerate(("P50", "P75", "P90", "P95", "P99", "P99.9"))}
    return {"stage": name, "count": 1000, "mean_ns": p50, "max_ns": p50 * 10, **figures, **changes}


def run(names, pin, isolate, p50):
    stages = [stage("queued", 10), stage("model", p50), stage("tick to model", p50), stage("due to model", p50 + 10, **{"P99.9_ns": None})]
    host = {"waited_ns": 5000, "involuntary_switches": 1, "migrations": 0, "steal_ms": 0, "timer_interrupts": 0,
            "device_interrupts": 0, "other_interrupts": 0}
    times = {name: 100 for name in ("queued", "poll", "read", "parse", "book", "model", "encode", "send")}
    return {"conditions": f"itch, {names}", "names": names, "where": "core 1", "pin": pin, "isolate": isolate, "noise": 0, "raw": False,
            "messages": 1000, "publisher": {"late_p99_ns": 100}, "warnings": [EVIL], "stages": stages,
            "slowest": [{"number": 7, "total_ns": 800, "stages_ns": times, "host": host}]}


class Page(unittest.TestCase):
    def test_names_that_others_chose_are_text_and_reorder_nothing(self):
        found = check(self, page("noise", noise()))
        self.assertIn("<script>alert(1)</script><b onload='x'>\\u{202e}", found["text"])
        self.assertNotIn("\u202e", found["text"])
        self.assertIn("task </script>", found["charts"][2]["names"][0])

    def test_values_that_span_decades_have_lengths_that_are_seen_and_the_title_says_so(self):
        chart = check(self, page("noise", noise()))["charts"][2]
        self.assertIn("(logarithmic)", chart["title"])
        large, small = chart["bars"]
        self.assertGreater(small["length"], 50)
        self.assertGreater(large["length"], small["length"] * 1.2)

    def test_a_loss_has_a_length_and_a_colour_of_its_own(self):
        runs = [run(1, False, False, 2000), run(1, True, False, 9_000_000), run(1, True, True, 1500)]
        charts = check(self, page("t2m", {"runs": runs}))["charts"]
        gains = next(chart for chart in charts if chart["title"].startswith("What is gained"))
        self.assertIn("losses in red", gains["title"])
        lengths = dict(zip(gains["names"], gains["bars"]))
        self.assertGreater(lengths["P50 pinned"]["length"], lengths["P50 published"]["length"])
        self.assertNotEqual(lengths["P50 pinned"]["colour"], lengths["P50 pinned and isolated"]["colour"])
        self.assertEqual(lengths["P90 published"]["length"], 0, "what is not stated has no bar")

    def test_a_run_has_percentiles_its_mean_and_its_slowest_messages(self):
        found = check(self, page("t2m", {"runs": [run(4, False, False, 2000)]}))
        self.assertEqual([len(chart["points"]) for chart in found["charts"]], [2, 8, 8])
        self.assertEqual(found["charts"][0]["points"], [6, 5], "a percentile that is not known has no point")

    def test_nothing_measured_is_a_page_too(self):
        found = check(self, page("noise", noise(cpus=[], longest_stalls=[], attribution={"done": False, "why_not": "no tracefs"})))
        self.assertIn("no tracefs", found["text"])
        empty = {"intervals": 0, "intervals_per_point": 1, "seconds": 0, "begin_utc": "", "end_utc": "", "alerts": 0, "alert_kinds": [],
                 "times_s": [], "cpus": [{"cpu": 0, "role": "other", "interrupts": [], "involuntary": [], "steal": []}]}
        self.assertIn("Nothing was off the plan", check(self, page("watch", empty))["text"])

    def test_prices_of_any_size_are_drawn(self):
        for price in (9.2e9, 1e17, 1e300, -1e17):
            times = {"begin_s": 0, "width_s": 1, "messages": [1, 2], "most": [1, 2], "gaps": [0] * 12}
            curves = {"high": [price, price * (1 + 2**-52)], "low": [price, None], "traded": [0, 1], "widest": [None, None], "mean": [None, None]}
            day = {"first": "00:00:00", "last": "00:00:01", "format": EVIL, "messages": 3, "events": 3, "snapshot": 0, "recovering": 0,
                   "backwards": 0, "unfit": 0, "orders_most": 0, "kinds": {"add": 3}, "bursts": {"1 s": [{"time": "00:00:00", "messages": 2}]},
                   "gaps": [], "all_instruments": 1, "series": times,
                   "instruments": {"7": {"symbol": EVIL, "messages": 3, "trades": 0, "traded_size": 0, "crossed": 0, "series": curves}}}
            self.assertEqual(len(check(self, page("market", day))["charts"]), 4)


if __name__ == "__main__":
    unittest.main()
