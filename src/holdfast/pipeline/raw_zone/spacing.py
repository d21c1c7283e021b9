"""When the next commit of a raw zone is due."""

import zlib
from math import inf

_MANY_ROWS = 10_000
"""As many events are worth a commit, and need not wait for others."""
_SHORTEST_SECONDS = 10.0
"""Between two commits, unless there are very many events."""
_GROWTH = 1.25
"""How much later each commit of few rows comes than the one before it."""


class Spacing:
    """The time between two commits of a flow, which follows the rate.

    The first events after a pause land at once. While commits have few rows, each comes later than
    the one before, up to the bound. Flows that started together do not all land at once: their
    times differ by up to a quarter.
    """

    def __init__(self, bound: float, flow: str) -> None:
        part = 1 - zlib.crc32(flow.encode()) % 256 / 1024
        self._shortest = part * min(bound, _SHORTEST_SECONDS)
        self._longest = part * bound
        self._apart = self._shortest
        self._landed_at = -inf

    def wait(self, backlog: int, now: float) -> float:
        """Seconds until the next commit, if these many events wait for it."""
        apart = self._shortest if backlog >= _MANY_ROWS else self._apart
        return self._landed_at + apart - now

    def lands(self, rows: int, now: float) -> None:
        """As many events land now."""
        few = rows < _MANY_ROWS and now - self._landed_at <= 2 * self._longest
        self._apart = min(_GROWTH * self._apart, self._longest) if few else self._shortest
        self._landed_at = now
