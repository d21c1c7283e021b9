"""A pause between attempts that grows with each failure."""

from collections.abc import Callable
from math import inf
from time import monotonic


class Backoff:
    """A pause that doubles up to a limit.

    It starts over after `reset`, or once `steady` seconds have passed since the last pause.
    """

    def __init__(
        self,
        first: float,
        longest: float,
        *,
        steady: float = inf,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._first = first
        self._longest = longest
        self._steady = steady
        self._clock = clock
        self._resumed_at = clock()
        self._next = first

    def next(self) -> float:
        """Returns the seconds to wait after a failure."""
        now = self._clock()
        if now - self._resumed_at > self._steady:
            self.reset()
        pause, self._next = self._next, min(2 * self._next, self._longest)
        self._resumed_at = now + pause
        return pause

    def reset(self) -> None:
        """Start over: an attempt has succeeded."""
        self._next = self._first
