"""Ranges of a partition, straight from its leader."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import NamedTuple

import pyarrow as pa
from confluent_kafka import KafkaError

from holdfast.errors import (
    EventsLostError,
    TerminalError,
    TimedOutError,
    TransientError,
    UnavailableError,
)
from holdfast.gate import Unreadable
from holdfast.kafka.cluster import ClusterClient
from holdfast.kafka.connection import ApiCall, BrokerConnection
from holdfast.kafka.retries import Retries
from holdfast.kafka.unpacking import BY_BROKER, SCHEMA, UnreadableBatch, unpack
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.fetch_request import FetchPartition, FetchRequest, FetchTopic
from holdfast.wire.protocol.generated.fetch_response import FetchResponse, PartitionData
from holdfast.wire.records.batch import header_of

Ranges = Mapping[int, tuple[int, int]]
"""The range of each partition: its first offset, and the offset behind its last one."""

FETCH = ApiCall.of("fetch", 11)

READ_UNCOMMITTED, READ_COMMITTED = 0, 1
"""Isolation levels of a fetch."""
_CHUNK_BYTES = 10 * 1024**2
"""About a step of small events."""
_WAIT_MS = 100
_LEFT = "an earlier reader has left a reply unread, which would be taken for that to this one"
_MOST_EMPTY = 100
"""After this many empty replies in a row the range is taken to be missing."""
_EMPTY_AT_THE_END = 30
_NO_END = NO_LIMIT = 1 << 62
_CUT_SHORT = "The batch is longer than its log"
_DAMAGED = "The broker finds the records damaged on its disk"


class UnreadableRecordsError(TerminalError):
    """A batch of a log cannot be read. Trying again gives the same: a person has to see to it."""

    def __init__(self, topic: str, unreadable: Unreadable) -> None:
        super().__init__(f"{topic} cannot be read: {unreadable}.")
        self.unreadable = unreadable


class Read(NamedTuple):
    """The rows of some ranges."""

    rows: pa.Table
    """With the column `partition`."""
    unreadable: Mapping[int, Unreadable]
    """By partition: where reading ended before its range did."""


def read_range(
    cluster: ClusterClient, topic: str, partition: int, start: int, end: int
) -> Iterator[pa.RecordBatch]:
    """The committed records from `start` up to, and without, `end`, in order, in batches.

    All of them must be below the last stable offset. The next response is requested while the
    caller handles one; a caller that does not take all of them must call `cluster.forget`. Deleted
    records raise EventsLostError. An unreadable batch raises UnreadableRecordsError, after the
    records before it.
    """
    reader = _Reader(topic, partition, start, end)
    retries = Retries(cluster.seconds)
    connection: BrokerConnection | None = None
    while not reader.done:
        try:
            if connection is None:
                connection = cluster.leader(topic, partition)
                assert connection.idle, _LEFT
                connection.send(FETCH, reader.request(cluster))
            replies = reader.checked(connection.receive())
        except TransientError:
            connection = None
            cluster.forget()
            if not retries.again():
                raise
            continue
        retries.succeeded()
        rows = reader.take(replies)
        try:
            if not reader.done:
                connection.send(FETCH, reader.request(cluster))
        except TransientError:
            connection = None
            cluster.forget()
        if rows.num_rows:
            yield rows
    reader.check(cluster)


def read_ranges(
    cluster: ClusterClient,
    topic: str,
    ranges: Ranges,
    *,
    most_bytes: int = NO_LIMIT,
    by_broker: bool = False,
) -> Read | None:
    """The committed records of small ranges, each up to the first unreadable batch. All are
    requested at once. Returns None if they have more than about `most_bytes`: their size is not
    known before. `by_broker`: with a column that is True where the timestamp is the broker's."""
    try:
        return _read_ranges(cluster, topic, ranges, most_bytes, by_broker)
    except BaseException:  # connections may have unread responses
        cluster.forget()
        raise


