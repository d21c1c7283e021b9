"""Whether status says what the journal comes to: which keys are held, and which are draining."""

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql

from holdfast.client.connection import Connection
from holdfast.flows.journal import Outcome
from holdfast.flows.names import FlowNames
from holdfast.flows.status import ENTRY, POSITION_KEY, KeyState
from holdfast.pipeline.kafka_source import read_range
from holdfast.pipeline.lake.audit.bounds import Bounds
from holdfast.pipeline.lake.audit.journal import SWITCHES, at
from holdfast.pipeline.lake.audit.verification import Fault


def read_status(
    session: SparkSession, connection: Connection, names: FlowNames, bounds: Bounds
) -> DataFrame:
    """The records of status, with what an entry and a position record say."""
    rows = read_range(
        session, connection, names.status,
        starts=bounds.status.starts, ends=bounds.status.ends, reader=f"{names.group}.verify",
        headers=False,
    )  # fmt: skip
    said = sql.from_json(sql.col("value").cast("string"), "state STRING, step BIGINT")
    return rows.select(
        sql.col("partition").alias("p"), sql.col("offset").alias("o"), "key", said.alias("said")
    ).select("p", "o", "key", "said.*")


def ends_of_steps(status: DataFrame, bounds: Bounds) -> dict[int, int]:
    """Where in status the committed step of each partition ends. A partition whose position record
    of that step was compacted away has moved on, and cannot be compared."""
    steps = {p: position.step for p, position in bounds.positions.items()}
    rows = (
        status.where((sql.col("key") == sql.lit(POSITION_KEY)) & _same(steps))
        .groupBy("p")
        .agg(sql.max("o").alias("o"))
        .collect()
    )
    return {row["p"]: row["o"] for row in rows}


def _same(steps: dict[int, int]) -> Column:
    return sql.col("step") == at(steps, sql.col("p"))


def faults_of_status(
    status: DataFrame, journal: DataFrame, bounds: Bounds, ends: dict[int, int]
) -> DataFrame:
    """Keys of which status and journal, both as of the committed step, do not say the same."""
    steps = {p: position.step for p, position in bounds.positions.items()}
    until = at({p: ends.get(p, -1) for p in bounds.positions}, sql.col("p"))
    prefix = len(ENTRY)
    # A key that a later step has touched may have lost its older record to compaction.
    stands = (
        status.where(sql.substring("key", 1, prefix) == sql.lit(ENTRY))
        .groupBy("p", sql.expr(f"substring(key, {prefix + 1})").alias("key"))
        .agg(
            sql.max("o").alias("o"),
            sql.max_by(sql.coalesce("state", sql.lit(KeyState.ACTIVE)), "o").alias("stands"),
        )
        .withColumn("comparable", sql.col("o") <= until)
    )
    outcome = sql.col("outcome")
    comes_to = (
        sql.when(outcome == Outcome.HELD, KeyState.HELD)
        .when(outcome == Outcome.DRAINED, KeyState.ACTIVE)
        .otherwise(KeyState.DRAINING)
    )
    recomputed = (
        journal.where(
            sql.col("key").isNotNull()
            & outcome.isin(*SWITCHES)
            & (sql.col("step") <= at(steps, sql.col("p")))
        )
        .groupBy("p", "key")
        .agg(sql.max_by(comes_to, "place").alias("comes_to"), sql.max("place").alias("place"))
    )
    active = sql.lit(KeyState.ACTIVE)
    return (
        recomputed.join(stands, ["p", "key"], "full")
        .where(sql.coalesce("comparable", until >= 0))
        .where(sql.coalesce("stands", active) != sql.coalesce("comes_to", active))
        .select(
            sql.lit(Fault.STATUS_DIFFERS).alias("fault"),
            sql.when(sql.col("o").isNull(), "journal").otherwise("status").alias("log"),
            "p",
            sql.coalesce("o", "place").alias("o"),
            sql.format_string(
                "status %s, journal %s",
                sql.coalesce("stands", active),
                sql.coalesce("comes_to", active),
            ).alias("detail"),
        )
    )
