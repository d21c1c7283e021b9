"""A coordinator in a world where time and the disk move only when the test says so."""

import asyncio
import heapq
import itertools
import struct
import uuid
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from holdfast.broker.groups.coordinator import GroupCoordinator
from holdfast.broker.groups.rebalance import GroupState
from holdfast.broker.groups.records import CommittedOffset, TopicPartition
from holdfast.broker.groups.requests import Join, Joined, Leaver, MemberClaim, Offer, Sync, Synced
from holdfast.broker.log.errors import StorageFailed
from holdfast.broker.settings import BrokerSettings
from holdfast.broker.work import finish
from holdfast.wire.protocol.errors import ErrorCode

SESSION_MS = 30_000
REBALANCE_MS = 60_000
GROUP = "orders"

T = TypeVar("T")


class Record(NamedTuple):
    """The records, in the form of the real log's `replay`."""

    key: bytes | None
    value: bytes | None
    producer_id: int
    transactional: bool
    control: str | None


@dataclass
class Timer:
    due_ms: int
    then: Callable[[], None]
    cancelled: bool = False

    def cancel(self) -> None:
        self.cancelled = True


class Clock:
    def __init__(self, now_ms: int = 1_700_000_000_000) -> None:
        self.now_ms = now_ms
        self._timers: list[tuple[int, int, Timer]] = []
        self._order = itertools.count()

    def __call__(self) -> int:
        return self.now_ms

    def call_later(self, seconds: float, then: Callable[[], None]) -> Timer:
        timer = Timer(self.now_ms + round(seconds * 1000), then)
        heapq.heappush(self._timers, (timer.due_ms, next(self._order), timer))
        return timer

    def advance(self, ms: int) -> None:
        end = self.now_ms + ms
        while self._timers and self._timers[0][0] <= end:
            due_ms, _, timer = heapq.heappop(self._timers)
            self.now_ms = max(self.now_ms, due_ms)
            if not timer.cancelled:
                timer.then()
        self.now_ms = end

    @property
    def running(self) -> int:
        return sum(not timer.cancelled for _, _, timer in self._timers)


class MemoryLog:
    """A state log whose appends become durable, in order, when the test says so."""

    def __init__(self, loop: asyncio.AbstractEventLoop, durable: Iterable[Record] = ()) -> None:
        self._loop = loop
        self.durable: list[Record] = list(durable)
        self.waiting: list[tuple[list[Record], asyncio.Future[None]]] = []
        self.refuses = False

    def build(
        self,
        records: Sequence[tuple[bytes, bytes | None]],
        producer: tuple[int, int] | None = None,
    ) -> list[Record]:
        producer_id = -1 if producer is None else producer[0]
        return [Record(k, v, producer_id, producer is not None, None) for k, v in records]

    def append_built(self, batch: list[Record]) -> "asyncio.Future[None]":
        if self.refuses:
            raise StorageFailed("no space left")
        assert batch
        return self._append(batch)

    def marker(self, producer_id: int, commit: bool) -> "asyncio.Future[None]":
        return self._append(
            [Record(None, None, producer_id, True, "commit" if commit else "abort")]
        )

    def replay(self) -> Iterator[Record]:
        return iter(list(self.durable))

    def sync(self, count: int | None = None) -> None:
        """The first `count` appends that wait become durable."""
        for _ in range(len(self.waiting) if count is None else count):
            batch, future = self.waiting.pop(0)
            self.durable += batch
            future.set_result(None)

    def fail(self) -> None:
        """Nothing of what waits will ever be durable."""
        waiting, self.waiting = self.waiting, []
        for _, future in waiting:
            future.set_exception(StorageFailed("the disk is gone"))

    def _append(self, batch: list[Record]) -> "asyncio.Future[None]":
        future: asyncio.Future[None] = self._loop.create_future()
        self.waiting.append((batch, future))
        return future


@dataclass
class MemoryTopic:
    name: str
    partitions: range
    id: uuid.UUID
    internal: bool = False


