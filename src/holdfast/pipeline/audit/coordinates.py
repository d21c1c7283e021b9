"""All records of each source coordinate, and the faults they show.

The rows of all logs are joined by partition and key. That takes one shuffle and one sort, which
brings together a coordinate's records, its neighbours of the same key and the holds of that key: so
one pass answers every question. The cause of dead letters, of which there are few, is checked later
(`reasons`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sql

from holdfast.pipeline.audit.bounds import at
from holdfast.pipeline.audit.reading import in_gaps
from holdfast.pipeline.audit.verification import Fault
from holdfast.pipeline.spark.readable import Gap

(
    EVENT, LANDED, BOTH, PROCESSED, HELD, STILL_HELD, HOLD_SPAN,
    DEAD_ASKED, DEAD_OVERFLOW, DEAD_INVALID, DEAD_TOO_LARGE, DEAD_OTHER,
) = range(12)  # fmt: skip
"""The source of a row. BOTH: a row of the raw zone where it has every offset, so that the events
need not be read as well. STILL_HELD: an event that was held at the last audit. HOLD_SPAN: the start
of a range of offsets in which the key is held. Dead letters by reason: a command, overflow, schema,
size, another."""

LETTERS = (DEAD_ASKED, DEAD_OVERFLOW, DEAD_INVALID, DEAD_TOO_LARGE, DEAD_OTHER)

KIND = 15
"""The bits of a tag that contain the source. The bits above are flags."""
MISPLACED, REFUSED, LARGE, OF_HELD_PREFIX = 16, 32, 64, 128
"""Flags: the record is in the wrong partition; the schema at that offset refuses the event's value;
the event may be too large for an output; a prefix of its key is held at that offset."""

ROWS_PER_TASK = 750_000
"""Rows that one task sorts: they fit into the memory of a task in a small driver."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The coordinates that are accounted for, and what is expected of them, by partition."""

    starts: Mapping[int, int]
    ends: Mapping[int, int]
    """Source offsets: first and end (exclusive)."""
    verified_below: Mapping[int, int]
    """Coordinates below it were verified before, except for events that had not landed then."""
    log_starts: Mapping[int, int]
    """Events below it were deleted; only the raw zone has them."""
    log_ends: Mapping[int, int]
    raw: tuple[Mapping[int, int], Mapping[int, int]] | None
    """The range in which the raw zone must be complete; None: the raw zone is not checked."""
    dense: frozenset[int]
    """Partitions in which the raw zone has every offset of that range."""
    held_since: Mapping[int, int]
    losses: Sequence[Gap] = ()
    skipped: Sequence[Gap] = ()
    """Those losses that are unreadable events which a command has skipped."""
    unreadable: Sequence[Gap] = ()
    """Other unreadable events: only the raw zone has them."""


def judge(rows: DataFrame, scope: Scope, tasks: int) -> DataFrame:
    """One row per coordinate, with all its facts: see `ordinary` and `fault_names`."""
    tag = sql.col("tag")
    kind = tag.bitwiseAND(KIND)
    letter = sql.when(kind >= DEAD_ASKED, kind)
    coordinates = (
        rows.repartition(tasks, "p", "k")
        .groupBy("p", "k", "o")
        .agg(
            sql.count_if(kind.isin(EVENT, BOTH)).alias("events"),
            sql.count_if(kind.isin(LANDED, BOTH)).alias("landed"),
            sql.count_if(kind == PROCESSED).alias("processed"),
            sql.count_if(kind.isin(HELD, STILL_HELD)).alias("held"),
            sql.count_if(kind.isin(*LETTERS)).alias("dead_letters"),
            sql.count_if(kind == STILL_HELD).alias("was_held"),
            sql.max(letter).alias("letter"),
            (sql.bit_or(tag).bitwiseAND(~KIND)).alias("flags"),
            sql.min("output_rank").alias("output_rank"),
            sql.min("body").alias("body"),
            sql.max("body").alias("other_body"),
            sql.min("head").alias("head"),
            sql.max("head").alias("other_head"),
            sql.min("time").alias("time"),
            sql.max("time").alias("other_time"),
            sql.max("until").alias("until"),
            sql.max("free").alias("free"),
            sql.max("due").alias("due"),
        )
    )
    return _with_neighbours(_with_presence(coordinates, scope)).where("found > 0")


