"""The raw zone, as the audit looks at it."""

from collections.abc import Mapping

from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from holdfast.errors import ConflictError, NotFoundError
from holdfast.flows.names import FlowNames
from holdfast.pipeline.lake.audit.bounds import Bounds
from holdfast.pipeline.lake.audit.journal import at
from holdfast.pipeline.lake.audit.remembered import Border
from holdfast.pipeline.lake.audit.verification import Example, Fault, Found
from holdfast.pipeline.raw_table import Landed, RawTable
from holdfast.pipeline.raw_zone import table_location

Range = tuple[Mapping[int, int], Mapping[int, int]]
"""First source offsets, and those after the last, by partition."""


class RawSide:
    """The rows of one flow's events. Those that a backfill took out of files are not of them."""

    def __init__(self, session: SparkSession, lake: str, names: FlowNames) -> None:
        self._session = session
        self._names = names
        self._location = table_location(lake, names.flow)

    def landed(self, topic_id: str) -> Landed:
        """How far it is. Raises what forbids to compare it with the events."""
        if not DeltaTable.isDeltaTable(self._session, self._location):
            raise NotFoundError(
                f"There is no raw zone of {self._names.flow} at {self._location}. Name the lake "
                "with --lake, or verify without the raw zone: --no-raw-zone."
            )
        found = RawTable(self._session, self._location).landed()
        if found.topic_id not in (None, topic_id):
            raise ConflictError(
                f"The raw zone at {self._location} is of another topic {self._names.events}, which "
                "was deleted since: its offsets mean other events."
            )
        return found

    def rows(self) -> DataFrame:
        table = self._session.read.format("delta").load(self._location)
        return table.where(sql.col("topic") == self._names.events)

    def expected(
        self, scope: Range, landed: Landed, border: Border | None, bounds: Bounds
    ) -> Range:
        """Where it must be complete."""
        starts, ends = scope
        begin = dict(starts if border is None else border.raw)
        log_starts = bounds.events.starts
        if any(log_starts[p] > start for p, start in begin.items()):
            # Of events that are gone only those can be expected that came after its first row.
            rows = self.rows().groupBy("partition").agg(sql.min("offset").alias("first")).collect()
            first = {row["partition"]: row["first"] for row in rows}
            begin = {
                p: max(start, min(first.get(p, start), log_starts[p])) for p, start in begin.items()
            }
        return begin, {p: min(landed.positions.get(p, 0), end) for p, end in ends.items()}

    def dense(self, expected: Range) -> frozenset[int]:
        """The partitions in which it has every offset that is expected, each once. Where it does,
        the events need not be read to know which there are: there can be no others."""
        partition, offset = sql.col("partition"), sql.col("offset")
        within = (offset >= at(expected[0], partition)) & (offset < at(expected[1], partition))
        found = (
            self.rows()
            .where(within)
            .groupBy("partition")
            .agg(sql.count("*").alias("rows"), sql.sum("offset").alias("sum"))
            .collect()
        )
        seen = {row["partition"]: (row["rows"], row["sum"]) for row in found}
        return frozenset(
            p
            for p, start in expected[0].items()
            if seen.get(p) == _every_offset(start, expected[1][p])
        )

    def count_below(self, offsets: Mapping[int, int]) -> int:
        below = sql.col("offset") < at(offsets, sql.col("partition"))
        return self.rows().where(below).count()

    def changed_below(self, border: Border) -> dict[Fault, Found]:
        """Rows below the border are not looked at again, but they are counted."""
        now = self.count_below(border.raw)
        if now == border.raw_rows:
            return {}
        fault = Fault.RAW_MISSING if now < border.raw_rows else Fault.RAW_DOUBLED
        detail = f"{now} rows below what was verified, where {border.raw_rows} were: see --full"
        example = Example("raw zone", 0, min(border.raw.values()), detail)
        return {fault: Found(fault, abs(now - border.raw_rows), (example,))}


def _every_offset(start: int, end: int) -> tuple[int, int]:
    """How many offsets there are from `start` up to `end`, and what they add up to."""
    return end - start, (start + end - 1) * (end - start) // 2
