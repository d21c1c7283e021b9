"""The raw zone: where it must be complete, and where it is."""

from collections.abc import Mapping

from delta.tables import DeltaTable
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql

from holdfast.errors import ConflictError, NotFoundError
from holdfast.pipeline.audit.bounds import Bounds, at
from holdfast.pipeline.audit.checkpoint import Checkpoint
from holdfast.pipeline.audit.reading import LogReading
from holdfast.pipeline.audit.verification import Example, Fault, Finding
from holdfast.pipeline.raw_zone.table import Landed, RawTable
from holdfast.pipeline.raw_zone.zone import table_location
from holdfast.pipeline.spark.few_rows import FEW

Range = tuple[Mapping[int, int], Mapping[int, int]]
"""First and end (exclusive) source offsets, by partition."""


class RawZoneCheck:
    """The raw zone's rows of one flow's events, without rows that a backfill read from files."""

    def __init__(self, reading: LogReading, lake: str) -> None:
        self._reading = reading
        self._session = reading.session
        self._names = reading.names
        self._location = table_location(lake, self._names.flow)
        self._kept: DataFrame | None = None
        """The coordinates of all rows, if they are few."""

    def landed(self, topic_id: str) -> Landed:
        """The position of the raw zone. Raises if it cannot be compared with the events."""
        if not DeltaTable.isDeltaTable(self._session, self._location):
            raise NotFoundError(
                f"There is no raw zone of {self._names.flow} at {self._location}. Give the lake "
                "with --lake, or verify without the raw zone: --no-raw-zone."
            )
        landed = RawTable(self._session, self._location).landed()
        if landed.topic_id not in (None, topic_id):
            raise ConflictError(
                f"The raw zone at {self._location} has the events of an earlier topic "
                f"{self._names.events}, which was deleted: its offsets are other events. Verify "
                "without the raw zone: --no-raw-zone."
            )
        if self._reading.few and sum(landed.positions.values()) <= FEW:
            self._kept = self._reading.keep(self.rows().select("partition", "offset"))
        return landed

    def rows(self) -> DataFrame:
        table = self._session.read.format("delta").load(self._location)
        return table.where(sql.col("topic") == self._names.events)

    def _coordinates(self) -> DataFrame:
        return self.rows() if self._kept is None else self._kept

    def expected(
        self, scope: Range, landed: Landed, checkpoint: Checkpoint | None, bounds: Bounds
    ) -> Range:
        """The range in which the raw zone must be complete."""
        starts, ends = scope
        begin = dict(starts if checkpoint is None else checkpoint.raw)
        log_starts = bounds.events.starts
        if any(log_starts[p] > start for p, start in begin.items()):
            # Of deleted events only those after the raw zone's first row can be expected.
            found = self._coordinates().groupBy("partition").agg(sql.min("offset").alias("first"))
            first = {row["partition"]: row["first"] for row in found.collect()}
            begin = {
                p: max(start, min(first.get(p, start), log_starts[p])) for p, start in begin.items()
            }
        return begin, {p: min(landed.positions.get(p, 0), end) for p, end in ends.items()}

    def dense(self, expected: Range) -> frozenset[int]:
        """The partitions in which the raw zone has every expected offset once. There the events
        need not be read: there can be no others."""
        partition, offset = sql.col("partition"), sql.col("offset")
        within = (offset >= at(expected[0], partition)) & (offset < at(expected[1], partition))
        sums = (
            self._coordinates()
            .where(since(expected[0]))
            .where(within)
            .groupBy("partition")
            .agg(sql.count("*").alias("rows"), sql.sum("offset").alias("sum"))
            .collect()
        )
        landed = {row["partition"]: (row["rows"], row["sum"]) for row in sums}
        return frozenset(
            p
            for p, start in expected[0].items()
            if landed.get(p) == _every_offset(start, expected[1][p])
        )

    def count_below(self, offsets: Mapping[int, int]) -> int:
        """The number of rows below these offsets. Counts the others, and subtracts: the number of
        all rows is in Delta's log, and the files of later events are few."""
        below = sql.col("offset") < at(offsets, sql.col("partition"))
        if self._kept is not None:
            return self._kept.where(below).count()
        table = self._session.read.format("delta").load(self._location)
        of_flow = sql.col("topic") == self._names.events
        below = of_flow & below
        others = table.where(since(offsets) | ~of_flow)
        return table.count() - others.where(~sql.coalesce(below, sql.lit(False))).count()

    def changed_below(self, checkpoint: Checkpoint) -> dict[Fault, Finding]:
        """Rows below the checkpoint are not checked again, only counted."""
        now = self.count_below(checkpoint.raw)
        if now == checkpoint.raw_rows:
            return {}
        fault = Fault.RAW_MISSING if now < checkpoint.raw_rows else Fault.RAW_DOUBLED
        detail = f"{now} rows in the verified part, which had {checkpoint.raw_rows}: see --full"
        example = Example("raw zone", 0, min(checkpoint.raw.values()), detail)
        return {fault: Finding(fault, abs(now - checkpoint.raw_rows), (example,))}


def since(offsets: Mapping[int, int]) -> Column:
    """True for rows that may be at these offsets or later. Files without such rows are not read:
    Delta's log has the lowest and highest offset of each."""
    return sql.col("offset") >= min(offsets.values(), default=0)


def _every_offset(start: int, end: int) -> tuple[int, int]:
    """The number of offsets from `start` to `end` (exclusive), and their sum."""
    return end - start, (start + end - 1) * (end - start) // 2
