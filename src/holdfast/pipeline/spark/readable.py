"""Reads the events around an unreadable batch, for parts that read events with Spark.

Spark's source fails at such a batch without naming an offset. So after a failure the pipeline looks
for the batch with its own reader, and reads the events before it without Spark's source.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from holdfast.client.connection import Connection
from holdfast.client.log_reader import LogReader
from holdfast.client.positions import Offsets, Partition
from holdfast.client.settings import ClientSettings
from holdfast.errors import EventsLostError
from holdfast.flows.journal import Outcome, decode_journal
from holdfast.flows.names import FlowNames
from holdfast.gate import Unreadable
from holdfast.kafka.cluster import ClusterClient
from holdfast.kafka.fetch import (
    NO_LIMIT,
    Ranges,
    Read,
    UnreadableRecordsError,
    follow,
    read_range,
    read_ranges,
)
from holdfast.pipeline.spark import kafka_source
from holdfast.pipeline.spark.few_rows import local_rows
from holdfast.pipeline.spark.validation import plain_json, why_invalid
from holdfast.wire.records.record import unpack_headers

Gap = tuple[int, int, int]
"""An unreadable range: partition, first offset, end offset (exclusive)."""

_SLICE_ROWS = 50_000
_SLICE_BYTES = 64 * 1024**2
_COLUMNS = (
    "topic STRING, partition INT, offset LONG, timestamp TIMESTAMP, key BINARY, value BINARY, "
    "headers ARRAY<STRUCT<key: STRING, value: BINARY>>"
)
_HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))


def find_unreadable(cluster: ClusterClient, topic: str, ranges: Ranges) -> Unreadable | None:
    """The first unreadable batch in these ranges; None if all can be read."""
    try:
        for p, (start, end) in ranges.items():
            for _ in read_range(cluster, topic, p, start, end):
                pass
    except UnreadableRecordsError as error:
        return error.unreadable
    except BaseException:
        cluster.forget()
        raise
    return None


def find_gaps(settings: ClientSettings, topic: str, ranges: Ranges) -> dict[Gap, str]:
    """All batches of these ranges that cannot be read, each with the reason."""
    cluster, gaps = ClusterClient(settings), {}
    for p, (start, end) in ranges.items():
        while start < end and (bad := find_unreadable(cluster, topic, {p: (start, end)})):
            gaps[p, bad.start, bad.end] = bad.why
            start = bad.end
    cluster.forget()
    return gaps


def read_around_gaps(
    settings: ClientSettings, topic: str, partition: int, start: int, end: int
) -> Iterator[pa.RecordBatch]:
    """The committed records of a range that can be read, in order, in batches."""
    cluster = ClusterClient(settings)
    try:
        while start < end:
            try:
                rows, start = next(follow(cluster, topic, partition, start))
                yield rows.filter(pc.less(rows["offset"], end))
            except UnreadableRecordsError as error:
                start = error.unreadable.end
    finally:
        cluster.forget()


def read_slice(cluster: ClusterClient, topic: str, ranges: Ranges) -> tuple[Ranges, Read]:
    """The first part of the ranges that fits into memory, and its records."""
    rows = _SLICE_ROWS
    while True:
        part = {p: (start, min(end, start + rows)) for p, (start, end) in ranges.items()}
        most_bytes = _SLICE_BYTES if rows > 1 else NO_LIMIT
        records = read_ranges(cluster, topic, part, most_bytes=most_bytes)
        if records is not None:
            return readable(part, records.unreadable), records
        rows //= 2


def readable(ranges: Ranges, unreadable: Mapping[int, Unreadable]) -> Ranges:
    """The ranges, each cut at its first unreadable batch."""
    return {
        p: (start, unreadable[p].start if p in unreadable else end)
        for p, (start, end) in ranges.items()
    }


def validated(session: SparkSession, rows: pa.Table, schema: str | None) -> pa.Table:
    """The rows with a column `invalid`: why the row violates the schema."""
    if schema is None or not rows.num_rows:
        return rows
    values = rows["value"].to_pylist()
    plain = _plain_json(schema)
    doubtful = [i for i, value in enumerate(values) if not plain.certainly_fits(value)]
    reasons: list[str | None] = [None] * len(values)
    if doubtful:
        asked = pa.table({"at": doubtful, "value": rows["value"].take(doubtful)})
        found = session.createDataFrame(asked).select(
            "at", why_invalid(sql.col("value"), schema).alias("invalid")
        )
        for row in found.toArrow().to_pylist():
            reasons[row["at"]] = row["invalid"]
    return rows.append_column("invalid", pa.array(reasons, pa.string()))


_plain_json = lru_cache(plain_json)


def as_spark_reads(session: SparkSession, topic: str, rows: pa.Table) -> DataFrame:
    """The rows with the columns and types of Spark's own Kafka source; with `timestampType`, if
    they tell whose their timestamps are."""
    columns = _spark_columns(topic, rows)
    if "by_broker" in rows.column_names:
        columns = columns.append_column("timestampType", rows["by_broker"].cast(pa.int32()))
    return local_rows(session, columns)


def read_few(
    cluster: ClusterClient, topic: str, pieces: Sequence[tuple[int, int, int]], most_bytes: int
) -> pa.Table | None:
    """The committed records of pieces (partition, start, end), read in this process. None if they
    have more bytes than that, or if some were deleted or cannot be read."""
    found = []
    for ranges in _in_turns(pieces):
        try:
            read = read_ranges(cluster, topic, ranges, most_bytes=most_bytes, by_broker=True)
        except EventsLostError:
            return None
        if read is None or read.unreadable:
            return None
        found.append(read.rows)
        most_bytes -= read.rows.nbytes
    return pa.concat_tables(found)


def _in_turns(pieces: Sequence[tuple[int, int, int]]) -> Iterator[Ranges]:
    """The first pieces of all partitions, then the second ones, and so on; at least one turn."""
    left = list(pieces)
    while True:
        turn = {p: (start, end) for p, start, end in reversed(left)}
        yield turn
        left = [piece for piece in left if turn[piece[0]] != piece[1:]]
        if not left:
            return


def _spark_columns(topic: str, rows: pa.Table) -> pa.Table:
    headers = [
        None
        if packed is None
        else [{"key": n.decode(errors="replace"), "value": v} for n, v in unpack_headers(packed)]
        for packed in rows["headers"].to_pylist()
    ]
    return pa.table(
        {
            "topic": pa.repeat(pa.scalar(topic), rows.num_rows),
            "partition": rows["partition"],
            "offset": rows["offset"],
            "timestamp": rows["timestamp"]
            .cast(pa.timestamp("ms", "UTC"))
            .cast(pa.timestamp("us", "UTC")),
            "key": rows["key"],
            "value": rows["value"],
            "headers": pa.array(headers, _HEADERS),
        }
    )


def read_range_without(
    session: SparkSession,
    connection: Connection,
    topic: str,
    *,
    starts: Mapping[int, int],
    ends: Mapping[int, int],
    reader: str,
    gaps: Sequence[Gap],
    headers: bool = True,
) -> DataFrame:
    """The committed records from `starts` (inclusive) to `ends` (exclusive), without those in the
    gaps, which cannot be read. Both contain every partition. Without gaps it is
    `kafka_source.read_range`, which can leave out headers.

    Spark's source reads beyond the end of a range and would fail at an unreadable batch there. So
    our own reader reads partitions with gaps, in tasks.
    """
    pieces = around_gaps(starts, ends, gaps)
    broken = {p for p, _, _ in gaps}
    whole = kafka_source.read_range(
        session,
        connection,
        topic,
        starts={p: ends[p] if p in broken else start for p, start in starts.items()},
        ends=ends,
        reader=reader,
        headers=headers or bool(gaps),
    )
    if not gaps:
        return whole
    pieces = [piece for piece in pieces if piece[0] in broken]
    numbers = session.range(0, len(pieces), 1, max(1, len(pieces)))
    ours = numbers.mapInArrow(partial(_read_pieces, connection.settings, topic, pieces), _COLUMNS)
    # Our reader does not know if a time is the producer's or the broker's.
    ours = ours.withColumn("timestampType", sql.lit(None).cast("int"))
    return whole.select(*ours.columns).unionByName(ours)


def around_gaps(
    starts: Mapping[int, int], ends: Mapping[int, int], gaps: Sequence[Gap]
) -> list[tuple[int, int, int]]:
    """The pieces of all partitions outside of the gaps: partition, first offset, end offset."""
    return [(p, *piece) for p, start in starts.items() for piece in around(start, ends[p], p, gaps)]


def around(start: int, end: int, partition: int, gaps: Sequence[Gap]) -> list[tuple[int, int]]:
    """The pieces of a partition's range that are outside of the gaps."""
    pieces = []
    for _, gap, gap_end in sorted(each for each in gaps if each[0] == partition):
        pieces.append((start, min(gap, end)))
        start = max(start, gap_end)
    pieces.append((start, end))
    return [piece for piece in pieces if piece[0] < piece[1]]


