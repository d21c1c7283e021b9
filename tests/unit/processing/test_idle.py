"""While no message arrives, the strategy's own work goes on."""

import itertools
import math
from pathlib import Path

import pytest
from arroyo.types import BrokerValue
from tests.unit.processing.scripted import (
    P0,
    TOPIC,
    OwnedScriptedConsumer,
    ScriptedConsumer,
    ScriptedFactory,
)

from holdfast.processing import StreamProcessor
from holdfast.processing.processor import IDLE_POLL_SECONDS, TURN_SECONDS

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "processing.md"


class IdleClock:
    """Moves on only while a consumer waits."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


class Waiting:
    """A consumer that has no messages: every poll waits for as long as it may."""

    clock: IdleClock

    def poll(self, timeout: float | None = None) -> BrokerValue[int] | None:
        assert timeout is not None, "the loop must come back"
        message: BrokerValue[int] | None = super().poll(timeout)  # type: ignore[misc]
        self.clock.time += timeout
        return message


class WaitingConsumer(Waiting, ScriptedConsumer):
    pass


class OwnedWaitingConsumer(Waiting, OwnedScriptedConsumer):
    pass


@pytest.mark.parametrize("make", [WaitingConsumer, OwnedWaitingConsumer])
def test_idle_strategy_is_polled_as_often_as_the_guide_says(
    make: type[WaitingConsumer], monkeypatch: pytest.MonkeyPatch
) -> None:
    consumer, factory, clock = make([P0], messages=0), ScriptedFactory(), IdleClock()
    consumer.clock = clock
    processor = StreamProcessor(consumer, TOPIC, factory, now=clock, sleep=lambda _: None)
    consumer.script.append(lambda: consumer.assign(P0))
    processor._run_once()
    polls: list[float] = []
    monkeypatch.setattr(factory.strategies[-1], "poll", lambda: polls.append(clock.time))
    start = clock.time
    while clock.time < start + 10.0:
        processor._run_once()
    assert len(polls) >= 10.0 / 0.02
    assert max(after - before for before, after in itertools.pairwise(polls)) < 0.021
    # Each wake-up costs CPU time: not more of them than promised.
    assert len(polls) <= math.ceil(10.0 / 0.02) + 1


def test_guide_states_how_often_a_strategy_is_polled() -> None:
    promise = (
        f"at least every {TURN_SECONDS * 1000:.0f} ms while messages arrive, "
        f"every {IDLE_POLL_SECONDS * 1000:.0f} ms while none do"
    )
    assert promise in GUIDE.read_text()
