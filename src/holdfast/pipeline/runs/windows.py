"""Cuts long ranges of offsets into windows with about the same number of rows."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

Window = Mapping[int, tuple[int, int]]
"""First and end offset, by slice."""

_QUICKEST = 4.0
"""The limit for the growth from one window to the next: rows are not spread evenly."""


@dataclass(slots=True)
class Windows:
    """Cuts slices into windows. The number of offsets in a window depends on the density of rows in
    earlier windows. All slices end in the same window, so that no window has only a few rows.

    >>> windows = Windows({0: (0, 100), 1: (40, 60)}, rows=60, total=120)
    >>> windows.take(), windows.take(), windows.take()
    ({0: (0, 50), 1: (40, 50)}, {0: (50, 100), 1: (50, 60)}, None)
    """

    left: dict[int, tuple[int, int]]
    rows: int
    """The number of rows that a window should have."""
    total: int
    """The number of rows in all windows."""
    _density: float = field(init=False)
    _taken: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.left = {number: each for number, each in self.left.items() if each[0] < each[1]}
        self._density = max(1, self.total) / max(1, self._offsets(self.left.values()))

    def take(self) -> Window | None:
        """The next window over all unfinished slices; None if there is none."""
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
        """The last window had this many rows."""
        density = rows / max(1, self._taken)
        self._density = max(density, self._density / _QUICKEST)

    @staticmethod
    def _offsets(ranges: Iterable[tuple[int, int]]) -> int:
        return sum(end - start for start, end in ranges)
