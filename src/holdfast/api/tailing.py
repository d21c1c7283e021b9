"""Live tails: what arrives in a topic, as it arrives, sampled above a rate.

Those who tail the same share one reader. It looks at no more records a second than a person could
make use of, counts the rest, and says so.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from threading import Event, Thread
from time import monotonic

from confluent_kafka import Consumer, KafkaError, Message

from holdfast.access.masks import SEES_ALL, visible_value
from holdfast.access.roles import Actor
from holdfast.api.browsing import Browse, Seen, browse
from holdfast.api.matching import NO_FILTER, Filter
from holdfast.client.connection import Connection
from holdfast.client.log_reader import next_messages
from holdfast.client.positions import Offsets, Partition
from holdfast.client.record import Record
from holdfast.errors import UnavailableError
from holdfast.views.changes import ChangeKind, Changes

log = logging.getLogger(__name__)

SHOWN_A_SECOND = 50
LOOKED_AT_A_SECOND = 2_000
"""Records that a filter looks at."""
MAX_TAILS = 50
LINGER_S = 30.0
"""A tail outlives its last reader for so long, so that one who lost the connection can resume."""
LATEST = 8
"""Records from before a tail began that its ring starts with; for tails without a filter alone."""
_LATEST_WITHIN_S = 1.0
_RING = 2_000
_CHUNK = 1_000

_READER = {
    # Never joined: librdkafka wants a name all the same.
    "group.id": "holdfast.reader",
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "auto.offset.reset": "latest",
    "isolation.level": "read_committed",
    "fetch.wait.max.ms": 500,
    "queued.max.messages.kbytes": 8 * 1024,
}


@dataclass(frozen=True, slots=True)
class Sampling:
    """What a tail did not show in the last second or so."""

    seconds: float
    arrived: int
    looked_at: int
    shown: int


@dataclass(frozen=True, slots=True)
class _Subject:
    """What is tailed; equal subjects share a tail."""

    topic: str
    partitions: tuple[int, ...]
    filter: Filter
    masks: tuple[str, ...]
    """Empty for those who see all."""
    actor: Actor


class Tail:
    """One reader of a topic's end, on a thread of its own."""

    def __init__(self, connection: Connection, subject: _Subject) -> None:
        self.changes = Changes(_RING)
        self.readers = 0
        self._connection = connection
        self._subject = subject
        self._stopping = Event()
        self._window = _Window()
        self._thread = Thread(target=self._run, name=f"tail of {subject.topic}", daemon=True)

    def start(self) -> None:
        """Begin at the end of the topic as it is now. Blocks until that is known, and the latest
        records before it are in the ring: who follows from now on never sees those, who begins
        some numbers back does."""
        places = [Partition(self._subject.topic, n) for n in self._subject.partitions]
        ends = Offsets(self._connection).ends(places)
        for seen in self._latest(ends):
            self.changes.append(ChangeKind.RECORD, "", seen)
        self._consumer = self._connection.make(Consumer, _READER)
        self._consumer.assign([place.at(ends[place]) for place in places])
        self._thread.start()

    def stop(self) -> None:
        """It ends soon; nobody waits for it."""
        self._stopping.set()

    def _latest(self, ends: dict[Partition, int]) -> list[Seen]:
        """The newest records below these ends, oldest first, as far as a moment finds them."""
        subject = self._subject
        if not subject.filter.empty:
            return []  # what matches may be anywhere, and nobody waits for it to be found
        query = Browse(
            topic=subject.topic,
            partitions=subject.partitions,
            limit=LATEST,
            seconds=_LATEST_WITHIN_S,
        )
        found = browse(self._connection, query, subject.masks, subject.actor).records
        return [
            seen
            for seen in reversed(found)
            if seen.record.offset < ends[Partition(subject.topic, seen.record.partition)]
        ]

    def _run(self) -> None:
        try:
            while not self._stopping.is_set():
                for message in next_messages(self._consumer, _CHUNK, 0.5):
                    self._take(message)
                self._close_window()
        finally:
            self._consumer.close()

    def _take(self, message: Message) -> None:
        error = message.error()
        if error is not None:
            if error.code() != KafkaError._PARTITION_EOF:
                log.info("Tailing %s: %s", self._subject.topic, error.str())
            return
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
        """What arrives, from now on, as this actor may see it."""
        hidden = () if actor.may(SEES_ALL) else tuple(masks)
        subject = _Subject(topic, tuple(partitions), wanted, hidden, Actor("", actor.role))
        tail = await self._open(subject)
        tail.readers += 1
        try:
            yield tail.changes
        finally:
            tail.readers -= 1
            if not tail.readers:
                asyncio.get_running_loop().call_later(LINGER_S, self._close, subject, tail)

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
