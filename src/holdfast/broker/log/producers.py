"""What a partition remembers of its producers: sequences, epochs, open transactions.

A pure state machine over batch headers: it is asked before a batch is written and told after,
and replaying the headers of a log gives the same state again.
"""

import struct
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from crc32c import crc32c

from holdfast.broker.log.errors import RecordsRejected
from holdfast.broker.protocol.errors import ErrorCode
from holdfast.broker.records.batch import NO_SEQUENCE, SEQUENCE_MODULUS, BatchHeader, Marker

REMEMBERED_BATCHES = 5
"""A producer has at most five requests in flight, so a retry is always of one of these."""
NO_EPOCH = -1
NO_TRANSACTION = -1


class WrittenBatch(NamedTuple):
    """A batch that a retry would repeat."""

    first_sequence: int
    last_sequence: int
    first_offset: int
    last_offset: int
    timestamp: int


class ProducerSnapshot(NamedTuple):
    """A producer as DescribeProducers shows it."""

    producer_id: int
    epoch: int
    last_sequence: int
    last_timestamp: int
    coordinator_epoch: int
    transaction_start: int


class EndedTransaction(NamedTuple):
    """A transaction that had records here, and the offset of its marker."""

    producer_id: int
    first_offset: int
    last_offset: int
    aborted: bool


class Producer:
    """One producer's recent past in this partition."""

    __slots__ = ("batches", "coordinator_epoch", "epoch", "last_timestamp", "transaction_start")

    def __init__(self) -> None:
        self.epoch = NO_EPOCH
        self.coordinator_epoch = -1
        self.last_timestamp = -1
        self.transaction_start = NO_TRANSACTION
        self.batches: list[WrittenBatch] = []

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    @property
    def last_data_offset(self) -> int:
        """Offset of its last record, or -1 if its epoch has written none."""
        return self.batches[-1].last_offset if self.batches else -1

    def enter(self, epoch: int) -> None:
        """A new epoch starts over with its sequences."""
        if epoch != self.epoch:
            self.epoch = epoch
            self.batches = []


class Producers:
    """All producers of one partition."""

    def __init__(self) -> None:
        self._by_id: dict[int, Producer] = {}
        # Transactions begin in offset order, so the first of this dict is the oldest.
        self._open: dict[int, int] = {}
        # Ended by a marker that readers cannot see yet: still undecided to them.
        self._ending: deque[EndedTransaction] = deque()

    def __len__(self) -> int:
        return len(self._by_id)

    def items(self) -> Iterator[tuple[int, Producer]]:
        return iter(self._by_id.items())

    # before a batch is written

    def original_of(self, header: BatchHeader) -> WrittenBatch | None:
        """The batch that this one repeats, if it was written before."""
        producer = self._by_id.get(header.producer_id)
        if producer is None or producer.epoch != header.producer_epoch:
            return None
        sequences = (header.base_sequence, header.last_sequence)
        for batch in producer.batches:
            if (batch.first_sequence, batch.last_sequence) == sequences:
                return batch
        return None

    def check_data(self, header: BatchHeader, check_sequence: bool) -> None:
        """Raises RecordsRejected unless this producer may write this batch now."""
        producer = self._by_id.get(header.producer_id)
        if producer is None:
            # Its state is gone (expired, or the records were deleted): any sequence may go on.
            return
        self._check_epoch(header, producer)
        if check_sequence:
            _check_sequence(header, producer)
        if producer.transaction_start != NO_TRANSACTION and not header.is_transactional:
            raise RecordsRejected(
                ErrorCode.INVALID_TXN_STATE,
                f"Producer {header.producer_id} has a transaction open, and this is not part of it",
            )

    def check_marker(self, header: BatchHeader, marker: Marker) -> None:
        """Raises RecordsRejected for the marker of a producer or a coordinator of the past."""
        producer = self._by_id.get(header.producer_id)
        if producer is None:
            return
        self._check_epoch(header, producer)
        if marker.coordinator_epoch < producer.coordinator_epoch:
            raise RecordsRejected(
                ErrorCode.TRANSACTION_COORDINATOR_FENCED,
                f"Coordinator epoch {marker.coordinator_epoch} of the marker is behind "
                f"{producer.coordinator_epoch}",
            )

    def _check_epoch(self, header: BatchHeader, producer: Producer) -> None:
        if header.producer_epoch < producer.epoch:
            raise RecordsRejected(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"Epoch {header.producer_epoch} of producer {header.producer_id} is behind "
                f"{producer.epoch}",
            )

    # after it was written

    def wrote_data(self, header: BatchHeader, base_offset: int, timestamp: int) -> None:
        producer = self._of(header)
        last_offset = base_offset + header.last_offset_delta
        producer.batches.append(
            WrittenBatch(
                header.base_sequence, header.last_sequence, base_offset, last_offset, timestamp
            )
        )
        del producer.batches[:-REMEMBERED_BATCHES]
        producer.last_timestamp = timestamp
        if header.is_transactional and producer.transaction_start == NO_TRANSACTION:
            producer.transaction_start = base_offset
            self._open[header.producer_id] = base_offset

    def wrote_marker(
        self, header: BatchHeader, marker: Marker, offset: int, timestamp: int
    ) -> EndedTransaction | None:
        """The transaction that this ended; None if the producer had written nothing here."""
        producer = self._of(header)
        producer.coordinator_epoch = marker.coordinator_epoch
        producer.last_timestamp = timestamp
        start = producer.transaction_start
        if start == NO_TRANSACTION:
            return None
        producer.transaction_start = NO_TRANSACTION
        del self._open[header.producer_id]
        ended = EndedTransaction(header.producer_id, start, offset, not marker.commit)
        self._ending.append(ended)
        return ended

    def _of(self, header: BatchHeader) -> Producer:
        producer = self._by_id.get(header.producer_id)
        if producer is None:
            producer = self._by_id[header.producer_id] = Producer()
        producer.enter(header.producer_epoch)
        return producer

    # what follows from it

    def undecided_from(self, end: int) -> int:
        """First offset of the oldest transaction still open at the end of the log, else `end`."""
        return min(end, next(iter(self._open.values()), end))

    def last_stable_offset(self, high_watermark: int) -> int:
        """Below it every transaction is decided by a marker below the high watermark."""
        if not self._open and not self._ending:
            return high_watermark
        ending = self._ending
        while ending and ending[0].last_offset < high_watermark:
            ending.popleft()
        oldest_ending = min((ended.first_offset for ended in ending), default=high_watermark)
        return min(self.undecided_from(high_watermark), oldest_ending)

    def expire(self, now_ms: int, older_than_ms: int) -> int:
        """Forget who has been silent for so long, unless a transaction is open. How many."""
        silent = [
            producer_id
            for producer_id, producer in self._by_id.items()
            if producer.transaction_start == NO_TRANSACTION
            and now_ms - producer.last_timestamp >= older_than_ms
        ]
        for producer_id in silent:
            del self._by_id[producer_id]
        return len(silent)

    def described(self) -> list[ProducerSnapshot]:
        return [
            ProducerSnapshot(
                producer_id,
                producer.epoch,
                producer.last_sequence,
                producer.last_timestamp,
                producer.coordinator_epoch,
                producer.transaction_start,
            )
            for producer_id, producer in self._by_id.items()
        ]


