"""Finds held events that were processed before their release, although the release followed.

A processed record does not contain its step. But the steps of one source partition follow each
other, so its records in one partition of processed are in step order. An event that was never held
is processed in the step that takes it, and the cut of a release is the first source offset that its
step, or a later one, takes. So a never-held event below the cut is a witness: all events that the
release let out must come after it. If no such event was processed in between, the audit cannot
detect an early release.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sql

from holdfast.flows.journal import Outcome
from holdfast.pipeline.audit.journal import SWITCHES
from holdfast.pipeline.audit.verification import Fault

WITNESSES = 250_000
"""The approximate maximum number of witnesses. With more events an even sample is kept: an early
release is found if a witness is between the event and the release."""

_OFFSET_BITS = 48


def output_rank(partition: Column, offset: Column) -> Column:
    """The position of a record in processed as one number, which grows within each partition."""
    return sql.shiftleft(partition.cast("long"), _OFFSET_BITS) + offset


def is_witness(events: int) -> Column:
    """True for the coordinates that are kept as witnesses, of `events` coordinates in all."""
    every = max(1, events // WITNESSES)
    return sql.pmod(sql.xxhash64("o"), sql.lit(every)) == 0


def releases(journal: DataFrame) -> DataFrame:
    """Each release or expiry with the events that it lets out: those of its key from `first` to
    `next` (exclusive). `first` is the cut of its hold, or where that hold stopped a drain."""
    by_key = Window.partitionBy("p", "k").orderBy("journal_offset")
    switches = journal.where(sql.col("k").isNotNull() & sql.col("outcome").isin(*SWITCHES))
    first = sql.coalesce(sql.col("drained_through") + 1, sql.col("cut"))
    return (
        switches.withColumn("first", sql.lag(first).over(by_key))
        .where(sql.col("outcome").isin(Outcome.RELEASED, Outcome.EXPIRED))
        .select("p", "k", "cut", "first", sql.lead("first").over(by_key).alias("next"))
    )


def faults_of_releases(kept: DataFrame, released: DataFrame) -> DataFrame:
    """The coordinates in `kept` that were processed before their release. The `ordinary` ones are
    the witnesses."""
    out = kept.where("output_rank IS NOT NULL").withColumn(
        "target", sql.shiftright("output_rank", _OFFSET_BITS)
    )
    witnesses = out.where("ordinary").select(
        "p",
        "target",
        sql.col("o").alias("until"),
        sql.lit(True).alias("witness"),
        "o",
        "output_rank",
    )
    drained = (
        out.where("NOT ordinary")
        .join(released, ["p", "k"])
        .where("o >= first AND (next IS NULL OR o < next)")
        .select(
            "p", "target", sql.col("cut").alias("until"), sql.lit(False).alias("witness"), "o",
            "output_rank",
        )
    )  # fmt: skip
    # A witness at the cut itself comes later: the release's step or a later one has taken it.
    before = (
        Window.partitionBy("p", "target")
        .orderBy("until", "witness")
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    passed = sql.last(sql.when(sql.col("witness"), sql.col("output_rank")), ignorenulls=True)
    return (
        witnesses.unionByName(drained)
        .withColumn("passed", passed.over(before))
        .where("NOT witness AND output_rank < passed")
        .select(
            sql.lit(Fault.TOO_EARLY).alias("fault"),
            sql.lit("events").alias("log"),
            "p",
            "o",
            sql.format_string("before the cut %d of its release", "until").alias("detail"),
        )
    )
