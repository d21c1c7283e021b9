"""The state of a partition, read from Kafka: its committed offset, its status, its held rows."""

import logging

from confluent_kafka import Message

from holdfast.client.connection import Connection
from holdfast.client.log_reader import LogReader
from holdfast.client.positions import Offsets, Partition
from holdfast.client.source import headers_of, no_source, source_of
from holdfast.errors import GateStoppedError, InvalidRecordError, StaleStateError
from holdfast.flows.names import FlowNames
from holdfast.flows.registry import Start
from holdfast.flows.status import Position, decode_status
from holdfast.gate import (
    PartitionState,
    Recount,
    StatusReader,
    check_log,
    starting_position,
)

log = logging.getLogger(__name__)


class Loader:
    """Reads states as of the last commit. For one thread at a time."""

    def __init__(self, connection: Connection, names: FlowNames) -> None:
        self._names = names
        self._offsets = Offsets(connection, committed_only=False, known=True)
        self._reader = LogReader(connection, isolation="read_committed")

    def begin(
        self, partition: int, committed: Position | None, *, start: Start, control: int, now: int,
        epoch: int, loss_accepted: bool = False,
    ) -> PartitionState:  # fmt: skip
        """The state from which a process that has just become the owner goes on.

        A flow that has never run begins at `start` and `control`. GateStoppedError if it cannot be
        known what is held, or if events were deleted before they were taken. The end of the log is
        not compared if a new leader leads it (`epoch`): its epochs tell more.
        """
        status, journal = (
            Partition(topic, partition) for topic in (self._names.status, self._names.journal)
        )
        reader = self._read_status(status)
        bounds = self._offsets.bounds(Partition(self._names.events, partition))
        nothing = committed is None and reader.position is None
        position = starting_position(
            committed, reader.position, journal_is_empty=nothing and self._is_empty(journal)
        )
        if position is None:
            first = bounds[0] if start == "earliest" else bounds[1]
            return PartitionState.first(partition, first, control)
        is_beyond = position.offset > bounds[1]
        if not (
            (loss_accepted and position.offset < bounds[0])
            or (is_beyond and (loss_accepted or position.epoch != epoch))
        ):
            check_log(position, *bounds)
        return self._counted(partition, reader, now)

    def load(self, partition: int, committed: Position, now: int) -> PartitionState:
        """The state of that committed step, or StaleStateError if there is a later one by now."""
        reader = self._read_status(Partition(self._names.status, partition))
        if not reader.is_at(committed.step):
            raise StaleStateError(
                f"Status of partition {partition} is not at step {committed.step}. Compare again."
            )
        return self._counted(partition, reader, now)

    def log_start(self, partition: int) -> int:
        """Where the events begin that are still there."""
        return self._offsets.bounds(Partition(self._names.events, partition))[0]

    def close(self) -> None:
        self._reader.close()

    def _is_empty(self, log: Partition) -> bool:
        """Returns True if nothing was ever committed to it. The end alone does not tell: a first
        step that was aborted leaves records, too."""
        first, end = self._offsets.bounds(log)
        return first == 0 and not any(self._reader.read(log, first, end))

    def _read_status(self, partition: Partition) -> StatusReader:
        """All of status/p. Its end is the high watermark: what was committed lies below it, even
        while the last stable offset, up to which it can be read, is still behind."""
        reader = StatusReader()
        for messages in self._reader.read(partition, *self._offsets.bounds(partition)):
            for message in messages:
                try:
                    reader.take(decode_status(message.key(), message.value()))
                except InvalidRecordError as error:
                    raise GateStoppedError(
                        f"The gate has stopped: offset {message.offset()} of {partition} cannot "
                        f"be read, so it cannot know which keys are held. {error}"
                    ) from None
        return reader

    def _counted(self, partition: int, reader: StatusReader, now: int) -> PartitionState:
        assert reader.position is not None
        recount = Recount(reader.position, reader.entries.values())
        if not recount.complete:
            self._recount(Partition(self._names.held, partition), recount)
        return PartitionState.load(
            partition,
            reader.position,
            recount.entries(),
            now=now,
            scopes=reader.scopes.values(),
            recounted=recount.counted,
        )

    def _recount(self, held: Partition, recount: Recount) -> None:
        for messages, _ in self._reader.follow(held, recount.start):
            for message in messages:
                _, timestamp = message.timestamp()
                recount.take(
                    source_offset(message), message.key() or b"", record_size(message), timestamp
                )
            if recount.complete:
                return


def source_offset(message: Message) -> int:
    """The source offset of a row of held."""
    source = source_of(headers_of(message))
    if source is None:
        raise no_source(message.offset() or 0, message.topic() or "", message.partition() or 0)
    return source[1]


def record_size(message: Message) -> int:
    """The bytes of key and value, which are what limits count."""
    return len(message.key() or b"") + len(message.value() or b"")
