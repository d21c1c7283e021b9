"""A partition in service: its log, and the requests that wait for it."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from holdfast.broker.log import Appended, FlushTicket, PartitionLog, Source, StorageFailed

if TYPE_CHECKING:
    from holdfast.broker.flusher import Flusher
    from holdfast.broker.work import Work

OnDurable = Callable[[StorageFailed | None], None]


class Reader(Protocol):
    """A request that waits for records."""

    def more(self, size: int) -> None:
        """Called when about `size` more bytes are visible."""


class Partition:
    """Appends records, calls back when they are durable, and wakes readers when they are visible.

    Without a flusher (`flush = "os"`) the page cache counts as durable.
    """

    def __init__(
        self,
        topic: str,
        index: int,
        log: PartitionLog,
        flusher: "Flusher | None",
        clock: Callable[[], int],
    ) -> None:
        self.topic = topic
        self.index = index
        self.log = log
        self._flusher = flusher
        self._clock = clock
        self._waiting: deque[tuple[int, OnDurable]] = deque()
        self._readers: set[Reader] = set()
        self._unseen_bytes = 0
        self.on_new_producer: Callable[[], None] = lambda: None
        """Called when the log has a new producer."""

    def __str__(self) -> str:
        return f"{self.topic}-{self.index}"

    def append(
        self, batches: memoryview, source: Source = Source.CLIENT, *, inspected: bool = False
    ) -> Appended:
        """Appends; raises RecordsRejected, StorageFailed or NeedsTime, and then writes nothing."""
        known = self.log.producer_count
        appended = self.log.append(
            batches, now_ms=self._clock(), source=source, inspected=inspected
        )
        if self.log.producer_count > known:
            self.on_new_producer()
        if not appended.duplicate:
            self._unseen_bytes += len(batches)
            if self._flusher is None:
                self.log.expose()
                self._advanced()
            else:
                self._flusher.mark(self)
        return appended

    def inspect(self, batches: memoryview) -> "Work[None]":
        """Checks the records in a client's batch, in slices; raises RecordsRejected."""
        return self.log.inspect(batches, self._clock())

    @property
    def unseen_bytes(self) -> int:
        """Records that are appended and not visible yet."""
        return self._unseen_bytes

    def on_durable(self, last_offset: int, callback: OnDurable) -> None:
        """Calls back when the record at `last_offset` is durable, or at once if it is."""
        if self.log.high_watermark > last_offset:
            callback(None)
            return
        if not self._waiting or self._waiting[-1][0] <= last_offset:
            self._waiting.append((last_offset, callback))
            return
        # A retry may wait for a lower offset than the last one.
        self._waiting = deque(sorted([*self._waiting, (last_offset, callback)], key=lambda w: w[0]))

    def when_durable(self, last_offset: int) -> "asyncio.Future[None]":
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def callback(failure: StorageFailed | None) -> None:
            if future.done():
                return
            if failure is None:
                future.set_result(None)
            else:
                future.set_exception(failure)

        self.on_durable(last_offset, callback)
        return future

    def add_reader(self, reader: Reader) -> None:
        self._readers.add(reader)

    def remove_reader(self, reader: Reader) -> None:
        self._readers.discard(reader)

    def synced(self, ticket: FlushTicket) -> None:
        self.log.flushed(ticket)
        self._advanced()

    async def sync_in_background(self) -> None:
        """Syncs files that no request waits for: all without a flusher, else those of housekeeping.

        So a crash leaves little to recover, and closed segments can be compacted.
        """
        if self._flusher is not None:
            self._flusher.mark(self)
            return
        ticket = self.log.flush_targets()
        if ticket is None:
            return
        sync = asyncio.get_running_loop().run_in_executor(None, ticket.sync)
        # A stop waits too: the last sync may only omit files that are on disk.
        cancelled = await _outlast(sync)
        failure = sync.exception()
        if failure is None:
            self.log.flushed(ticket)
        elif isinstance(failure, OSError) and not self.is_gone:
            self.log.flush_failed(ticket, failure)
        if cancelled:
            raise asyncio.CancelledError
        if failure is not None and not self.is_gone:
            raise failure

    def sync_failed(self, ticket: FlushTicket, error: OSError) -> None:
        """Reports the failure to waiting requests. Unsynced records were never visible."""
        self.log.flush_failed(ticket, error)
        failure = StorageFailed(f"{self} could not be synced to disk: {error}")
        waiting, self._waiting = self._waiting, deque()
        self._unseen_bytes = 0
        for _, callback in waiting:
            callback(failure)

    @property
    def is_gone(self) -> bool:
        """Returns True if the topic was deleted."""
        return self.log.is_abandoned

    def abandon(self) -> None:
        """Wakes all waiting requests, because the topic is deleted."""
        self.log.abandon()
        waiting, self._waiting = self._waiting, deque()
        for _, callback in waiting:
            callback(StorageFailed(f"{self} was deleted"))
        self._wake_readers(0)

    def _advanced(self) -> None:
        high_watermark = self.log.high_watermark
        waiting = self._waiting
        while waiting and waiting[0][0] < high_watermark:
            waiting.popleft()[1](None)
        if self._readers:
            self._wake_readers(self._unseen_bytes)
        self._unseen_bytes = 0

    def _wake_readers(self, size: int) -> None:
        for reader in list(self._readers):
            reader.more(size)


async def _outlast(work: "asyncio.Future[None]") -> bool:
    """Waits until the work has ended. Returns True if the waiting task was cancelled meanwhile."""
    try:
        await asyncio.wait([work])
    except asyncio.CancelledError:
        await asyncio.wait([work])
        return True
    return False
