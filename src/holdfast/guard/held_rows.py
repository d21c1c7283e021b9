"""The rows of held of one partition: read ahead of the step that tries them, and trimmed."""

import logging
from collections.abc import Mapping
from time import monotonic

from confluent_kafka import KafkaException, Message

from holdfast.client.connection import Connection
from holdfast.client.loading import record_size, source_offset
from holdfast.client.log_reader import LogReader
from holdfast.client.positions import Offsets, Partition
from holdfast.errors import HoldfastError
from holdfast.gate import Backlog, HeldRow, PartitionState, Reading
from holdfast.guard.schedule import Job
from holdfast.guard.shared import monotonic_ms

log = logging.getLogger(__name__)

_READ_BYTES = 16 * 1024**2
_TRIM_SECONDS = 60.0


class HeldRows:
    """For the thread of the partition alone."""

    def __init__(self, connection: Connection, partition: Partition) -> None:
        self.backlog: Backlog[Message] = Backlog(size=_READ_BYTES)
        self.end = 0
        """The end of held when it was last looked up. No later row is below it."""
        self._connection = connection
        self._partition = partition
        self._offsets = Offsets(connection, committed_only=False, known=True)
        self._reader = LogReader(connection, isolation="read_committed")
        self._trimmed = 0
        self._trim_at = monotonic() + _TRIM_SECONDS

    def refresh_end(self) -> int:
        self.end = self._offsets.ends([self._partition])[self._partition]
        return self.end

    def read_ahead(
        self, state: PartitionState, running: Mapping[bytes, Job], seconds: float
    ) -> None:
        """Read rows that are due, for a limited time. Of a held key whose handler has ended since
        an earlier step, the first row is read too."""
        ended = [
            key
            for key, job in running.items()
            if job.finished and key in state.entries and key not in state.outgoing
        ]
        reading = self.backlog.read(state, monotonic_ms(), also=ended)
        if reading is None:
            return
        self.refresh_end()
        at, until = reading.start, monotonic() + seconds
        while not reading.done and at < self.end and monotonic() < until:
            at = self._read(reading, at, until)
        reading.end(at)

    def _read(self, reading: Reading[Message], at: int, until: float) -> int:
        """Read until a gap that has no needed row, so that rows of a million other keys are not
        scanned. Returns the next offset to read."""
        for messages, reached in self._reader.follow(self._partition, at):
            for message in messages:
                if not reading.done:
                    reading.take(message.key() or b"", _row(message))
            at = reading.next_from(reached)
            if reading.done or at > reached or at >= self.end or monotonic() >= until:
                break
        return at

    @property
    def trim_is_due(self) -> bool:
        """Returns True if the next step should compute a trim point."""
        return monotonic() >= self._trim_at

    def trim(self, offset: int) -> None:
        """Delete the rows below a committed trim point, once in a minute at most."""
        if not self.trim_is_due:
            return
        self._trim_at = monotonic() + _TRIM_SECONDS
        if offset <= self._trimmed:
            return
        try:
            places = [self._partition.at(offset)]
            for future in self._connection.admin.delete_records(places).values():
                self._connection.wait(future, f"Trimming rows of {self._partition}")
        except (HoldfastError, KafkaException) as error:
            log.warning("%s", error)
        else:
            self._trimmed = offset

    def close(self) -> None:
        self._reader.close()


def _row(message: Message) -> HeldRow[Message]:
    _, timestamp = message.timestamp()
    return HeldRow(
        message.offset() or 0,
        source_offset(message),
        record_size(message),
        max(0, timestamp),
        message,
        len(message),
    )
