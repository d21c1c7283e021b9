"""The range of each log that is read, so that a flow can be verified while it runs.

The committed positions are read first, then the ends of the logs. A step is one transaction, so all
records about an event below a committed offset are below those ends. Later steps may be in the logs
only in part. So the journal *requires* outputs only up to the committed step, but *allows* outputs
up to its end, which is read last.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from time import monotonic, sleep

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as sql

from holdfast.client.committed import committed_positions
from holdfast.client.connection import Connection
from holdfast.client.positions import Offsets, Partition
from holdfast.client.source import source_of
from holdfast.client.topics import Topics
from holdfast.errors import ConflictError, TimedOutError
from holdfast.flows.names import FlowNames
from holdfast.flows.status import Position
from holdfast.pipeline.spark.readable import read_around_gaps
from holdfast.wire.records.record import unpack_headers

_PATIENCE_SECONDS = 150.0
"""The broker aborts an abandoned transaction after two minutes at most."""
_COMMITTED_SECONDS = 30.0
_NOWHERE = 2**62


@dataclass(frozen=True, slots=True)
class LogRange:
    """A range of each partition of a topic: first offset and end offset (exclusive)."""

    starts: Mapping[int, int]
    ends: Mapping[int, int]

    def after(self, offsets: Mapping[int, int]) -> "LogRange":
        """The part of the range from these offsets on."""
        starts = {p: min(max(s, offsets.get(p, 0)), self.ends[p]) for p, s in self.starts.items()}
        return LogRange(starts, self.ends)

    @property
    def length(self) -> int:
        return sum(self.ends[p] - start for p, start in self.starts.items())


@dataclass(frozen=True, slots=True)
class Bounds:
    """The logs of one flow at one point in time."""

    positions: Mapping[int, Position]
    """The committed position of each partition."""
    events: LogRange
    control: LogRange
    journal: LogRange
    status: LogRange
    held: LogRange
    processed: LogRange
    dlq: LogRange
    held_since: Mapping[int, int]
    """Rows of held below this source offset may have been trimmed."""
    settled: Mapping[str, Mapping[int, int]]
    """By topic and partition, the offset below which held, processed, dlq and journal have only
    records that were committed before the positions were read: all their events were taken, and
    the journal's steps are not after the committed ones."""

    @property
    def records(self) -> int:
        """The maximum number of records in all logs."""
        logs = (
            self.events, self.control, self.journal, self.status, self.held, self.processed,
            self.dlq,
        )  # fmt: skip
        return sum(log.length for log in logs)

    @property
    def taken(self) -> dict[int, int]:
        """The first source offset of each partition that the gate has not taken yet."""
        return {p: position.offset for p, position in self.positions.items()}


def at(values: Mapping[int, int], partition: Column) -> Column:
    """The value of a partition from a small mapping; null for other partitions."""
    # As one text: a literal for each would take a call into the JVM for each.
    listed = ", ".join(f"{values[p]}L" for p in sorted(values))
    return sql.get(sql.expr(f"array({listed})"), partition)


def fix_bounds(connection: Connection, names: FlowNames, partitions: int) -> Bounds:
    """The current bounds. Waits until all records below them can be read.

    Raises ConflictError if the gate has never run.
    """
    outputs = {names.held: partitions, names.dlq: partitions}
    outputs[names.processed] = Topics(connection).describe(names.processed).partitions
    decided = {**outputs, names.journal: partitions}
    settled: dict[str, dict[int, int]] = {topic: {} for topic in decided}
    for partition, end in Offsets(connection).ends(_partitions(decided)).items():
        settled[partition.topic][partition.number] = end
    positions = _positions(connection, names, partitions)
    outputs[names.status] = partitions
    inputs = {names.control: 1, names.events: partitions}
    starts = Offsets(connection).starts(
        _partitions({**outputs, names.journal: partitions, **inputs})
    )
    ends = _high_watermarks(connection, outputs)
    ends |= _high_watermarks(connection, {names.journal: partitions})
    ends |= _high_watermarks(connection, inputs)
    _wait_until_readable(connection, {p: end for p, end in ends.items() if p.topic != names.events})

    def log_range(topic: str) -> LogRange:
        own = [partition for partition in ends if partition.topic == topic]
        return LogRange(
            {p.number: min(starts[p], ends[p]) for p in own}, {p.number: ends[p] for p in own}
        )

    held = log_range(names.held)
    return Bounds(
        positions=positions,
        events=log_range(names.events),
        control=log_range(names.control),
        journal=log_range(names.journal),
        status=log_range(names.status),
        held=held,
        processed=log_range(names.processed),
        dlq=log_range(names.dlq),
        held_since=_held_since(connection, names.held, held),
        settled=settled,
    )