def _read_ranges(
    cluster: ClusterClient, topic: str, ranges: Ranges, most_bytes: int, by_broker: bool
) -> Read | None:
    found: dict[int, list[pa.RecordBatch]] = {p: [] for p in ranges}
    chunk = min(_CHUNK_BYTES, most_bytes // max(1, len(ranges)))
    readers = [_Reader(topic, p, *ranges[p], chunk=chunk, by_broker=by_broker) for p in ranges]
    waiting = [reader for reader in readers if not reader.done]
    retries = Retries(cluster.seconds)
    while waiting:
        try:
            answers = _fetch(cluster, topic, waiting)
        except TransientError:
            cluster.forget()
            if not retries.again():
                raise
            continue
        retries.succeeded()
        for reader, answer in zip(waiting, answers, strict=True):
            found[reader.partition].append(reader.take(answer))
        waiting = [reader for reader in waiting if not reader.done]
        if sum(rows.nbytes for each in found.values() for rows in each) > most_bytes:
            return None
    numbers = [p for p, batches in found.items() for rows in batches for _ in range(len(rows))]
    schema = SCHEMA.append(BY_BROKER) if by_broker else SCHEMA
    rows = pa.Table.from_batches([rows for each in found.values() for rows in each], schema)
    return Read(
        rows.append_column("partition", pa.array(numbers, pa.int32())),
        {r.partition: bad for r in readers if (bad := r.unreadable(cluster)) is not None},
    )


def unreadable_at(
    cluster: ClusterClient, topic: str, partition: int, offset: int
) -> Unreadable | None:
    """The batch with that offset, or the next one if there is none, if it cannot be read."""
    reader = _Reader(topic, partition, offset, _NO_END, chunk=1)
    reader.take(_fetch_one(cluster, reader))
    return reader.unreadable(cluster)


def _fetch(cluster: ClusterClient, topic: str, readers: list["_Reader"]) -> list[PartitionData]:
    connections = [cluster.leader(topic, reader.partition) for reader in readers]
    assert all(connection.idle for connection in connections), _LEFT
    for connection, reader in zip(connections, readers, strict=True):
        connection.send(FETCH, reader.request(cluster))
    return [
        reader.checked(connection.receive())
        for connection, reader in zip(connections, readers, strict=True)
    ]


def _fetch_one(cluster: ClusterClient, reader: "_Reader") -> PartitionData:
    """The answer for one, also through a change of leaders."""
    retries = Retries(cluster.seconds)
    while True:
        try:
            return _fetch(cluster, reader.topic, [reader])[0]
        except TransientError:
            cluster.forget()
            if not retries.again():
                raise


def follow(
    cluster: ClusterClient, topic: str, partition: int, start: int
) -> Iterator[tuple[pa.RecordBatch, int]]:
    """The committed records from `start` on, and how far they reach, until the caller has enough.

    Beside records, markers and aborted records move the reach; at the log's end there is nothing,
    again and again, and after three seconds of that a TimedOutError. A batch that cannot be read is
    an UnreadableRecordsError.
    """
    reader = _Reader(topic, partition, start, _NO_END, most_empty=_EMPTY_AT_THE_END)
    yield from _follow(cluster, reader)


def tail(
    cluster: ClusterClient, topic: str, partition: int, start: int
) -> Iterator[tuple[pa.RecordBatch, int]]:
    """Like `follow`, without a time-out, and with records of open and aborted transactions."""
    reader = _Reader(topic, partition, start, _NO_END, most_empty=_NO_END, committed=False)
    yield from _follow(cluster, reader)


def _follow(cluster: ClusterClient, reader: "_Reader") -> Iterator[tuple[pa.RecordBatch, int]]:
    while True:
        rows = reader.take(_fetch_one(cluster, reader))
        if not rows.num_rows:
            reader.check(cluster)
        yield rows, reader.next


class _Reader:
    """How far one partition is read."""

    def __init__(
        self,
        topic: str,
        partition: int,
        start: int,
        end: int,
        *,
        chunk: int | None = None,
        most_empty: int = _MOST_EMPTY,
        committed: bool = True,
        by_broker: bool = False,
    ) -> None:
        self.partition = partition
        self.next = start
        """All records below it were given."""
        self.topic = topic
        self._end = end
        self._chunk = chunk or _CHUNK_BYTES
        self._most_empty = most_empty
        self._committed = committed
        self._by_broker = by_broker
        self._empty = 0
        self._bad: UnreadableBatch | None = None
        self._log_end = 0

    @property
    def done(self) -> bool:
        return self.next >= self._end or self._bad is not None

    def unreadable(self, cluster: ClusterClient) -> Unreadable | None:
        """Returns the unreadable batch that ended the read, if any. The connection must be idle."""
        bad = self._bad
        if bad is None:
            return None
        end = min(bad.end or 0, self._log_end)
        if end <= bad.start:
            end = _end_of_damage(cluster, self.topic, self.partition, bad.start, self._log_end)
        return Unreadable(self.partition, bad.start, end, str(bad))

    def check(self, cluster: ClusterClient) -> None:
        unreadable = self.unreadable(cluster)
        if unreadable is not None:
            raise UnreadableRecordsError(self.topic, unreadable)

    def request(self, cluster: ClusterClient) -> FetchRequest:
        """A leader of another epoch than the one that we know of refuses it."""
        epoch = cluster.known_epoch(self.topic, self.partition)
        wanted = FetchPartition(
            partition=self.partition,
            current_leader_epoch=-1 if epoch is None else epoch,
            fetch_offset=self.next,
            partition_max_bytes=self._chunk,
        )
        return FetchRequest(
            max_wait_ms=_WAIT_MS,
            min_bytes=1,
            max_bytes=self._chunk,
            isolation_level=READ_COMMITTED if self._committed else READ_UNCOMMITTED,
            topics=[FetchTopic(topic=self.topic, partitions=[wanted])],
        )

    def take(self, found: PartitionData) -> pa.RecordBatch:
        """The records in the answer to the last request, up to one that cannot be read."""
        data = bytearray(found.records or b"")
        self._log_end = found.high_watermark
        unpacked = partial(unpack, start=self.next, end=self._end, by_broker=self._by_broker)
        rows, after = unpacked(bytearray())
        try:
            if found.error_code == ErrorCode.CORRUPT_MESSAGE:
                raise UnreadableBatch(_DAMAGED, self.next, None)
            aborted = found.aborted_transactions or ()
            rows, after = unpacked(data, aborted=aborted)
            if data and after == self.next:  # the first batch of an answer is always whole
                raise UnreadableBatch(_CUT_SHORT, self.next, None)
        except UnreadableBatch as bad:
            self._bad, after = bad, bad.start
        self._empty = self._empty + 1 if after == self.next else 0
        if self._empty > self._most_empty:
            raise TimedOutError(
                f"{self} gives nothing from offset {self.next} on, though there should be records. "
                "Is a transaction left open on it?"
            )
        self.next = after
        return rows

    def checked(self, answer: FetchResponse) -> PartitionData:
        """The partition's part of an answer; a TransientError if another may follow it."""
        partition_data = answer.responses[0].partitions[0] if answer.responses else PartitionData()
        if partition_data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            start = partition_data.log_start_offset  # negative: unknown
            begins = "" if start < 0 else f" It begins at {start}."
            raise EventsLostError(f"{self} has no events at offset {self.next} any more.{begins}")
        code = answer.error_code or partition_data.error_code
        if code and partition_data.error_code != ErrorCode.CORRUPT_MESSAGE:
            raise UnavailableError(
                f"Reading {self} at offset {self.next} failed ({KafkaError(code).name()})."
            )
        return partition_data

    def __str__(self) -> str:
        return f"Partition {self.partition} of {self.topic}"


def _end_of_damage(
    cluster: ClusterClient, topic: str, partition: int, start: int, log_end: int
) -> int:
    """The first offset behind `start`, which cannot be read, from which on the log can be read. By
    larger and larger strides, and then by halving."""

    def readable_from(offset: int) -> int | None:
        """Where the batch with that offset begins; None if it cannot be read."""
        if offset >= log_end:
            return log_end
        reader = _Reader(topic, partition, offset, _NO_END, chunk=1)
        answer = _fetch_one(cluster, reader)
        reader.take(answer)
        records = answer.records
        if reader.done:
            return None
        return min(offset, header_of(records).base_offset) if records else offset

    low, stride = start, 1
    while (high := readable_from(low + stride)) is None:
        low, stride = low + stride, 2 * stride
    while high - low > 1:
        middle = (low + high) // 2
        readable = readable_from(middle)
        low, high = (middle, high) if readable is None else (low, readable)
    return max(high, start + 1)
