"""Checks that each dead letter has a cause in the journal, and that no other event should be one.

Only coordinates that are not ordinary are checked. The journal's marks are at the offsets from
which they act, so the last mark before an event applies to it.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sql
from pyspark.sql.window import WindowSpec

from holdfast.flows.journal import Outcome
from holdfast.pipeline.audit.coordinates import DEAD_ASKED, DEAD_OVERFLOW, DEAD_TOO_LARGE
from holdfast.pipeline.audit.rules import Rules
from holdfast.pipeline.audit.verification import Fault


def faults_of_reasons(kept: DataFrame, journal: DataFrame, rules: Rules) -> DataFrame:
    """Dead letters without a cause in the journal, and events that should be dead letters."""
    letter, o = sql.col("letter"), sql.col("o")
    over = sql.coalesce("flow_over", sql.lit(False)) | sql.coalesce("key_over", sql.lit(False))
    refused = over & sql.col("in_hold") & rules.dead_letters_at(sql.col("p"), o)
    sent = sql.col("in_hold") & sql.coalesce(o < sql.col("dead_until"), sql.lit(False))
    early = (letter == DEAD_TOO_LARGE) & sql.expr("held > 0 AND in_hold AND o >= held_free")
    faults = {
        Fault.NOT_OVER: (letter == DEAD_OVERFLOW) & ~refused,
        Fault.HELD_OVER: refused & sql.expr("held > 0"),
        Fault.DEAD_UNASKED: (letter == DEAD_ASKED) & ~sent,
        Fault.CAME_OUT_DEAD: sent & sql.expr("processed > 0"),
        Fault.TOO_EARLY: early & ~sent,
    }
    kinds = (sql.when(shown, fault.value) for fault, shown in faults.items())
    return (
        _with_marks(kept, journal)
        .select("p", "o", sql.explode(sql.array_compact(sql.array(*kinds))).alias("fault"))
        .select("fault", sql.lit("events").alias("log"), "p", "o", sql.lit("").alias("detail"))
    )


def _with_marks(kept: DataFrame, journal: DataFrame) -> DataFrame:
    """Dead letters and events of held keys, with the marks that apply to them."""
    in_hold = sql.coalesce(sql.col("o") < sql.col("held_until"), sql.lit(False))
    rows = (
        kept.where(~sql.col("ordinary"))
        .withColumn("in_hold", in_hold)
        .where("letter IS NOT NULL OR in_hold")
        .select("p", "k", "o", "letter", "processed", "held", "held_free", "in_hold")
    )
    # A mark at an event's own offset acts on it, so marks come first.
    order = ("o", "in_hold", "journal_offset")
    of_flow = Window.partitionBy("p").orderBy(*order)
    of_key = Window.partitionBy("p", "k").orderBy(*order)

    def last(name: str, window: WindowSpec) -> Column:
        return sql.last(name, ignorenulls=True).over(window)

    return (
        rows.unionByName(_marks(journal), allowMissingColumns=True)
        .withColumn("flow_over", last("flow_over", of_flow))
        .withColumn("key_over", last("key_over", of_key))
        .withColumn("dead_until", sql.max("dead_until").over(of_key))
        .where("in_hold IS NOT NULL")
    )


def _marks(journal: DataFrame) -> DataFrame:
    """The begins and ends of overflows, and the held rows that each dead-letter command concerns:
    those that had not left held by then, up to its cut."""
    outcome, cut = sql.col("outcome"), sql.col("cut")
    limits = outcome.isin(Outcome.OVERFLOW_BEGUN, Outcome.OVERFLOW_ENDED)
    begun, of_flow = outcome == Outcome.OVERFLOW_BEGUN, sql.col("k").isNull()
    dead = outcome == Outcome.DEAD_LETTERED
    return journal.where(limits | dead).select(
        "p",
        "k",
        sql.when(dead, sql.coalesce(sql.col("drained_through") + 1, cut)).otherwise(cut).alias("o"),
        "journal_offset",
        sql.when(limits & of_flow, begun).alias("flow_over"),
        sql.when(limits & ~of_flow, begun).alias("key_over"),
        sql.when(dead, cut).alias("dead_until"),
    )