def _check_sequence(header: BatchHeader, producer: Producer) -> None:
    expected = (producer.last_sequence + 1) % SEQUENCE_MODULUS
    if header.producer_epoch != producer.epoch:
        expected = 0
    if header.base_sequence != expected:
        raise RecordsRejected(
            ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
            f"Sequence {header.base_sequence} of producer {header.producer_id} "
            f"(epoch {header.producer_epoch}) does not follow: {expected} was expected",
        )


# Snapshots: one file, so that a start reads the end of the log alone.

_SNAPSHOT_HEADER = struct.Struct(">4sIq")
_SNAPSHOT_MAGIC = b"HFP1"
_PRODUCER_ROW = struct.Struct(">qhiqqb")
_BATCH_ROW = struct.Struct(">iiqqq")


def encode_snapshot(producers: Producers, offset: int) -> bytes:
    """The state of `producers` at the end offset `offset`."""
    body = bytearray()
    for producer_id, producer in producers.items():
        body += _PRODUCER_ROW.pack(
            producer_id,
            producer.epoch,
            producer.coordinator_epoch,
            producer.last_timestamp,
            producer.transaction_start,
            len(producer.batches),
        )
        for batch in producer.batches:
            body += _BATCH_ROW.pack(*batch)
    tail = offset.to_bytes(8, "big") + body
    return _SNAPSHOT_HEADER.pack(_SNAPSHOT_MAGIC, crc32c(tail), offset) + bytes(body)


def decode_snapshot(data: bytes, offset: int) -> Producers | None:
    """The state in a snapshot of `offset`; None if it is not one, or damaged."""
    if len(data) < _SNAPSHOT_HEADER.size:
        return None
    magic, crc, written_at = _SNAPSHOT_HEADER.unpack_from(data)
    if magic != _SNAPSHOT_MAGIC or written_at != offset or crc != crc32c(data[8:]):
        return None
    producers = Producers()
    position = _SNAPSHOT_HEADER.size
    open_transactions = []
    while position < len(data):
        producer_id, epoch, coordinator_epoch, timestamp, start, count = _PRODUCER_ROW.unpack_from(
            data, position
        )
        position += _PRODUCER_ROW.size
        producer = producers._by_id[producer_id] = Producer()
        producer.epoch = epoch
        producer.coordinator_epoch = coordinator_epoch
        producer.last_timestamp = timestamp
        producer.transaction_start = start
        for _ in range(count):
            producer.batches.append(WrittenBatch(*_BATCH_ROW.unpack_from(data, position)))
            position += _BATCH_ROW.size
        if start != NO_TRANSACTION:
            open_transactions.append((start, producer_id))
    producers._open = {producer_id: start for start, producer_id in sorted(open_transactions)}
    return producers
