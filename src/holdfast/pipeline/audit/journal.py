"""The journal: its outcomes, the ranges in which each key was held, and its own consistency."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sql
from pyspark.sql.window import WindowSpec

from holdfast.flows.journal import Outcome
from holdfast.pipeline.audit.bounds import Bounds, LogRange, at
from holdfast.pipeline.audit.clocks import broker_time
from holdfast.pipeline.audit.reading import LogReading
from holdfast.pipeline.audit.rules import (
    Change,
    PrefixSpan,
    SizeLimit,
    change_of,
    size_limit_of,
    spans_of,
)
from holdfast.pipeline.audit.seals import Contents
from holdfast.pipeline.audit.verification import Fault
from holdfast.pipeline.spark.readable import Gap

_FIELDS = """
    version INT, outcome STRING, cut BIGINT, step BIGINT, at BIGINT, command_id STRING,
    command STRING, command_offset BIGINT, first BIGINT, drained_through BIGINT, lost_until BIGINT,
    name STRING, ended ARRAY<STRING>,
    others ARRAY<STRUCT<name: STRING, prefix: STRING, prefix_base64: STRING>>, settings STRING,
    note STRING, prefix STRING, prefix_base64 STRING
"""

_BY_COMMAND = (
    Outcome.HELD, Outcome.ADDED, Outcome.UPDATED, Outcome.REFUSED, Outcome.RELEASED,
    Outcome.HOLD_RELEASED, Outcome.DEAD_LETTERED, Outcome.EXPIRED, Outcome.HOLD_EXPIRED,
    Outcome.SUPERSEDED, Outcome.DUPLICATE, Outcome.VOIDED, Outcome.SKIPPED, Outcome.PAUSED,
    Outcome.RESUMED,
)  # fmt: skip
"""The outcomes that name a command: the one that they answer, or the expired hold."""

SWITCHES = (Outcome.HELD, Outcome.RELEASED, Outcome.EXPIRED, Outcome.DRAINED)
"""The outcomes that change the state of a key."""
_OF_SCOPES = ("hold-prefix", "release-prefix", "pause", "resume")
_WHILE_HELD = (Outcome.ADDED, Outcome.REFUSED, Outcome.HOLD_RELEASED, Outcome.HOLD_EXPIRED)
"""The outcomes that only a held key has, and that leave it held."""


JOURNAL_COLUMNS = ("p", "journal_offset", "key", "value", "appended_at")
"""The columns of a record of the journal, as it is stored with a checkpoint."""


def read_journal(
    logs: LogReading, bounds: Bounds, since: Mapping[int, int], carried: DataFrame | None
) -> DataFrame:
    """The journal from the offsets `since` on, after the `carried` records from before: see
    `still_needed`."""
    rows = logs.read(logs.names.journal, bounds.journal.after(since)).select(
        sql.col("partition").alias("p"),
        sql.col("offset").alias("journal_offset"),
        "key",
        "value",
        broker_time().alias("appended_at"),
    )
    if carried is not None:
        rows = rows.unionByName(carried)
    parsed = sql.from_json(sql.col("value").cast("string"), _FIELDS)
    return rows.withColumn("fields", parsed).select(
        *JOURNAL_COLUMNS, key_hash(sql.col("key")).alias("k"), "fields.*",
        sql.coalesce(
            sql.col("fields.prefix").cast("binary"), sql.unbase64("fields.prefix_base64")
        ).alias("of_hold"),
    ).drop("prefix", "prefix_base64").withColumnRenamed("of_hold", "prefix")  # fmt: skip


_OF_THE_FLOW = (
    Outcome.CHANGED,
    Outcome.OVERSIZED,
    Outcome.LOSS_ACCEPTED,
    Outcome.SKIPPED,
)


def still_needed(journal: DataFrame, below: Mapping[int, int]) -> DataFrame:
    """The records below these offsets without which later ones cannot be understood.

    Those are: all records of a key since it was last held, if it is still held or draining; where
    each partition began, its last record and its last overflow; each change of settings, each loss
    and each size limit; and all that is about prefixes or the whole flow. Other records say what
    happened to keys that have been active again since.
    """
    outcome, offset = sql.col("outcome"), sql.col("journal_offset")
    begins = (outcome == Outcome.HELD) & sql.col("drained_through").isNull()
    switch = sql.when(outcome.isin(*SWITCHES), offset)
    of_key, of_partition = Window.partitionBy("p", "k"), Window.partitionBy("p")
    overflow = sql.col("k").isNull() & outcome.isin(Outcome.OVERFLOW_BEGUN, Outcome.OVERFLOW_ENDED)
    open_key = (
        sql.col("k").isNotNull()
        & (sql.max_by(outcome, switch).over(of_key) != Outcome.DRAINED)
        & (offset >= sql.max(sql.when(begins, offset)).over(of_key))
    )
    of_flow = (
        outcome.isin(*_OF_THE_FLOW)
        | (offset == sql.min(offset).over(of_partition))
        | (offset == sql.max(offset).over(of_partition))
        | (sql.col("k").isNull() & sql.coalesce(sql.col("command"), sql.lit("")).isin(*_OF_SCOPES))
        | (overflow & (offset == sql.max(sql.when(overflow, offset)).over(of_partition)))
    )
    return (
        journal.where(offset < at(below, sql.col("p")))
        .withColumn("needed", sql.coalesce(open_key, sql.lit(False)) | of_flow)
        .where("needed")
        .select(*JOURNAL_COLUMNS)
    )


def journal_contents(journal: DataFrame, part: LogRange) -> Contents:
    """The readable records of the journal in that range."""
    p, offset = sql.col("p"), sql.col("journal_offset")
    within = (offset >= at(part.starts, p)) & (offset < at(part.ends, p))
    (row,) = (
        journal.where(within)
        .agg(
            sql.count("*").alias("records"),
            sql.bit_xor(sql.xxhash64("p", "journal_offset", "key", "value")).alias("digest"),
        )
        .collect()
    )
    return Contents(row["records"], row["digest"] or 0)


def key_hash(key: Column) -> Column:
    """A hash of a key, in 16 bytes; null for no key. It is cryptographic: producers choose keys,
    and two keys with the same hash would be taken for one."""
    return sql.unhex(sql.substring(sql.sha2(key, 256), 1, 32))


def hold_spans(journal: DataFrame, bounds: Bounds) -> DataFrame:
    """One row for each range of source offsets in which a key was held or draining.

    Every event of the key from `begin` to `until` (exclusive) was appended to held. Those below
    `free` may have been processed, and those below `due` must have left held.
    """
    by_key = Window.partitionBy("p", "k").orderBy("journal_offset")
    outcome, stopped = sql.col("outcome"), sql.col("drained_through") + 1
    begins = (outcome == Outcome.HELD) & sql.col("drained_through").isNull()
    settled = sql.col("step") <= at(_steps(bounds), sql.col("p"))
    numbered = journal.where(
        sql.col("k").isNotNull() & outcome.isin(*SWITCHES, Outcome.DEAD_LETTERED)
    ).withColumn("span", sql.count_if(begins).over(by_key))
    switch = outcome.isin(*SWITCHES)
    ended = outcome == Outcome.DRAINED
    stops = (outcome == Outcome.HELD) & sql.col("drained_through").isNotNull()
    left = settled & (stops | (outcome == Outcome.DEAD_LETTERED))
    return (
        numbered.groupBy("p", "k", "span")
        .agg(
            sql.min(sql.when(begins, sql.col("cut"))).alias("begin"),
            sql.max(sql.when(ended, sql.col("cut"))).alias("until"),
            sql.max(sql.when(ended & settled, sql.col("cut"))).alias("until_due"),
            sql.max_by(
                sql.when(switch, outcome), sql.when(switch, sql.col("journal_offset"))
            ).alias("last"),
            sql.max(sql.when(stops, stopped)).alias("stopped"),
            sql.max(sql.when(left, stopped)).alias("stopped_due"),
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
        )
    )


def faults_of_journal(journal: DataFrame) -> DataFrame:
    """Unreadable records, and records that cannot follow the ones before them."""
    outcome = sql.col("outcome")
    without_settings = (
        (outcome == Outcome.CHANGED) & sql.expr("get_json_object(settings, '$.overflow') IS NULL")
    ) | ((outcome == Outcome.OVERSIZED) & sql.expr("get_json_object(settings, '$.limit') IS NULL"))
    known = sql.coalesce(
        (sql.col("version") == 1)
        & outcome.isin(*Outcome)
        & sql.col("cut").isNotNull()
        & sql.col("step").isNotNull()
        & ~without_settings,
        sql.lit(False),
    )
    switch = sql.col("k").isNotNull() & outcome.isin(*SWITCHES)
    last = sql.last(sql.when(switch, outcome), ignorenulls=True).over(_earlier("p", "k"))
    before, draining = sql.col("before"), (Outcome.RELEASED, Outcome.EXPIRED)
    fits = (
        ((outcome == Outcome.HELD) & sql.col("drained_through").isNull()
         & before.isin("active", Outcome.DRAINED))
        | ((outcome == Outcome.HELD) & sql.col("drained_through").isNotNull()
           & before.isin(*draining))
        | (outcome.isin(*draining) & (before == Outcome.HELD))
        | ((outcome == Outcome.DRAINED) & before.isin(*draining))
    )  # fmt: skip
    stray = sql.col("k").isNotNull() & outcome.isin(*_WHILE_HELD) & (before != Outcome.HELD)
    step, cut = sql.col("step"), sql.col("cut")
    # All records of a step have one cut, and neither step nor cut ever goes back.
    backwards = (
        (step < sql.col("step_before"))
        | (cut < sql.col("cut_before"))
        | ((step == sql.col("step_before")) & (cut != sql.col("cut_before")))
    )
    commandless = outcome.isin(*_BY_COMMAND) & sql.col("command_offset").isNull()
    why = (
        sql.when((switch & ~fits) | stray, sql.concat_ws(" ", outcome, sql.lit("after"), before))
        .when(backwards, sql.format_string("step %d, cut %d after step %d, cut %d", "step", "cut",
                                           "step_before", "cut_before"))
        .when(commandless, sql.concat_ws(" ", outcome, sql.lit("without a command")))
    )  # fmt: skip
    return (
        journal.withColumn("before", sql.coalesce(last, sql.lit("active")))
        .withColumn("step_before", sql.last("step", ignorenulls=True).over(_earlier("p")))
        .withColumn("cut_before", sql.last("cut", ignorenulls=True).over(_earlier("p")))
        .withColumn("why", why)
        .select(
            sql.when(~known, sql.lit(Fault.UNREADABLE))
            .when(sql.col("why").isNotNull(), sql.lit(Fault.IMPOSSIBLE))
            .alias("fault"),
            sql.lit("journal").alias("log"),
            "p",
            sql.col("journal_offset").alias("o"),
            sql.coalesce("why", sql.lit("")).alias("detail"),
        )
        .where("fault IS NOT NULL")
    )


def faults_of_pauses(journal: DataFrame, bounds: Bounds) -> DataFrame:
    """Partitions that have taken events while the flow was paused: their cut has moved, or their
    position is past it. A loss that was accepted moves the cut, too."""
    outcome, cut = sql.col("outcome"), sql.col("cut")
    switch = sql.when(outcome.isin(Outcome.PAUSED, Outcome.RESUMED), outcome)
    settled = sql.when(sql.col("step") <= at(_steps(bounds), sql.col("p")), outcome)
    moved = (
        journal.withColumn("before", sql.last(switch, ignorenulls=True).over(_earlier("p")))
        .withColumn("cut_before", sql.last("cut").over(_earlier("p")))
        .withColumn("lost", sql.max("lost_until").over(_earlier("p")))
        .where((sql.col("before") == Outcome.PAUSED) & (cut != sql.col("cut_before")))
        .where(sql.coalesce(cut != sql.col("lost"), sql.lit(True)))
        .select("p", sql.col("journal_offset").alias("o"), "cut_before", "cut")
    )
    at_end = (
        journal.where(settled.isNotNull())
        .groupBy("p")
        .agg(
            sql.max_by(
                sql.when(switch.isNotNull(), sql.struct("outcome", "cut", "journal_offset")),
                sql.when(switch.isNotNull(), sql.col("journal_offset")),
            ).alias("last"),
            sql.max("lost_until").alias("lost"),
        )
        .where(sql.col("last.outcome") == Outcome.PAUSED)
        .select(
            "p",
            sql.col("last.journal_offset").alias("o"),
            sql.greatest("last.cut", "lost").alias("cut_before"),
            at(bounds.taken, sql.col("p")).alias("cut"),
        )
        .where("cut > cut_before")
    )
    return moved.unionByName(at_end).select(
        sql.lit(Fault.TAKEN_WHILE_PAUSED).alias("fault"),
        sql.lit("journal").alias("log"),
        "p",
        "o",
        sql.format_string("from offset %d to %d", "cut_before", "cut").alias("detail"),
    )


def _earlier(*columns: str) -> WindowSpec:
    """The records before this one, of the same partition or key."""
    ordered = Window.partitionBy(*columns).orderBy("journal_offset")
    return ordered.rowsBetween(Window.unboundedPreceding, -1)


@dataclass(frozen=True, slots=True)
class JournalFacts:
    """Facts from the journal about whole partitions."""

    starts: Mapping[int, int]
    """The source offset at which the gate began in each partition. Its first step journals the
    settings; a partition whose journal begins with another record is missing here."""
    losses: Sequence[Gap]
    """Accepted losses: events that were deleted before they were taken; and `skipped`."""
    skipped: Sequence[Gap]
    """Unreadable events that a command has skipped."""
    changes: Sequence[Change]
    sizes: Sequence[SizeLimit]
    records: int
    prefix_spans: Sequence[PrefixSpan] = ()


def read_facts(journal: DataFrame) -> JournalFacts:
    outcome, offset = sql.col("outcome"), sql.col("journal_offset")
    accepted = sql.when(
        outcome.isin(Outcome.LOSS_ACCEPTED, Outcome.SKIPPED),
        sql.struct("cut", "lost_until", (outcome == Outcome.SKIPPED).alias("skipped")),
    )
    said = sql.struct("journal_offset", "cut", "settings")
    changed = sql.when(outcome == Outcome.CHANGED, said)
    oversized = sql.when(outcome == Outcome.OVERSIZED, said)
    of_prefix = sql.when(
        sql.col("key").isNull()
        & sql.col("prefix").isNotNull()
        & outcome.isin(Outcome.HELD, Outcome.RELEASED, Outcome.EXPIRED),
        sql.struct("journal_offset", "cut", "prefix", (outcome == Outcome.HELD).alias("begins")),
    )
    rows = (
        journal.groupBy("p")
        .agg(
            sql.count("*").alias("records"),
            sql.min_by(sql.struct("outcome", "cut"), offset).alias("first"),
            sql.collect_list(accepted).alias("losses"),
            sql.sort_array(sql.collect_list(changed)).alias("changes"),
            sql.sort_array(sql.collect_list(oversized)).alias("sizes"),
            sql.sort_array(sql.collect_list(of_prefix)).alias("prefixes"),
        )
        .collect()
    )
    losses = [
        ((row["p"], loss["cut"], loss["lost_until"]), loss["skipped"])
        for row in rows
        for loss in row["losses"]
    ]
    changes = (
        change_of(row["p"], change["cut"], change["settings"])
        for row in rows
        for change in row["changes"]
    )
    sizes = (size_limit_of(row["p"], size["settings"]) for row in rows for size in row["sizes"])
    return JournalFacts(
        starts={
            row["p"]: row["first"]["cut"]
            for row in rows
            if row["first"]["outcome"] == Outcome.CHANGED and row["first"]["cut"] is not None
        },
        losses=[gap for gap, _ in losses],
        skipped=sorted(gap for gap, skipped in losses if skipped),
        changes=[change for change in changes if change is not None],
        sizes=[size for size in sizes if size is not None],
        prefix_spans=[span for row in rows for span in spans_of(row["p"], row["prefixes"])],
        records=sum(row["records"] for row in rows),
    )


def _steps(bounds: Bounds) -> dict[int, int]:
    return {p: position.step for p, position in bounds.positions.items()}


_FOREVER = 2**62
