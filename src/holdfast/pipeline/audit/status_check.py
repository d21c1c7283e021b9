"""Checks that status agrees with journal and held: which keys are held or draining, and how many
events of each are held."""

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql

from holdfast.flows.journal import Outcome
from holdfast.flows.status import ENTRY, POSITION_KEY, KeyState
from holdfast.pipeline.audit.bounds import Bounds, at
from holdfast.pipeline.audit.journal import SWITCHES, key_hash
from holdfast.pipeline.audit.reading import LogReading
from holdfast.pipeline.audit.verification import Fault

_FIELDS = "state STRING, step BIGINT, events BIGINT, drained_through BIGINT, counted_through BIGINT"


def read_status(logs: LogReading, bounds: Bounds) -> DataFrame:
    """The records of status, with the fields of entries and position records."""
    rows = logs.read(logs.names.status, bounds.status)
    fields = sql.from_json(sql.col("value").cast("string"), _FIELDS)
    return rows.select(
        sql.col("partition").alias("p"), sql.col("offset").alias("o"), "key", fields.alias("fields")
    ).select("p", "o", "key", "fields.*")


@dataclass(frozen=True, slots=True)
class Steps:
    """The offset in status at which the committed step of each partition ends."""

    ends: dict[int, int]
    """A partition whose position record of that step was compacted away is missing here: it has
    changed since and cannot be compared."""
    missing: tuple[int, ...]
    """Partitions without a position record of that step or a later one (which compaction may also
    have removed in favour of a newer one)."""


def find_steps(status: DataFrame, bounds: Bounds) -> Steps:
    steps = {p: position.step for p, position in bounds.positions.items()}
    step, committed = sql.col("step"), at(steps, sql.col("p"))
    rows = (
        status.where((sql.col("key") == sql.lit(POSITION_KEY)) & (step >= committed))
        .groupBy("p")
        .agg(sql.max(sql.when(step == committed, sql.col("o"))).alias("o"))
        .collect()
    )
    ends = {row["p"]: row["o"] for row in rows}
    return Steps(
        {p: o for p, o in ends.items() if o is not None},
        tuple(sorted(steps.keys() - ends.keys())),
    )


def faults_of_status(
    status: DataFrame, journal: DataFrame, pending: DataFrame, bounds: Bounds, ends: dict[int, int]
) -> DataFrame:
    """Keys whose status does not agree with journal and held, as of the committed step. `pending`:
    the held events."""
    entries = _entries(status, bounds, ends)
    differing = _differing_states(entries, journal, bounds, ends)
    return differing.unionByName(_differing_counts(entries, pending))


def _entries(status: DataFrame, bounds: Bounds, ends: dict[int, int]) -> DataFrame:
    """The last record of each key. If a later step has changed a key, compaction may have removed
    the older record: such a key is not `comparable`."""
    prefix = len(ENTRY)
    fields = sql.struct(
        sql.coalesce("state", sql.lit(KeyState.ACTIVE)).alias("stands"),
        "events", "drained_through", "counted_through",
    )  # fmt: skip
    return (
        status.where(sql.substring("key", 1, prefix) == sql.lit(ENTRY))
        .groupBy("p", sql.expr(f"substring(key, {prefix + 1})").alias("key"))
        .agg(sql.max("o").alias("o"), sql.max_by(fields, "o").alias("fields"))
        .select("p", "key", "o", "fields.*")
        .withColumn("comparable", sql.col("o") <= _until(bounds, ends))
    )


def _until(bounds: Bounds, ends: dict[int, int]) -> Column:
    return at({p: ends.get(p, -1) for p in bounds.positions}, sql.col("p"))


def _differing_states(
    entries: DataFrame, journal: DataFrame, bounds: Bounds, ends: dict[int, int]
) -> DataFrame:
    steps = {p: position.step for p, position in bounds.positions.items()}
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
        .agg(
            sql.max_by(comes_to, "journal_offset").alias("comes_to"),
            sql.max("journal_offset").alias("journal_offset"),
        )
    )
    active = sql.lit(KeyState.ACTIVE)
    return (
        recomputed.join(entries, ["p", "key"], "full")
        .where(sql.coalesce("comparable", _until(bounds, ends) >= 0))
        .where(sql.coalesce("stands", active) != sql.coalesce("comes_to", active))
        .select(
            sql.lit(Fault.STATUS_DIFFERS).alias("fault"),
            sql.when(sql.col("o").isNull(), "journal").otherwise("status").alias("log"),
            "p",
            sql.coalesce("o", "journal_offset").alias("o"),
            sql.format_string(
                "status %s, journal %s",
                sql.coalesce("stands", active),
                sql.coalesce("comes_to", active),
            ).alias("detail"),
        )
    )


def _differing_counts(entries: DataFrame, pending: DataFrame) -> DataFrame:
    """Entries with fewer events than are held, or with a held event marked as drained. An entry
    with more events is no fault: a step after the committed one may have drained some."""
    counted = sql.col("held_o") <= sql.col("counted_through")
    return (
        entries.where("comparable AND counted_through IS NOT NULL")
        .withColumn("k", key_hash(sql.col("key")))
        .join(pending.select("p", "k", sql.col("o").alias("held_o")), ["p", "k"])
        .groupBy("p", "key", "o", "events", "drained_through")
        .agg(sql.count_if(counted).alias("there"), sql.min("held_o").alias("first"))
        .where("there > events OR first <= drained_through")
        .select(
            sql.lit(Fault.STATUS_DIFFERS).alias("fault"),
            sql.lit("status").alias("log"),
            "p",
            "o",
            sql.format_string(
                "%d events held after source offset %d by status, %d in held from %d on",
                "events", "drained_through", "there", "first",
            ).alias("detail"),
        )
    )  # fmt: skip
