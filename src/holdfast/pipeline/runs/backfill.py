"""Backfill: what is missing in the raw zone, out of the topic.

The stream lands what lies behind its position; a backfill looks only before it. So the two never
add the same event, and what a backfill adds twice is decided by itself alone: it takes what the
table does not have, and one backfill of a flow runs at a time. A crash before Delta's commit has
added nothing; after it, the next attempt finds the events in the table.
"""

from collections.abc import Callable, Mapping
from typing import Any

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from holdfast.client.connection import Connection
from holdfast.client.encoding import from_milliseconds
from holdfast.client.positions import Offsets, Partition
from holdfast.errors import NotFoundError, UnavailableError
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.work import Backfill, OffsetRange
from holdfast.pipeline import faults
from holdfast.pipeline.kafka_source import read_range
from holdfast.pipeline.raw_table import COLUMNS, Landed
from holdfast.pipeline.raw_zone import RawZone
from holdfast.pipeline.runs.execution import Execution
from holdfast.pipeline.runs.windows import Windows

WINDOW_OFFSETS = 500_000
"""Of one commit."""
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
        """How far the raw zone is, once it runs."""
        execution.wait_for(
            lambda: self._running() is not None,
            f"It waits for the raw zone of {self.flow.name}, which does not run.",
        )
        zone = self._running()
        assert zone is not None
        assert zone.landed is not None
        return zone.landed

    def table(self) -> DataFrame:
        return self.session.read.format("delta").load(self._location)

    def add_missing(self, rows: DataFrame, there: DataFrame) -> int:
        """Add those rows whose coordinate is not in `there`. One commit. -> how many"""
        coordinate = ["topic", "partition", "offset"]
        missing = rows.join(there.select(*coordinate), coordinate, "left_anti")
        return self.add(missing)

    def add(self, rows: DataFrame) -> int:
        """Add these rows. One commit, unless there are none. -> how many"""
        found = rows.withColumn("date", sql.to_date("timestamp")).select(*COLUMNS)
        # Found out before the stream has to wait for us.
        found = found.persist(StorageLevel.DISK_ONLY)
        try:
            count = found.count()
            if not count:
                return 0
            zone = self._running()
            if zone is None:
                raise UnavailableError(f"The raw zone of {self.flow.name} has stopped meanwhile.")
            faults.reach("backfill-before-commit")
            added = zone.fill(found.coalesce(-(-count // ROWS_PER_FILE)))
            faults.reach("backfill-after-commit")
            return added
        finally:
            found.unpersist()

    def _running(self) -> RawZone | None:
        zone = self._find()
        return zone if zone is not None and zone.landed is not None else None


class TopicBackfill:
    """Lands events of a range of the topic."""

    def __init__(self, connection: Connection, filler: Filler, execution: Execution) -> None:
        work = execution.run.request.work
        assert isinstance(work, Backfill)
        self._connection = connection
        self._filler = filler
        self._execution = execution
        self._work = work
        self._topic = filler.flow.names.events

    def carry_out(self) -> Mapping[str, Any]:
        """-> the run's result"""
        positions = self._filler.landed(self._execution).positions
        asked = self._asked(positions)
        starts = self._offsets(lambda offsets, places: offsets.starts(places))
        ranges = {p: (max(start, starts[p]), end) for p, (start, end) in asked.items()}
        gone = sum(max(0, min(starts[p], end) - start) for p, (start, end) in asked.items())
        total = sum(max(0, end - start) for start, end in ranges.values())
        self._execution.begin({"unit": "offsets"}, total)
        added = looked_at = 0
        windows = Windows(ranges, WINDOW_OFFSETS, total)
        while (window := windows.take()) is not None:
            added += self._fill({p: window.get(p, (at, at)) for p, at in starts.items()})
            looked_at += sum(end - start for start, end in window.values())
            self._execution.reach(looked_at)
        return {"added": added, "looked_at": looked_at, "deleted_from_topic": gone}

    def _asked(self, positions: Mapping[int, int]) -> Ranges:
        """What lies before the stream's positions. It lands what comes after by itself."""
        ends = {p: positions.get(p, 0) for p in range(self._filler.flow.partitions)}
        if self._work.offsets:
            return self._listed(ends)
        begin, finish = dict.fromkeys(ends, 0), ends
        if self._work.since is not None:
            begin = self._at(self._work.since)
        if self._work.until is not None:
            found = self._at(self._work.until)
            finish = {p: min(end, found[p]) for p, end in ends.items()}
        return {p: (min(begin[p], finish[p]), finish[p]) for p in ends}

    def _listed(self, ends: Mapping[int, int]) -> Ranges:
        """The ranges that were listed; several of one partition are taken from first to last."""
        ranges: Ranges = {}
        for each in self._work.offsets:
            start, end = _clamp(each, ends)
            known = ranges.get(each.partition, (start, end))
            ranges[each.partition] = min(start, known[0]), max(end, known[1])
        return ranges

    def _at(self, milliseconds: int) -> dict[int, int]:
        time = from_milliseconds(milliseconds)
        return self._offsets(lambda offsets, places: offsets.resolve(places, time))

    def _offsets(
        self, look_up: Callable[[Offsets, list[Partition]], Mapping[Partition, int]]
    ) -> dict[int, int]:
        places = [Partition(self._topic, p) for p in range(self._filler.flow.partitions)]
        found = look_up(Offsets(self._connection), places)
        return {place.number: found[place] for place in places}

    def _fill(self, window: Ranges) -> int:
        """The window names every partition; a range may be empty."""
        events = read_range(
            self._filler.session,
            self._connection,
            self._topic,
            starts={p: start for p, (start, _) in window.items()},
            ends={p: end for p, (_, end) in window.items()},
            reader=f"{self._filler.flow.names.group}.backfill",
        )
        asked = [each for each in window.values() if each[0] < each[1]]
        first, last = min(start for start, _ in asked), max(end for _, end in asked)
        there = self._filler.table().where(
            (sql.col("topic") == self._topic) & sql.col("offset").between(first, last)
        )
        return self._filler.add_missing(events, there)


def _clamp(asked: OffsetRange, ends: Mapping[int, int]) -> tuple[int, int]:
    if asked.partition not in ends:
        raise NotFoundError(f"There is no partition {asked.partition}: there are {len(ends)}.")
    end = ends[asked.partition]
    end = end if asked.end is None else min(end, asked.end)
    return min(asked.start, end), end
