"""Group commit: what was appended while a sync ran is covered by the next one, all at once.

Each partition has at most one sync under way, on one of a few threads, and partitions do not wait
for each other. A produce is answered, and its records are shown to readers, when the sync that
covers them has returned.

A small sync of a single partition, on a disk that has been quick for a while, is done on the loop:
there and back again between threads takes longer than the sync itself. A disk that stalls holds up
the loop once by that, and is left to the threads until it has been quick for a while again.
"""

import asyncio
import logging
import queue
import threading
import time
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.broker.log import FlushTicket
    from holdfast.broker.metrics import Metrics
    from holdfast.broker.partition import Partition

log = logging.getLogger(__name__)

THREADS = 4
"""Syncs under way at once. They wait for the disk, not for the processor, and merge there."""

SMALL_BYTES = 16 * 1024
"""What one message at a time amounts to; more is worth a thread."""
QUICK_SECONDS = 0.0004
"""About what two changes of thread cost."""
UNKNOWN_SECONDS = 1.0
"""What a disk is taken for that nobody has measured yet."""
WEIGHT_OF_LATEST = 0.1

_Job = tuple["Partition", "FlushTicket"]
_Done = tuple["Partition", "FlushTicket", OSError | None, float]


class Flusher:
    """Syncs the partitions that were marked, and tells each how it went, on the loop's thread."""

    def __init__(self, metrics: "Metrics") -> None:
        self._loop = asyncio.get_running_loop()
        self._metrics = metrics
        self._marked: dict[Partition, None] = {}
        self._syncing: set[Partition] = set()
        self._scheduled = False
        self._round_done: asyncio.Event | None = None
        self._usual_seconds = UNKNOWN_SECONDS
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._done: deque[_Done] = deque()
        self._threads = [
            threading.Thread(target=self._work, name=f"flush-{n}", daemon=True)
            for n in range(THREADS)
        ]
        for thread in self._threads:
            thread.start()

    def mark(self, partition: "Partition") -> None:
        """The partition has appended; sync it once this turn of the loop is over."""
        self._marked[partition] = None
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._start)

    async def stop(self) -> None:
        """Sync what is marked, then end the threads."""
        while self._marked or self._syncing:
            self._round_done = asyncio.Event()
            await self._round_done.wait()
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()

    def _start(self) -> None:
        self._scheduled = False
        for partition in list(self._marked):
            if partition in self._syncing:
                continue  # it stays marked; `_finished` starts it again
            del self._marked[partition]
            alone = not self._marked and not self._syncing
            ticket = partition.log.flush_targets()
            if ticket is None:
                continue
            self._syncing.add(partition)
            if alone and self._is_quick(partition, ticket):
                self._done.append(_sync(partition, ticket))
                self._finished()
            else:
                self._jobs.put((partition, ticket))
        self._tell_who_stops()

    def _is_quick(self, partition: "Partition", ticket: "FlushTicket") -> bool:
        return (
            self._usual_seconds < QUICK_SECONDS
            and ticket.is_light
            and partition.unseen_bytes <= SMALL_BYTES
        )

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            self._done.append(_sync(*job))
            try:
                self._loop.call_soon_threadsafe(self._finished)
            except RuntimeError:  # the loop is gone: nobody waits for this any more
                return

    def _finished(self) -> None:
        while self._done:
            partition, ticket, failure, seconds = self._done.popleft()
            self._syncing.discard(partition)
            self._metrics.flushes += 1
            self._metrics.flush_seconds += seconds
            if ticket.is_light:
                self._usual_seconds += WEIGHT_OF_LATEST * (seconds - self._usual_seconds)
            if partition.is_gone:
                continue
            if failure is None:
                partition.synced(ticket)
            else:
                self._metrics.storage_failures += 1
                log.error("%s could not be synced: %s", partition, failure)
                partition.sync_failed(ticket, failure)
        if self._marked:
            self._start()
        self._tell_who_stops()

    def _tell_who_stops(self) -> None:
        if self._round_done is not None:
            self._round_done.set()


def _sync(partition: "Partition", ticket: "FlushTicket") -> _Done:
    started = time.perf_counter()
    failure: OSError | None = None
    try:
        ticket.sync()
    except OSError as error:
        failure = error
    return partition, ticket, failure, time.perf_counter() - started