class MemoryTopics:
    """The topics of a broker without a disk. Their ids are the same in every run."""

    def __init__(self) -> None:
        self.version = 0
        self._topics: dict[str, MemoryTopic] = {}

    def put(self, name: str, partitions: int, *, again: bool = False) -> MemoryTopic:
        """Creates a topic, or gives it more partitions; `again`: as another topic of this name."""
        self.version += 1
        known = self._topics.get(name)
        topic_id = (
            known.id
            if known and not again
            else uuid.uuid5(uuid.NAMESPACE_URL, f"{name}{self.version}")
        )
        topic = MemoryTopic(name, range(partitions), topic_id, name.startswith("__"))
        self._topics[name] = topic
        return topic

    def delete(self, name: str) -> None:
        self.version += 1
        self._topics.pop(name, None)

    def get(self, name: str) -> MemoryTopic | None:
        return self._topics.get(name)

    def by_id(self, topic_id: uuid.UUID) -> MemoryTopic | None:
        return next((t for t in self._topics.values() if t.id == topic_id), None)

    def names(self) -> list[str]:
        return sorted(self._topics)


class Threads:
    """Functions on threads, which end when the test says so."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Callable[[], Any], Callable[[Any], None]]] = []

    def __call__(self, function: Callable[[], Any], then: Callable[[Any], None]) -> None:
        self.waiting.append((function, then))

    def finish(self) -> None:
        waiting, self.waiting = self.waiting, []
        for function, then in waiting:
            then(function())


def subscription(*topics: str, rest: bytes = b"\xff\xff\xff\xff") -> bytes:
    names = b"".join(struct.pack(">h", len(t)) + t.encode() for t in topics)
    return struct.pack(">hi", 0, len(topics)) + names + rest


@dataclass
class Client:
    """A consumer, as far as a group can see it."""

    name: str
    instance_id: str | None = None
    offers: tuple[Offer, ...] = (Offer("range", subscription("events")),)
    version: int = 9
    session_ms: int = SESSION_MS
    rebalance_ms: int = REBALANCE_MS
    member_id: str = ""
    generation: int = -1
    leader: str = ""
    seen: list[Any] = field(default_factory=list)

    @property
    def claim(self) -> MemberClaim:
        return MemberClaim(self.member_id, self.generation, self.instance_id)

    @property
    def leads(self) -> bool:
        return bool(self.member_id) and self.leader == self.member_id

    def join_request(self) -> Join:
        return Join(
            member_id=self.member_id,
            instance_id=self.instance_id,
            client_id=self.name,
            client_host="/127.0.0.1",
            session_timeout_ms=self.session_ms,
            rebalance_timeout_ms=self.rebalance_ms,
            protocol_type="consumer",
            offers=self.offers,
            must_know_its_id=self.version >= 4,
            can_skip_assignment=self.version >= 9,
        )


def at(partition: int = 0, topic: str = "events") -> TopicPartition:
    return TopicPartition(topic, partition)


def offset(value: int, metadata: str = "", commit_ms: int = 0) -> CommittedOffset:
    return CommittedOffset(value, 0, metadata, commit_ms)


class World:
    def __init__(self, **settings: Any) -> None:
        self.loop = asyncio.new_event_loop()
        self.clock = Clock()
        self.settings = BrokerSettings(**settings)
        self.log = MemoryLog(self.loop)
        self.topics = MemoryTopics()
        self.threads = Threads()
        self.groups = self._start()

    def __enter__(self) -> "World":
        return self

    def __exit__(self, *_: object) -> None:
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.settle()
        self.loop.close()

    def _start(self) -> GroupCoordinator:
        groups = GroupCoordinator(
            self.log,  # type: ignore[arg-type]
            self.settings,
            self.clock,
            self.clock.call_later,
            self.topics,
            self.threads,
        )
        groups.load()
        return groups

    def restart(self) -> None:
        """As after kill -9: what was not durable is gone, and so is everybody who waited."""
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.settle()
        self.clock = Clock(self.clock.now_ms)
        self.log = MemoryLog(self.loop, self.log.durable)
        self.threads = Threads()
        self.groups = self._start()

    def settle(self) -> None:
        """Run what is ready to run."""
        for _ in range(8):
            self.loop.call_soon(self.loop.stop)
            self.loop.run_forever()

    def ask(self, coroutine: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = self.loop.create_task(coroutine)
        self.settle()
        return task

    def sync_log(self, count: int | None = None) -> None:
        self.log.sync(count)
        self.settle()

    def answer(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """The answer to a request that only the disk can hold up."""
        task = self.ask(coroutine)
        if not task.done():
            self.sync_log()
        assert task.done(), "not answered"
        return task.result()

    def advance(self, ms: int) -> None:
        self.clock.advance(ms)
        self.settle()

    # what clients do

    def begin_join(self, client: Client) -> "asyncio.Task[Joined]":
        """Join; a client that is told an id to join with does so."""
        task = self.ask(self.groups.join(GROUP, client.join_request()))
        if task.done() and task.result().error is ErrorCode.MEMBER_ID_REQUIRED:
            client.member_id = task.result().member_id
            task = self.ask(self.groups.join(GROUP, client.join_request()))
        return task

    def joined(self, client: Client, task: "asyncio.Task[Joined]") -> Joined:
        assert task.done(), f"{client.name} still waits to join"
        joined = task.result()
        assert joined.error is ErrorCode.NONE, joined
        client.member_id, client.generation = joined.member_id, joined.generation
        client.leader = joined.leader
        return joined

    def begin_sync(self, client: Client, **assignments: bytes) -> "asyncio.Task[Synced]":
        """Sync; a leader gives assignments by member id."""
        sync = Sync(
            claim=client.claim,
            protocol_type="consumer",
            protocol=None,
            assignments=assignments,
        )
        return self.ask(self.groups.sync(GROUP, sync))

    def stabilise(self, *clients: Client) -> None:
        """Let these clients be exactly the members of a stable group."""
        tasks = [self.begin_join(client) for client in clients]
        for index, client in enumerate(clients):
            if tasks[index].done():
                self.joined(client, tasks[index])
                if self.group.state is GroupState.PREPARING:  # others wait for it to join again
                    tasks[index] = self.begin_join(client)
        for client, task in zip(clients, tasks, strict=True):
            self.joined(client, task)
        parts = {client.member_id: client.name.encode() for client in clients}
        syncs = [self.begin_sync(client, **(parts if client.leads else {})) for client in clients]
        self.sync_log()
        for client, sync in zip(clients, syncs, strict=True):
            assert sync.result().assignment == client.name.encode()

    def heartbeat(self, client: Client) -> ErrorCode:
        return self.groups.heartbeat(GROUP, client.claim)

    def leave(self, *leavers: Leaver) -> "asyncio.Task[Any]":
        return self.ask(self.groups.leave(GROUP, leavers))

    def begin_commit(
        self, offsets: dict[TopicPartition, CommittedOffset], claim: MemberClaim | None = None
    ) -> "asyncio.Task[ErrorCode]":
        return self.ask(self.groups.commit(GROUP, claim or MemberClaim(), offsets))

    def commit(self, value: int, claim: MemberClaim | None = None, partition: int = 0) -> ErrorCode:
        task = self.begin_commit({at(partition): offset(value, commit_ms=self.clock())}, claim)
        self.sync_log()
        return task.result()

    def begin_transactional(
        self, producer_id: int, value: int, claim: MemberClaim | None = None, partition: int = 0
    ) -> "asyncio.Task[ErrorCode]":
        return self.ask(
            self.groups.commit_in_transaction(
                GROUP,
                claim or MemberClaim(),
                (producer_id, 0),
                {at(partition): offset(value, commit_ms=self.clock())},
                verify=lambda: None,
            )
        )

    def end_transaction(self, producer_id: int, *, commit: bool) -> None:
        """The marker is written, and once it is durable the groups hear of it."""
        marker = self.log.marker(producer_id, commit)
        groups = self.groups

        def written(marker: "asyncio.Future[None]") -> None:
            if marker.exception() is None:
                groups.complete_transaction(producer_id, commit)

        marker.add_done_callback(written)

    def fetch(self, partition: int = 0, *, stable: bool = False) -> int | ErrorCode | None:
        found = finish(self.groups.fetch(GROUP, [at(partition)], require_stable=stable))[
            at(partition)
        ]
        return found.offset if isinstance(found, CommittedOffset) else found

    def state(self) -> GroupState:
        return GroupState(self.group.state)

    @property
    def group(self) -> Any:
        return self.groups.get(GROUP)
