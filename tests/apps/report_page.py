"""A report of nfx as a browser shows it, without a display: its charts, what they cover, and its text."""
import html
import json
import pathlib
import re
import shutil
import subprocess
import tempfile

from support import PATIENCE_S

BROWSER = next((found for found in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if found), None)

# What the page's library knows of each chart, and what is on its canvas.
EXAMINE = """<script>
const charts = Object.values((window.Chart || {}).instances || {}).map(chart => {
  const {canvas, chartArea, legend} = chart, colours = new Set();
  const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  for (let i = 0; i < pixels.length; i += 4) if (pixels[i + 3] === 255) colours.add(pixels.slice(i, i + 3).join());
  const sizes = chart.config.type !== 'bar' ? [] : chart.data.datasets.flatMap((set, i) => chart.getDatasetMeta(i).data.map(
      (bar, k) => ({value: set.data[k], colour: [set.backgroundColor].flat()[k], length: Math.abs(bar.x - bar.base) || 0})));
  return {title: canvas.closest('figure').querySelector('figcaption').textContent, width: canvas.clientWidth,
          height: canvas.clientHeight, names: chart.data.labels, colours: [...colours], bars: sizes,
          stacked: !!chart.options.scales.x.stacked, points: chart.data.datasets.map(set => set.data.length),
          covered: legend.options.display && legend.legendItems.length > 0 && legend.top < chartArea.bottom};
});
document.title = JSON.stringify({charts, text: document.querySelector('main').innerText,
                                 scripts: document.scripts.length, loaded: performance.getEntriesByType('resource').length});
</script>"""


def examine(content):
    """The charts and the text of this page. None without a browser."""
    if BROWSER is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "page.html"
        page.write_text(content + EXAMINE, encoding="utf-8")
        shown = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
                                "--disable-background-networking", f"--user-data-dir={folder}/profile",
                                "--virtual-time-budget=1000", "--enable-logging=stderr", "--dump-dom", page.as_uri()],
                               capture_output=True, timeout=PATIENCE_S, check=True)
    complaints = [line for line in shown.stderr.decode("utf-8").splitlines() if "CONSOLE" in line]
    assert not complaints, complaints
    found = re.search(r"<title>(\{.*?\})</title>", shown.stdout.decode("utf-8"), re.S).group(1)
    return json.loads(html.unescape(found))


def check(test, content):
    """The page as examined, after what holds for each report; skips the rest of a test without a browser."""
    test.assertTrue(content.startswith("<!DOCTYPE html>") and content.endswith("</html>\n"))
    test.assertNotRegex(content, r"src=|@import|href=")
    found = examine(content)
    if found is None:
        test.skipTest("there is no chromium (./dev deps reports)")
    test.assertEqual(found["loaded"], 0)
    test.assertEqual(found["scripts"], 4, "the page's three and that of the test")
    for chart in found["charts"]:
        test.assertFalse(chart["covered"], chart["title"])
        test.assertGreater(chart["width"], 500, chart["title"])
        test.assertGreater(chart["height"], 60, chart["title"])
        for bar in chart["bars"]:
            test.assertTrue(chart["stacked"] or not bar["value"] or bar["length"] >= 1, (chart["title"], bar))
    if not found["charts"]:
        test.assertIn("libjs-chart.js", found["text"])
        test.skipTest("nfx was built without the package libjs-chart.js")
    return found
