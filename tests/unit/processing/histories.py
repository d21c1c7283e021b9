"""Random histories of a loop, and a reference that only states the promises.

A history is a seed. The world below decides at random what every poll, submit, join and commit
runs into; `Promises` watches, and knows nothing of pauses, buffers or carried messages.
"""

import random
import types
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import arroyo.processing.processor
from arroyo.commit import IMMEDIATE, ONCE_PER_SECOND
from arroyo.dlq import InvalidMessage
from arroyo.errors import TransportError
from arroyo.processing.strategies import (
    MessageRejected,
    ProcessingStrategy,
    ProcessingStrategyFactory,
)
from arroyo.types import BrokerValue, Commit, Message, Partition
from tests.unit.processing.scripted import (
    TOPIC,
    OwnedScriptedConsumer,
    PromiseBrokenError,
    ScriptedConsumer,
)

from holdfast.processing import StreamProcessor

PARTITIONS = [Partition(TOPIC, index) for index in range(3)]
TURNS = 30


@dataclass(slots=True)
class Ownership:
    """One stretch of owning a partition."""

    next: int
    """No offset below it may be submitted from now on, and the first message from it on must be."""
    done: int
    """Everything below it is finished."""
    covered: int
    """The committed offset of the current strategy, or its start."""
    finished: set[int] = field(default_factory=set)
    settled: set[int] = field(default_factory=set)


class Promises:
    """Watches what is submitted and committed, and raises `PromiseBrokenError`."""

    def __init__(self, logs: Mapping[Partition, list[int]]) -> None:
        self._logs = logs
        self.owned: dict[Partition, Ownership] = {}

    def assigned(self, offsets: Mapping[Partition, int]) -> None:
        for partition, offset in offsets.items():
            self.owned[partition] = Ownership(offset, offset, offset)

    def revoked(self, partitions: Iterable[Partition]) -> None:
        for partition in partitions:
            self.owned.pop(partition, None)

    def strategy_replaced(self, offsets: Mapping[Partition, int]) -> None:
        """A strategy begins. What the one before did not finish and commit comes again."""
        for partition, own in self.owned.items():
            again = own.covered
            while again in own.settled:
                again += 1
            own.next = own.covered = min(own.next, again)
            if self._first(partition, offsets.get(partition, -1)) != self._first(
                partition, own.next
            ):
                raise PromiseBrokenError(f"strategy told {offsets}, not {partition}:{own.next}")

    def offered(self, partition: Partition, offset: int) -> Ownership:
        own = self.owned.get(partition)
        if own is None:
            raise PromiseBrokenError(f"{partition}:{offset} submitted without being owned")
        expected = self._first(partition, own.next)
        if offset != expected:
            raise PromiseBrokenError(f"{partition}:{offset} submitted instead of {expected}")
        return own

    def finished(self, partition: Partition, offset: int) -> None:
        own = self.owned.get(partition)
        if own is not None:
            own.finished.add(offset)
            while (first := self._first(partition, own.done)) in own.finished:
                assert first is not None
                own.done = first + 1

    def committed(self, offsets: Mapping[Partition, int]) -> None:
        for partition, offset in offsets.items():
            own = self.owned.get(partition)
            if own is None or offset > own.done:
                raise PromiseBrokenError(f"{partition}:{offset} committed, not finished: {own}")

    def all_done(self) -> bool:
        return all(
            self._first(partition, own.done) is None for partition, own in self.owned.items()
        )

    def _first(self, partition: Partition, offset: int) -> int | None:
        return next((o for o in self._logs[partition] if o >= offset), None)


