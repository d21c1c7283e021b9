"""Group commit: one sync covers all records that were appended during the previous one.

Each partition has at most one running sync, on one of a few threads, and partitions do not wait for
each other. A produce gets its reply, and readers see its records, when their sync has returned.

On a fast disk, a small sync of a single partition runs on the event loop, because two changes of
thread take longer than the sync. A disk that stalls delays the loop once. After that, its syncs run
on threads until it has been fast for a while.
"""

import asyncio
import logging
import queue
import threading
import time
from collections import OrderedDict, deque
from typing import TYPE_CHECKING

from holdfast.broker.work import SLICE_SECONDS

if TYPE_CHECKING:
    from holdfast.broker.log import FlushTicket
    from holdfast.broker.metrics import Metrics
    from holdfast.broker.partition import Partition

log = logging.getLogger(__name__)

THREADS = 4
"""Maximum running syncs. They wait for the disk, not for the processor, and merge there."""

SMALL_BYTES = 16 * 1024
"""The size of one message at a time. More is worth a thread."""
QUICK_SECONDS = 0.0004
"""About the cost of two changes of thread."""
UNKNOWN_SECONDS = 1.0
"""The assumed time of a sync before the first measurement."""
WEIGHT_OF_LATEST = 0.1

_Job = tuple["Partition", "FlushTicket"]
_Done = tuple["Partition", "FlushTicket", OSError | None, float]


class Flusher:
    """Syncs marked partitions, and reports the result to each on the event loop."""

    def __init__(self, metrics: "Metrics") -> None:
        self._loop = asyncio.get_running_loop()
        self._metrics = metrics
        self._marked: OrderedDict[Partition, None] = OrderedDict()
        self._syncing: set[Partition] = set()
        self._again: set[Partition] = set()
        """Partitions marked during their sync."""
        self._scheduled = False
        self._catching_up = False
        """The rest of `_done` is handled in the next step of the loop."""
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
        """Syncs a partition after this step of the event loop."""
        if partition in self._syncing:
            self._again.add(partition)
            return
        self._marked[partition] = None
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._start)

    async def stop(self) -> None:
        """Syncs all marked partitions, then ends the threads."""
        while self._marked or self._syncing:
            self._round_done = asyncio.Event()
            await self._round_done.wait()
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()

    def _start(self) -> None:
        self._scheduled = False
        until = time.perf_counter() + SLICE_SECONDS
        while self._marked:
            partition, _ = self._marked.popitem(last=False)
            alone = not self._marked and not self._syncing
            ticket = partition.log.flush_targets()
            if ticket is not None:
                self._syncing.add(partition)
                if alone and self._is_quick(partition, ticket):
                    self._done.append(_sync(partition, ticket))
                    self._finished()
                else:
                    self._jobs.put((partition, ticket))
            if self._marked and not self._scheduled and time.perf_counter() > until:
                self._scheduled = True
                self._loop.call_soon(self._start)
                return
        self._notify_stop()

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
            except RuntimeError:  # the loop is closed
                return

    def _finished(self) -> None:
        if self._catching_up:
            return  # each sync calls this, so one step may have many calls
        until = time.perf_counter() + SLICE_SECONDS
        while self._done:
            self._finish(*self._done.popleft())
            if self._done and time.perf_counter() > until:
                self._catching_up = True
                self._loop.call_soon(self._catch_up)
                return
        if self._marked:
            self._start()
        self._notify_stop()

    def _catch_up(self) -> None:
        self._catching_up = False
        self._finished()

    def _finish(
        self,
        partition: "Partition",
        ticket: "FlushTicket",
        failure: OSError | None,
        seconds: float,
    ) -> None:
        self._syncing.discard(partition)
        self._metrics.flushes += 1
        self._metrics.flush_seconds += seconds
        if ticket.is_light:
            self._usual_seconds += WEIGHT_OF_LATEST * (seconds - self._usual_seconds)
        if partition in self._again:
            self._again.discard(partition)
            self.mark(partition)
        if partition.is_gone:
            return
        if failure is None:
            partition.synced(ticket)
        else:
            self._metrics.storage_failures += 1
            log.error("%s could not be synced: %s", partition, failure)
            partition.sync_failed(ticket, failure)

    def _notify_stop(self) -> None:
        if self._round_done is not None:
            self._round_done.set()


def _sync(partition: "Partition", ticket: "FlushTicket") -> _Done:
    started = time.perf_counter()
    failure: OSError | None = None
    try:
        ticket.sync()
    except OSError as error:
        failure = error
    except Exception as error:  # without a result this sync would never end
        log.exception("%s could not be synced", partition)
        failure = OSError(str(error))
    return partition, ticket, failure, time.perf_counter() - started
