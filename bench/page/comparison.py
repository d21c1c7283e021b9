"""Comparisons of Holdfast with a peer, and the sentences about them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Better = Literal["more", "less"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One figure of both systems. `ratio` is ours divided by theirs; `goal` is a ratio too."""

    what: str
    peer: str
    better: Better
    ratio: float
    goal: float | None = None

    @property
    def loses(self) -> bool:
        shown = round(self.ratio, 2)
        return shown < 1 if self.better == "more" else shown > 1

    @property
    def even(self) -> bool:
        return round(self.ratio, 2) == 1

    @property
    def verdict(self) -> str:
        if self.even:
            return "even"
        return f"**{self.peer} is ahead**" if self.loses else "Holdfast is ahead"

    @property
    def aim(self) -> str:
        """The goal, and if it is reached."""
        if self.goal is None:
            return ""
        if self.better == "more":
            return f"≥ {self.goal:g}: {_reached(self.ratio >= self.goal)}"
        return f"≤ {self.goal:g}: {_reached(self.ratio <= self.goal)}"

    @property
    def loss(self) -> str:
        """A sentence on a loss."""
        assert self.loses, "there is none"
        how = "of" if self.better == "more" else "times"
        much = f"{ratio_text(self.ratio)} {how} {possessive(self.peer)}"
        return f"Holdfast loses: {self.what}, {much}."


def _reached(yes: bool) -> str:
    return "reached" if yes else "**not reached**"


@dataclass(frozen=True, slots=True)
class AxisText:
    """Formats points of an axis: `6 partitions`, `events of 1 kB and 10 kB`."""

    before: str = ""
    after: str = ""
    size: bool = False

    def __call__(self, *values: int) -> str:
        return f"{self.before}{listed([self.number(value) for value in values])}{self.after}"

    def span(self, first: int, last: int) -> str:
        return f"{self.before}{self.number(first)} to {self.number(last)}{self.after}"

    def number(self, value: int) -> str:
        return size_text(value) if self.size else f"{value:,}"


@dataclass(frozen=True, slots=True)
class Series:
    """One figure of both systems along an axis: (point, ours, theirs), where both have one.
    Higher is better."""

    ours: str
    what: str
    peer: str
    axis: str
    points: Sequence[tuple[int, float, float]]

    def losses(self, place: AxisText) -> str | None:
        """A sentence about the points where ours is behind; None if there are none."""
        behind = [
            (at, ours / theirs) for at, ours, theirs in self.points if round(ours / theirs, 2) < 1
        ]
        if not behind:
            return None
        where = place(*(at for at, _ in behind))
        ratios = listed([ratio_text(ratio) for _, ratio in behind])
        return f"{self.ours} loses: {self.what} with {where}, {ratios} of {possessive(self.peer)}."

    def growth(self, place: AxisText) -> str | None:
        """A sentence about the change from one end of the axis to the other. Along event sizes it
        compares bytes, because the number of events falls in any case."""
        if len(self.points) < 2:
            return None
        (first, ours_first, theirs_first), *_, (last, ours_last, theirs_last) = self.points
        to, unit = (last / first, " in bytes") if place.size else (1.0, "")
        return (
            f"From {place.span(first, last)}, {self.what}{unit} changed by a factor of "
            f"{ratio_text(to * ours_last / ours_first)} with {self.ours} and "
            f"{ratio_text(to * theirs_last / theirs_first)} with {self.peer}."
        )


def ratio_text(ratio: float) -> str:
    """Two or three significant digits: 0.083, 0.62, 1.40, 13."""
    return f"{ratio:.2g}" if ratio < 0.995 else f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"


def rate_text(value: float) -> str:
    """Three significant digits: a fourth would be noise."""
    if value >= 1000:
        return f"{float(f'{value:.3g}'):,.0f}"
    return f"{value:.3g}"


def size_text(size: int) -> str:
    return f"{size // 1000} kB" if size >= 1000 else f"{size} B"


def possessive(name: str) -> str:
    return f"{name}'" if name.endswith("s") else f"{name}'s"


def listed(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *before, last = words
    return f"{', '.join(before)} and {last}" if before else last
