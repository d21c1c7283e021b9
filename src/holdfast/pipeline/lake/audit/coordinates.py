"""Every source coordinate, every place that it was found in, and what is wrong about it.

All logs become rows of one form, which are brought together by partition and key. That takes one
shuffle and one sort, in which a coordinate's places, its neighbours of the same key and the holds
of that key all meet: so every question is answered in one pass.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as sql

from holdfast.client.connection import Connection
from holdfast.client.dead_letters import ERROR, SOURCE_TOPIC
from holdfast.client.source import SOURCE
from holdfast.flows.names import FlowNames
from holdfast.pipeline.events import TOO_LARGE
from holdfast.pipeline.kafka_source import read_range
from holdfast.pipeline.lake.audit.bounds import Stretch
from holdfast.pipeline.lake.audit.early import place_of
from holdfast.pipeline.lake.audit.journal import at, key_hash
from holdfast.pipeline.lake.audit.remembered import Border
from holdfast.pipeline.lake.audit.verification import Fault
from holdfast.pipeline.writer import DEAD_LETTERED

EVENT, LANDED, BOTH, PROCESSED, HELD, DEAD, DEAD_ASKED, STILL_HELD, STRETCH = range(9)
"""What a row says: which log it is of. BOTH: a row of the raw zone where it has every offset, so
that the events need not be read as well. DEAD_ASKED: a dead letter by command. STILL_HELD: held,
and not out, when it was verified last. STRETCH: here begins a stretch in which the key is held."""

ROWS_PER_TASK = 750_000
"""So many rows are sorted by one task: they fit into the memory that a small driver gives it."""

_NOWHERE = -1
"""The partition of a record that does not say its source."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What is accounted for, and what may be expected of it. By partition."""

    starts: Mapping[int, int]
    ends: Mapping[int, int]
    """Source offsets: first, and the one after the last."""
    border: Mapping[int, int]
    """All below it was verified before, but for what the raw zone had not landed by then."""
    log_starts: Mapping[int, int]
    """Events below it are gone; the raw zone alone tells of them."""
    log_ends: Mapping[int, int]
    raw: tuple[Mapping[int, int], Mapping[int, int]] | None
    """From where up to where the raw zone must be complete; None: it is not looked at."""
    dense: frozenset[int]
    """Partitions in which the raw zone has every offset of that range."""
    held_since: Mapping[int, int]
    losses: Sequence[tuple[int, int, int]] = ()


class Logs:
    """The logs of one flow as rows of one form; of what came out, only what was not accounted for
    below the border."""

    def __init__(
        self,
        session: SparkSession,
        connection: Connection,
        names: FlowNames,
        border: Border | None,
    ) -> None:
        self._session = session
        self._connection = connection
        self._names = names
        self._border = border

    def events(self, part: Stretch) -> DataFrame:
        return self._read(self._names.events, part, headers=False).select(
            *_row(EVENT, sql.col("partition"), sql.col("offset"))
        )

    def processed(self, part: Stretch) -> DataFrame:
        source = _last_header(SOURCE, 1)
        return self._sourced(self._names.processed, part, source, sql.lit(PROCESSED), place=True)

    def held(self, part: Stretch) -> DataFrame:
        return self._sourced(self._names.held, part, _last_header(SOURCE, 1), sql.lit(HELD))

    def dead(self, part: Stretch) -> DataFrame:
        """The gate's dead letters. Those of workers, which name the topic that they read from, are
        of records that have come out before."""
        kind = _last_header(ERROR, 2).cast("string")
        tag = sql.when(kind == DEAD_LETTERED, DEAD_ASKED).otherwise(DEAD)
        body = sql.when(kind == TOO_LARGE, sql.lit(None)).otherwise(_content())
        of_worker = sql.coalesce(_header(5)["key"] == SOURCE_TOPIC, sql.lit(False))
        source = _last_header(SOURCE, 3)
        return self._sourced(self._names.dlq, part, source, tag, body=body, left_out=of_worker)

    def _sourced(
        self,
        topic: str,
        part: Stretch,
        source: Column,
        tag: Column,
        *,
        place: bool = False,
        body: Column | None = None,
        left_out: Column | None = None,
    ) -> DataFrame:
        rows = self._read(topic, part)
        if left_out is not None:
            rows = rows.where(~left_out)
        rows = _with_source(rows, source)
        if self._border is not None:
            before = sql.col("offset") < at(self._border.outputs[topic].end, sql.col("partition"))
            accounted = before & (sql.col("_o") < at(self._border.events, sql.col("_p")))
            rows = rows.where(~sql.coalesce(accounted, sql.lit(False)))
        own_place = place_of(sql.col("partition"), sql.col("offset")) if place else None
        return rows.select(*_row(tag, sql.col("_p"), sql.col("_o"), place=own_place, body=body))

    def _read(self, topic: str, part: Stretch, *, headers: bool = True) -> DataFrame:
        return read_range(
            self._session, self._connection, topic,
            starts=part.starts, ends=part.ends, reader=f"{self._names.group}.verify",
            headers=headers,
        )  # fmt: skip


