"""Timers that do not count the time in which the event loop stood still.

After a stall, timers are due before the loop reads the sockets, where heartbeats of clients wait.
So a timer fires later, by the length of the stalls since it was set, and the loop reads the sockets
first.
"""

import time
from collections.abc import Callable
from typing import Protocol

BEAT_SECONDS = 0.1
STALL_SECONDS = 0.1
"""A beat that is later than this was stalled. Any busy machine has shorter delays."""
_TIMER_PRECISION = 0.005
"""Loops call back a few milliseconds early: their clocks are coarse."""


class Cancellable(Protocol):
    """A timer that has not fired yet."""

    def cancel(self) -> None: ...


CallLater = Callable[[float, Callable[[], None]], Cancellable]


class Patience:
    """Measures with a regular beat how long the loop stood still."""

    def __init__(
        self,
        call_later: CallLater,
        on_stall: Callable[[float], None] = lambda seconds: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._call_later = call_later
        self._on_stall = on_stall
        self._clock = clock
        self._stalled = 0.0
        self._due = clock() + BEAT_SECONDS
        self._beat = call_later(BEAT_SECONDS, self._on_beat)

    def stop(self) -> None:
        self._beat.cancel()

    @property
    def stalled(self) -> float:
        """Total seconds of all stalls since the start, including the present one."""
        late = self._clock() - self._due
        return self._stalled + late + BEAT_SECONDS if late > STALL_SECONDS else self._stalled

    @property
    def running(self) -> float:
        """A clock that stops while the loop stands still."""
        return self._clock() - self.stalled

    def call_later(self, delay: float, callback: Callable[[], None]) -> Cancellable:
        """Calls back after `delay` seconds in which the loop was running."""
        return _Timer(self, delay, callback)

    def plain_call_later(self, delay: float, callback: Callable[[], None]) -> Cancellable:
        return self._call_later(delay, callback)

    def _on_beat(self) -> None:
        stalled = self.stalled
        if stalled > self._stalled:
            self._on_stall(stalled - self._stalled)
            self._stalled = stalled
        self._due = self._clock() + BEAT_SECONDS
        self._beat = self._call_later(BEAT_SECONDS, self._on_beat)


class _Timer:
    def __init__(self, patience: Patience, delay: float, callback: Callable[[], None]) -> None:
        self._patience = patience
        self._callback = callback
        self._due = patience.running + delay
        self._handle = patience.plain_call_later(delay, self._fire)

    def cancel(self) -> None:
        self._handle.cancel()

    def _fire(self) -> None:
        left = self._due - self._patience.running
        if left > _TIMER_PRECISION:
            self._handle = self._patience.plain_call_later(left, self._fire)
        else:
            self._callback()
