"""Timers beside a loop that stands still now and then: a clock and a heap stand for the loop."""

import heapq
import itertools
from collections.abc import Callable

import pytest

from holdfast.broker.patience import Patience


class Loop:
    """Timers that fire in the order in which they are due, and turns that take as long as told."""

    def __init__(self) -> None:
        self.now = 0.0
        self._timers: list[tuple[float, int, Callable[[], None], list[bool]]] = []
        self._numbers = itertools.count()

    def call_later(self, delay: float, callback: Callable[[], None]) -> "Handle":
        live = [True]
        heapq.heappush(self._timers, (self.now + delay, next(self._numbers), callback, live))
        return Handle(live)

    def run(self, until: float) -> None:
        while self._timers and self._timers[0][0] <= until:
            due, _, callback, live = heapq.heappop(self._timers)
            self.now = max(self.now, due)
            if live[0]:
                callback()
        self.now = max(self.now, until)

    def stand_still(self, seconds: float) -> None:
        self.now += seconds


class Handle:
    def __init__(self, live: list[bool]) -> None:
        self._live = live

    def cancel(self) -> None:
        self._live[0] = False


def test_timer_fires_on_time_while_the_loop_runs() -> None:
    loop, fired = Loop(), []
    patience = Patience(loop.call_later, clock=lambda: loop.now)
    patience.call_later(6.0, lambda: fired.append(loop.now))
    loop.run(20.0)
    assert fired == pytest.approx([6.0])
    assert patience.stalled == 0


@pytest.mark.parametrize("stall_at", [1.0, 5.85, 5.9, 5.999])
def test_timer_waits_longer_by_the_time_for_which_the_loop_stood_still(stall_at: float) -> None:
    """Also if it was due meanwhile: the sockets are read before it fires."""
    loop, fired = Loop(), []
    stalls: list[float] = []
    patience = Patience(loop.call_later, stalls.append, clock=lambda: loop.now)
    patience.call_later(6.0, lambda: fired.append(loop.now))
    loop.run(stall_at)
    loop.stand_still(30.0)
    loop.run(stall_at + 30.0)
    assert fired == []
    loop.run(100.0)
    assert 35.9 <= fired[0] <= 36.3
    assert 29.8 <= sum(stalls) <= 30.2


def test_timer_that_is_cancelled_while_it_waits_longer_does_not_fire() -> None:
    loop, fired = Loop(), []
    patience = Patience(loop.call_later, clock=lambda: loop.now)
    timer = patience.call_later(6.0, lambda: fired.append(loop.now))
    loop.run(5.0)
    loop.stand_still(10.0)
    loop.run(15.0)
    timer.cancel()
    loop.run(100.0)
    assert fired == []