def ordinary(scope: Scope) -> Column:
    """True for the usual coordinate: processed once, landed once, unchanged, in order, never held.

    None of these shows a fault (see `_faults`). This expression runs for every coordinate, so it is
    short: the JVM does not compile large methods.
    """
    once = sql.expr(
        "exists AND NOT verified AND processed = 1 AND dead_letters = 0 AND held = 0 "
        "AND landed <= 1 AND flags = 0 "
        "AND body = other_body AND head = other_head AND time = other_time "
        "AND (rank_before IS NULL OR output_rank > rank_before) "
        "AND (pending_before IS NULL OR pending_before = 0) "
        "AND (held_until IS NULL OR o >= held_until)"
    )
    if scope.raw is not None:
        once = once & ((sql.col("landed") == 1) | ~_expected_to_land(scope))
    return sql.coalesce(once, sql.lit(False))


def fault_names(scope: Scope) -> Column:
    """The faults of a coordinate, as an array."""
    kinds = (sql.when(shown, fault.value) for fault, shown in _faults(scope).items())
    return sql.array_compact(sql.array(*kinds))


def _with_presence(coordinates: DataFrame, scope: Scope) -> DataFrame:
    p, o = sql.col("p"), sql.col("o")
    gone = (o < at(scope.log_starts, p)) | in_gaps(scope.unreadable, p, o)
    return (
        coordinates.withColumn("gone", sql.coalesce(gone, sql.lit(False)))
        .withColumn("out", sql.col("processed") + sql.col("dead_letters"))
        .withColumn("found", sql.expr("events + landed + processed + held + dead_letters"))
        .withColumn(
            "exists",
            (sql.col("events") > 0)
            | (sql.col("was_held") > 0)
            | (sql.col("gone") & (sql.col("landed") > 0)),
        )
        .withColumn("accepted", in_gaps(scope.losses, p, o))
        .withColumn("verified", sql.coalesce(o < at(scope.verified_below, p), sql.lit(False)))
        .withColumn("pending", sql.expr("exists AND out = 0 AND held > 0"))
    )


def _with_neighbours(coordinates: DataFrame) -> DataFrame:
    """Adds facts about earlier events of the same key to each coordinate."""
    by_key = Window.partitionBy("p", "k").orderBy("o")
    through = by_key.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    before = by_key.rowsBetween(Window.unboundedPreceding, -1)

    def of_hold(name: str) -> Column:
        return sql.last(name, ignorenulls=True).over(through)

    return coordinates.select(
        "*",
        sql.max("output_rank").over(before).alias("rank_before"),
        sql.max(sql.col("pending").cast("int")).over(before).alias("pending_before"),
        of_hold("until").alias("held_until"),
        of_hold("free").alias("held_free"),
        of_hold("due").alias("held_due"),
    )


