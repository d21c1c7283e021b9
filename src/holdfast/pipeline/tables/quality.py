"""Quality checks: runs the checks that a flow declares over its raw zone."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as sql

from holdfast.client.connection import Connection
from holdfast.client.runs import store_report
from holdfast.client.source import REPLAY_RUN
from holdfast.errors import InvalidArgumentError
from holdfast.flows.checks import Check, Fresh, Range, Required, Unique, Volume, parse_check
from holdfast.flows.quality import CheckResult, QualityReport
from holdfast.flows.registry import FlowDefinition
from holdfast.pipeline.tables.delta import require_raw

Progress = Callable[[float, str], None]

_DAY_SECONDS = 24 * 60 * 60
_EXAMPLES = 10
"""Events that a failed check names: enough to see what they have in common."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityOptions:
    """The events to check, and what to do with the report."""

    lake: str
    days: int | None = None
    """Check only events of the last days; None: all events."""
    store: bool = True
    """Write the report to the topic `holdfast.quality`."""


def check_quality(
    session: SparkSession,
    connection: Connection,
    flow: FlowDefinition,
    options: QualityOptions,
    progress: Progress = lambda share, what: None,
) -> QualityReport:
    """Run a flow's checks. All except uniqueness checks share one pass over its events.

    Replayed events are not checked again.
    """
    if not flow.checks:
        raise InvalidArgumentError(
            f"The flow {flow.name} declares no checks. Add one with `holdfast flow set "
            f"{flow.name} --check 'required FIELD'`."
        )
    now = time.time()
    checks = {text: parse_check(text) for text in flow.checks}
    rows = _events(session, flow, options, now)
    progress(0.1, "Checking every event")
    figures = _one_pass(rows, checks, now)
    results = []
    for number, (text, check) in enumerate(checks.items()):
        progress(0.4 + 0.5 * number / len(checks), text)
        if isinstance(check, Unique):
            results.append(_unique(rows, text, check))
        else:
            result = _result(text, check, figures, f"c{number}")
            results.append(replace(result, examples=_examples(rows, check, result)))
    report = QualityReport(flow.name, round(now * 1000), figures["events"], tuple(results))
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
        since = now - options.days * _DAY_SECONDS
        table = table.where(sql.col("timestamp") >= sql.timestamp_seconds(sql.lit(since)))
    replayed = sql.exists("headers", lambda header: header["key"] == REPLAY_RUN)
    return table.where(~sql.coalesce(replayed, sql.lit(False))).select(
        "timestamp", "partition", "offset", sql.col("value").cast("string").alias("value")
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
            return [sql.count_if(_breaks(check)).alias(name)]
        case Range():
            return [
                sql.count_if(_breaks(check)).alias(name),
                sql.count(_field(check.field)).alias(f"{name}_present"),
            ]
        case Volume():
            age = sql.lit(now) - sql.unix_millis("timestamp") / 1000
            earlier = (age >= _DAY_SECONDS) & (age < (check.days + 1) * _DAY_SECONDS)
            return [
                sql.count_if((age >= 0) & (age < _DAY_SECONDS)).alias(name),
                sql.count_if(earlier).alias(f"{name}_before"),
                sql.count_distinct(sql.when(earlier, sql.floor(age / _DAY_SECONDS))).alias(
                    f"{name}_days"
                ),
            ]
    return []


def _breaks(check: Required | Range) -> Column:
    """True for an event that breaks the check."""
    text = _field(check.field)
    if isinstance(check, Required):
        return text.isNull()
    number = text.try_cast("double")
    return text.isNotNull() & (number.isNull() | (number < check.low) | (number > check.high))


def _examples(rows: DataFrame, check: Check, result: CheckResult) -> tuple[str, ...]:
    if result.passed or not isinstance(check, Required | Range):
        return ()
    return _coordinates(rows.where(_breaks(check)))


def _coordinates(rows: DataFrame) -> tuple[str, ...]:
    """Some of the events, by coordinate. Events from files have none in the topic."""
    some = rows.where("partition >= 0").select("partition", "offset").limit(_EXAMPLES).collect()
    return tuple(f"{row.partition}:{row.offset}" for row in sorted(some))


def _field(path: str) -> Column:
    return sql.get_json_object("value", f"$.{path}")


def _result(text: str, check: Check, figures: Row, name: str) -> CheckResult:
    events = figures["events"]
    match check:
        case Required():
            failed = figures[name]
            detail = f"{failed:,} events lack it" if failed else "every event has it"
            return CheckResult(text, not failed, events, failed, detail)
        case Range():
            failed, present = figures[name], figures[f"{name}_present"]
            detail = f"all {present:,} are within"
            if failed:
                detail = f"{failed:,} of {present:,} are outside"
            return CheckResult(text, not failed, present, failed, detail)
        case Fresh():
            return _fresh(text, check, figures)
        case Volume():
            return _volume(text, check, figures, name)
    raise AssertionError(f"{text!r} has its own pass")


def _fresh(text: str, check: Fresh, figures: Row) -> CheckResult:
    if figures["newest"] is None:
        return CheckResult(text, False, 0, 1, "there are no events")
    age = max(0.0, time.time() - figures["newest"] / 1000)
    passed = age <= check.seconds
    return CheckResult(
        text, passed, figures["events"], int(not passed), f"the newest is {age:.0f} s old"
    )


def _volume(text: str, check: Volume, figures: Row, name: str) -> CheckResult:
    last, before, days = figures[name], figures[f"{name}_before"], figures[f"{name}_days"]
    if not days:
        return CheckResult(
            text, True, last, 0, f"{last:,} events, and no earlier day to compare with"
        )
    mean = before / days
    share = 100 * last / mean
    passed = check.low <= share <= check.high
    detail = f"{last:,} events are {share:.0f} % of the mean of {days} days, {mean:,.0f}"
    return CheckResult(text, passed, last + before, int(not passed), detail)


def _unique(rows: DataFrame, text: str, check: Unique) -> CheckResult:
    fields = [_field(path).alias(f"f{number}") for number, path in enumerate(check.fields)]
    values = rows.select(*fields, "timestamp", "partition", "offset").dropna(how="any")
    names = [f"f{number}" for number in range(len(fields))]
    newest = sql.max_by(sql.struct("partition", "offset"), "timestamp")
    repeated = values.groupBy(*names).agg(sql.count("*").alias("count"), newest.alias("newest"))
    counts: Any = repeated.agg(
        sql.sum("count").alias("present"), sql.sum(sql.col("count") - 1).alias("duplicates")
    ).collect()[0]
    present, duplicates = counts["present"] or 0, counts["duplicates"] or 0
    detail = f"all {present:,} differ"
    if duplicates:
        detail = f"{duplicates:,} events repeat an earlier one"
        examples = _coordinates(repeated.where("count > 1").select("newest.*"))
        return CheckResult(text, False, present, duplicates, detail, examples)
    return CheckResult(text, True, present, 0, detail)
