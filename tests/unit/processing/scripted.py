"""A consumer in memory that follows a script, and strategies under the test's control.

The same test runs over both loops: ours and sentry-arroyo's. Where sentry-arroyo's breaks a
promise, the test says how, and fails if it stops doing so.
"""

import functools
import itertools
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import arroyo.processing.processor
import pytest
from arroyo.backends.abstract import Consumer
from arroyo.commit import IMMEDIATE
from arroyo.dlq import InvalidMessage
from arroyo.errors import ConsumerError
from arroyo.processing.strategies import (
    MessageRejected,
    ProcessingStrategy,
    ProcessingStrategyFactory,
)
from arroyo.types import BrokerValue, Commit, Message, Partition, Topic

from holdfast.processing import StreamProcessor
from holdfast.processing.pauses import CALLER, OwnedPausesConsumer, Owner, PauseTable

TOPIC = Topic("t")
P0, P1, P2 = (Partition(TOPIC, index) for index in range(3))
WHEN = datetime(2026, 1, 1)


class PromiseBrokenError(Exception):
    """The loop has broken a promise."""


class ScriptedConsumer(Consumer[int]):
    """Arroyo's interface over logs in memory. A message's payload is its offset.

    Each `poll` first takes the next step of `script`, if there is one, then looks for a message in
    the partitions that are assigned and not paused, each in turn.
    """

    def __init__(self, partitions: Iterable[Partition], messages: int = 10) -> None:
        self.logs = {partition: [*range(messages)] for partition in partitions}
        self.committed = dict.fromkeys(self.logs, 0)
        self.positions: dict[Partition, int] = {}
        self.staged: dict[Partition, int] = {}
        self.script: deque[Callable[[], None]] = deque()
        self.commits: list[dict[Partition, int]] = []
        self._paused: set[Partition] = set()
        self._turn = 0
        self._on_assign: Callable[[Mapping[Partition, int]], None] = lambda _: None
        self._on_revoke: Callable[[Sequence[Partition]], None] = lambda _: None
        self._closed = False

    # -- what a test makes happen

    def assign(self, *partitions: Partition) -> None:
        """An incremental assignment, or the second half of an eager rebalance."""
        offsets = {partition: self.committed[partition] for partition in partitions}
        self.positions.update(offsets)
        self._unpause(partitions)
        self._on_assign(offsets)

    def revoke(self, *partitions: Partition) -> None:
        """An incremental revocation, or, of everything, the first half of an eager rebalance."""
        try:
            self._on_revoke([*partitions])
        finally:
            for partition in partitions:
                self.positions.pop(partition, None)
                self.staged.pop(partition, None)
            self._unpause(partitions)

    def _unpause(self, partitions: Iterable[Partition]) -> None:
        self._paused.difference_update(partitions)

    # -- Arroyo's interface

    def subscribe(
        self,
        topics: Sequence[Topic],
        on_assign: Callable[[Mapping[Partition, int]], None] | None = None,
        on_revoke: Callable[[Sequence[Partition]], None] | None = None,
    ) -> None:
        assert on_assign is not None
        assert on_revoke is not None
        self._on_assign, self._on_revoke = on_assign, on_revoke

    def unsubscribe(self) -> None:
        raise NotImplementedError

    def poll(self, timeout: float | None = None) -> BrokerValue[int] | None:
        if self._closed:
            raise RuntimeError("closed")
        if self.script:
            self.script.popleft()()
        return self._next()

    def _next(self) -> BrokerValue[int] | None:
        partitions = [p for p in self.positions if p not in self.paused()]
        for index in range(len(partitions)):
            partition = partitions[(self._turn + index) % len(partitions)]
            offset = next((o for o in self.logs[partition] if o >= self.positions[partition]), None)
            if offset is not None:
                self._turn += 1
                self.positions[partition] = offset + 1
                return BrokerValue(offset, partition, offset, WHEN)
        return None

    def pause(self, partitions: Sequence[Partition]) -> None:
        self._require(partitions)
        self._paused.update(partitions)

    def resume(self, partitions: Sequence[Partition]) -> None:
        self._require(partitions)
        self._paused.difference_update(partitions)

    def paused(self) -> Sequence[Partition]:
        return [*self._paused]

    def tell(self) -> Mapping[Partition, int]:
        if self._closed:
            raise RuntimeError("closed")
        return self.positions

    def seek(self, offsets: Mapping[Partition, int]) -> None:
        self._require(offsets)
        self.positions.update(offsets)

    def stage_offsets(self, offsets: Mapping[Partition, int]) -> None:
        self.staged.update(offsets)

    def commit_offsets(self) -> Mapping[Partition, int] | None:
        self._require(self.staged)
        self.committed.update(self.staged)
        if self.staged:
            self.commits.append(dict(self.staged))
        self.staged.clear()
        return {}

    def close(self, timeout: float | None = None) -> None:
        if self.positions:
            self.revoke(*self.positions)
        self._closed = True

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def member_id(self) -> str:
        return "scripted"

    def _require(self, partitions: Iterable[Partition]) -> None:
        if set(partitions) - self.positions.keys():
            raise ConsumerError("not assigned")