def _read_pieces(
    settings: ClientSettings,
    topic: str,
    pieces: Sequence[tuple[int, int, int]],
    numbers: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Runs in a task: reads the pieces with these numbers."""
    cluster = ClusterClient(settings)
    for batch in numbers:
        for number in batch.column(0).to_pylist():
            partition, start, end = pieces[number]
            for rows in read_range(cluster, topic, partition, start, end):
                table = pa.Table.from_batches([rows])
                partitions = pa.repeat(pa.scalar(partition, pa.int32()), rows.num_rows)
                table = table.append_column("partition", partitions)
                yield from _spark_columns(topic, table).to_batches()
    cluster.forget()


def skips(connection: Connection, names: FlowNames, partition: int) -> list[Gap]:
    """The events of a partition that a command has skipped, from the journal."""
    journal = Partition(names.journal, partition)
    bounds = Offsets(connection, committed_only=False).bounds(journal)
    reader = LogReader(connection, isolation="read_committed")
    try:
        records = [
            decode_journal(message.key(), message.value())
            for messages in reader.read(journal, *bounds)
            for message in messages
        ]
    finally:
        reader.close()
    return [
        (partition, record.cut, record.lost_until or record.cut)
        for record in records
        if record.outcome is Outcome.SKIPPED
    ]
