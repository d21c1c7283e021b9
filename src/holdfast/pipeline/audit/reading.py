"""Reads the logs of a flow, without batches that cannot be read, and keeps rows at hand.

Of few records Spark's preparation takes most of the time. So few are read in this process, and rows
that are used more than once are kept here and not in Spark's memory: each query over them then has
a short plan, and one task. The checks are the same for few and for many.

Spark's source fails at such a batch without naming an offset. So after a failure the audit looks
for damage with the pipeline's own reader, and starts again without the damaged batches.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from holdfast.client.connection import Connection
from holdfast.client.positions import Offsets, Partition
from holdfast.flows.names import FlowNames
from holdfast.kafka.cluster import ClusterClient
from holdfast.pipeline.audit.bounds import Bounds, LogRange
from holdfast.pipeline.audit.verification import Example, Fault, Finding
from holdfast.pipeline.spark.few_rows import for_few_rows, local_rows
from holdfast.pipeline.spark.readable import (
    Gap,
    around_gaps,
    as_spark_reads,
    find_gaps,
    read_few,
    read_range_without,
)

_FEW_BYTES = 32 * 1024**2
"""The maximum size of a log that is read in this process."""

Damage = Mapping[str, Mapping[Gap, str]]
"""The unreadable batches of each topic, each with the reason."""


Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True, slots=True)
class LogReading:
    session: SparkSession
    connection: Connection
    names: FlowNames
    damage: Damage = field(default_factory=dict)
    cluster: ClusterClient | None = None
    """For few records: the brokers that they are read from in this process."""
    _kept: list[DataFrame] = field(default_factory=list)

    @classmethod
    def of(
        cls, session: SparkSession, connection: Connection, names: FlowNames, damage: Damage, *,
        few: bool,
    ) -> "LogReading":  # fmt: skip
        if not few:
            return cls(session, connection, names, damage)
        cluster = ClusterClient(connection.settings)
        return cls(for_few_rows(session), connection, names, damage, cluster)

    def close(self) -> None:
        for rows in self._kept:
            rows.unpersist()
        if self.cluster is not None:
            self.cluster.forget()

    @property
    def few(self) -> bool:
        return self.cluster is not None

    def keep(self, rows: DataFrame, *, now: bool = False) -> DataFrame:
        """Rows that are used more than once, in memory or on disk until the reading is closed.
        `now`: do not wait until they are used."""
        if self.few:
            return local_rows(self.session, rows.toArrow())
        kept = rows.persist(StorageLevel.MEMORY_AND_DISK)
        self._kept.append(kept)
        if now:
            kept.count()
        return kept

    def compute(
        self, rows: DataFrame, function: Callable[[Batches], Batches], columns: str
    ) -> DataFrame:
        """What a function in Python makes of the rows."""
        if not self.few:
            return rows.mapInArrow(function, columns)
        form = StructType.fromDDL(columns)
        assert isinstance(form, StructType)
        batches = function(iter(rows.toArrow().to_batches()))
        made = pa.Table.from_batches(batches, to_arrow_schema(form))
        return local_rows(self.session, made)

    def read(
        self, topic: str, part: LogRange, *, headers: bool = False, without: Sequence[Gap] = ()
    ) -> DataFrame:
        """The readable records of a range of a log. `without`: known gaps besides those in
        `damage`."""
        gaps = [*without, *self.gaps(topic)]
        if self.cluster is not None:
            pieces = around_gaps(part.starts, part.ends, gaps)
            rows = read_few(self.cluster, topic, pieces, _FEW_BYTES)
            if rows is not None:
                return as_spark_reads(self.session, topic, rows)
        reader = f"{self.names.group}.verify"
        return read_range_without(
            self.session, self.connection, topic,
            starts=part.starts, ends=part.ends, reader=reader, gaps=gaps, headers=headers,
        )  # fmt: skip

    def gaps(self, topic: str) -> list[Gap]:
        return list(self.damage.get(topic, ()))

    def unknown_events(self, bounds: Bounds, skipped: Sequence[Gap]) -> list[Gap]:
        """Gaps in the events that the gate has taken, without those that a command has skipped."""
        return [
            (p, start, end)
            for p, start, end in self.gaps(self.names.events)
            if start < bounds.taken[p]
            and not any(p == q and first <= start and end <= last for q, first, last in skipped)
        ]

    def found(self, unknown_events: Sequence[Gap], examples: int) -> dict[Fault, Finding]:
        faults = [
            Example(topic.removeprefix(f"{self.names.flow}."), p, start, _detail(end, why))
            for topic, gaps in self.damage.items()
            for (p, start, end), why in gaps.items()
            if topic != self.names.events or (p, start, end) in unknown_events
        ]
        if not faults:
            return {}
        return {Fault.DAMAGED: Finding(Fault.DAMAGED, len(faults), tuple(faults[:examples]))}


def find_damage(connection: Connection, names: FlowNames, bounds: Bounds) -> Damage:
    """Every unreadable batch of a flow's logs. Reads all logs completely."""
    # Spark's source reads ahead, so events that the gate has not taken yet matter as well.
    stable = Offsets(connection).ends([Partition(names.events, p) for p in bounds.taken])
    events = LogRange(bounds.events.starts, {p.number: end for p, end in stable.items()})
    logs = {
        names.control: bounds.control, names.journal: bounds.journal, names.status: bounds.status,
        names.held: bounds.held, names.processed: bounds.processed, names.dlq: bounds.dlq,
        names.events: events,
    }  # fmt: skip
    damage = {
        topic: find_gaps(
            connection.settings, topic, {p: (s, part.ends[p]) for p, s in part.starts.items()}
        )
        for topic, part in logs.items()
    }
    return {topic: gaps for topic, gaps in damage.items() if gaps}


def _detail(end: int, why: str) -> str:
    return f"up to offset {end - 1}: {why}"


def in_gaps(gaps: Sequence[Gap], partition: Column, offset: Column) -> Column:
    """True for an offset in one of the gaps."""
    inside = sql.lit(False)
    for p, first, end in gaps:
        inside = inside | ((partition == p) & (offset >= first) & (offset < end))
    return inside
