"""Which events a replay means, as Spark sees them."""

from datetime import UTC, datetime
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql

from holdfast.errors import InvalidArgumentError
from holdfast.flows.work import OffsetRange, Replay
from holdfast.pipeline.query_errors import said_by
from holdfast.pipeline.runs.slices import REPLAY_RUN

_FORBIDDEN = {"reflect", "java_method", "try_reflect"}
"""Functions that call any code there is."""
_SUBQUERIES = {"ScalarSubquery", "Exists", "InSubquery", "ListQuery", "LateralSubquery"}


def select(session: SparkSession, raw: DataFrame, topic: str, work: Replay) -> DataFrame:
    """The rows of the raw zone that the replay means, with these columns: topic, partition,
    offset, time, key, value, headers."""
    rows = raw
    if work.offsets:
        rows = rows.where((sql.col("topic") == topic) & _any(map(_within, work.offsets)))
    if work.since is not None:
        # The date, too: it is what the table's files are parted by.
        rows = rows.where(sql.col("date") >= sql.lit(_date(work.since)))
        rows = rows.where(sql.unix_millis("timestamp") >= work.since)
    if work.until is not None:
        rows = rows.where(sql.col("date") <= sql.lit(_date(work.until)))
        rows = rows.where(sql.unix_millis("timestamp") < work.until)
    if work.keys:
        rows = rows.where(sql.col("key").isin([bytearray(key) for key in work.keys]))
    if not work.replayed:
        marked = sql.exists("headers", lambda header: header["key"] == REPLAY_RUN)
        rows = rows.where(~sql.coalesce(marked, sql.lit(False)))
    for path, text in work.json:
        found = sql.get_json_object(sql.col("value").cast("string"), path)
        rows = rows.where(found == sql.lit(text))
    if work.where:
        rows = _filtered(session, rows, work.where)
    return rows.select(
        "topic", "partition", "offset", sql.unix_millis("timestamp").alias("time"),
        "key", "value", "headers",
    )  # fmt: skip


def check_filter(session: SparkSession, text: str) -> None:
    """Raise InvalidArgumentError unless the text is an expression that only looks at a row."""
    state: Any = session._jsparkSession.sessionState()
    try:
        tree = state.sqlParser().parseExpression(text)
    except Exception as error:  # py4j's, around Spark's
        raise InvalidArgumentError(
            f"The filter {text!r} cannot be read: {said_by(error)}"
        ) from None
    _check_node(tree, text)


def _check_node(node: Any, text: str) -> None:
    kind = node.getClass().getSimpleName()
    if kind in _SUBQUERIES:
        raise InvalidArgumentError(f"The filter {text!r} must not ask other tables.")
    if kind == "UnresolvedFunction":
        parts = node.nameParts()
        names = [str(parts.apply(i)).lower() for i in range(parts.size())]
        if len(names) > 1 or names[0] in _FORBIDDEN:
            raise InvalidArgumentError(
                f"The filter {text!r} must not call {'.'.join(names)}: Spark's own functions that "
                "look at values are fine."
            )
    children = node.children()
    for i in range(children.size()):
        _check_node(children.apply(i), text)


def _filtered(session: SparkSession, rows: DataFrame, where: str) -> DataFrame:
    """Key, value and headers are text for the filter."""
    check_filter(session, where)
    own = rows.columns
    hidden = {name: f"_holdfast_{name}" for name in ("key", "value", "headers")}
    headers = sql.transform(
        "headers",
        lambda header: sql.struct(
            header["key"].alias("key"), header["value"].cast("string").alias("value")
        ),
    )
    shown = rows.withColumns({hidden[name]: sql.col(name) for name in hidden}).withColumns(
        {
            "key": sql.col("key").cast("string"),
            "value": sql.col("value").cast("string"),
            "headers": headers,
        }
    )
    try:
        found = shown.where(where)
    except Exception as error:  # Spark's
        raise InvalidArgumentError(
            f"The filter {where!r} cannot be used: {said_by(error)} It may look at key, value, "
            "headers, timestamp, partition and offset."
        ) from None
    return found.select(
        *(sql.col(hidden[name]).alias(name) if name in hidden else sql.col(name) for name in own)
    )


def _within(each: OffsetRange) -> Column:
    condition = (sql.col("partition") == each.partition) & (sql.col("offset") >= each.start)
    return condition if each.end is None else condition & (sql.col("offset") < each.end)


def _any(conditions: Any) -> Column:
    found: Column | None = None
    for condition in conditions:
        found = condition if found is None else found | condition
    return sql.lit(False) if found is None else found


def _date(milliseconds: int) -> Any:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).date()
