"""Held events that came out before their release, although the release followed.

A record of processed does not say in which step it was written. But the steps of one source
partition follow each other, so what it has written to one partition of processed lies there in the
order of its steps; an event that was never held comes out in the step that takes it; and the cut of
a release is the first source offset that its step, or a later one, takes. So an event that passed
by itself and lies below the cut is a witness: what the release let out lies behind it. Where none
passed between the two, nothing tells when the held event came out.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sql

from holdfast.flows.journal import Outcome
from holdfast.pipeline.lake.audit.journal import SWITCHES
from holdfast.pipeline.lake.audit.verification import Fault

WITNESSES = 250_000
"""Of more events than these only every so many is kept for a witness, evenly: an event that came
out too early is found as long as one of them lies between it and the release."""

_OFFSET_BITS = 48


def place_of(partition: Column, offset: Column) -> Column:
    """Where a record lies in processed, as one number that grows within each partition."""
    return sql.shiftleft(partition.cast("long"), _OFFSET_BITS) + offset


def testifies(events: int) -> Column:
    """Whether a coordinate, of so many, is one of those that are kept for witnesses."""
    every = max(1, events // WITNESSES)
    return sql.pmod(sql.xxhash64("o"), sql.lit(every)) == 0


def releases(journal: DataFrame) -> DataFrame:
    """Each release or expiry with the events that it lets out: those of its key from `first` up to
    `next`. Its hold names the first: its own cut, or where it stopped the drain before."""
    by_key = Window.partitionBy("p", "k").orderBy("place")
    switches = journal.where(sql.col("k").isNotNull() & sql.col("outcome").isin(*SWITCHES))
    first = sql.coalesce(sql.col("drained_through") + 1, sql.col("cut"))
    return (
        switches.withColumn("first", sql.lag(first).over(by_key))
        .where(sql.col("outcome").isin(Outcome.RELEASED, Outcome.EXPIRED))
        .select("p", "k", "cut", "first", sql.lead("first").over(by_key).alias("next"))
    )


def faults_of_releases(kept: DataFrame, released: DataFrame) -> DataFrame:
    """What of the coordinates in `kept` came out before it was released. Those that are `ordinary`
    are the witnesses."""
    out = kept.where("place IS NOT NULL").withColumn(
        "target", sql.shiftright("place", _OFFSET_BITS)
    )
    witnesses = out.where("ordinary").select(
        "p", "target", sql.col("o").alias("until"), sql.lit(True).alias("witness"), "o", "place"
    )
    drained = (
        out.where("NOT ordinary")
        .join(released, ["p", "k"])
        .where("o >= first AND (next IS NULL OR o < next)")
        .select(
            "p", "target", sql.col("cut").alias("until"), sql.lit(False).alias("witness"), "o",
            "place",
        )
    )  # fmt: skip
    # A witness at the cut itself comes behind: it was taken by the release's step or a later one.
    before = (
        Window.partitionBy("p", "target")
        .orderBy("until", "witness")
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    passed = sql.last(sql.when(sql.col("witness"), sql.col("place")), ignorenulls=True)
    return (
        witnesses.unionByName(drained)
        .withColumn("passed", passed.over(before))
        .where("NOT witness AND place < passed")
        .select(
            sql.lit(Fault.TOO_EARLY).alias("fault"),
            sql.lit("events").alias("log"),
            "p",
            "o",
            sql.format_string("before the cut %d of its release", "until").alias("detail"),
        )
    )
