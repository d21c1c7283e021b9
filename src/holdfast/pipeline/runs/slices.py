"""Sends one source in order: its events exactly once per run, whichever process is killed.

A slice has a transactional id and a consumer group of its own. Each transaction commits, beside the
events, the offset after the last of them. A new sender of a slice first initialises its
transactional id, so that no earlier sender can still commit, and then reads the committed offset.
Events below it were sent, in the order of offsets. So nothing is sent twice, and nothing is left
out.
"""

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from confluent_kafka import KafkaException, TopicPartition

from holdfast import faults
from holdfast.client.connection import Connection
from holdfast.client.kafka_errors import translate
from holdfast.client.source import REPLAY_RUN
from holdfast.errors import InvalidRecordError, RecordTooLargeError
from holdfast.kafka.columns import joined, scalar
from holdfast.kafka.packing import Rows, header, header_column, most_bytes, pack
from holdfast.kafka.partitioning import partitions_of
from holdfast.kafka.producer import TransactionalProducer
from holdfast.pipeline.gate.events import Events, KeySet
from holdfast.pipeline.gate.sizes import MOST_ATTEMPTS, SizeLimits, limits_keep_changing
from holdfast.wire.records.batch import HEADER

REPLAY_SOURCE = "holdfast-replay-source"
ORIGINAL_TIME = "holdfast-original-timestamp"
"""Headers of a replayed event. The last is set only if the event could not keep its time."""

_COMMITTED_SECONDS = 30.0
_NO_KEYS = KeySet(())


@dataclass(frozen=True, slots=True)
class Slice:
    """The events of one partition, or of one file, from `start` to `end` (exclusive)."""

    number: int
    topic: str
    partition: int
    """-1 for a file: murmur2 of each key gives the partition of its event."""
    start: int
    end: int

    def source(self) -> bytes:
        """The beginning of the header with an event's coordinate."""
        return f"{self.topic if self.partition < 0 else self.partition}:".encode()


@dataclass(frozen=True, slots=True)
class SendOptions:
    """How all slices of a run are sent."""

    run: str
    topic: str
    partitions: int
    keeps_from: int
    """Milliseconds. The topic may delete older events before they are read, so such an event is
    sent with the time `now`, and its own time in a header."""
    now: int

    def id(self, number: int) -> str:
        """The transactional id of a slice, and its consumer group."""
        return slice_id(self.run, number)


@dataclass(frozen=True, slots=True)
class SliceProgress:
    offset: int
    """All events below it were sent."""
    events: int = 0
    left_out: int = 0
    """Events that are too large with the added headers."""


def slice_id(run: str, number: int) -> str:
    return f"holdfast.run.{run}.{number}"


def keeps_from(retention_ms: int, now: int) -> int:
    """The oldest timestamp that a topic keeps long enough to be read: half of its retention ago."""
    return 0 if retention_ms < 0 else now - retention_ms // 2