class World:
    """Everything that happens to a loop, decided by a seed."""

    def __init__(self, seed: int, kind: str) -> None:
        self.rng = random.Random(seed)
        self.time = 0.0
        self.calm = False
        self.events: Counter[str] = Counter()
        self.outside_pauses: set[Partition] = set()
        owned_pauses = self.rng.random() < 0.5
        make: type[RandomConsumer] = RandomOwnedConsumer if owned_pauses else RandomConsumer
        self.consumer: Any = make(PARTITIONS)
        self.consumer.world = self
        for partition in PARTITIONS:
            self.consumer.logs[partition] = self._offsets()
        self.promises = Promises(self.consumer.logs)
        self.factory = RandomFactory(self)
        policy = self.rng.choice([IMMEDIATE, ONCE_PER_SECOND])
        if kind == "holdfast":
            self.processor: Any = StreamProcessor(
                self.consumer, TOPIC, self.factory, policy, now=self.now, sleep=self.sleep
            )
        else:
            arroyo.processing.processor.time = types.SimpleNamespace(  # type: ignore[assignment,attr-defined]
                time=self.now, sleep=self.sleep
            )
            self.processor = arroyo.processing.processor.StreamProcessor(
                self.consumer, TOPIC, self.factory, policy
            )

    def _offsets(self) -> list[int]:
        """Mostly dense, sometimes with the gaps of compaction and transactions."""
        step = self.rng.choice([1, 1, 3])
        offsets, offset = [], 0
        for _ in range(self.rng.randint(3, 14)):
            offsets.append(offset)
            offset += self.rng.randint(1, step)
        return offsets

    def now(self) -> float:
        self.time += self.rng.choice((0.001, 0.001, 0.004, 6.0))
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds

    def chance(self, probability: float) -> bool:
        return not self.calm and self.rng.random() < probability

    def some(self, partitions: Iterable[Partition]) -> list[Partition]:
        return [p for p in partitions if self.rng.random() < 0.5]

    def event(self) -> None:
        """Events of a poll before it returns a message."""
        if not self.chance(0.35):
            return
        event = self.rng.choice(
            [self._eager, self._give, self._take, self._pause, self._resume, self._fail]
        )
        self.events[event.__name__] += 1
        event()

    def _eager(self) -> None:
        self._revoke([*self.consumer.positions])
        self._assign(self.some(PARTITIONS))

    def _give(self) -> None:
        self._assign(self.some([p for p in PARTITIONS if p not in self.consumer.positions]))

    def _take(self) -> None:
        self._revoke(self.some([*self.consumer.positions]))

    def _pause(self) -> None:
        chosen = self.some(self.consumer.positions)
        self.outside_pauses.update(chosen)
        self.consumer.pause(chosen)

    def _resume(self) -> None:
        chosen = self.some(self.consumer.positions)
        self.outside_pauses.difference_update(chosen)
        self.consumer.resume(chosen)

    def _fail(self) -> None:
        raise TransportError("away")

    def _assign(self, partitions: list[Partition]) -> None:
        if partitions:
            self.factory.new = {p: self.consumer.committed[p] for p in partitions}
            self.consumer.assign(*partitions)

    def _revoke(self, partitions: list[Partition]) -> None:
        if partitions:
            self.factory.gone = partitions
            self.outside_pauses.difference_update(partitions)
            try:
                self.consumer.revoke(*partitions)
            finally:
                self.promises.revoked(partitions)
                self.factory.gone = []

    def run(self) -> None:
        """Live through the history, then calm down: everything must come through to its end."""
        self.consumer.script.append(lambda: self._assign([*PARTITIONS]))
        for _ in range(TURNS):
            self.processor._run_once()
        self.consumer.assert_outside_pauses_stand()
        self.calm = True
        self.consumer.resume([*self.consumer.positions])
        for _ in range(400):
            self.processor._run_once()
            if self.promises.all_done():
                break
        else:
            raise PromiseBrokenError(f"starved: {self.promises.owned}")
        self.processor._run_once()
        if self.consumer.paused():
            raise PromiseBrokenError(f"left paused: {self.consumer.paused()}")
        self.processor._shutdown()
        for partition, own in self.promises.owned.items():
            rest = {
                o for o in self.consumer.logs[partition] if o >= self.consumer.committed[partition]
            }
            if not rest <= own.settled:
                raise PromiseBrokenError(f"{partition} not committed to its end: {own}")


class RandomConsumer(ScriptedConsumer):
    world: World

    def poll(self, timeout: float | None = None) -> BrokerValue[int] | None:
        self.world.event()
        return super().poll(timeout)

    def commit_offsets(self) -> Mapping[Partition, int] | None:
        self.world.promises.committed(self.staged)
        return super().commit_offsets()

    def assert_outside_pauses_stand(self) -> None:
        """Not promised: pauses of other owners cannot be distinguished here."""


