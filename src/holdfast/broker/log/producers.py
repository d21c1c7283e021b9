"""The producers of a partition: sequences, epochs, open transactions.

A pure state machine over batch headers: `admit` checks a batch before it is written, `wrote`
applies it afterwards. A replay of the headers in the log gives the same state.
"""

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.broker.log.errors import RecordsRejected
from holdfast.broker.log.index import AbortedTransaction
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.records.batch import (
    NO_SEQUENCE,
    SEQUENCE_MODULUS,
    BatchHeader,
    Marker,
    marker_of,
)

MOST_PRODUCERS = 10_000
"""Maximum of one partition. Above it the longest silent producers are forgotten."""
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
    """A producer in DescribeProducers."""

    producer_id: int
    epoch: int
    last_sequence: int
    last_timestamp: int
    coordinator_epoch: int
    transaction_start: int


class Producer:
    """One producer's state in this partition."""

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
        """Offset of its last record; -1 if its epoch has none."""
        return self.batches[-1].last_offset if self.batches else -1

    def enter(self, epoch: int) -> None:
        """Starts a new epoch, and with it new sequences."""
        if epoch != self.epoch:
            self.epoch = epoch
            self.batches = []


class Producers:
    """All producers of one partition."""

    def __init__(self, known: dict[int, Producer] | None = None) -> None:
        self._by_id = known or {}
        # Transactions begin in offset order, so the first of this dict is the oldest.
        self._open: dict[int, int] = {
            producer_id: producer.transaction_start
            for producer_id, producer in sorted(
                self._by_id.items(), key=lambda item: item[1].transaction_start
            )
            if producer.transaction_start != NO_TRANSACTION
        }
        # First offset and marker of transactions whose marker readers cannot see yet: for readers
        # they are undecided.
        self._ending: deque[tuple[int, int]] = deque()
        self._heard_ms: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._by_id)

    def get(self, producer_id: int) -> Producer | None:
        return self._by_id.get(producer_id)

    def items(self) -> Iterator[tuple[int, Producer]]:
        return iter(self._by_id.items())

    # before a batch is written

    def admit(
        self, header: BatchHeader, batch: memoryview, from_client: bool
    ) -> WrittenBatch | None:
        """The batch that this one repeats, if there is one.

        Raises RecordsRejected unless its producer may write it now. Coordinators have no sequences.
        """
        producer = self._by_id.get(header.producer_id)
        if header.is_control:
            self._check_marker(header, marker_of(batch), producer)
            return None
        if producer is None:
            # Its state expired or its records were deleted: accept any sequence.
            return None
        if from_client:
            original = _original_of(header, producer)
            if original is not None:
                return original
        self._check_epoch(header, producer)
        if from_client:
            _check_sequence(header, producer)
        if producer.transaction_start != NO_TRANSACTION and not header.is_transactional:
            raise RecordsRejected(
                ErrorCode.INVALID_TXN_STATE,
                f"Producer {header.producer_id} has an open transaction without this batch",
            )
        return None

    def _check_marker(
        self, header: BatchHeader, marker: Marker | None, producer: Producer | None
    ) -> None:
        if marker is None:
            raise RecordsRejected(ErrorCode.INVALID_RECORD, "A control batch without a marker")
        if producer is None:
            return
        # The marker's coordinator epoch is not compared with earlier ones: this broker has one
        # coordinator that never moves, and a number from a client must not fence it.
        self._check_epoch(header, producer)

    def _check_epoch(self, header: BatchHeader, producer: Producer) -> None:
        if header.producer_epoch < producer.epoch:
            raise RecordsRejected(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"Epoch {header.producer_epoch} of producer {header.producer_id} is behind "
                f"{producer.epoch}",
            )

    # after it was written

    def wrote(
        self, header: BatchHeader, batch: bytes | memoryview, offset: int, timestamp: int
    ) -> AbortedTransaction | None:
        """Applies a batch at `offset`. Returns the transaction that it aborts, if it does.

        Only the bytes of a marker are read.
        """
        if not header.is_control:
            self._wrote_data(header, offset, timestamp)
            return None
        marker = marker_of(batch)
        if marker is None:
            return None
        producer = self._of(header)
        producer.coordinator_epoch = marker.coordinator_epoch
        producer.last_timestamp = timestamp
        start = producer.transaction_start
        if start == NO_TRANSACTION:
            return None
        producer.transaction_start = NO_TRANSACTION
        del self._open[header.producer_id]
        self._ending.append((start, offset))
        if marker.commit:
            return None
        stable = self.undecided_from(offset + 1)
        return AbortedTransaction(header.producer_id, start, offset, stable)

    def _wrote_data(self, header: BatchHeader, offset: int, timestamp: int) -> None:
        producer = self._of(header)
        producer.batches.append(
            WrittenBatch(
                header.base_sequence,
                header.last_sequence,
                offset,
                offset + header.last_offset_delta,
                timestamp,
            )
        )
        del producer.batches[:-REMEMBERED_BATCHES]
        producer.last_timestamp = timestamp
        if header.is_transactional and producer.transaction_start == NO_TRANSACTION:
            producer.transaction_start = offset
            self._open[header.producer_id] = offset

    def _of(self, header: BatchHeader) -> Producer:
        producer = self._by_id.get(header.producer_id)
        if producer is None:
            producer = self._by_id[header.producer_id] = Producer()
        producer.enter(header.producer_epoch)
        return producer

    # reading and expiry

    def undecided_from(self, end: int) -> int:
        """First offset of the oldest open transaction at the end of the log; else `end`."""
        return min(end, next(iter(self._open.values()), end))

    def seen_upto(self, high_watermark: int) -> None:
        """Forgets ended transactions whose marker readers can see now."""
        ending = self._ending
        while ending and ending[0][1] < high_watermark:
            ending.popleft()

    def last_stable_offset(self, high_watermark: int) -> int:
        """All transactions below it have a marker below the high watermark."""
        if not self._open and not self._ending:
            return high_watermark
        self.seen_upto(high_watermark)
        oldest_ending = min((first for first, _ in self._ending), default=high_watermark)
        return min(self.undecided_from(high_watermark), oldest_ending)

    def heard(self, producer_id: int, now_ms: int) -> None:
        """Notes when a producer has written. The times of its records may be old."""
        self._heard_ms[producer_id] = now_ms

    def forget_silent(self, count: int) -> int:
        """Forgets up to `count` producers, those that have been silent longest first, unless they
        have an open transaction. Returns their number."""
        at_rest = [i for i, p in self._by_id.items() if p.transaction_start == NO_TRANSACTION]
        at_rest.sort(key=lambda producer_id: self._heard_ms.get(producer_id, 0))
        for producer_id in at_rest[:count]:
            del self._by_id[producer_id]
            self._heard_ms.pop(producer_id, None)
        return len(at_rest[:count])

    def expire(self, now_ms: int, older_than_ms: int) -> int:
        """Forgets producers without a batch for `older_than_ms` and without an open transaction.
        Returns their number.

        For a producer without a batch since the log was opened, the time starts at the first call.
        """
        silent = [
            producer_id
            for producer_id, producer in self._by_id.items()
            if now_ms - self._heard_ms.setdefault(producer_id, now_ms) >= older_than_ms
            and producer.transaction_start == NO_TRANSACTION
        ]
        for producer_id in silent:
            del self._by_id[producer_id], self._heard_ms[producer_id]
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


def _original_of(header: BatchHeader, producer: Producer) -> WrittenBatch | None:
    if producer.epoch != header.producer_epoch:
        return None
    sequences = (header.base_sequence, header.last_sequence)
    for batch in producer.batches:
        if (batch.first_sequence, batch.last_sequence) == sequences:
            return batch
    return None


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
