"""When a difference between two versions is more than noise: the statistics of `./dev bench compare`.

Both versions run in turn on one CPU, in slices of milliseconds. Samples are times per operation of batches of some ten
to a hundred microseconds.

- A slice is told by a low quantile of its batches: an interrupted batch is only ever slower.
- A launch is a process of each version, started together. Its ratio is the median over its pairs of slices. Where the
  kernel puts a process's pages makes it faster or slower as a whole, so launches, not slices, are what is independent. Each launch runs a new copy of the
  program, for the pages of a file that is in memory already would make all launches alike.
- A row's ratio is the median over its launches; its interval is that of the order statistics, which assumes nothing of
  the distribution and is not moved by spoilt launches.
"""

import math
import statistics
from dataclasses import dataclass

SLICE_QUANTILE = 0.2
CONFIDENCE = 0.995  # of the interval, both sides together
THRESHOLD = 0.03  # a slowdown is at least so much
TOO_WIDE = 0.05  # half an interval wider than this tells nothing
LAUNCHES_MIN = 12
LAUNCHES_MAX = 48

SLOWER, FASTER, SAME, UNDECIDED, NOISY = "SLOWER", "faster", "same", "undecided", "too noisy"


def low_quantile(samples, at=SLICE_QUANTILE):
    ordered = sorted(samples)
    return ordered[int(at * (len(ordered) - 1))]


def launch_log_ratio(old_slices, new_slices):
    """The logarithm of NEW/OLD of one launch, from its slices in the order in which they ran."""
    return statistics.median(
        math.log(low_quantile(new) / low_quantile(old)) for old, new in zip(old_slices, new_slices, strict=True)
    )


def median_interval(values, confidence=CONFIDENCE):
    """The narrowest pair of order statistics that holds the median with this confidence; too few values: all."""
    ordered = sorted(values)
    count = len(ordered)
    outside, rank = 0.0, 0
    for k in range(count // 2):
        outside += 2 * math.comb(count, k) * 0.5**count
        if outside > 1 - confidence:
            break
        rank = k
    return ordered[rank], ordered[count - 1 - rank]


@dataclass
class Verdict:
    ratio: float  # NEW/OLD: above 1 is slower
    low: float
    high: float
    word: str

    @property
    def interval(self):
        return f"[{self.low:.3f}, {self.high:.3f}]"


def judge(log_ratios, threshold=THRESHOLD, last=False):
    """What the launches so far say. UNDECIDED asks for more of them, and is not given when these are the `last`.

    Before the last launch an interval that lies on one side of the threshold decides. At the last one a row is slower
    when its ratio is above the threshold and its interval above half of that.
    """
    centre = statistics.median(log_ratios)
    low, high = median_interval(log_ratios)
    limit = math.log1p(threshold)
    enough = len(log_ratios) >= LAUNCHES_MIN
    if enough and low > limit:
        word = SLOWER
    elif enough and high < limit:
        word = FASTER if high < 0 and centre < -limit else SAME
    elif not last:
        word = UNDECIDED
    elif (high - low) / 2 > TOO_WIDE:
        word = NOISY
    else:
        word = SLOWER if low > limit / 2 and centre > limit else SAME
    return Verdict(math.exp(centre), math.exp(low), math.exp(high), word)