class RandomOwnedConsumer(RandomConsumer, OwnedScriptedConsumer):
    def at_hand(self, seconds: float) -> Iterator[BrokerValue[int]]:
        while self.world.rng.random() < 0.8 and (message := self._next()) is not None:
            yield message

    def assert_outside_pauses_stand(self) -> None:
        lost = self.world.outside_pauses - {*self.paused()}
        if lost:
            raise PromiseBrokenError(f"others' pauses of {lost} were ended")


class RandomStrategy(ProcessingStrategy[int]):
    """Keeps messages in flight, finishes them in order, and fails in all the ways it may."""

    def __init__(self, world: World, commit: Commit) -> None:
        self._world = world
        self._commit = commit
        self._in_flight: deque[tuple[Partition, int]] = deque()
        self._to_commit: dict[Partition, int] = {}
        self._room = world.rng.choice([0, 1, 3, 8])

    def poll(self) -> None:
        world = self._world
        if world.chance(0.3) or world.calm:
            self._room = world.rng.choice([0, 1, 5]) if not world.calm else 100
        self._finish(world.rng.randint(0, 4) if not world.calm else len(self._in_flight))
        self._maybe_invalid(0.05)

    def submit(self, message: Message[int]) -> None:
        value = message.value
        assert isinstance(value, BrokerValue)
        own = self._world.promises.offered(value.partition, value.offset)
        self._maybe_invalid(0.03)
        if self._world.chance(0.05):
            self._settle(value.partition, value.offset)
            own.next = value.offset + 1
            raise InvalidMessage(value.partition, value.offset, log_exception=False)
        if len(self._in_flight) >= self._room:
            raise MessageRejected
        own.next = value.offset + 1
        self._in_flight.append((value.partition, value.offset))

    def _maybe_invalid(self, probability: float) -> None:
        """The oldest message in flight turns out to be invalid."""
        if self._in_flight and self._world.chance(probability):
            where = self._in_flight.popleft()
            self._settle(*where)
            raise InvalidMessage(*where, log_exception=False)

    def _settle(self, partition: Partition, offset: int) -> None:
        """An invalid message is finished; a later commit covers it."""
        self._world.promises.finished(partition, offset)
        own = self._world.promises.owned.get(partition)
        if own is not None:
            own.settled.add(offset)

    def _finish(self, count: int) -> None:
        for _ in range(min(count, len(self._in_flight))):
            partition, offset = self._in_flight.popleft()
            self._world.promises.finished(partition, offset)
            self._to_commit[partition] = offset + 1
        if self._to_commit and (self._world.calm or self._world.chance(0.7)):
            self._flush()

    def _flush(self, force: bool = False) -> None:
        for partition, offset in self._to_commit.items():
            own = self._world.promises.owned.get(partition)
            if own is not None:
                own.covered = max(own.covered, offset)
        offsets, self._to_commit = self._to_commit, {}
        self._commit(offsets, force)

    def close(self) -> None:
        return

    def terminate(self) -> None:
        return

    def join(self, timeout: float | None = None) -> None:
        in_time = self._world.calm or self._world.rng.random() < 0.5
        self._maybe_invalid(0.1)
        self._finish(len(self._in_flight) if in_time else self._world.rng.randint(0, 2))
        self._flush(force=self._world.calm or self._world.rng.random() < 0.7)


class RandomFactory(ProcessingStrategyFactory[int]):
    def __init__(self, world: World) -> None:
        self._world = world
        self.new: dict[Partition, int] = {}
        self.gone: list[Partition] = []

    def create_with_partitions(
        self, commit: Commit, partitions: Mapping[Partition, int]
    ) -> RandomStrategy:
        promises = self._world.promises
        promises.revoked(self.gone)
        promises.assigned(self.new)
        self.new = {}
        promises.strategy_replaced(partitions)
        return RandomStrategy(self._world, commit)


def broken_promise(seed: int, kind: str) -> str | None:
    """Live through one history. -> what went wrong, or None"""
    try:
        World(seed, kind).run()
    except Exception as error:
        return f"seed {seed}: {type(error).__name__}: {error}"
    return None
