"""Live tails: the records of a topic as they arrive, sampled above a rate.

Readers of the same tail share one thread. It reads no more records a second than a person could
use, counts the rest, and reports the count.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import monotonic

from confluent_kafka import Consumer, KafkaError, Message

from holdfast.access.masks import SEES_ALL, visible_value
from holdfast.access.roles import Actor
from holdfast.background import Background
from holdfast.client.connection import Connection
from holdfast.client.log_reader import next_messages
from holdfast.client.positions import Offsets, Partition
from holdfast.client.record import Record
from holdfast.control.filters import NO_FILTER, Filter
from holdfast.control.records import Browse, Seen, browse
from holdfast.errors import UnavailableError
from holdfast.views.changes import ChangeKind, Changes

log = logging.getLogger(__name__)

SHOWN_A_SECOND = 50
LOOKED_AT_A_SECOND = 2_000
"""Records that a filter checks."""
MAX_TAILS = 50
LINGER_SECONDS = 30.0
"""A tail outlives its last reader by this time, so that a reader whose connection broke can
resume."""
LATEST = 8
"""Records from before a tail began that its ring starts with; for tails without a filter alone."""
_LATEST_WITHIN_SECONDS = 1.0
_RING = 2_000
_CHUNK = 1_000

_TUNING = {"fetch.wait.max.ms": 500, "queued.max.messages.kbytes": 8 * 1024}


@dataclass(frozen=True, slots=True)
class Sampling:
    """The numbers of a tail that was sampled in the last second."""

    seconds: float
    arrived: int
    looked_at: int
    shown: int


@dataclass(frozen=True, slots=True)
class _Subject:
    """The subject of a tail; equal subjects share a tail."""

    topic: str
    partitions: tuple[int, ...]
    filter: Filter
    masks: tuple[str, ...]
    """Empty for actors who may see everything."""
    actor: Actor


class Tail:
    """One reader of a topic's end, on a thread of its own."""

    def __init__(self, connection: Connection, subject: _Subject) -> None:
        self.changes = Changes(_RING)
        self.readers = 0
        self._connection = connection
        self._subject = subject
        self._window = _Window()
        self._consumer: Consumer | None = None
        self._next: dict[Partition, int] = {}
        """The next offset of each partition."""
        self._thread = Background(
            f"tail of {subject.topic}", self._turn, restart=self._close, close=self._close
        )

    def start(self) -> None:
        """Starts at the present end of the topic. Blocks until that is known and the newest records
        are in the ring: a reader that starts now does not see those; a reader that starts some
        numbers back does."""
        partitions = [Partition(self._subject.topic, n) for n in self._subject.partitions]
        ends = Offsets(self._connection).ends(partitions)
        for seen in self._latest(ends):
            self.changes.append(ChangeKind.RECORD, "", seen)
        self._next = ends
        self._thread.start()

    def stop(self) -> None:
        """Asks the thread to end, without waiting for it."""
        self._thread.stopping.set()

    def _latest(self, ends: dict[Partition, int]) -> list[Seen]:
        """The newest records below these ends, oldest first, within a short time limit."""
        subject = self._subject
        if not subject.filter.empty:
            return []  # matches may be anywhere, and a search would take too long
        query = Browse(
            topic=subject.topic,
            partitions=subject.partitions,
            limit=LATEST,
            seconds=_LATEST_WITHIN_SECONDS,
        )
        newest = browse(self._connection, query, subject.masks, subject.actor).records
        return [
            seen
            for seen in reversed(newest)
            if seen.record.offset < ends[Partition(subject.topic, seen.record.partition)]
        ]

    def _turn(self) -> None:
        if self._consumer is None:
            self._consumer = self._connection.reader(_TUNING, lost="latest")
            self._consumer.assign(
                [partition.at(offset) for partition, offset in self._next.items()]
            )
        for message in next_messages(self._consumer, _CHUNK, 0.5):
            self._take(message)
        self._close_window()

    def _close(self) -> None:
        if self._consumer is not None:
            self._consumer.close()
            self._consumer = None

    def _take(self, message: Message) -> None:
        error = message.error()
        if error is not None:
            if error.code() != KafkaError._PARTITION_EOF:
                log.info("Tailing %s: %s", self._subject.topic, error.str())
            return
        partition = Partition(self._subject.topic, message.partition() or 0)
        self._next[partition] = (message.offset() or 0) + 1
        window, wanted = self._window, self._subject.filter
        window.arrived += 1
        if window.shown >= SHOWN_A_SECOND or window.looked_at >= LOOKED_AT_A_SECOND:
            return
        window.looked_at += 1
        record = Record.of(message)
        value = visible_value(record.value, self._subject.masks, self._subject.actor)
        if wanted.empty or wanted.matches(record.key, value, record.headers):
            window.shown += 1
            self.changes.append(ChangeKind.RECORD, "", Seen(record, value))

    def _close_window(self) -> None:
        window, seconds = self._window, monotonic() - self._window.begun
        if seconds < 1.0:
            return
        if window.arrived > window.looked_at:
            sampling = Sampling(round(seconds, 2), window.arrived, window.looked_at, window.shown)
            self.changes.append(ChangeKind.SAMPLED, "", sampling)
        self._window = _Window()


class _Window:
    """One second of a tail."""

    __slots__ = ("arrived", "begun", "looked_at", "shown")

    def __init__(self) -> None:
        self.begun = monotonic()
        self.arrived = self.looked_at = self.shown = 0


class Tails:
    """All tails of the process. For one event loop."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._tails: dict[_Subject, asyncio.Task[Tail]] = {}

    @asynccontextmanager
    async def follow(
        self,
        topic: str,
        partitions: Sequence[int],
        masks: Sequence[str],
        actor: Actor,
        wanted: Filter = NO_FILTER,
    ) -> AsyncIterator[Changes]:
        """Follows the records that arrive from now on, as this actor may see them."""
        hidden = () if actor.may(SEES_ALL) else tuple(masks)
        subject = _Subject(topic, tuple(partitions), wanted, hidden, Actor("", actor.role))
        tail = await self._open(subject)
        tail.readers += 1
        try:
            yield tail.changes
        finally:
            tail.readers -= 1
            if not tail.readers:
                asyncio.get_running_loop().call_later(LINGER_SECONDS, self._close, subject, tail)

    def stop(self) -> None:
        for task in self._tails.values():
            if task.done() and not task.cancelled() and task.exception() is None:
                task.result().stop()
        self._tails.clear()

    async def _open(self, subject: _Subject) -> Tail:
        if subject not in self._tails:
            if len(self._tails) >= MAX_TAILS:
                raise UnavailableError(
                    f"There are {MAX_TAILS} different live tails already: close one, or take the "
                    "same topic and filter as another."
                )
            self._tails[subject] = asyncio.create_task(self._begin(subject))
        task = self._tails[subject]
        try:
            return await asyncio.shield(task)
        except Exception:
            self._tails.pop(subject, None)
            raise

    async def _begin(self, subject: _Subject) -> Tail:
        tail = Tail(self._connection, subject)
        await asyncio.to_thread(tail.start)
        return tail

    def _close(self, subject: _Subject, tail: Tail) -> None:
        if not tail.readers and subject in self._tails:
            del self._tails[subject]
            tail.stop()