def landed_rows(table: DataFrame, scope: Scope) -> DataFrame:
    """The rows of the raw zone that are accounted for."""
    assert scope.raw is not None
    partition, offset = sql.col("partition"), sql.col("offset")
    rows = table.where(
        (offset >= at(scope.raw[0], partition)) & (offset < at(scope.ends, partition))
    )
    complete = offset < at(
        {p: end if p in scope.dense else 0 for p, end in scope.raw[1].items()}, partition
    )
    return rows.select(*_row(sql.when(complete, BOTH).otherwise(LANDED), partition, offset))


def still_held(table: DataFrame) -> DataFrame:
    """What was held when it was verified last."""
    return table.select(
        "p", "k", "o", sql.lit(STILL_HELD).alias("tag"),
        sql.lit(None).cast("long").alias("body"), sql.lit(None).cast("long").alias("place"),
        *_no_stretch(),
    )  # fmt: skip


def markers(stretches: DataFrame) -> DataFrame:
    """The stretches in which keys were held, each where it begins."""
    return stretches.select(
        "p", "k", sql.col("begin").alias("o"), sql.lit(STRETCH).alias("tag"),
        sql.lit(None).cast("long").alias("body"), sql.lit(None).cast("long").alias("place"),
        "until", "free", "due", "dead",
    )  # fmt: skip


def judge(rows: DataFrame, scope: Scope, tasks: int) -> DataFrame:
    """One row for each coordinate, with what is known of it: see `ordinary` and `named`."""
    tag = sql.col("tag")
    places = (
        rows.repartition(tasks, "p", "k")
        .groupBy("p", "k", "o")
        .agg(
            sql.count_if(tag.isin(EVENT, BOTH)).alias("events"),
            sql.count_if(tag.isin(LANDED, BOTH)).alias("landed"),
            sql.count_if(tag == PROCESSED).alias("processed"),
            sql.count_if(tag.isin(HELD, STILL_HELD)).alias("held"),
            sql.count_if(tag.isin(DEAD, DEAD_ASKED)).alias("dead_letters"),
            sql.count_if(tag == DEAD_ASKED).alias("asked"),
            sql.count_if(tag == STILL_HELD).alias("was_held"),
            sql.min("place").alias("place"),
            sql.min("body").alias("body"),
            sql.max("body").alias("other_body"),
            sql.max("until").alias("until"),
            sql.max("free").alias("free"),
            sql.max("due").alias("due"),
            sql.max("dead").alias("dead"),
        )
    )
    return _with_neighbours(_with_presence(places, scope)).where("found > 0")


def ordinary(scope: Scope) -> Column:
    """Whether a coordinate is as nearly all are: out once, landed once, in order, never held.

    None of those shows a fault (see `_faults`). It is asked of every coordinate, so it is short:
    the JVM leaves large methods uncompiled.
    """
    once = sql.expr(
        "exists AND NOT verified AND out = 1 AND held = 0 AND asked = 0 AND landed <= 1 "
        "AND body = other_body AND (place IS NULL OR place_before IS NULL OR place > place_before) "
        "AND (pending_before IS NULL OR pending_before = 0) "
        "AND (held_until IS NULL OR o >= held_until)"
    )
    if scope.raw is not None:
        once = once & ((sql.col("landed") == 1) | ~_expected_to_land(scope))
    return sql.coalesce(once, sql.lit(False))


def named(scope: Scope) -> Column:
    """The faults of a coordinate, as an array."""
    kinds = (sql.when(shown, fault.value) for fault, shown in _faults(scope).items())
    return sql.array_compact(sql.array(*kinds))


def _with_presence(places: DataFrame, scope: Scope) -> DataFrame:
    p, o = sql.col("p"), sql.col("o")
    gone = o < at(scope.log_starts, p)
    lost = sql.lit(False)
    for partition, first, end in scope.losses:
        lost = lost | ((p == partition) & (o >= first) & (o < end))
    return (
        places.withColumn("gone", sql.coalesce(gone, sql.lit(False)))
        .withColumn("out", sql.col("processed") + sql.col("dead_letters"))
        .withColumn("found", sql.expr("events + landed + processed + held + dead_letters"))
        .withColumn(
            "exists",
            (sql.col("events") > 0)
            | (sql.col("was_held") > 0)
            | (sql.col("gone") & (sql.col("landed") > 0)),
        )
        .withColumn("accepted", lost)
        .withColumn("verified", sql.coalesce(o < at(scope.border, p), sql.lit(False)))
        .withColumn("pending", sql.expr("exists AND out = 0 AND held > 0"))
    )


