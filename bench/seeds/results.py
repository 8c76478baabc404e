"""Rows of the benchmarks' JSON files, and what they make of a published figure."""

import statistics

REACHED, SMALLER, UNSEEN, SLOWER, COST = "reached", "smaller here", "not seen here", "slower here", "measured"


class Missing(Exception):
    """A row that is not in the results, which is a mistake of the table."""


class LeftOut(Exception):
    """A row that this host cannot have, with the reason."""


class Results:
    """One run of a benchmark."""

    def __init__(self, document):
        self.machine = document.get("machine", {})
        self.counters = document.get("counters", "")
        self.rows = {}
        for group in document["groups"]:
            for row in group["rows"]:
                self.rows[group["name"], row["section"], row["name"]] = row

    def row(self, place):
        for (group, section, name), row in self.rows.items():
            same = name.startswith(place.row[:-1]) if place.row.endswith("*") else name == place.row
            # Sections of the wire's groups are those of its corpora; a place may leave them out.
            if same and group == place.group and section == place.section:
                return row
        raise Missing(f"no row \"{place.row}\" in \"{place.section}\" of \"{place.group}\"")

    def values(self, place):
        """One value for each repeat."""
        row = self.row(place)
        if place.figure == "migrations":
            return [row["counters"]["migrations"]]
        if "repeats" in row:
            if not row["repeats"]:
                raise LeftOut(row["note"] or "not measured")
            return [repeat[place.figure] for repeat in row["repeats"]]
        if place.figure == "p50":
            return row["ns_of_repeats"]
        return [row["ns_" + place.figure]]

    def tail(self, place):
        """Medians of p50, p99, p99.9 and max."""
        row = self.row(place)
        if "repeats" in row:
            return [statistics.median(repeat[key] for repeat in row["repeats"]) for key in ("p50", "p99", "p99_9", "max")]
        return [row["ns_median"], row["ns_p99"], row["ns_p99_9"], row["ns_max"]]


def in_unit(value, unit, ghz):
    """What was measured in nanoseconds, in the unit of the figure."""
    if unit == "cycles":
        return value * ghz
    if unit == "M/s":
        return 1000 / value if value > 0 else 0.0
    if unit.startswith("bytes/cycle of "):
        return float(unit.rsplit(" ", 1)[1]) / (value * ghz) if value > 0 else 0.0
    return value


def published_factor(figure):
    """How many times better it became; None unless it was published, or both times were."""
    if figure.claimed is not None:
        return figure.claimed
    if not isinstance(figure.before, (int, float)) or not isinstance(figure.after, (int, float)) or figure.after == 0:
        return None
    more_is_better = figure.unit == "M/s" or figure.unit.startswith("bytes/cycle")
    return figure.after / figure.before if more_is_better else figure.before / figure.after


def ratios(before, after):
    """Of the same repeats: a slow phase of the machine slows both rows of a repeat."""
    return [b / a for b, a in zip(before, after, strict=False) if a > 0]


def verdict(measured, published):
    """What the repeats' ratios make of a published factor: the least and the most decide whether there is one at all."""
    if not measured:
        return COST
    middle = statistics.median(measured)
    if max(measured) < 1 and middle < 0.99:
        return SLOWER
    if min(measured) <= 1 or middle < 1.01:
        return UNSEEN
    if published is not None and middle < published:
        return SMALLER
    return REACHED


class Row:
    """A line of the table: the published figure, and ours."""

    def __init__(self, figure, results):
        self.figure = figure
        self.factor_published = published_factor(figure)
        self.before = self.after = self.factor = self.tail = None
        self.spread = ()
        self.left_out = ""
        try:
            if figure.run not in results:
                raise LeftOut("not run")
            self.measure(results[figure.run])
        except LeftOut as reason:
            self.left_out = str(reason)
        # A published cost has nothing that it was improved to.
        cost = self.factor_published is None and (figure.before is not None or figure.after is not None)
        self.verdict = "left out" if self.left_out else COST if cost else verdict(self.spread, self.factor_published)

    def measure(self, run):
        ghz = run.machine.get("ghz") or 1.0
        after = run.values(self.figure.ours_after)
        self.after = in_unit(statistics.median(after), self.figure.unit, ghz)
        if self.figure.unit in ("ns", "us"):
            self.tail = run.tail(self.figure.ours_after)
        if self.figure.ours_before is None:
            return
        before = run.values(self.figure.ours_before)
        self.before = in_unit(statistics.median(before), self.figure.unit, ghz)
        self.spread = ratios(before, after)
        if self.spread:
            self.factor = statistics.median(self.spread)
