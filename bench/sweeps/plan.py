"""Shared by the parts of the sweep: where they run, and how much they do."""

from dataclasses import dataclass
from pathlib import Path

from bench.results.kept import Kept


@dataclass(frozen=True, slots=True)
class Plan:
    """`quick`: every kind of point, few of them and little load, to see that it works."""

    folder: Path
    kept: Kept
    quick: bool
    rounds: int

    def of(self, values: tuple[int, ...]) -> tuple[int, ...]:
        """The values of an axis: in a quick run its two ends."""
        return (values[0], values[-1]) if self.quick else values