class SliceSender:
    """Sends one slice. Of several that send the same one, only the last to begin can commit."""

    def __init__(self, connection: Connection, options: SendOptions, part: Slice) -> None:
        self._slice = part
        self._options = options
        identity = options.id(part.number)
        self._limits = SizeLimits(connection.settings, [options.topic])
        self._transactions = TransactionalProducer(
            connection.settings, identity, self._limits.batch_bytes
        )
        self._consumer = connection.reader(group=identity)
        self._transactions.renew()
        self.sent = self._committed()

    def send(self, rows: pa.Table) -> SliceProgress:
        """Send the rows that were not sent, in one transaction. They are sorted by offset, and none
        before them is missing. Returns how far the slice is.

        If this raises, make a new sender: it reads what was committed.
        """
        events = self._events(rows)
        if not len(events):
            return self.sent
        added = self._rows(events)
        for _ in range(MOST_ATTEMPTS):
            try:
                self.sent = self._commit(events, added, self._oversized(added))
            except RecordTooLargeError as error:
                self._learn(events, added, error)
            else:
                return self.sent
        raise limits_keep_changing()

    def close(self) -> None:
        self._transactions.close()
        self._consumer.close()

    def _events(self, rows: pa.Table) -> Events:
        offsets = rows["offset"].to_numpy()
        fresh = rows.slice(int(offsets.searchsorted(self.sent.offset)))
        nothing = pa.nulls(fresh.num_rows, pa.string())
        return Events.of(fresh.append_column("invalid", nothing), _NO_KEYS)

    def _oversized(self, rows: Rows) -> Collection[int]:
        """Indexes of the rows that are larger than the topic takes."""
        return {index for index, _ in _larger_than(rows, self._limits.of(self._options.topic))}

    def _learn(self, events: Events, rows: Rows, error: RecordTooLargeError) -> None:
        """Find the limit by what was refused."""
        large = (
            (events.keys[i], events.values[i], size)
            for i, size in _larger_than(rows, self._limits.batch_bytes)
        )
        if not self._limits.adapt(self._transactions.refused(), large):
            raise error
        self._transactions.batch_bytes = self._limits.batch_bytes
        self._transactions.renew()

    def _commit(self, events: Events, rows: Rows, refused: Collection[int]) -> SliceProgress:
        self._write(rows, refused)
        sent = SliceProgress(
            events.offsets[-1] + 1,
            self.sent.events + len(events) - len(refused),
            self.sent.left_out + len(refused),
        )
        note = json.dumps({"events": sent.events, "left_out": sent.left_out})
        position = TopicPartition(self._options.topic, 0, sent.offset, note)
        self._transactions.commit([position], self._consumer.consumer_group_metadata())
        return sent

    def _write(self, rows: Rows, refused: Collection[int]) -> None:
        transaction = self._transactions.begin()
        fits = np.ones(len(rows), np.bool_)
        fits[list(refused)] = False
        if self._slice.partition < 0:
            targets = partitions_of(rows.keys, self._options.partitions)
        else:
            targets = np.full(len(rows), self._slice.partition)
        topic, partitions = self._options.topic, np.unique(targets[fits]).tolist()
        transaction.enlist([(topic, partition) for partition in partitions])
        for partition in partitions:
            chosen = rows.take(np.flatnonzero(fits & (targets == partition)))
            transaction.send_rows(topic, partition, chosen)
        faults.reach("mid-produce")

    def _rows(self, events: Events) -> Rows:
        """The events with headers that name the run and the source."""
        options = self._options
        times = events.times.to_numpy().copy()
        old = times < options.keeps_from
        added = [
            scalar(header(REPLAY_RUN.encode(), options.run.encode())),
            header_column(REPLAY_SOURCE.encode(), self._slice.source(), events.rows["offset"]),
        ]
        if old.any():
            was = header_column(ORIGINAL_TIME.encode(), b"", events.times)
            added.append(pc.if_else(pa.array(old), was, scalar(b"")))
            times[old] = options.now
        return Rows(
            times,
            events.rows["key"],
            events.rows["value"],
            events.packed_headers,
            joined(*added),
            2 + old if old.any() else 2,
        )

    def _committed(self) -> SliceProgress:
        partition = TopicPartition(self._options.topic, 0)
        try:
            committed = self._consumer.committed([partition], timeout=_COMMITTED_SECONDS)[0]
        except KafkaException as error:
            raise translate(error, "Reading the progress of a replay") from None
        if committed.error is not None:
            raise translate(committed.error, "Reading the progress of a replay")
        return committed_progress(committed) or SliceProgress(self._slice.start)


def _larger_than(rows: Rows, limit: int) -> Iterator[tuple[int, int]]:
    """Index and size of each row that is larger than a topic with this limit takes."""
    for index in np.flatnonzero(most_bytes(rows) + HEADER.size > limit).tolist():
        (packed,) = pack(rows.take(np.array([index])), batch_bytes=1)
        size = HEADER.size + len(packed.records)
        if size > limit:
            yield index, size


def committed_progress(committed: TopicPartition) -> SliceProgress | None:
    """The progress in a committed offset; None if there is none."""
    if committed.offset < 0:
        return None
    try:
        note = json.loads(committed.metadata or "")
        return SliceProgress(committed.offset, int(note["events"]), int(note["left_out"]))
    except (ValueError, KeyError, TypeError):
        raise InvalidRecordError(
            f"The committed offset {committed.offset} of a replay was not written by Holdfast. "
            "Start a new run with the remaining events."
        ) from None
