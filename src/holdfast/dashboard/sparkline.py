"""A series as the two paths of a sparkline: its line, and the area under it."""

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 100.0, 26.0
_MARGIN = 1.5
"""Half of the line's width stays inside the box."""
_POINTS = 60


@dataclass(frozen=True, slots=True)
class Sparkline:
    """Path data for a box of WIDTH by HEIGHT, stretched to its place by the page."""

    line: str
    area: str


def sparkline(values: Sequence[float]) -> Sparkline:
    """The series from left to right, between zero at the bottom and its peak at the top."""
    points = _thinned(values) if values else [0.0]
    if len(points) == 1:
        points = points * 2
    peak = max(*points, 1.0)
    step = WIDTH / (len(points) - 1)
    reach = HEIGHT - 2 * _MARGIN
    line = "L".join(
        f"{i * step:.1f},{HEIGHT - _MARGIN - reach * max(0.0, value) / peak:.1f}"
        for i, value in enumerate(points)
    )
    return Sparkline(f"M{line}", f"M{line}L{WIDTH:.0f},{HEIGHT:.0f}L0,{HEIGHT:.0f}Z")


def _thinned(values: Sequence[float]) -> list[float]:
    """At most _POINTS values: the mean of each stretch, so that a peak does not jump about."""
    if len(values) <= _POINTS:
        return list(values)
    stretch = -(-len(values) // _POINTS)
    # Counted from the newest back, else every new value would move all stretches.
    ends = range(len(values), 0, -stretch)
    means = [_mean(values[max(0, end - stretch) : end]) for end in ends]
    return means[::-1]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
