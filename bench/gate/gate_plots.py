"""Draws docs/speed/history.csv: for each row a line of its ratio to the reference over the versions."""

WIDTH, HEIGHT = 640, 180
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 26, 34
MOST_LABELS = 8

STYLE = """<style>
text { font: 11px sans-serif; fill: #555 } .title { font-size: 13px; font-weight: bold }
.grid { stroke: #8884; stroke-width: 1 } .band { fill: #4078c0; opacity: .2 }
.line { fill: none; stroke: #4078c0; stroke-width: 2 } circle { fill: #4078c0 }
</style>"""


def plot(row, lines):
    """The SVG of one row's lines, which are in the order of the versions."""
    low = [float(line["ratio_low"]) for line in lines]
    high = [float(line["ratio_high"]) for line in lines]
    middle = [float(line["ratio"]) for line in lines]
    # From 0, so that a step looks as large as it is.
    top = max(high) * 1.15

    def x(i):
        return LEFT + (WIDTH - LEFT - RIGHT) * ((i + 0.5) / len(lines))

    def y(ratio):
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - ratio / top)

    def points(values, places):
        return " ".join(f"{x(i):.1f},{y(value):.1f}" for i, value in zip(places, values, strict=True))

    places = range(len(lines))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}">',
        STYLE,
        f'<text class="title" x="{LEFT}" y="16">{row}: time / time of the reference, lower is faster</text>',
    ]
    for fraction in (0, 0.5, 1):
        ratio = top * fraction
        parts.append(f'<line class="grid" x1="{LEFT}" y1="{y(ratio):.1f}" x2="{WIDTH - RIGHT}" y2="{y(ratio):.1f}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y(ratio) + 4:.1f}" text-anchor="end">{ratio:.2f}</text>')
    parts.append(f'<polygon class="band" points="{points(low, places)} {points(high[::-1], places[::-1])}"/>')
    parts.append(f'<polyline class="line" points="{points(middle, places)}"/>')
    every = -(-len(lines) // MOST_LABELS)
    for i, line in enumerate(lines):
        name = f"{line['version']} {line['commit']}" if line["version"] != line["commit"] else line["commit"]
        parts.append(f'<circle cx="{x(i):.1f}" cy="{y(middle[i]):.1f}" r="3"><title>{name}: {line["ratio"]}, '
                     f'{line["ns_p50"]} ns</title></circle>')  # fmt: skip
        if i % every == 0:
            parts.append(f'<text x="{x(i):.1f}" y="{HEIGHT - 14}" text-anchor="middle">{line["version"]}</text>')
    return "\n".join([*parts, "</svg>", ""])


def draw(lines, folder):
    """Writes ROW.svg for each row; lines of an older revision of a row measured something else and are left out."""
    newest = {line["row"]: str(line["revision"]) for line in lines}
    for row, revision in newest.items():
        of_row = [line for line in lines if line["row"] == row and str(line["revision"]) == revision]
        (folder / f"{row}.svg").write_text(plot(row, of_row))
