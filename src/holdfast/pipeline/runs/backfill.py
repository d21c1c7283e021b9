"""Backfill: adds events to the raw zone that are missing there, from the topic.

The stream lands events from its position on; a backfill only adds events before that position. So
the two never add the same event. A backfill adds only events that the table does not have, and a
flow has one backfill at a time. A crash before Delta's commit has added nothing; after it, the next
attempt finds the events in the table.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from holdfast import faults
from holdfast.client.connection import Connection
from holdfast.client.positions import Offsets, Partition
from holdfast.clock import from_ms
from holdfast.errors import NotFoundError, UnavailableError
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.run_specs import Backfill, OffsetRange
from holdfast.pipeline.raw_zone.table import COLUMNS, Landed
from holdfast.pipeline.raw_zone.zone import RawZone
from holdfast.pipeline.runs.execution import Execution
from holdfast.pipeline.runs.windows import Windows
from holdfast.pipeline.spark.readable import Gap, read_range_without, skips

WINDOW_OFFSETS = 500_000
"""Offsets per commit."""
ROWS_PER_FILE = 200_000

Ranges = dict[int, tuple[int, int]]
FindZone = Callable[[], RawZone | None]


class Filler:
    """Adds rows to a flow's raw zone, which must be running for that."""

    def __init__(
        self, session: SparkSession, flow: FlowDefinition, location: str, find: FindZone
    ) -> None:
        self.session = session
        self.flow = flow
        self._location = location
        self._find = find

    def landed(self, execution: Execution) -> Landed:
        """The raw zone's position. Waits until the raw zone runs."""
        execution.wait_for(
            lambda: self._running() is not None,
            f"Waiting for the raw zone of {self.flow.name}, which is not running.",
        )
        zone = self._running()
        assert zone is not None
        assert zone.landed is not None
        return zone.landed

    def table(self) -> DataFrame:
        return self.session.read.format("delta").load(self._location)

    def add_missing(self, rows: DataFrame, existing: DataFrame) -> int:
        """Add the rows whose coordinate is not in `existing`, in one commit. Returns how many."""
        coordinate = ["topic", "partition", "offset"]
        missing = rows.join(existing.select(*coordinate), coordinate, "left_anti")
        return self.add(missing)

    def add(self, rows: DataFrame) -> int:
        """Add these rows in one commit, if there are any. Returns how many."""
        rows = rows.withColumn("date", sql.to_date("timestamp")).select(*COLUMNS)
        # Computed here, because the stream waits during `fill`.
        rows = rows.persist(StorageLevel.DISK_ONLY)
        try:
            count = rows.count()
            if not count:
                return 0
            zone = self._running()
            if zone is None:
                raise UnavailableError(f"The raw zone of {self.flow.name} has stopped meanwhile.")
            faults.reach("backfill-before-commit")
            added = zone.fill(rows.coalesce(-(-count // ROWS_PER_FILE)))
            faults.reach("backfill-after-commit")
            return added
        finally:
            rows.unpersist()

    def _running(self) -> RawZone | None:
        zone = self._find()
        return zone if zone is not None and zone.landed is not None else None


class TopicBackfill:
    """Lands the missing events of a range of the topic."""

    def __init__(self, connection: Connection, filler: Filler, execution: Execution) -> None:
        work = execution.run.request.spec
        assert isinstance(work, Backfill)
        self._connection = connection
        self._filler = filler
        self._execution = execution
        self._work = work
        self._topic = filler.flow.names.events

    def carry_out(self) -> Mapping[str, Any]:
        """Returns the run's result."""
        positions = self._filler.landed(self._execution).positions
        requested = self._requested(positions)
        starts = self._offsets(lambda offsets, partitions: offsets.starts(partitions))
        ranges = {p: (max(start, starts[p]), end) for p, (start, end) in requested.items()}
        gone = sum(max(0, min(starts[p], end) - start) for p, (start, end) in requested.items())
        total = sum(max(0, end - start) for start, end in ranges.values())
        self._execution.begin({"unit": "offsets"}, total)
        added = looked_at = 0
        windows = Windows(ranges, WINDOW_OFFSETS, total)
        while (window := windows.take()) is not None:
            added += self._fill({p: window.get(p, (at, at)) for p, at in starts.items()})
            looked_at += sum(end - start for start, end in window.values())
            self._execution.reach(looked_at)
        return {"added": added, "looked_at": looked_at, "deleted_from_topic": gone}

    def _requested(self, positions: Mapping[int, int]) -> Ranges:
        """The requested ranges, up to the stream's positions: the stream lands later events."""
        ends = {p: positions.get(p, 0) for p in range(self._filler.flow.partitions)}
        if self._work.offsets:
            return self._listed_ranges(ends)
        begin, finish = dict.fromkeys(ends, 0), ends
        if self._work.since is not None:
            begin = self._at(self._work.since)
        if self._work.until is not None:
            until = self._at(self._work.until)
            finish = {p: min(end, until[p]) for p, end in ends.items()}
        return {p: (min(begin[p], finish[p]), finish[p]) for p in ends}

    def _listed_ranges(self, ends: Mapping[int, int]) -> Ranges:
        """The ranges listed in the request; several ranges of one partition become one."""
        ranges: Ranges = {}
        for each in self._work.offsets:
            start, end = _clamp(each, ends)
            first, last = ranges.get(each.partition, (start, end))
            ranges[each.partition] = min(start, first), max(end, last)
        return ranges

    def _at(self, milliseconds: int) -> dict[int, int]:
        time = from_ms(milliseconds)
        return self._offsets(lambda offsets, partitions: offsets.resolve(partitions, time))

    def _offsets(
        self, look_up: Callable[[Offsets, list[Partition]], Mapping[Partition, int]]
    ) -> dict[int, int]:
        partitions = [Partition(self._topic, p) for p in range(self._filler.flow.partitions)]
        offsets = look_up(Offsets(self._connection), partitions)
        return {partition.number: offsets[partition] for partition in partitions}

    @cached_property
    def _skipped(self) -> list[Gap]:
        """Unreadable events that a command has skipped."""
        flow = self._filler.flow
        return [
            gap for p in range(flow.partitions) for gap in skips(self._connection, flow.names, p)
        ]

    def _fill(self, window: Ranges) -> int:
        """Add the missing events of a window. It contains every partition; a range may be empty."""
        events = read_range_without(
            self._filler.session,
            self._connection,
            self._topic,
            starts={p: start for p, (start, _) in window.items()},
            ends={p: end for p, (_, end) in window.items()},
            reader=f"{self._filler.flow.names.group}.backfill",
            gaps=self._skipped,
        )
        ranges = [each for each in window.values() if each[0] < each[1]]
        first, last = min(start for start, _ in ranges), max(end for _, end in ranges)
        existing = self._filler.table().where(
            (sql.col("topic") == self._topic) & sql.col("offset").between(first, last)
        )
        return self._filler.add_missing(events, existing)


def _clamp(requested: OffsetRange, ends: Mapping[int, int]) -> tuple[int, int]:
    if requested.partition not in ends:
        raise NotFoundError(
            f"There is no partition {requested.partition}: the flow has {len(ends)} partitions."
        )
    end = ends[requested.partition]
    end = end if requested.end is None else min(end, requested.end)
    return min(requested.start, end), end
