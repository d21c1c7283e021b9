"""The logs of a flow and its raw zone as rows of one form, so that they can be joined.

A row contains its log (`tag`), its event (`p`, `k`, `o`: partition, hash of the key, offset), and
hashes of its content: `body` (key and value), `head` (the event's own headers) and `time`.

The gate appends its headers after those of the event: `holdfast-source` to every record, and then
`holdfast-error` and `holdfast-error-message` to a dead letter. A worker's dead letter ends with
`holdfast-failed-at`. So the last headers are always ours, and an event's own headers are never
mistaken for them, whatever their names.
"""

from collections.abc import Sequence
from typing import Any

from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as sql

from holdfast.client.dead_letters import ERROR, MESSAGE, TIME
from holdfast.client.source import SOURCE
from holdfast.flows.keys import MAX_KEY_BYTES
from holdfast.pipeline.audit.bounds import LogRange, at
from holdfast.pipeline.audit.checkpoint import Checkpoint
from holdfast.pipeline.audit.coordinates import (
    BOTH,
    DEAD_ASKED,
    DEAD_INVALID,
    DEAD_OTHER,
    DEAD_OVERFLOW,
    DEAD_TOO_LARGE,
    EVENT,
    HELD,
    HOLD_SPAN,
    LANDED,
    LARGE,
    MISPLACED,
    OF_HELD_PREFIX,
    PROCESSED,
    REFUSED,
    STILL_HELD,
    Scope,
)
from holdfast.pipeline.audit.early_release_check import output_rank
from holdfast.pipeline.audit.journal import key_hash
from holdfast.pipeline.audit.raw_zone_check import since
from holdfast.pipeline.audit.reading import LogReading
from holdfast.pipeline.audit.rules import Rules
from holdfast.pipeline.spark.readable import Gap

REASONS = {
    "dead-lettered": DEAD_ASKED,
    "overflow": DEAD_OVERFLOW,
    "invalid": DEAD_INVALID,
    "too-large": DEAD_TOO_LARGE,
}
"""The values of a dead letter's header `holdfast-error`, and the tags of such rows."""
_MURMUR2 = "org.apache.kafka.common.utils.Utils", "murmur2"
_POSITIVE = 0x7FFFFFFF
_OUTPUT_HEADERS, _LETTER_HEADERS = 1, 3
"""The number of headers that the gate adds."""


class Logs:
    """The logs of one flow; of the outputs only the records after the checkpoint."""

    def __init__(self, reading: LogReading, checkpoint: Checkpoint | None) -> None:
        self._reading = reading
        self._names = reading.names
        self._checkpoint = checkpoint

    def events(self, part: LogRange, rules: Rules, without: Sequence[Gap]) -> DataFrame:
        """`without`: unreadable events that a command has skipped."""
        rows = self._reading.read(self._names.events, part, headers=True, without=without)
        return source_rows(rows, sql.lit(EVENT), rules)

    def processed(self, part: LogRange) -> DataFrame:
        names = self._names
        rows = self._new(self._read(names.processed, part), names.processed, _OUTPUT_HEADERS)
        by_key = _partition_of_key(self._reading.session, sql.col("key"), len(part.ends))
        expected = sql.coalesce(by_key, sql.col("_p") % len(part.ends))
        rank = output_rank(sql.col("partition"), sql.col("offset"))
        return rows.select(*_output(sql.lit(PROCESSED), expected, _OUTPUT_HEADERS, rank=rank))

    def held(self, part: LogRange) -> DataFrame:
        """The rows of held, with their position there (`lies_at`)."""
        names = self._names
        rows = self._new(self._read(names.held, part), names.held, _OUTPUT_HEADERS)
        own = sql.struct("partition", "offset").alias("lies_at")
        return rows.select(*_output(sql.lit(HELD), sql.col("_p"), _OUTPUT_HEADERS), own)

    def dead(self, part: LogRange, workers: Observation) -> DataFrame:
        """The gate's dead letters. Those of workers are only counted: their records were processed
        before."""
        rows = self._read(self._names.dlq, part)
        # The last header of a dead letter shows who wrote it.
        of_worker = sql.coalesce(_header(1)["key"] == TIME, sql.lit(False))
        rows = rows.observe(workers, sql.count_if(of_worker).alias("workers")).where(~of_worker)
        rows = self._new(rows, self._names.dlq, _LETTER_HEADERS)
        kind = _added(ERROR, 2).cast("string")
        ours = (_header(1)["key"] == MESSAGE) & kind.isNotNull()
        tag = sql.lit(DEAD_OTHER)
        for reason, number in REASONS.items():
            tag = sql.when(ours & (kind == reason), number).otherwise(tag)
        # A dead letter of a too large event lacks the value and, if necessary, headers and key.
        left_out = ours & (kind == "too-large") & sql.col("value").isNull()
        left_out = sql.coalesce(left_out, sql.lit(False))
        return rows.select(*_output(tag, sql.col("_p"), _LETTER_HEADERS, left_out=left_out))

    def _new(self, rows: DataFrame, topic: str, added: int) -> DataFrame:
        """Records with the partition and offset of their source, `_p` and `_o`."""
        rows = _with_source(rows, _added(SOURCE, added))
        if self._checkpoint is None:
            return rows
        before = sql.col("offset") < at(self._checkpoint.outputs[topic].end, sql.col("partition"))
        accounted = before & (sql.col("_o") < at(self._checkpoint.events, sql.col("_p")))
        return rows.where(~sql.coalesce(accounted, sql.lit(False)))

    def _read(self, topic: str, part: LogRange) -> DataFrame:
        return self._reading.read(topic, part, headers=True)


