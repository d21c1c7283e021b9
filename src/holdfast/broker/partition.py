"""A partition as the broker serves it: its log, and those who wait for it to move on."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from holdfast.broker.log import Appended, FlushTicket, PartitionLog, Source, StorageFailed

if TYPE_CHECKING:
    from holdfast.broker.flusher import Flusher

OnDurable = Callable[[StorageFailed | None], None]


class Reader(Protocol):
    """Someone who waits for records."""

    def more(self, size: int) -> None:
        """About `size` further bytes became visible."""


class Partition:
    """Appends, and tells when what was appended is durable; wakes readers when it is visible.

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

    def __str__(self) -> str:
        return f"{self.topic}-{self.index}"

    def append(self, batches: memoryview, source: Source = Source.CLIENT) -> Appended:
        """Append; raises RecordsRejected or StorageFailed, and then nothing of it stays."""
        appended = self.log.append(batches, now_ms=self._clock(), source=source)
        if not appended.duplicate:
            self._unseen_bytes += len(batches)
            if self._flusher is None:
                self.log.expose()
                self._advanced()
            else:
                self._flusher.mark(self)
        return appended

    @property
    def unseen_bytes(self) -> int:
        """Appended, and not visible yet."""
        return self._unseen_bytes

    def on_durable(self, last_offset: int, tell: OnDurable) -> None:
        """Call `tell` once the record at `last_offset` is durable: at once, if it is already."""
        if self.log.high_watermark > last_offset:
            tell(None)
            return
        if not self._waiting or self._waiting[-1][0] <= last_offset:
            self._waiting.append((last_offset, tell))
            return
        # A retried batch that is still being synced waits for an offset that others have passed.
        self._waiting = deque(sorted([*self._waiting, (last_offset, tell)], key=lambda w: w[0]))

    def when_durable(self, last_offset: int) -> "asyncio.Future[None]":
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def tell(failure: StorageFailed | None) -> None:
            if future.done():
                return
            if failure is None:
                future.set_result(None)
            else:
                future.set_exception(failure)

        self.on_durable(last_offset, tell)
        return future

    def add_reader(self, reader: Reader) -> None:
        self._readers.add(reader)

    def remove_reader(self, reader: Reader) -> None:
        self._readers.discard(reader)

    def synced(self, ticket: FlushTicket) -> None:
        self.log.flushed(ticket)
        self._advanced()

    async def sync_in_background(self) -> None:
        """Sync what nobody waits for: without a flusher all, with one what housekeeping did.

        So little is left to recover after a crash, and what was closed can be compacted.
        """
        if self._flusher is not None:
            self._flusher.mark(self)
            return
        ticket = self.log.flush_targets()
        if ticket is None:
            return
        sync = asyncio.get_running_loop().run_in_executor(None, ticket.sync)
        # A stop waits too: only what is known to be on disk may be left out of the last sync.
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
        """What was not synced was never seen, and is gone: those who wait for it are told."""
        self.log.flush_failed(ticket, error)
        failure = StorageFailed(f"{self} could not be synced to disk: {error}")
        waiting, self._waiting = self._waiting, deque()
        self._unseen_bytes = 0
        for _, tell in waiting:
            tell(failure)

    @property
    def is_gone(self) -> bool:
        """Whether the topic was deleted."""
        return self.log.is_abandoned

    def abandon(self) -> None:
        """The topic is deleted: those who wait for it look again, and find that out."""
        self.log.abandon()
        waiting, self._waiting = self._waiting, deque()
        for _, tell in waiting:
            tell(StorageFailed(f"{self} was deleted"))
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
    """Wait until the work is done, however it ends; whether this was to be cancelled meanwhile."""
    try:
        await asyncio.wait([work])
    except asyncio.CancelledError:
        await asyncio.wait([work])
        return True
    return False
