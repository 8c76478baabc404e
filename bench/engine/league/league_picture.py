"""Draws the league as one picture: a line for each row, on it a point for each engine, how many times NexusFIX's figure it is."""

import html
import math

WIDTH, LINE, TOP, LEFT, RIGHT = 860, 50, 64, 300, 40
COLOURS = ("--one", "--two", "--three", "--four", "--five", "--six", "--seven", "--eight")
STYLE = """<style>
:root{color-scheme:light dark;--back:#fff;--text:#1b1f24;--soft:#57606a;--line:#d0d7de;--ours:#0969da;
--one:#cf222e;--two:#bf8700;--three:#1a7f37;--four:#8250df;--five:#57606a;--six:#bc4c00;
--seven:#bf3989;--eight:#116329}
@media(prefers-color-scheme:dark){:root{--back:#0d1117;--text:#e6edf3;--soft:#9198a1;--line:#30363d;--ours:#58a6ff;
--one:#ff7b72;--two:#d29922;--three:#3fb950;--four:#bc8cff;--five:#9198a1;--six:#f0883e;
--seven:#f778ba;--eight:#7ee787}}
text{font:12px system-ui,sans-serif;fill:var(--text)}.small{font-size:11px;fill:var(--soft)}.title{font-size:14px;font-weight:600}
.back{fill:var(--back)}.grid{stroke:var(--line)}.one{stroke:var(--ours);stroke-width:1.5}
</style>"""


def main_of(figures):
    return figures["value"] if "value" in figures else figures["p50"]


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def draw(result):
    rows = [row for row in result["rows"] if "NexusFIX" in row["engines"] and len(row["engines"]) > 1]
    names = [name for name in dict.fromkeys(name for row in rows for name in row["engines"]) if name != "NexusFIX"]
    colours = {name: f"var({COLOURS[i % len(COLOURS)]})" for i, name in enumerate(names)}

    def cost(row, name):
        """How many times the cost of NexusFIX: more is worse in each row."""
        ratio = main_of(row["engines"][name]["figures"]) / main_of(row["engines"]["NexusFIX"]["figures"])
        return 1 / ratio if row["more_is_better"] else ratio

    ratios = [cost(row, name) for row in rows for name in row["engines"]] or [1]
    low = min(-0.15, math.floor(10 * math.log10(min(ratios))) / 10 - 0.1)
    high = max(1, math.ceil(10 * math.log10(max(ratios))) / 10 + 0.1)
    height = TOP + LINE * len(rows) + 62

    def x(ratio):
        return LEFT + (WIDTH - LEFT - RIGHT) * (math.log10(ratio) - low) / (high - low)

    bottom = TOP + LINE * len(rows)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>FIX engines: time or memory as a multiple of NexusFIX's</title>{STYLE}",
        f'<rect class="back" width="{WIDTH}" height="{height}"/>',
        '<text class="title" x="16" y="24">Time or memory as a multiple of NexusFIX\'s; to the right is worse (logarithmic)</text>',
    ]
    for exponent in range(math.floor(low), math.ceil(high) + 1):
        for step in (1, 2, 5) if high - low < 3 else (1,):
            ratio = step * 10.0**exponent
            if not low <= math.log10(ratio) <= high:
                continue
            parts.append(f'<line class="{"one" if ratio == 1 else "grid"}" x1="{x(ratio):.1f}" x2="{x(ratio):.1f}" y1="{TOP - 12}" y2="{bottom}"/>')
            parts.append(f'<text class="small" x="{x(ratio):.1f}" y="{TOP - 18}" text-anchor="middle">{ratio:g}</text>')
    for i, row in enumerate(rows):
        y = TOP + LINE * i + LINE / 2
        ours = number(main_of(row["engines"]["NexusFIX"]["figures"]))
        title = row["title"].split("; ")[0]
        parts.append(f'<line class="grid" x1="16" x2="{WIDTH - 16}" y1="{y + LINE / 2:.1f}" y2="{y + LINE / 2:.1f}"/>')
        lines = [title] if len(title) < 46 else [title[: title.rindex(" ", 0, 46)], title[title.rindex(" ", 0, 46) + 1 :]]
        for j, line in enumerate(lines):
            parts.append(f'<text x="16" y="{y - 2 - 13 * (len(lines) - 1) + 13 * j:.1f}">{html.escape(line)}</text>')
        kind = "" if row["unit"] != "ns" else ", median"
        parts.append(f'<text class="small" x="16" y="{y + 13:.1f}">NexusFIX: {ours} {row["unit"]}{kind}</text>')
        for name in [*(n for n in names if n in row["engines"]), "NexusFIX"]:
            value = number(main_of(row["engines"][name]["figures"]))
            colour = "var(--ours)" if name == "NexusFIX" else colours[name]
            parts.append(f'<circle cx="{x(cost(row, name)):.1f}" cy="{y:.1f}" r="{7 if name == "NexusFIX" else 5}" style="fill:{colour}">'
                         f"<title>{html.escape(name)}: {value} {row['unit']}</title></circle>")  # fmt: skip
    at = 16
    for name in ["NexusFIX", *names]:
        colour = "var(--ours)" if name == "NexusFIX" else colours[name]
        parts.append(f'<circle cx="{at + 5}" cy="{bottom + 22}" r="5" style="fill:{colour}"/>')
        parts.append(f'<text x="{at + 15}" y="{bottom + 26}">{html.escape(name)}</text>')
        at += 34 + 7 * len(name)
    parts.append(f'<text class="small" x="16" y="{bottom + 48}">{html.escape(result["machine"])}; {result["repeats"]} repeats in turn; '
                 f'{result["date"]}</text>')  # fmt: skip
    return "\n".join([*parts, "</svg>", ""])
