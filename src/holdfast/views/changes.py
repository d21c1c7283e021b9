"""What has changed, numbered and kept for a while, so that a live reader can go on where it was."""

import asyncio
import uuid
from collections import deque
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from threading import Lock
from types import TracebackType
from typing import Any, Self

RING = 20_000


class ChangeKind(StrEnum):
    """What a change is about, and what its `item` is."""

    KEY = "key"
    """A `KeyRow`: its state, counts or pending commands are others."""
    REQUESTED = "requested"
    """An `AuditRow` of the control log."""
    EFFECTIVE = "effective"
    """An `AuditRow` of the journal."""
    RATES = "rates"
    """A `Sample`."""
    HEALTH = "health"
    """A `PipelineHealth`."""
    FLOW = "flow"
    """A flow came, changed, or went; the item is its definition, or None."""
    RECORD = "record"
    """A record of a topic that is tailed."""
    SAMPLED = "sampled"
    """More records came than a tail shows; the item says how many."""


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """One change. Numbers count up by one."""

    number: int
    kind: ChangeKind
    flow: str
    item: Any


@dataclass(frozen=True, slots=True)
class Batch:
    """What a reader gets: changes in their order. `reset`: some were missed, so what the reader
    shows has to be read anew before these."""

    changes: tuple[Change, ...]
    reset: bool = False


class Changes:
    """A ring of changes. Written by threads, followed by readers on event loops.

    A reader costs the ring nothing but its place: one that is too slow, or comes back too late, is
    told so (`reset`) and holds nobody up.
    """

    def __init__(self, capacity: int = RING) -> None:
        self.epoch = uuid.uuid4().hex[:12]
        """Numbers mean something within one epoch alone: that of this process."""
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
        """Add a change, and wake those who wait for one."""
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
            except RuntimeError:  # that loop has ended, and its readers with it
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
        """Follow the changes after that number, or those that come from now on. On an event loop;
        use it in a `with`."""
        return Subscription(self, self._last if after is None else after)

    def place(self, number: int) -> str:
        """The number as a reader keeps it over a lost connection."""
        return f"{self.epoch}-{number}"

    def number_of(self, place: str) -> int:
        """The reverse; -1, which is always too old, for a place in another process's ring."""
        epoch, _, number = place.partition("-")
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
    """One reader's place in the ring."""

    def __init__(self, changes: Changes, after: int) -> None:
        self.loop = asyncio.get_running_loop()
        self.news = asyncio.Event()
        self.number = after
        """Of the last change that was handed out."""
        self._changes = changes

    async def next(self, within: float) -> Batch:
        """What has come since the last time. Waits for something, so many seconds at most."""
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._changes._leave(self)