def _with_neighbours(places: DataFrame) -> DataFrame:
    """What the events of the key before it say about a coordinate."""
    by_key = Window.partitionBy("p", "k").orderBy("o")
    through = by_key.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    before = by_key.rowsBetween(Window.unboundedPreceding, -1)

    def of_stretch(name: str) -> Column:
        return sql.last(name, ignorenulls=True).over(through)

    return places.select(
        "*",
        sql.max("place").over(before).alias("place_before"),
        sql.max(sql.col("pending").cast("int")).over(before).alias("pending_before"),
        of_stretch("until").alias("held_until"),
        of_stretch("free").alias("held_free"),
        of_stretch("due").alias("held_due"),
        of_stretch("dead").alias("held_dead"),
    )


def _faults(scope: Scope) -> dict[Fault, Column]:
    """For each fault, whether a coordinate shows it."""
    p, o = sql.col("p"), sql.col("o")
    in_stretch = sql.coalesce(o < sql.col("held_until"), sql.lit(False))
    untrimmed = o >= at(scope.held_since, p)
    wrong = {
        Fault.LOST: sql.expr("exists AND NOT verified AND NOT accepted AND out = 0 AND held = 0"),
        Fault.DOUBLED: sql.expr(
            "out > 1 OR held > 1 OR (verified AND was_held = 0 AND out + held > 0)"
        ),
        Fault.STRAY: sql.expr("NOT exists AND NOT gone AND NOT verified AND out + held > 0"),
        Fault.ALTERED: sql.expr("body != other_body"),
        Fault.SWAPPED: sql.expr("processed > 0 AND place < place_before"),
        Fault.OVERTAKEN: sql.expr("processed > 0 AND pending_before > 0"),
        Fault.LET_THROUGH: in_stretch & untrimmed & sql.expr("processed > 0 AND held = 0"),
        Fault.TOO_EARLY: in_stretch
        & (o >= sql.col("held_free"))
        & ((sql.col("held") > 0) | ~untrimmed)
        & (sql.col("processed") > 0),
        Fault.DEAD_UNASKED: sql.expr("asked > 0")
        & ~(in_stretch & sql.coalesce(o < sql.col("held_dead"), sql.lit(False))),
        Fault.HELD_UNASKED: sql.expr("held > 0") & ~in_stretch,
        Fault.STUCK: in_stretch & sql.col("pending") & (o < sql.col("held_due")),
        **_raw_faults(scope),
    }
    return {fault: sql.coalesce(shown, sql.lit(False)) for fault, shown in wrong.items()}


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
    """Those rows that are accounted for: not those of steps after the bounds were fixed, but those
    whose source cannot be."""
    p, o = sql.col("p"), sql.col("o")
    accounted = (o >= at(scope.starts, p)) & (o < at(scope.ends, p))
    impossible = at(scope.ends, p).isNull() | (o >= at(scope.log_ends, p))
    return rows.where(sql.coalesce(accounted | impossible, sql.lit(True)))


def _with_source(rows: DataFrame, source: Column) -> DataFrame:
    """Rows with the partition and offset of their source. One that does not say it is at its own
    offset of a partition that is nowhere."""
    partition = sql.expr("try_cast(substring_index(_source, ':', 1) AS INT)")
    offset = sql.expr("try_cast(substring_index(_source, ':', -1) AS BIGINT)")
    known = partition.isNotNull() & offset.isNotNull()
    return (
        rows.withColumn("_source", source.cast("string"))
        .withColumn("_p", sql.when(known, partition).otherwise(_NOWHERE))
        .withColumn("_o", sql.when(known, offset).otherwise(sql.col("offset")))
    )


def _row(
    tag: Column | int,
    partition: Column,
    offset: Column,
    *,
    place: Column | None = None,
    body: Column | None = None,
) -> list[Column]:
    nothing = sql.lit(None).cast("long")
    return [
        partition.alias("p"),
        # Records without a key have no order: each is alone.
        sql.coalesce(key_hash(sql.col("key")), offset).alias("k"),
        offset.alias("o"),
        (tag if isinstance(tag, Column) else sql.lit(tag)).alias("tag"),
        (_content() if body is None else body).cast("long").alias("body"),
        (nothing if place is None else place).alias("place"),
        *_no_stretch(),
    ]


def _content() -> Column:
    return sql.xxhash64("key", "value")


def _no_stretch() -> list[Column]:
    nothing = sql.lit(None).cast("long")
    return [nothing.alias(name) for name in ("until", "free", "due", "dead")]


def _header(from_end: int) -> Column:
    """The header so many places from the end. The gate adds its own behind those of the event, so
    where they are is known, and what an event brought along under the same names is not taken for
    them."""
    headers = sql.col("headers")
    return sql.get(headers, sql.size(headers) - from_end)


def _last_header(name: str, from_end: int) -> Column:
    header = _header(from_end)
    return sql.when(header["key"] == name, header["value"])