def landed_rows(table: DataFrame, scope: Scope, rules: Rules) -> DataFrame:
    """The rows of the raw zone to account for."""
    assert scope.raw is not None
    partition, offset = sql.col("partition"), sql.col("offset")
    rows = table.where(since(scope.raw[0])).where(
        (offset >= at(scope.raw[0], partition)) & (offset < at(scope.ends, partition))
    )
    complete = offset < at(
        {p: end if p in scope.dense else 0 for p, end in scope.raw[1].items()}, partition
    )
    return source_rows(rows, sql.when(complete, BOTH).otherwise(LANDED), rules)


def source_rows(rows: DataFrame, tag: Column, rules: Rules) -> DataFrame:
    """The events as they were sent, with flags for those that a rule refuses."""
    key, value, headers = sql.col("key"), sql.col("value"), sql.col("headers")
    partition, offset = sql.col("partition"), sql.col("offset")
    flagged = (
        tag
        + sql.when(rules.refused_at(partition, offset, value), REFUSED).otherwise(0)
        + sql.when(rules.too_large_at(partition, offset, key, value, headers), LARGE).otherwise(0)
        + sql.when(rules.of_held_prefix(partition, offset, key), OF_HELD_PREFIX).otherwise(0)
    )
    return rows.select(*_row(flagged, partition, offset, _content(), _hash(headers)))


def still_held(table: DataFrame, rules: Rules) -> DataFrame:
    """The events that were held at the last audit. Their size is not known any more, so a size
    limit in the journal since then counts for all of them."""
    nothing = sql.lit(None).cast("long")
    limited = sql.when(rules.has_limit_at(sql.col("p"), sql.col("o")), LARGE).otherwise(0)
    tag = sql.col("flags").bitwiseOR(limited) + STILL_HELD
    return table.select(
        "p", "k", "o", tag.alias("tag"), "body", "head", "time",
        nothing.alias("output_rank"), *_no_span(),
    )  # fmt: skip


def markers(spans: DataFrame) -> DataFrame:
    """The ranges in which keys were held, as rows at their first offsets."""
    nothing = sql.lit(None).cast("long")
    return spans.select(
        "p", "k", sql.col("begin").alias("o"), sql.lit(HOLD_SPAN).alias("tag"),
        nothing.alias("body"), nothing.alias("head"), nothing.alias("time"),
        nothing.alias("output_rank"), "until", "free", "due",
    )  # fmt: skip


def _output(
    tag: Column,
    expected: Column,
    added: int,
    *,
    rank: Column | None = None,
    left_out: Column | None = None,
) -> list[Column]:
    """A record written by the gate, which must be in the partition `expected`. `left_out`: True if
    it lacks the value and may lack the headers."""
    misplaced = (sql.col("partition") != expected) & (sql.col("_p") >= 0)
    flagged = tag + sql.when(misplaced, MISPLACED).otherwise(0)
    headers, content = sql.col("headers"), _content()
    has_own = sql.size(headers) > added
    own = sql.when(has_own, _hash(sql.slice(headers, 1, sql.size(headers) - added))).otherwise(0)
    if left_out is not None:
        content = sql.when(~left_out, content)
        own = sql.when(~left_out | has_own, own)
    return _row(flagged, sql.col("_p"), sql.col("_o"), content, own, rank=rank)


