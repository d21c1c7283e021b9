"""A coordinator between a log and partitions whose durability the test decides, on a fake clock."""

import asyncio
import heapq
import itertools
from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple, TypeVar

from holdfast.broker.log.errors import StorageFailed
from holdfast.broker.settings import BrokerSettings
from holdfast.broker.transactions.coordinator import TransactionCoordinator
from holdfast.broker.transactions.transaction import Producer, TopicPartition

OFFSETS = TopicPartition("__consumer_offsets", 0)

T = TypeVar("T")


class Record(NamedTuple):
    key: bytes
    value: bytes | None
    control: None = None


class Data(NamedTuple):
    """Records of a transaction; `transaction` is whatever the test calls it by."""

    producer_id: int
    epoch: int
    transaction: object


class Marker(NamedTuple):
    producer_id: int
    epoch: int
    commit: bool


@dataclass
class DrivenLog:
    """Entries of which a prefix is durable; a crash keeps that prefix, and maybe more."""

    entries: list[Any] = field(default_factory=list)
    durable: int = 0
    waiting: list[tuple[int, asyncio.Future[None]]] = field(default_factory=list)
    broken: bool = False

    def add(self, entries: Sequence[object]) -> "asyncio.Future[None]":
        if self.broken:
            raise StorageFailed("no space left")
        self.entries.extend(entries)
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.append((len(self.entries), future))
        return future

    def write(self, entry: object) -> None:
        """Append without waiting for the disk."""
        self.entries.append(entry)

    def sync(self) -> None:
        self.durable = len(self.entries)
        waiting, self.waiting = self.waiting, []
        for _, future in waiting:
            if not future.done():
                future.set_result(None)

    def fail(self) -> None:
        """A sync that the disk refuses: what was not durable is cut off again."""
        del self.entries[self.durable :]
        waiting, self.waiting = self.waiting, []
        for _, future in waiting:
            if not future.done():
                future.set_exception(StorageFailed("sync failed"))

    def after_crash(self, random: Random) -> "DrivenLog":
        kept = random.randint(self.durable, len(self.entries))
        return DrivenLog(self.entries[:kept], kept)


class StateLog(DrivenLog):
    def append(
        self, records: Sequence[tuple[bytes, bytes | None]], *, producer: object = None
    ) -> "asyncio.Future[None]":
        return self.add([Record(*record) for record in records])

    def replay(self) -> Iterator[Record]:
        return iter(self.entries[: self.durable])

    def after_crash(self, random: Random) -> "StateLog":
        kept = random.randint(self.durable, len(self.entries))
        return StateLog(self.entries[:kept], kept)


class Timer:
    def __init__(self, due_ms: float, callback: Callable[[], None]) -> None:
        self.due_ms = due_ms
        self.callback = callback
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


class Clock:
    def __init__(self) -> None:
        self.now_ms = 1_000_000
        """The monotonic clock, which timers follow."""
        self.wall_ahead_ms = 0
        self._timers: list[tuple[float, int, Timer]] = []
        self._order = itertools.count()

    def __call__(self) -> int:
        return self.now_ms + self.wall_ahead_ms

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Timer:
        timer = Timer(self.now_ms + seconds * 1000, callback)
        heapq.heappush(self._timers, (timer.due_ms, next(self._order), timer))
        return timer

    def advance(self, milliseconds: int) -> None:
        self.now_ms += milliseconds
        while self._timers and self._timers[0][0] <= self.now_ms:
            timer = heapq.heappop(self._timers)[2]
            if not timer.cancelled:
                timer.callback()

    def forget(self) -> None:
        self._timers.clear()


class World:
    """Everything around one coordinator. `crash` takes it down and brings up another one."""

    def __init__(self, random: Random | None = None, **settings: object) -> None:
        self.random = random or Random(0)
        self.settings = BrokerSettings(**settings)  # type: ignore[arg-type]
        self.clock = Clock()
        self.state = StateLog()
        self.partitions: dict[TopicPartition, DrivenLog] = defaultdict(DrivenLog)
        self.deleted: set[TopicPartition] = set()
        self.groups_told: list[tuple[int, bool]] = []
        self._producer_ids = itertools.count(100)
        self._requests: set[asyncio.Task[Any]] = set()
        self.coordinator = self._new_coordinator()

    def _new_coordinator(self) -> TransactionCoordinator:
        coordinator = TransactionCoordinator(
            self.state,  # type: ignore[arg-type]
            self,
            lambda producer_id, commit: self.groups_told.append((producer_id, commit)),
            self.settings,
            self.clock,
            self.clock.call_later,
            lambda: next(self._producer_ids),
        )
        coordinator.load()
        return coordinator

    def exists(self, topic: str, partition: int) -> bool:
        return (topic, partition) not in self.deleted

    def producer_epoch(self, topic: str, partition: int, producer_id: int) -> int:
        entries = self.partitions[TopicPartition(topic, partition)].entries
        return max((e.epoch for e in entries if e.producer_id == producer_id), default=-1)

    def has_open_transaction(self, topic: str, partition: int, producer_id: int) -> bool:
        entries = self.partitions[TopicPartition(topic, partition)].entries
        mine = [entry for entry in entries if entry.producer_id == producer_id]
        return bool(mine) and isinstance(mine[-1], Data)

    def open_transactions(self) -> Iterator[tuple[str, int, int, int]]:
        for partition, log in list(self.partitions.items()):
            for producer_id in {entry.producer_id for entry in log.entries}:
                if self.has_open_transaction(*partition, producer_id):
                    yield *partition, producer_id, self.producer_epoch(*partition, producer_id)

    def write_marker(
        self, partition: TopicPartition, producer: Producer, commit: bool
    ) -> "asyncio.Future[None]":
        return self.partitions[partition].add([Marker(*producer, commit)])

    def request(self, coroutine: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.ensure_future(coroutine)
        self._requests.add(task)
        task.add_done_callback(self._requests.discard)
        return task

    async def answer(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a request to its end on a disk that syncs at once."""
        task = self.request(coroutine)
        while not task.done():
            await self.settle()
            self.sync()
        await self.settle()
        return await task

    async def settle(self) -> None:
        """Let everything run that can run without the disk or the clock."""
        for _ in range(20):
            await asyncio.sleep(0)

    def sync(self) -> None:
        self.state.sync()
        for log in self.partitions.values():
            log.sync()

    async def rest(self) -> None:
        """Sync until nobody waits any more."""
        await self.settle()
        while self.state.waiting or any(log.waiting for log in self.partitions.values()):
            self.sync()
            await self.settle()

    async def crash(self) -> None:
        """kill -9, and a new start. Whoever waited for an answer never gets one."""
        tasks = [*self._requests, *self.coordinator._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.clock.forget()
        self.state = self.state.after_crash(self.random)
        for partition, log in self.partitions.items():
            self.partitions[partition] = log.after_crash(self.random)
        self.coordinator = self._new_coordinator()

    def markers(self, partition: TopicPartition) -> list[Marker]:
        return [e for e in self.partitions[partition].entries if isinstance(e, Marker)]