class OwnedScriptedConsumer(ScriptedConsumer, OwnedPausesConsumer[int]):
    """A scripted consumer with pauses by owner, like our own backend."""

    def __init__(self, partitions: Iterable[Partition], messages: int = 10) -> None:
        super().__init__(partitions, messages)
        self._table = PauseTable()

    def pause(self, partitions: Sequence[Partition], owner: Owner = CALLER) -> None:
        self._require(partitions)
        self._table.pause(owner, partitions)

    def resume(self, partitions: Sequence[Partition], owner: Owner = CALLER) -> None:
        self._require(partitions)
        self._table.resume(owner, partitions)

    def paused(self, owner: Owner | None = None) -> Sequence[Partition]:
        return self._table.paused(owner)

    def at_hand(self, seconds: float) -> Iterator[BrokerValue[int]]:
        while not self.script and (message := self._next()) is not None:
            yield message

    def _unpause(self, partitions: Iterable[Partition]) -> None:
        self._table.revoke(partitions)


class ScriptedStrategy(ProcessingStrategy[int]):
    """Accepts messages while it has room, finishes them on request, and commits them."""

    def __init__(self, factory: "ScriptedFactory", commit: Commit) -> None:
        self.factory = factory
        self.commit = commit
        self.in_flight: deque[tuple[Partition, int]] = deque()
        self.closed = self.terminated = self.joined = False

    def poll(self) -> None:
        if self.factory.invalid_in_poll:
            raise InvalidMessage(*self.factory.invalid_in_poll.popleft())
        if self.factory.finishes_at_once:
            self.finish()

    def submit(self, message: Message[int]) -> None:
        assert not self.closed, "submitted to a closed strategy"
        value = message.value
        assert isinstance(value, BrokerValue)
        where = (value.partition, value.offset)
        if where in self.factory.invalid:
            raise InvalidMessage(*where)
        if self.factory.room <= 0:
            raise MessageRejected
        self.factory.room -= 1
        self.factory.submitted.append(where)
        self.in_flight.append(where)

    def finish(self) -> None:
        while self.in_flight:
            partition, offset = self.in_flight.popleft()
            self.commit({partition: offset + 1})

    def close(self) -> None:
        self.closed = True

    def terminate(self) -> None:
        self.terminated = True

    def join(self, timeout: float | None = None) -> None:
        self.joined = True
        if self.factory.finishes_in_join:
            self.finish()
        self.commit({}, force=True)


class ScriptedFactory(ProcessingStrategyFactory[int]):
    """Makes strategies that share one script: how much room, what is invalid, what finishes."""

    def __init__(self) -> None:
        self.room = 1_000_000
        self.finishes_at_once = True
        self.finishes_in_join = True
        self.invalid: set[tuple[Partition, int]] = set()
        self.invalid_in_poll: deque[tuple[Partition, int]] = deque()
        self.submitted: list[tuple[Partition, int]] = []
        self.created: list[Mapping[Partition, int]] = []
        self.strategies: list[ScriptedStrategy] = []
        self.shut_down = False

    def create_with_partitions(
        self, commit: Commit, partitions: Mapping[Partition, int]
    ) -> ScriptedStrategy:
        self.created.append(dict(partitions))
        self.strategies.append(ScriptedStrategy(self, commit))
        return self.strategies[-1]

    def shutdown(self) -> None:
        self.shut_down = True