def _faults(scope: Scope) -> dict[Fault, Column]:
    """For each fault, a column that is True if a coordinate shows it."""
    p, o = sql.col("p"), sql.col("o")
    in_hold = sql.coalesce(o < sql.col("held_until"), sql.lit(False))
    untrimmed = o >= at(scope.held_since, p)
    wrong = {
        Fault.LOST: sql.expr("exists AND NOT verified AND NOT accepted AND out = 0 AND held = 0"),
        # Invalid events and those over the limit were never in held.
        Fault.DOUBLED: sql.expr(
            "out > 1 OR held > 1 OR (verified AND was_held = 0 AND out + held > 0) "
            f"OR (held > 0 AND letter IN ({DEAD_INVALID}, {DEAD_OVERFLOW}))"
        ),
        Fault.STRAY: sql.expr("NOT exists AND NOT gone AND NOT verified AND out + held > 0"),
        Fault.MISPLACED: sql.col("exists") & _flagged(MISPLACED),
        Fault.ALTERED: sql.expr("body != other_body"),
        Fault.HEADERS_ALTERED: sql.expr("head != other_head"),
        Fault.TIME_ALTERED: sql.expr("time != other_time"),
        Fault.SWAPPED: sql.expr("processed > 0 AND output_rank < rank_before"),
        Fault.OVERTAKEN: sql.expr("processed > 0 AND pending_before > 0"),
        Fault.LET_THROUGH: (
            in_hold & untrimmed & sql.expr(f"held = 0 AND (processed > 0 OR letter = {DEAD_ASKED})")
        )
        | (_flagged(OF_HELD_PREFIX) & ~in_hold & sql.expr("NOT verified AND processed > 0")),
        Fault.TOO_EARLY: in_hold
        & (o >= sql.col("held_free"))
        & ((sql.col("held") > 0) | ~untrimmed)
        & (sql.col("processed") > 0),
        Fault.HELD_UNASKED: sql.expr("held > 0") & ~in_hold,
        Fault.STUCK: in_hold & sql.col("pending") & (o < sql.col("held_due")),
        **_refused_faults(),
        **_raw_faults(scope),
    }
    return {fault: sql.coalesce(shown, sql.lit(False)) for fault, shown in wrong.items()}


def _flagged(flag: int) -> Column:
    return sql.col("flags").bitwiseAND(flag) != 0


def _refused_faults() -> dict[Fault, Column]:
    """Events that were dead-lettered although no rule refuses them, or the reverse."""
    known = sql.expr("events + landed + was_held > 0")
    return {
        Fault.NOT_INVALID: known & ~_flagged(REFUSED) & (sql.col("letter") == DEAD_INVALID),
        Fault.NOT_TOO_LARGE: known & ~_flagged(LARGE) & (sql.col("letter") == DEAD_TOO_LARGE),
        Fault.UNKNOWN_REASON: sql.col("letter") == DEAD_OTHER,
        Fault.INVALID_PASSED: _flagged(REFUSED)
        & sql.expr(f"processed > 0 OR held > 0 OR letter IN ({DEAD_OVERFLOW}, {DEAD_ASKED})"),
    }


def _raw_faults(scope: Scope) -> dict[Fault, Column]:
    if scope.raw is None:
        return {}
    expected = _expected_to_land(scope)
    there = sql.expr("events > 0 OR (gone AND out + held > 0)")
    return {
        Fault.RAW_MISSING: expected & there & sql.expr("landed = 0"),
        Fault.RAW_DOUBLED: sql.expr("landed > 1"),
        Fault.RAW_STRAY: sql.expr("landed > 0 AND events = 0 AND NOT gone"),
    }


def _expected_to_land(scope: Scope) -> Column:
    assert scope.raw is not None
    p, o = sql.col("p"), sql.col("o")
    return (o >= at(scope.raw[0], p)) & (o < at(scope.raw[1], p))


def within(rows: DataFrame, scope: Scope) -> DataFrame:
    """The rows to account for: without rows of steps after the bounds were read, but with rows
    whose source cannot exist."""
    p, o = sql.col("p"), sql.col("o")
    accounted = (o >= at(scope.starts, p)) & (o < at(scope.ends, p))
    impossible = at(scope.ends, p).isNull() | (o >= at(scope.log_ends, p))
    return rows.where(sql.coalesce(accounted | impossible, sql.lit(True)))


def faults_of_held(held: DataFrame) -> DataFrame:
    """Rows of held that come after a row of a later event: drains and trimming need source order.
    Rows without a source are reported elsewhere."""
    before = (
        Window.partitionBy("lies_at.partition")
        .orderBy("lies_at.offset")
        .rowsBetween(Window.unboundedPreceding, -1)
    )
    # A row in a foreign partition has no order there.
    return (
        held.where("p = lies_at.partition")
        .withColumn("latest", sql.max("o").over(before))
        .where("o < latest")
        .select(
            sql.lit(Fault.HELD_SWAPPED).alias("fault"),
            sql.lit("events").alias("log"),
            "p",
            "o",
            sql.format_string("behind source offset %d in held", "latest").alias("detail"),
        )
    )