def has_moved(connection: Connection, names: FlowNames, bounds: Bounds) -> bool:
    """Returns True if records within the bounds were deleted since the bounds were read."""
    logs = {names.events: bounds.events, names.held: bounds.held}
    starts = Offsets(connection).starts(
        _partitions({t: len(log.starts) for t, log in logs.items()})
    )
    return any(start > logs[p.topic].starts[p.number] for p, start in starts.items())


def unchanged(
    connection: Connection, topic: str, log: LogRange, partitions: Iterable[int]
) -> list[int]:
    """The partitions to which nothing was written since the bounds were read."""
    candidates = [Partition(topic, p) for p in partitions]
    ends = Offsets(connection, committed_only=False).ends(candidates) if candidates else {}
    return [p.number for p, end in ends.items() if end <= log.ends[p.number]]


def _positions(connection: Connection, names: FlowNames, partitions: int) -> dict[int, Position]:
    consumer = connection.reader(group=names.group)
    try:
        sources = {Partition(names.events, p) for p in range(partitions)}
        committed = committed_positions(consumer, sources, _COMMITTED_SECONDS)
    finally:
        consumer.close()
    missing = sorted(p for p, position in committed.items() if position is None)
    if missing:
        raise ConflictError(
            f"The gate of {names.flow} has never taken a step in partition {missing[0]}, so there "
            "is nothing to verify. Check that a pipeline is running."
        )
    return {p: position for p, position in committed.items() if position is not None}


def _partitions(topics: Mapping[str, int]) -> list[Partition]:
    return [Partition(topic, number) for topic, count in topics.items() for number in range(count)]


def _high_watermarks(connection: Connection, topics: Mapping[str, int]) -> dict[Partition, int]:
    """The high watermarks. The last stable offsets would not do: after a commit they move in one
    log a moment before another."""
    return Offsets(connection, committed_only=False).ends(_partitions(topics))


def _wait_until_readable(connection: Connection, ends: Mapping[Partition, int]) -> None:
    offsets, waiting = Offsets(connection), dict(ends)
    deadline = monotonic() + _PATIENCE_SECONDS
    while True:
        stable = offsets.ends(waiting)
        waiting = {p: end for p, end in waiting.items() if stable[p] < end}
        if not waiting:
            return
        if monotonic() > deadline:
            partition, end = next(iter(waiting.items()))
            raise TimedOutError(
                f"{partition} can be read only up to {stable[partition]}, not up to {end}: a "
                "transaction is open there. Try again in a few minutes."
            )
        sleep(0.05)


def _held_since(connection: Connection, topic: str, held: LogRange) -> dict[int, int]:
    """The source offset of the first row in held. Rows are in source order, so trimmed rows are
    below it."""
    since: dict[int, int] = {}
    for partition, start in held.starts.items():
        since[partition] = 0
        if start:
            rows = read_around_gaps(
                connection.settings, topic, partition, start, held.ends[partition]
            )
            since[partition] = _first_source(rows)
    return since


def _first_source(portions: Iterator[pa.RecordBatch]) -> int:
    for rows in portions:
        for packed in rows["headers"].to_pylist():
            headers = unpack_headers(packed) if packed else ()
            source = source_of([(name.decode(errors="replace"), value) for name, value in headers])
            if source is not None:
                return source[1]
    return _NOWHERE
