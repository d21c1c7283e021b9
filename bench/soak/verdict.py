"""Judges if samples stay flat. Pure: samples in, verdicts out.

The first third of a run is warm-up: compilers, caches and pools fill. Of the other two the medians
are compared, so that a sawtooth (a heap between collections, a log between two cleanings) is as
flat as its teeth are alike, and one bad moment decides nothing.
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Sample = Mapping[str, float]
"""Figures by name (`broker.memory_mb`), and `at`: seconds since the first."""

AT = "at"
FEWEST = 3
"""Samples of a third below which nothing can be said of a line."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How much the median of a third may lie above that of the third before it: by the share of it
    or by the amount, whichever is more."""

    share: float
    amount: float

    def allows(self, middle: float, last: float) -> bool:
        return last - middle <= max(self.share * middle, self.amount)


TOLERANCES = {
    "memory_mb": Tolerance(0.05, 8),
    "heap_mb": Tolerance(0.15, 32),
    "handles": Tolerance(0.05, 4),
    "threads": Tolerance(0.05, 3),
    "cpu_percent": Tolerance(0.25, 10),
    "p50_ms": Tolerance(0.25, 20),
    "p99_ms": Tolerance(0.5, 100),
    "lag_s": Tolerance(0.1, 5),
    "disk_mb": Tolerance(0.1, 32),
}
"""By the last part of a line's name. Memory, handles and threads have no reason to move; a heap
does from one collection to the next, and times and shares of a core from minute to minute."""

GROWS_BY_DESIGN = {"lake.disk_mb"}
"""The raw zone keeps every event."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Of one line."""

    line: str
    middle: float
    """Median of the second third, ..."""
    last: float
    """... and of the last one."""
    per_hour: float
    """Growth, in the line's own unit."""
    flat: bool | None
    """None: it grows by design, and is only shown."""

    @property
    def growth_percent(self) -> float:
        return 100 * (self.last - self.middle) / self.middle if self.middle else 0.0


def judge(samples: Sequence[Sample]) -> list[Verdict]:
    """A verdict of every line that has enough samples, in the order of their first appearance."""
    begin, end = samples[0][AT], samples[-1][AT]
    third = (end - begin) / 3
    middle = [s for s in samples if begin + third <= s[AT] < end - third]
    last = [s for s in samples if s[AT] >= end - third]
    lines = dict.fromkeys(name for sample in samples for name in sample if name != AT)
    return [
        _judge(line, values, later, third)
        for line in lines
        if len(values := _values(middle, line)) >= FEWEST
        and len(later := _values(last, line)) >= FEWEST
    ]


def _values(samples: Sequence[Sample], line: str) -> list[float]:
    return [sample[line] for sample in samples if line in sample]


def _judge(line: str, middle: list[float], last: list[float], third: float) -> Verdict:
    before, after = statistics.median(middle), statistics.median(last)
    tolerance = TOLERANCES[line.rpartition(".")[2]]
    return Verdict(
        line=line,
        middle=before,
        last=after,
        # The medians stand for the middles of two thirds, which are a third apart.
        per_hour=(after - before) * 3600 / third,
        flat=None if line in GROWS_BY_DESIGN else tolerance.allows(before, after),
    )
