"""Recent changes, numbered, so that a live reader can continue where it was."""

import asyncio
import uuid
from collections import deque
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from threading import Lock
from typing import Any, Self

RING = 20_000


class ChangeKind(StrEnum):
    """The kind of a change, which decides the type of its `item`."""

    KEY = "key"
    """A `KeyRow` whose state, counts or pending commands have changed."""
    REQUESTED = "requested"
    """An `AuditRow` of the control log."""
    EFFECTIVE = "effective"
    """An `AuditRow` of the journal."""
    RATES = "rates"
    """A `Sample`."""
    HEALTH = "health"
    """A `PipelineHealth`."""
    FLOW = "flow"
    """A flow was created, changed or removed; the item is its definition, or None."""
    RECORD = "record"
    """A record of a live tail."""
    SAMPLED = "sampled"
    """More records arrived than a tail shows; the item has the counts."""


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """One change. Numbers count up by one."""

    number: int
    kind: ChangeKind
    flow: str
    item: Any


@dataclass(frozen=True, slots=True)
class Batch:
    """Changes in their order. `reset`: the reader has missed some, so it must reload its state
    before it applies these."""

    changes: tuple[Change, ...]
    reset: bool = False


class Changes:
    """A ring of changes. Written by threads, followed by readers on event loops.

    The ring keeps no state for a reader. One that is too slow, or reconnects too late, gets a
    `reset` and delays no other reader.
    """

    def __init__(self, capacity: int = RING) -> None:
        self.epoch = uuid.uuid4().hex[:12]
        """Identifies this process: numbers are valid only within one epoch."""
        self._ring: deque[Change] = deque(maxlen=capacity)
        self._last = 0
        self._lock = Lock()
        self._readers: set[Subscription] = set()
        self._waking = False

    @property
    def last(self) -> int:
        """The number of the newest change; 0 before the first."""
        return self._last

    def append(self, kind: ChangeKind, flow: str, item: Any) -> None:
        """Add a change, and wake waiting readers."""
        with self._lock:
            self._last += 1
            self._ring.append(Change(self._last, kind, flow, item))
            if self._waking or not self._readers:
                return
            self._waking = True
            loops = {reader.loop for reader in self._readers}
        for loop in loops:
            try:
                loop.call_soon_threadsafe(self._wake, loop)
            except RuntimeError:  # that loop has ended, with its readers
                self._waking = False

    def since(self, number: int) -> Batch:
        """All changes after that number."""
        with self._lock:
            oldest = self._last - len(self._ring) + 1
            if not oldest - 1 <= number <= self._last:
                return Batch((), reset=True)
            # From the newest back: readers are nearly always close behind.
            newer = list(islice(reversed(self._ring), self._last - number))
            return Batch(tuple(reversed(newer)))

    def subscribe(self, after: int | None = None) -> "Subscription":
        """Follow the changes after that number, or from now on. Call it on an event loop, and use
        the result in a `with`."""
        return Subscription(self, self._last if after is None else after)

    def event_id(self, number: int) -> str:
        """The id with which a reader resumes after that number."""
        return f"{self.epoch}-{number}"

    def number_of(self, event_id: str) -> int:
        """The number of an id; -1, which is always too old, for an id of another process."""
        epoch, _, number = event_id.partition("-")
        digits = number.isascii() and number.isdigit() and len(number) < 16
        return int(number) if epoch == self.epoch and digits else -1

    def _enter(self, reader: "Subscription") -> None:
        with self._lock:
            self._readers.add(reader)

    def _leave(self, reader: "Subscription") -> None:
        with self._lock:
            self._readers.discard(reader)

    def _wake(self, loop: asyncio.AbstractEventLoop) -> None:
        with self._lock:
            self._waking = False
            readers = [reader for reader in self._readers if reader.loop is loop]
        for reader in readers:
            reader.news.set()


class Subscription:
    """One reader's position in the ring."""

    def __init__(self, changes: Changes, after: int) -> None:
        self.loop = asyncio.get_running_loop()
        self.news = asyncio.Event()
        self.number = after
        """The number of the last change that was handed out."""
        self._changes = changes

    async def next(self, within: float) -> Batch:
        """The changes since the last call. Waits up to `within` seconds for one."""
        try:
            async with asyncio.timeout(within):
                while not ((batch := self._take()).changes or batch.reset):
                    await self.news.wait()
        except TimeoutError:
            return Batch(())
        return batch

    def _take(self) -> Batch:
        self.news.clear()
        batch = self._changes.since(self.number)
        if batch.reset:
            self.number = self._changes.last
        elif batch.changes:
            self.number = batch.changes[-1].number
        return batch

    def __enter__(self) -> Self:
        self._changes._enter(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._changes._leave(self)
