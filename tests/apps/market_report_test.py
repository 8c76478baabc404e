"""The report of nfx market stats, as a browser shows it. Without chromium this says so and is skipped."""
import pathlib
import sys
import tempfile
import unittest

from market_support import SNAPSHOT, metadata, record
from report_page import BROWSER, check
from support import expect, run

SECOND = 1_000_000_000


def day():
    """Two minutes of two instruments, with a burst in the second one, and a snapshot long before."""
    base = 1_703_462_400 * SECOND
    rows = [record("A", "B", 1, 99 * SECOND, 5, time=base - 3600 * SECOND, flags=SNAPSHOT)]
    for at in range(120):
        time = base + at * SECOND
        price = 100 * SECOND + at % 17 * 250_000_000
        rows.append(record("A", "B", 1000 + at, price, 5, time=time))
        rows.append(record("A", "A", 2000 + at, price + (1 + at % 3) * 250_000_000, 5, time=time + 1000))
        rows.append(record("T", "B", 0, price, 1 + at % 5, time=time + 2000, instrument=7 + at % 2))
        rows.append(record("C", "B", 1000 + at, price, 5, time=time + SECOND // 2))
        rows.append(record("C", "A", 2000 + at, price + (1 + at % 3) * 250_000_000, 5, time=time + SECOND // 2))
        if at == 60:
            rows += [record("N", "N", 0, price, 0, time=time + SECOND // 2 + each) for each in range(500)]
    return metadata(2, (("ES</script><b>&\"", 7), ("NQH4", 8))) + b"".join(rows)


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.file = pathlib.Path(folder.name) / "day <1> & </script>.dbn".replace("/", "|")
        cls.file.write_bytes(day())
        page = pathlib.Path(folder.name) / "report.html"
        status, out, err = run("market", "stats", str(cls.file), "--report", str(page))
        assert (status, err) == (0, ""), err
        assert "by kind" in out, "the report comes on top of the text"
        cls.html = page.read_text(encoding="utf-8")

    def test_a_browser_draws_all_charts(self):
        charts = check(self, self.html)["charts"]
        self.assertEqual([chart["title"] for chart in charts],
                         ["Messages a second, in stretches of 1 s (logarithmic)", "Messages by kind", "Time between messages",
                          "7 ES</script><b>&\": prices traded", "7 ES</script><b>&\": quantity traded, in stretches of 1 s",
                          "7 ES</script><b>&\": spread", "8 NQH4: prices traded", "8 NQH4: quantity traded, in stretches of 1 s"])
        # The first and the second line, and the text.
        self.assertLessEqual({"9,105,218", "188,76,0"}, set(charts[0]["colours"]))
        self.assertIn("27,31,36", charts[1]["colours"])

    def test_the_tables_have_the_bursts_and_the_gaps(self):
        text = check(self, self.html)["text"]
        for expected in ("1,101\tmessages", "2\tinstruments", "505\t505\t1 s\t2023-12-25T00:01:00.000000000Z", "502\t502,000\t1 ms",
                         "500,000 us"):
            self.assertIn(expected, text)

    def test_names_are_text(self):
        self.assertIn("<h1>Market data of ", self.html)
        self.assertIn("day &lt;1> &amp; &lt;|script>.dbn</h1>", self.html)
        self.assertNotIn("</script><b>", self.html)

    def test_another_form_is_refused(self):
        expect(run("market", "stats", str(self.file), "--report", "report.svg"), code=2, err="ends in .html")


if __name__ == "__main__":
    if BROWSER is None:
        print("skipped: chromium is missing (./dev deps reports installs it)")
        sys.exit(77)
    unittest.main()
