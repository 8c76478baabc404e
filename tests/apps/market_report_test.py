"""The report of nfx market stats, as a browser shows it: chromium without a display draws every plot inside of its frame.
Without chromium this says so and is skipped."""
import html
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

from market_support import SNAPSHOT, metadata, record
from support import PATIENCE_S, run

SECOND = 1_000_000_000
BROWSER = next((found for found in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if found), None)

# What a browser knows of each chart: its frame, and what is drawn beyond it.
EXAMINE = """<script>
const charts = [...document.querySelectorAll('svg')].filter(svg => !svg.querySelector('svg')).map(svg => {
  const frame = svg.getBoundingClientRect();
  const inside = box => box.left >= frame.left - 1 && box.right <= frame.right + 1 && box.top >= frame.top - 1 &&
                        box.bottom <= frame.bottom + 1;
  const drawn = [...svg.querySelectorAll('text,path,rect,line')];
  return {title: svg.querySelector('.title').textContent, width: frame.width, height: frame.height,
          texts: svg.querySelectorAll('text').length, lines: svg.querySelectorAll('path').length,
          bars: svg.querySelectorAll('rect').length,
          beyond: drawn.filter(each => !inside(each.getBoundingClientRect())).map(each => each.outerHTML)};
});
document.title = JSON.stringify({charts, loaded: performance.getEntriesByType('resource').map(each => each.name)});
</script>"""


def browse(*arguments):
    with tempfile.TemporaryDirectory() as profile:
        return subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
                               "--disable-background-networking", f"--user-data-dir={profile}",
                               "--virtual-time-budget=1000", *arguments],
                              capture_output=True, timeout=PATIENCE_S, check=True).stdout.decode("utf-8")


def examine(content):
    """The charts of this page, as JSON that a script in it makes."""
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "page.html"
        page.write_text(content + EXAMINE, encoding="utf-8")
        shown = browse("--dump-dom", page.as_uri())
    return json.loads(html.unescape(re.search(r"<title>(\{.*?\})</title>", shown, re.S).group(1)))


def pixels(png):
    """How often each colour is in a picture, as (red, green, blue)."""
    at, size, data = 8, None, b""
    while at < len(png):
        length, kind = struct.unpack_from(">I4s", png, at)
        if kind == b"IHDR":
            width, height, depth, colour, *_, interlaced = struct.unpack_from(">IIBBBBB", png, at + 8)
            assert (depth, interlaced) == (8, 0)
            size = {2: 3, 6: 4}[colour]
        elif kind == b"IDAT":
            data += png[at + 8:at + 8 + length]
        at += 12 + length
    data, counts, row = zlib.decompress(data), {}, bytearray(width * size)
    for y in range(height):
        begin = y * (width * size + 1)
        how, line = data[begin], bytearray(data[begin + 1:begin + 1 + width * size])
        for i in range(len(line)):
            left = line[i - size] if i >= size else 0
            up, corner = row[i], row[i - size] if i >= size else 0
            near = left + up - corner
            best = min((abs(near - left), 0, left), (abs(near - up), 1, up), (abs(near - corner), 2, corner))[2]
            line[i] = line[i] + (0, left, up, (left + up) // 2, best)[how] & 255
        row = line
        for i in range(0, len(line), size):
            colour = tuple(line[i:i + 3])
            counts[colour] = counts.get(colour, 0) + 1
    return counts


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
    return metadata(2, (("ES<b>&\"", 7), ("NQH4", 8))) + b"".join(rows)


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.file = cls.folder / "day <1>.dbn"
        cls.file.write_bytes(day())
        for name in ("report.html", "report.svg"):
            status, out, err = run("market", "stats", str(cls.file), "--report", str(cls.folder / name))
            assert (status, err) == (0, ""), err
            assert "by kind" in out, "the report comes on top of the text"
        cls.html = (cls.folder / "report.html").read_text(encoding="utf-8")
        cls.svg = (cls.folder / "report.svg").read_text(encoding="utf-8")

    TITLES = ["Messages a second, in stretches of 1 s (logarithmic)", "Messages by kind", "Time between messages",
              "7 ES<b>&\": prices traded", "7 ES<b>&\": quantity traded, in stretches of 1 s", "7 ES<b>&\": spread",
              "8 NQH4: prices traded", "8 NQH4: quantity traded, in stretches of 1 s"]

    def check(self, found):
        self.assertEqual([chart["title"] for chart in found["charts"]], self.TITLES)
        for chart in found["charts"]:
            self.assertEqual(chart["beyond"], [], chart["title"])
            self.assertGreater(chart["width"], 500)
            self.assertGreater(chart["height"], 80)
            self.assertGreater(chart["lines"] + chart["bars"], 1, chart["title"])
        self.assertEqual(found["loaded"], [])

    def test_a_browser_draws_all_plots_of_the_page_within_their_frames(self):
        self.check(examine(self.html))

    def test_a_browser_draws_the_plots_of_the_svg_one_below_the_other(self):
        self.check(examine("<!DOCTYPE html><title>-</title>" + self.svg))

    def test_the_picture_has_the_lines_in_their_colours(self):
        colours = ((0x09, 0x69, 0xda), (0xbc, 0x4c, 0x00))  # of the first and the second line
        for name in ("report.html", "report.svg"):
            picture = self.folder / (name + ".png")
            for _ in range(10):  # on a busy machine the browser may draw coarsely at first, and that is what it stores
                browse("--window-size=1000,900", f"--screenshot={picture}", (self.folder / name).as_uri())
                counts = pixels(picture.read_bytes())
                white = counts[(255, 255, 255)] / sum(counts.values())
                found = [counts.get(colour, 0) for colour in colours]
                if min(found) > 30 and 0.5 < white < 0.98:
                    break
            else:
                self.fail(f"{name}: {found} pixels of {colours}, {white} of all are white")

    def test_the_tables_have_the_bursts_and_the_gaps(self):
        for expected in ("<td>1,101</td><td class=\"l\">messages</td>", "<td>2</td><td class=\"l\">instruments</td>",
                         "<td>505</td><td>505</td><td class=\"l\">1 s</td><td class=\"l\">2023-12-25T00:01:00.000000000Z</td>",
                         "<td>502</td><td>502,000</td><td class=\"l\">1 ms</td>", "<td>500000 us</td>"):
            self.assertTrue(expected in self.html, expected)
        self.assertFalse("<b>" in self.html, "a name is text")


if __name__ == "__main__":
    if BROWSER is None:
        print("skipped: chromium is missing (./dev deps reports installs it)")
        sys.exit(77)
    unittest.main()
