"""The events that a replay selects, as a Spark query.

Spark SQL can call Java code, so a filter is parsed and checked before it runs.
"""

from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql

from holdfast.client.source import REPLAY_RUN
from holdfast.clock import from_ms
from holdfast.errors import InvalidArgumentError
from holdfast.flows.run_specs import OffsetRange, Replay
from holdfast.pipeline.spark.errors import root_cause

_FORBIDDEN = {"reflect", "java_method", "try_reflect"}
"""Functions that can call arbitrary Java code."""
_SUBQUERIES = {"ScalarSubquery", "Exists", "InSubquery", "ListQuery", "LateralSubquery"}


def select(session: SparkSession, raw: DataFrame, topic: str, work: Replay) -> DataFrame:
    """The rows of the raw zone that the replay selects, with the columns topic, partition, offset,
    time, key, value and headers."""
    rows = raw
    if work.offsets:
        rows = rows.where((sql.col("topic") == topic) & _any(map(_within, work.offsets)))
    if work.since is not None:
        # The date as well: the table is partitioned by it.
        rows = rows.where(sql.col("date") >= sql.lit(_date(work.since)))
        rows = rows.where(sql.unix_millis("timestamp") >= work.since)
    if work.until is not None:
        rows = rows.where(sql.col("date") <= sql.lit(_date(work.until)))
        rows = rows.where(sql.unix_millis("timestamp") < work.until)
    if work.keys:
        rows = rows.where(sql.col("key").isin([bytearray(key) for key in work.keys]))
    if not work.with_replayed:
        replayed = sql.exists("headers", lambda header: header["key"] == REPLAY_RUN)
        rows = rows.where(~sql.coalesce(replayed, sql.lit(False)))
    for path, text in work.json_filters:
        field = sql.get_json_object(sql.col("value").cast("string"), path)
        rows = rows.where(field == sql.lit(text))
    if work.where:
        rows = _filtered(session, rows, work.where)
    return rows.select(
        "topic", "partition", "offset", sql.unix_millis("timestamp").alias("time"),
        "key", "value", "headers",
    )  # fmt: skip


def check_filter(session: SparkSession, text: str) -> None:
    """Raise InvalidArgumentError unless the text is an expression that only reads a row."""
    state: Any = session._jsparkSession.sessionState()
    try:
        tree = state.sqlParser().parseExpression(text)
    except Exception as error:  # py4j's, around Spark's
        raise InvalidArgumentError(
            f"The filter {text!r} cannot be parsed: {root_cause(error)}"
        ) from None
    _check_node(tree, text)


def _check_node(node: Any, text: str) -> None:
    kind = node.getClass().getSimpleName()
    if kind in _SUBQUERIES:
        raise InvalidArgumentError(
            f"The filter {text!r} must not query other tables. Use only the columns of the event."
        )
    if kind == "UnresolvedFunction":
        parts = node.nameParts()
        names = [str(parts.apply(i)).lower() for i in range(parts.size())]
        if len(names) > 1 or names[0] in _FORBIDDEN:
            raise InvalidArgumentError(
                f"The filter {text!r} must not call {'.'.join(names)}. Use Spark's built-in "
                "functions on values."
            )
    children = node.children()
    for i in range(children.size()):
        _check_node(children.apply(i), text)


def _filtered(session: SparkSession, rows: DataFrame, where: str) -> DataFrame:
    """The rows that match the filter, which gets key, value and headers as text."""
    check_filter(session, where)
    own = rows.columns
    hidden = {name: f"_holdfast_{name}" for name in ("key", "value", "headers")}
    headers = sql.transform(
        "headers",
        lambda header: sql.struct(
            header["key"].alias("key"), header["value"].cast("string").alias("value")
        ),
    )
    as_text = rows.withColumns({hidden[name]: sql.col(name) for name in hidden}).withColumns(
        {
            "key": sql.col("key").cast("string"),
            "value": sql.col("value").cast("string"),
            "headers": headers,
        }
    )
    try:
        matching = as_text.where(where)
    except Exception as error:  # from Spark
        raise InvalidArgumentError(
            f"The filter {where!r} cannot be used: {root_cause(error)} It can use key, value, "
            "headers, timestamp, partition and offset."
        ) from None
    return matching.select(
        *(sql.col(hidden[name]).alias(name) if name in hidden else sql.col(name) for name in own)
    )


def _within(each: OffsetRange) -> Column:
    condition = (sql.col("partition") == each.partition) & (sql.col("offset") >= each.start)
    return condition if each.end is None else condition & (sql.col("offset") < each.end)


def _any(conditions: Any) -> Column:
    combined: Column | None = None
    for condition in conditions:
        combined = condition if combined is None else combined | condition
    return sql.lit(False) if combined is None else combined


def _date(milliseconds: int) -> Any:
    return from_ms(milliseconds).date()