class Loop:
    """One of the two processors, over a scripted consumer, turn by turn, in no time at all."""

    def __init__(self, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.kind = kind
        self.factory = ScriptedFactory()
        self.consumer: Any = None
        self.processor: Any = None
        self._time = itertools.count(1)
        self._monkeypatch = monkeypatch

    def start(
        self,
        *partitions: Partition,
        consumer: Callable[..., ScriptedConsumer] = ScriptedConsumer,
        messages: int = 10,
        assigned: Sequence[Partition] | None = None,
        **options: Any,
    ) -> None:
        """Subscribe and get the partitions assigned. Time moves on 10 s with each look at it."""
        self.consumer = consumer(partitions, messages)
        options = {"commit_policy": IMMEDIATE, **options}
        if self.kind == "holdfast":
            self.processor = StreamProcessor(
                self.consumer, TOPIC, self.factory,
                now=self.now, sleep=lambda _: None, **options,
            )  # fmt: skip
        else:
            clock = types.SimpleNamespace(time=self.now, sleep=lambda _: None)
            self._monkeypatch.setattr(arroyo.processing.processor, "time", clock)
            self.processor = arroyo.processing.processor.StreamProcessor(
                self.consumer, TOPIC, self.factory, **options
            )
        owned = partitions if assigned is None else assigned
        self.script(lambda: self.consumer.assign(*owned))

    def now(self) -> float:
        return next(self._time) * 10.0

    def script(self, *steps: Callable[[], None]) -> None:
        self.consumer.script.extend(steps)

    def turn(self, times: int = 1) -> None:
        for _ in range(times):
            self.processor._run_once()

    def until(self, condition: Callable[[], bool], what: str, turns: int = 100) -> None:
        for _ in range(turns):
            if condition():
                return
            self.turn()
        raise PromiseBrokenError(f"not in {turns} turns: {what}")

    def run_into_backpressure(self, accept: int = 0) -> None:
        """Accept this many messages, then refuse until all assigned partitions are paused."""
        self.factory.room = accept
        self.until(
            lambda: (
                bool(self.consumer.positions)
                and set(self.consumer.paused()) >= self.consumer.positions.keys()
            ),
            "everything is paused",
        )

    def open_up(self) -> None:
        self.factory.room = 1_000_000

    def submitted(self, partition: Partition) -> list[int]:
        return [offset for p, offset in self.factory.submitted if p == partition]

    def expect_all_submitted(self, *partitions: Partition, first: int = 0) -> None:
        """Everything from `first` on, once and in order."""
        for partition in partitions:
            expected = [o for o in self.consumer.logs[partition] if o >= first]
            self.expect_submitted(partition, expected)

    def expect_submitted(self, partition: Partition, expected: Sequence[int]) -> None:
        for _ in range(60):
            if len(self.submitted(partition)) >= len(expected):
                break
            self.turn()
        got = self.submitted(partition)
        if got != [*expected]:
            name = f"p{partition.index}"
            lost = [o for o in expected if o not in got]
            raise PromiseBrokenError(
                f"{name}: lost {lost}" if lost else f"{name}: {got} instead of {[*expected]}"
            )


KINDS = ["sentry-arroyo", "holdfast"]

Test = Callable[[Loop], None]


def holds_on_both(test: Test) -> Any:
    """A promise that sentry-arroyo's loop keeps as well."""

    @pytest.mark.parametrize("kind", KINDS)
    def run(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
        test(Loop(kind, monkeypatch))

    return _named_like(test, run)


def fails_on_sentry_arroyo(error: type[Exception], match: str) -> Callable[[Test], Any]:
    """A promise that sentry-arroyo's loop breaks, in this way."""

    def decorate(test: Test) -> Any:
        @pytest.mark.parametrize("kind", KINDS)
        def run(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
            loop = Loop(kind, monkeypatch)
            if kind == "holdfast":
                test(loop)
            else:
                with pytest.raises(error, match=match):
                    test(loop)

        return _named_like(test, run)

    return decorate


def _named_like(test: Test, run: Callable[..., None]) -> Any:
    functools.update_wrapper(run, test)
    del run.__wrapped__  # type: ignore[attr-defined]  # pytest would read the test's arguments
    return run
