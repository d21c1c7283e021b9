"""Reading the control log.

A step reads the log up to its high watermark, which it looks up then. An acknowledged hold lies
below it, whatever transactions are open. Between steps nothing is read: the watch of all logs tells
when there are new commands.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from time import monotonic

import pyarrow as pa

from holdfast import faults
from holdfast.client.connection import Connection
from holdfast.client.positions import Offsets, Partition
from holdfast.errors import (
    EventsLostError,
    GateStoppedError,
    HoldfastError,
    TimedOutError,
)
from holdfast.flows.names import FlowNames
from holdfast.gate import DUPLICATE_WINDOW, ControlLog, Unreadable
from holdfast.kafka.cluster import ClusterClient
from holdfast.kafka.fetch import UnreadableRecordsError, tail
from holdfast.kafka.watch import LogWatch, Subscription

_PATIENCE_SECONDS = 10.0
"""Seconds to wait for the next records that are known to be there."""

_Record = tuple[int, bytes | None, bytes | None, int]
"""Offset, key, value, timestamp."""


class ControlTail:
    """The control log of one flow, read under the flow's lock.

    `news` is called, from another thread, when there are new records or when the log has failed.
    """

    def __init__(
        self,
        connection: Connection,
        names: FlowNames,
        partitions: int,
        news: Callable[[], None],
        watch: LogWatch,
    ) -> None:
        self._partition = Partition(names.control, 0)
        self._partitions = partitions
        self._news = news
        self._watch = watch
        self._watching: Subscription | None = None
        self._offsets = Offsets(connection, committed_only=False, known=True)
        self._cluster = ClusterClient(connection.settings)
        self._next = 0
        """All records below it were read."""
        self._waiting: deque[_Record | Unreadable] = deque()
        """Records that were read and that no step has asked for yet."""
        self._end = 0
        """The end of the log, as far as the watch knows it."""
        self.failure: HoldfastError | None = None
        """Why the log cannot be read any further, if nothing but a new start can help."""
        self.log = ControlLog(partitions)

    def first_offset(self) -> int:
        """The first offset of the log. A flow that never ran begins there."""
        return self._offsets.starts([self._partition])[self._partition]

    def start(self, lowest: int) -> None:
        """Read from far enough before `lowest`, the lowest control of all partitions, to know
        every id that a command from there on could repeat."""
        first, end = self.first_offset(), self.end()
        if not first <= lowest <= end:
            raise GateStoppedError(
                f"The gate has stopped: it has taken the commands up to {lowest}, but the control "
                f"log goes from {first} to {end}. Commands are missing, and with them holds. "
                "Restore the control topic."
            )
        start = max(first, lowest - DUPLICATE_WINDOW)
        self.log = ControlLog(self._partitions, start)
        self._next = self._end = start
        self._waiting.clear()
        self._watching = self._watch.add(
            self._partition.topic, {0: end}, self._moved, self._not_watched
        )

    def end(self) -> int:
        """The high watermark: every command that was acknowledged lies below it."""
        return self._offsets.ends([self._partition])[self._partition]

    @property
    def reached(self) -> int:
        """The end of the log, as far as it is known."""
        return max(self._next, self._end)

    def read_through(self, end: int) -> None:
        """Take all records below `end` into `log`, or raise."""
        deadline = monotonic() + _PATIENCE_SECONDS
        if end < self._next:
            # Records that were read are gone, and others may have their offsets.
            self.failure = self._lost(EventsLostError(f"The log ends at {end}."))
        while self._next < end:
            if monotonic() > deadline:
                raise TimedOutError(
                    f"The control log could not be read up to {end - 1} in time: it may have a "
                    "hold there, so nothing passes."
                )
            before = self._next
            try:
                self._read_some(end, deadline)
            except UnreadableRecordsError as error:
                self._take([error.unreadable], error.unreadable.end)
            except EventsLostError as error:
                self.failure = self._lost(error)
                break
            except BaseException:
                self._cluster.forget()
                raise
            if self._next > before:
                deadline = monotonic() + _PATIENCE_SECONDS
        if self.failure is not None:
            raise self.failure
        while self._waiting and _offset_of(self._waiting[0]) < end:
            self._append(self._waiting.popleft())
        self.log.advance(end)

    def stop(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
        self._cluster.forget()

    def _read_some(self, end: int, deadline: float) -> None:
        for rows, reached in tail(self._cluster, self._partition.topic, 0, self._next):
            self._take(_records(rows), reached)
            if self._next >= end or monotonic() > deadline:
                return

    def _take(self, records: Sequence[_Record | Unreadable], reached: int) -> None:
        if reached == self._next:
            return
        faults.reach("control-taken")
        self._waiting.extend(records)
        self._next = reached

    def _append(self, taken: _Record | Unreadable) -> None:
        if isinstance(taken, Unreadable):
            why = f"Nothing of the batch up to offset {taken.end - 1} can be read: {taken.why}."
            self.log.append_unreadable(taken.start, taken.end, why)
        else:
            self.log.append(*taken)

    def _moved(self, ends: Mapping[int, int]) -> None:
        self._end = max(self._end, *ends.values())
        self._news()

    def _not_watched(self, error: HoldfastError) -> None:
        if isinstance(error, EventsLostError):
            self.failure = self._lost(error)
            self._news()

    def _lost(self, error: HoldfastError) -> GateStoppedError:
        return GateStoppedError(
            f"The gate has stopped: the control log has no offset {self._next} any more ({error}). "
            "Restore the control topic."
        )


def _records(rows: pa.RecordBatch) -> list[_Record]:
    columns = (rows.column(name).to_pylist() for name in ("offset", "key", "value", "timestamp"))
    return list(zip(*columns, strict=True))


def _offset_of(taken: _Record | Unreadable) -> int:
    return taken.start if isinstance(taken, Unreadable) else taken[0]
