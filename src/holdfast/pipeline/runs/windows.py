"""A long range in pieces: windows of about the same number of rows, whatever lies between them."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

Window = Mapping[int, tuple[int, int]]
"""Offsets from and up to, by slice."""

_QUICKEST = 4.0
"""How many times larger the next window may be: rows are not spread evenly."""


@dataclass(slots=True)
class Windows:
    """Cuts slices into windows. The number of offsets in one follows from the rows found before.
    All slices end in the same window: none is made for the few rows that one of them has left.

    >>> windows = Windows({0: (0, 100), 1: (40, 60)}, rows=60, found=120)
    >>> windows.take(), windows.take(), windows.take()
    ({0: (0, 50), 1: (40, 50)}, {0: (50, 100), 1: (50, 60)}, None)
    """

    left: dict[int, tuple[int, int]]
    rows: int
    """How many a window should have."""
    found: int
    """How many there are in all."""
    _density: float = field(init=False)
    _taken: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.left = {number: each for number, each in self.left.items() if each[0] < each[1]}
        self._density = max(1, self.found) / max(1, self._offsets(self.left.values()))

    def take(self) -> Window | None:
        """The next window, of all slices that have something left; None if none has."""
        if not self.left:
            return None
        offsets = self._offsets(self.left.values())
        windows = max(1, math.ceil(offsets * self._density / self.rows))
        window = {}
        for number, (start, end) in list(self.left.items()):
            middle = start + math.ceil((end - start) / windows)
            window[number] = start, middle
            if middle == end:
                del self.left[number]
            else:
                self.left[number] = middle, end
        self._taken = self._offsets(window.values())
        return window

    def learn(self, rows: int) -> None:
        """So many rows were in the window that was taken last."""
        seen = rows / max(1, self._taken)
        self._density = max(seen, self._density / _QUICKEST)

    @staticmethod
    def _offsets(ranges: Iterable[tuple[int, int]]) -> int:
        return sum(end - start for start, end in ranges)
