"""What the journal says: the outcomes, and from them when each key was held and until when."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as sql

from holdfast.client.connection import Connection
from holdfast.flows.journal import Outcome
from holdfast.flows.names import FlowNames
from holdfast.pipeline.kafka_source import read_range
from holdfast.pipeline.lake.audit.bounds import Bounds
from holdfast.pipeline.lake.audit.verification import Fault

_FIELDS = """
    version INT, outcome STRING, cut BIGINT, step BIGINT, at BIGINT, command_id STRING,
    command STRING, command_offset BIGINT, first BIGINT, drained_through BIGINT, lost_until BIGINT,
    note STRING
"""

SWITCHES = (Outcome.HELD, Outcome.RELEASED, Outcome.EXPIRED, Outcome.DRAINED)
"""The outcomes that change the state of a key."""


def read_journal(
    session: SparkSession, connection: Connection, names: FlowNames, bounds: Bounds
) -> DataFrame:
    """The whole journal: it grows with what was asked, not with the events."""
    rows = read_range(
        session, connection, names.journal,
        starts=bounds.journal.starts, ends=bounds.journal.ends, reader=f"{names.group}.verify",
        headers=False,
    )  # fmt: skip
    parsed = sql.from_json(sql.col("value").cast("string"), _FIELDS)
    return rows.select(
        sql.col("partition").alias("p"),
        sql.col("offset").alias("place"),
        "key",
        key_hash(sql.col("key")).alias("k"),
        parsed.alias("said"),
    ).select("p", "place", "key", "k", "said.*")


def key_hash(key: Column) -> Column:
    """64 bits that stand for a key; null for none."""
    return sql.when(key.isNotNull(), sql.xxhash64(key))


def at(values: Mapping[int, int], partition: Column) -> Column:
    """The value of a partition, out of a few that the driver knows; null for other partitions."""
    listed = sql.array(*(sql.lit(values[p]).cast("long") for p in sorted(values)))
    return sql.get(listed, partition)


def stretches(journal: DataFrame, bounds: Bounds) -> DataFrame:
    """One row for each stretch of source offsets in which a key was held or draining.

    `begin` to `until` (null: it goes on): every event of the key was appended to held. Of them
    those below `free` may have come out to processed, those below `due` must have left held, and
    those below `dead` may have gone to the dead letters.
    """
    by_key = Window.partitionBy("p", "k").orderBy("place")
    outcome, stopped = sql.col("outcome"), sql.col("drained_through") + 1
    begins = (outcome == Outcome.HELD) & sql.col("drained_through").isNull()
    settled = sql.col("step") <= at(_steps(bounds), sql.col("p"))
    numbered = journal.where(
        sql.col("k").isNotNull() & outcome.isin(*SWITCHES, Outcome.DEAD_LETTERED)
    ).withColumn("stretch", sql.count_if(begins).over(by_key))
    switch = outcome.isin(*SWITCHES)
    ended = outcome == Outcome.DRAINED
    stops = (outcome == Outcome.HELD) & sql.col("drained_through").isNotNull()
    return (
        numbered.groupBy("p", "k", "stretch")
        .agg(
            sql.min(sql.when(begins, sql.col("cut"))).alias("begin"),
            sql.max(sql.when(ended, sql.col("cut"))).alias("until"),
            sql.max(sql.when(ended & settled, sql.col("cut"))).alias("until_due"),
            sql.max_by(sql.when(switch, outcome), sql.when(switch, sql.col("place"))).alias("last"),
            sql.max(sql.when(stops, stopped)).alias("stopped"),
            sql.max(sql.when(stops & settled, stopped)).alias("stopped_due"),
            sql.max(sql.when(outcome == Outcome.DEAD_LETTERED, sql.col("cut"))).alias("dead"),
        )
        .where("begin IS NOT NULL AND (until IS NULL OR until > begin)")
        .select(
            "p",
            "k",
            "begin",
            sql.coalesce("until", sql.lit(_FOREVER)).alias("until"),
            sql.when(sql.col("last") != Outcome.HELD, sql.lit(_FOREVER))
            .otherwise(sql.coalesce("stopped", sql.lit(0)))
            .alias("free"),
            sql.coalesce("until_due", "stopped_due", sql.lit(0)).alias("due"),
            sql.coalesce("dead", sql.lit(0)).alias("dead"),
        )
    )


def faults_of_journal(journal: DataFrame) -> DataFrame:
    """Records that cannot be read, and outcomes that cannot follow the one before."""
    outcome = sql.col("outcome")
    known = sql.coalesce(
        (sql.col("version") == 1) & outcome.isin(*Outcome) & sql.col("cut").isNotNull(),
        sql.lit(False),
    )
    switch = sql.col("k").isNotNull() & outcome.isin(*SWITCHES)
    earlier = (
        Window.partitionBy("p", "k")
        .orderBy("place")
        .rowsBetween(Window.unboundedPreceding, Window.currentRow - 1)
    )
    last = sql.last(sql.when(switch, outcome), ignorenulls=True).over(earlier)
    before, draining = sql.col("before"), (Outcome.RELEASED, Outcome.EXPIRED)
    fits = (
        ((outcome == Outcome.HELD) & sql.col("drained_through").isNull()
         & before.isin("active", Outcome.DRAINED))
        | ((outcome == Outcome.HELD) & sql.col("drained_through").isNotNull()
           & before.isin(*draining))
        | (outcome.isin(*draining) & (before == Outcome.HELD))
        | ((outcome == Outcome.DRAINED) & before.isin(*draining))
    )  # fmt: skip
    return (
        journal.withColumn("before", sql.coalesce(last, sql.lit("active")))
        .select(
            sql.when(~known, sql.lit(Fault.UNREADABLE))
            .when(switch & ~fits, sql.lit(Fault.IMPOSSIBLE))
            .alias("fault"),
            sql.lit("journal").alias("log"),
            "p",
            sql.col("place").alias("o"),
            sql.when(known, sql.concat_ws(" ", outcome, sql.lit("after"), before))
            .otherwise("")
            .alias("detail"),
        )
        .where("fault IS NOT NULL")
    )


@dataclass(frozen=True, slots=True)
class Beginnings:
    """What of the source a flow's gate answers for."""

    starts: Mapping[int, int]
    """The source offset at which it began in each partition: its first step says so."""
    losses: Sequence[tuple[int, int, int]]
    """Events that were deleted before they were taken, which somebody accepted: partition, first
    offset, and the one after the last."""


def beginnings(journal: DataFrame) -> Beginnings:
    accepted = sql.when(
        sql.col("outcome") == Outcome.LOSS_ACCEPTED, sql.struct("cut", "lost_until")
    )
    rows = (
        journal.groupBy("p")
        .agg(sql.min("cut").alias("cut"), sql.collect_list(accepted).alias("losses"))
        .collect()
    )
    return Beginnings(
        {row["p"]: row["cut"] for row in rows if row["cut"] is not None},
        [(row["p"], loss["cut"], loss["lost_until"]) for row in rows for loss in row["losses"]],
    )


def _steps(bounds: Bounds) -> dict[int, int]:
    return {p: position.step for p, position in bounds.positions.items()}


_FOREVER = 2**62
