"""Draws docs/speed/history.csv: for each row a line of its ratio to the reference over the versions."""

import math

WIDTH, HEIGHT = 640, 204
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 26, 58
MOST_LABELS = 8
# Ratios that differ by more have no height that is seen next to one another.
DECADES = 100

STYLE = """<style>
text { font: 11px sans-serif; fill: #555 } .title { font-size: 13px; font-weight: bold }
.grid { stroke: #8884; stroke-width: 1 } .band { fill: #4078c0; opacity: .2 }
.line { fill: none; stroke: #4078c0; stroke-width: 2 } circle { fill: #4078c0 } .slower { fill: #cf222e }
</style>"""


def plot(row, lines):
    """The SVG of one row's lines, which are in the order of the versions."""
    low = [float(line["ratio_low"]) for line in lines]
    high = [float(line["ratio_high"]) for line in lines]
    middle = [float(line["ratio"]) for line in lines]
    # From 0, so that a step looks as large as it is.
    top = max(high) * 1.15
    least = min(value for value in low if value > 0) if any(value > 0 for value in low) else 1
    decades = top / least >= DECADES
    bottom = 10 ** math.floor(math.log10(least)) if decades else 0
    # Slower beyond what the measurements vary by.
    slower = [i > 0 and low[i] > high[i - 1] for i in range(len(lines))]

    def x(i):
        return LEFT + (WIDTH - LEFT - RIGHT) * ((i + 0.5) / len(lines))

    def y(ratio):
        part = math.log(max(ratio, bottom) / bottom) / math.log(top / bottom) if decades else ratio / top
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - part)

    def points(values, places):
        return " ".join(f"{x(i):.1f},{y(value):.1f}" for i, value in zip(places, values, strict=True))

    places = range(len(lines))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}">',
        STYLE,
        f'<text class="title" x="{LEFT}" y="16">{row}: time / time of the reference, lower is faster'
        f'{" (logarithmic)" if decades else ""}</text>',
    ]
    for fraction in (0, 0.5, 1):
        ratio = bottom * (top / bottom) ** fraction if decades else top * fraction
        parts.append(f'<line class="grid" x1="{LEFT}" y1="{y(ratio):.1f}" x2="{WIDTH - RIGHT}" y2="{y(ratio):.1f}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y(ratio) + 4:.1f}" text-anchor="end">{ratio:.2f}</text>')
    parts.append(f'<polygon class="band" points="{points(low, places)} {points(high[::-1], places[::-1])}"/>')
    parts.append(f'<polyline class="line" points="{points(middle, places)}"/>')
    every = -(-len(lines) // MOST_LABELS)
    for i, line in enumerate(lines):
        name = f"{line['version']} {line['commit']}" if line["version"] != line["commit"] else line["commit"]
        loss = ' class="slower"' if slower[i] else ""
        parts.append(f'<circle{loss} cx="{x(i):.1f}" cy="{y(middle[i]):.1f}" r="3"><title>{name}: {line["ratio"]}, '
                     f'{line["ns_p50"]} ns</title></circle>')  # fmt: skip
        if i % every == 0:
            parts.append(f'<text x="{x(i):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{line["version"]}</text>')
    key_y = HEIGHT - 10
    parts.append(f'<circle cx="{LEFT + 4}" cy="{key_y - 4}" r="3"/><text x="{LEFT + 14}" y="{key_y}">median</text>')
    parts.append(f'<rect class="band" x="{LEFT + 76}" y="{key_y - 9}" width="16" height="10"/>'
                 f'<text x="{LEFT + 98}" y="{key_y}">range of the repeats</text>')
    parts.append(f'<circle class="slower" cx="{LEFT + 224}" cy="{key_y - 4}" r="3"/>'
                 f'<text x="{LEFT + 234}" y="{key_y}">slower than the version before</text>')
    return "\n".join([*parts, "</svg>", ""])


def draw(lines, folder):
    """Writes ROW.svg for each row; lines of an older revision of a row measured something else and are left out."""
    newest = {line["row"]: str(line["revision"]) for line in lines}
    for row, revision in newest.items():
        of_row = [line for line in lines if line["row"] == row and str(line["revision"]) == revision]
        (folder / f"{row}.svg").write_text(plot(row, of_row))
