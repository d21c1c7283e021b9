"""Checks of quality: what a flow declares about its events, looked at in the raw zone."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as sql

from holdfast.client.connection import Connection
from holdfast.client.quality import store_report
from holdfast.errors import InvalidArgumentError
from holdfast.flows.checks import Check, Fresh, Range, Required, Unique, Volume, parse_check
from holdfast.flows.quality import CheckResult, QualityReport
from holdfast.flows.registry import FlowDefinition
from holdfast.pipeline.lake.tables import require_raw
from holdfast.pipeline.runs.slices import REPLAY_RUN

Progress = Callable[[float, str], None]

_DAY_S = 24 * 60 * 60


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityOptions:
    """What is looked at."""

    lake: str
    days: int | None = None
    """Only events of so many days; of all unless given."""
    store: bool = True
    """Write the report to `holdfast.quality`, where others find it."""


def check_quality(
    session: SparkSession,
    connection: Connection,
    flow: FlowDefinition,
    options: QualityOptions,
    progress: Progress = lambda share, what: None,
) -> QualityReport:
    """Run a flow's checks. All but those of uniqueness share one pass over its events.

    Events that were sent again by a replay are not looked at twice.
    """
    if not flow.checks:
        raise InvalidArgumentError(
            f"The flow {flow.name} declares no checks. `holdfast flow set {flow.name} --check "
            "'required FIELD'` adds one."
        )
    now = time.time()
    checks = {text: parse_check(text) for text in flow.checks}
    rows = _events(session, flow, options, now)
    progress(0.1, "Looking at every event")
    seen = _one_pass(rows, checks, now)
    results = []
    for number, (text, check) in enumerate(checks.items()):
        progress(0.4 + 0.5 * number / len(checks), text)
        if isinstance(check, Unique):
            results.append(_unique(rows, text, check))
        else:
            results.append(_result(text, check, seen, f"c{number}"))
    report = QualityReport(flow.name, round(now * 1000), seen["events"], tuple(results))
    if options.store:
        progress(0.95, "Storing the report")
        store_report(connection, report)
    return report


def _events(
    session: SparkSession, flow: FlowDefinition, options: QualityOptions, now: float
) -> DataFrame:
    raw = require_raw(session, options.lake, flow.name)
    table = session.read.format("delta").load(raw)
    if options.days is not None:
        since = now - options.days * _DAY_S
        table = table.where(sql.col("timestamp") >= sql.timestamp_seconds(sql.lit(since)))
    again = sql.exists("headers", lambda header: header["key"] == REPLAY_RUN)
    return table.where(~sql.coalesce(again, sql.lit(False))).select(
        "timestamp", sql.col("value").cast("string").alias("value")
    )


def _one_pass(rows: DataFrame, checks: dict[str, Check], now: float) -> Row:
    figures: list[Column] = [
        sql.count("*").alias("events"),
        sql.max(sql.unix_millis("timestamp")).alias("newest"),
    ]
    for number, check in enumerate(checks.values()):
        figures += _figures(check, f"c{number}", now)
    return rows.agg(*figures).collect()[0]


def _figures(check: Check, name: str, now: float) -> list[Column]:
    match check:
        case Required():
            return [sql.count_if(_field(check.field).isNull()).alias(name)]
        case Range():
            text = _field(check.field)
            number = text.try_cast("double")
            outside = number.isNull() | (number < check.low) | (number > check.high)
            return [
                sql.count_if(text.isNotNull() & outside).alias(name),
                sql.count(text).alias(f"{name}_there"),
            ]
        case Volume():
            age = sql.lit(now) - sql.unix_millis("timestamp") / 1000
            earlier = (age >= _DAY_S) & (age < (check.days + 1) * _DAY_S)
            return [
                sql.count_if((age >= 0) & (age < _DAY_S)).alias(name),
                sql.count_if(earlier).alias(f"{name}_before"),
                sql.count_distinct(sql.when(earlier, sql.floor(age / _DAY_S))).alias(
                    f"{name}_days"
                ),
            ]
    return []


def _field(path: str) -> Column:
    return sql.get_json_object("value", f"$.{path}")


def _result(text: str, check: Check, seen: Row, name: str) -> CheckResult:
    events = seen["events"]
    match check:
        case Required():
            failed = seen[name]
            says = f"{failed:,} events lack it" if failed else "every event has it"
            return CheckResult(text, not failed, events, failed, says)
        case Range():
            failed, there = seen[name], seen[f"{name}_there"]
            says = f"{failed:,} of {there:,} are outside" if failed else f"all {there:,} are within"
            return CheckResult(text, not failed, there, failed, says)
        case Fresh():
            return _fresh(text, check, seen)
        case Volume():
            return _volume(text, check, seen, name)
    raise AssertionError(f"{text!r} has a pass of its own")


def _fresh(text: str, check: Fresh, seen: Row) -> CheckResult:
    if seen["newest"] is None:
        return CheckResult(text, False, 0, 1, "there are no events")
    age = max(0.0, time.time() - seen["newest"] / 1000)
    passed = age <= check.seconds
    return CheckResult(
        text, passed, seen["events"], int(not passed), f"the newest is {age:.0f} s old"
    )


def _volume(text: str, check: Volume, seen: Row, name: str) -> CheckResult:
    last, before, days = seen[name], seen[f"{name}_before"], seen[f"{name}_days"]
    if not days:
        return CheckResult(
            text, True, last, 0, f"{last:,} events, and no day before to compare with"
        )
    mean = before / days
    share = 100 * last / mean
    passed = check.low <= share <= check.high
    says = f"{last:,} events are {share:.0f} % of the mean of {days} days, {mean:,.0f}"
    return CheckResult(text, passed, last + before, int(not passed), says)


def _unique(rows: DataFrame, text: str, check: Unique) -> CheckResult:
    fields = [_field(path).alias(f"f{number}") for number, path in enumerate(check.fields)]
    values = rows.select(*fields).dropna(how="any")
    repeated = values.groupBy(*values.columns).count()
    found: Any = repeated.agg(
        sql.sum("count").alias("there"), sql.sum(sql.col("count") - 1).alias("again")
    ).collect()[0]
    there, again = found["there"] or 0, found["again"] or 0
    says = f"{again:,} events repeat an earlier one" if again else f"all {there:,} differ"
    return CheckResult(text, not again, there, again, says)
