"""The clock of this process. All flows share it: a flow that restarts while the wall clock is wrong
would otherwise trust that time."""

import logging
from threading import Lock
from time import monotonic_ns, time_ns

from holdfast.gate import Clock, Now

log = logging.getLogger(__name__)

_MS = 1_000_000
_LONGEST_READING_MS = 100
"""If two readings are further apart, the process was stopped between them, which looks like a jump
of the clock: read again."""


class PipelineClock:
    """Call it to get the time. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._clock = Clock(*_read())

    def __call__(self) -> Now:
        with self._lock:
            before = self._clock.jumps
            now = self._clock.read(*_read())
            if self._clock.jumps > before:
                log.warning("The pipeline's clock %s.", self._clock.last_jump)
            return now

    @property
    def jumps(self) -> int:
        """How often the wall clock has jumped since the process started."""
        return self._clock.jumps

    @property
    def ahead_of_broker(self) -> int:
        """Milliseconds by which the wall clock was ahead of the broker's when last compared."""
        return self._clock.ahead_of_broker

    def trouble(self) -> str | None:
        """A sentence about what is wrong with the clock; None if nothing is."""
        now = self()
        return self._clock.trouble(now)

    def appended(self, at: int, *, sent: int, acknowledged: int) -> None:
        """Compare with the broker's clock, which was `at` when it appended a record. `sent` and
        `acknowledged`: the local wall clock before and after that."""
        ahead = max(sent - at, 0) + min(acknowledged - at, 0)
        with self._lock:
            self._clock.compare_with_broker(ahead, acknowledged)


def _read() -> tuple[int, int]:
    """Both clocks at one moment."""
    while True:
        before, wall, after = monotonic_ns(), time_ns(), monotonic_ns()
        if after - before <= _LONGEST_READING_MS * _MS:
            return wall // _MS, after // _MS
