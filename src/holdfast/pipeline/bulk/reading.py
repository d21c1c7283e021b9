"""Ranges of a partition, straight from its leader."""

from collections.abc import Iterator, Mapping

import pyarrow as pa
from confluent_kafka import KafkaError

from holdfast.errors import EventsLostError, HoldfastError, TimedOutError, UnavailableError
from holdfast.pipeline.bulk.cluster import Cluster
from holdfast.pipeline.bulk.links import Call
from holdfast.pipeline.bulk.unpacking import SCHEMA, unpack
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.fetch_request import FetchPartition, FetchRequest, FetchTopic
from holdfast.wire.protocol.generated.fetch_response import FetchResponse, PartitionData
from holdfast.wire.records.compression import UndecodableRecords

Ranges = Mapping[int, tuple[int, int]]
"""What is wanted of each partition: from an offset up to, and without, another."""

FETCH = Call.of("fetch", 11)

_READ_COMMITTED = 1
_CHUNK_BYTES = 10 * 1024**2
"""About a step of small events."""
_WAIT_MS = 100
_LEFT = "an earlier reader has left an answer behind, which would be taken for that to this one"
_MOST_EMPTY = 100
"""So many empty answers in a row mean that the range is not there, though it was planned."""
_EMPTY_AT_THE_END = 30
_NO_END = 1 << 62


def read_range(
    cluster: Cluster, topic: str, partition: int, start: int, end: int
) -> Iterator[pa.RecordBatch]:
    """The committed records from `start` up to, and without, `end`, in order, in portions.

    All of them must be decided: below the last stable offset. The next portion is asked for while
    one is in the caller's hands; who does not take all of them has the cluster `forget`. Records
    that are gone are an EventsLostError.
    """
    link = cluster.leader(topic, partition)
    assert link.idle, _LEFT
    reader = _Reader(topic, partition, start, end)
    link.send(FETCH, reader.request())
    while True:
        rows = reader.take(link.receive())
        if not reader.done:
            link.send(FETCH, reader.request())
        if rows.num_rows:
            yield rows
        if reader.done:
            return


def read_ranges(
    cluster: Cluster, topic: str, ranges: Ranges, *, most_bytes: int = _NO_END
) -> pa.Table | None:
    """The committed records of small ranges, with their partitions. All are asked for at once.
    None if they have more than about so many bytes: nothing is known of their size before."""
    found: dict[int, list[pa.RecordBatch]] = {p: [] for p in ranges}
    chunk = min(_CHUNK_BYTES, most_bytes // max(1, len(ranges)))
    waiting = [_Reader(topic, p, *ranges[p], chunk=chunk) for p in ranges]
    while waiting:
        links = [cluster.leader(topic, reader.partition) for reader in waiting]
        assert all(link.idle for link in links), _LEFT
        for link, reader in zip(links, waiting, strict=True):
            link.send(FETCH, reader.request())
        for link, reader in zip(links, waiting, strict=True):
            found[reader.partition].append(reader.take(link.receive()))
        waiting = [reader for reader in waiting if not reader.done]
        if sum(rows.nbytes for each in found.values() for rows in each) > most_bytes:
            return None
    numbers = [p for p, portions in found.items() for rows in portions for _ in range(len(rows))]
    rows = pa.Table.from_batches([rows for each in found.values() for rows in each], SCHEMA)
    return rows.append_column("partition", pa.array(numbers, pa.int32()))


def follow(
    cluster: Cluster, topic: str, partition: int, start: int
) -> Iterator[tuple[pa.RecordBatch, int]]:
    """The committed records from `start` on, and how far they reach, until the caller has enough.

    Beside records, markers and aborted records move the reach; at the log's end there is nothing,
    again and again, and after three seconds of that a TimedOutError.
    """
    reader = _Reader(topic, partition, start, _NO_END, most_empty=_EMPTY_AT_THE_END)
    while True:
        link = cluster.leader(topic, partition)
        rows = reader.take(link.ask(FETCH, reader.request()))
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
    ) -> None:
        self.partition = partition
        self.next = start
        """All records below it were given."""
        self._topic = topic
        self._end = end
        self._chunk = chunk or _CHUNK_BYTES
        self._most_empty = most_empty
        self._empty = 0

    @property
    def done(self) -> bool:
        return self.next >= self._end

    def request(self) -> FetchRequest:
        wanted = FetchPartition(
            partition=self.partition, fetch_offset=self.next, partition_max_bytes=self._chunk
        )
        return FetchRequest(
            max_wait_ms=_WAIT_MS,
            min_bytes=1,
            max_bytes=self._chunk,
            isolation_level=_READ_COMMITTED,
            topics=[FetchTopic(topic=self._topic, partitions=[wanted])],
        )

    def take(self, answer: FetchResponse) -> pa.RecordBatch:
        """The records in an answer to the last request."""
        found = self._checked(answer)
        try:
            rows, after = unpack(
                bytearray(found.records or b""),
                start=self.next,
                end=self._end,
                aborted=found.aborted_transactions or (),
            )
        except UndecodableRecords as error:
            raise HoldfastError(f"{self} cannot be read at offset {self.next}: {error}.") from None
        self._empty = self._empty + 1 if after == self.next else 0
        if self._empty > self._most_empty:
            raise TimedOutError(
                f"{self} gives nothing from offset {self.next} on, though there should be records. "
                "Is a transaction left open on it?"
            )
        self.next = after
        return rows

    def _checked(self, answer: FetchResponse) -> PartitionData:
        found = answer.responses[0].partitions[0] if answer.responses else PartitionData()
        if found.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            start = found.log_start_offset  # negative: the broker does not tell
            begins = "" if start < 0 else f" It begins at {start}."
            raise EventsLostError(f"{self} has no events at offset {self.next} any more.{begins}")
        code = answer.error_code or found.error_code
        if code:
            raise UnavailableError(
                f"Reading {self} at offset {self.next} failed ({KafkaError(code).name()})."
            )
        return found

    def __str__(self) -> str:
        return f"Partition {self.partition} of {self._topic}"