def _row(
    tag: Column,
    partition: Column,
    offset: Column,
    body: Column,
    head: Column,
    *,
    rank: Column | None = None,
) -> list[Column]:
    time = sql.unix_millis("timestamp")
    return [
        partition.alias("p"),
        # Records without a key have no order, so each gets its own hash. So does a record whose key
        # is too long to be held: a dead letter may lack such a key.
        sql.when(sql.octet_length("key") <= MAX_KEY_BYTES, key_hash(sql.col("key")))
        .otherwise(sql.unhex(sql.hex(offset)))
        .alias("k"),
        offset.alias("o"),
        tag.alias("tag"),
        body.cast("long").alias("body"),
        head.cast("long").alias("head"),
        sql.when(time == 0, 1).otherwise(time).alias("time"),  # the gate cannot write a time of 0
        (sql.lit(None).cast("long") if rank is None else rank).alias("output_rank"),
        *_no_span(),
    ]


def _content() -> Column:
    """A hash of key and value. The hash ignores nulls, so it includes whether the value is null."""
    nulls = sql.when(sql.col("value").isNull(), 1).otherwise(0)
    return sql.xxhash64("key", "value", nulls)


def _hash(headers: Column) -> Column:
    """A hash of names and values in order; 0 for no headers. The hash ignores nulls, so values are
    in it twice: beside their names, and separately."""
    size = sql.size(headers)
    return sql.when(
        size > 0, sql.xxhash64(size, headers, headers["key"], headers["value"])
    ).otherwise(0)


def _no_span() -> list[Column]:
    nothing = sql.lit(None).cast("long")
    return [nothing.alias(name) for name in ("until", "free", "due")]


def _header(from_end: int) -> Column:
    """The n-th header from the end."""
    headers = sql.col("headers")
    return sql.get(headers, sql.size(headers) - from_end)


def _added(name: str, from_end: int) -> Column:
    """The value of the n-th header from the end; null if it has another name."""
    header = _header(from_end)
    return sql.when(header["key"] == name, header["value"])


def _with_source(rows: DataFrame, source: Column) -> DataFrame:
    """Rows with the partition and offset of their source. A row without a source gets its own
    offset and a negative partition: -1 for 0, -2 for 1, and so on."""
    partition = sql.expr("try_cast(substring_index(_source, ':', 1) AS INT)")
    offset = sql.expr("try_cast(substring_index(_source, ':', -1) AS BIGINT)")
    exact = sql.concat_ws(":", partition.cast("string"), offset.cast("string"))
    known = sql.coalesce(sql.col("_source") == exact, sql.lit(False)) & (partition >= 0)
    return (
        rows.withColumn("_source", source.cast("string"))
        .withColumn("_p", sql.when(known, partition).otherwise(-1 - sql.col("partition")))
        .withColumn("_o", sql.when(known, offset).otherwise(sql.col("offset")))
    )


def _partition_of_key(session: SparkSession, key: Column, partitions: int) -> Column:
    """The partition of a key; null for a record without a key.

    The gate has two implementations of murmur2, librdkafka's and ours. The audit uses neither: it
    calls the function of Kafka's Java client, which Spark's Kafka source contains, in the JVM.
    """
    hashed = _call_static(session, *_MURMUR2, key)
    return hashed.bitwiseAND(_POSITIVE) % partitions


def _call_static(session: SparkSession, owner: str, function: str, argument: Column) -> Column:
    """An expression that calls a static method with one argument and an int result."""
    jvm: Any = session.sparkContext._jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    expressions = jvm.org.apache.spark.sql.classic.ExpressionUtils
    arguments = jvm.java.util.ArrayList()
    arguments.add(expressions.expression(argument._jc))
    sequence = jvm.org.apache.spark.api.python.PythonUtils.toSeq
    call = jvm.org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke(
        jvm.java.lang.Class.forName(owner, True, loader),
        jvm.org.apache.spark.sql.types.DataTypes.IntegerType,
        function,
        sequence(arguments),
        sequence(jvm.java.util.ArrayList()),
        True,  # a null argument gives null
        True,
        True,
        jvm.scala.Option.empty(),
    )
    return Column(expressions.column(call))
