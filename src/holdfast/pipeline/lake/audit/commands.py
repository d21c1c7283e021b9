"""What was asked, and whether the journal answers it."""

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql

from holdfast.client.connection import Connection
from holdfast.flows.commands import Hold
from holdfast.flows.journal import Outcome
from holdfast.flows.names import FlowNames
from holdfast.gate.control import DUPLICATE_WINDOW, Asked, ControlLog
from holdfast.pipeline.kafka_source import read_range
from holdfast.pipeline.lake.audit.bounds import Bounds
from holdfast.pipeline.lake.audit.journal import at
from holdfast.pipeline.lake.audit.verification import Fault

_COLUMNS = "o LONG, home INT, name STRING, id STRING, duplicate BOOLEAN, expires_at LONG"
_ARROW = pa.schema(
    [
        ("o", pa.int64()),
        ("home", pa.int32()),
        ("name", pa.string()),
        ("id", pa.string()),
        ("duplicate", pa.bool_()),
        ("expires_at", pa.int64()),
    ]
)

_ANSWERS = {
    "hold": (Outcome.HELD, Outcome.UPDATED, Outcome.SUPERSEDED),
    "release": (Outcome.RELEASED, Outcome.UPDATED, Outcome.NOTHING_TO_DO, Outcome.SUPERSEDED),
    "dead-letter": (Outcome.DEAD_LETTERED, Outcome.NOTHING_TO_DO),
    "void": (Outcome.VOIDED, Outcome.NOTHING_TO_DO),
    "": (Outcome.UNREADABLE,),
}
"""What may come of each command; of one that cannot be read, at the end."""
_FOUND_HERE = "Found here"
"""A hold that a partition applies to events it did not expect is journalled there once more."""


def read_commands(
    session: SparkSession,
    connection: Connection,
    names: FlowNames,
    bounds: Bounds,
    since: int,
    partitions: int,
) -> DataFrame:
    """The commands, as the gate reads them: with the partition that must answer, and whether the
    same id was there before. From `since` on, with those before it that this takes.

    The control log is one partition, so this is one task in the order of the log.
    """
    start = _first_known(bounds, since)
    rows = read_range(
        session, connection, names.control,
        starts={0: min(start, bounds.control.ends[0])}, ends=bounds.control.ends,
        reader=f"{names.group}.verify", headers=False,
    )  # fmt: skip

    def understand(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        log = ControlLog(partitions, start)
        for batch in batches:
            yield _understood(log, batch)

    return rows.select("offset", "key", "value").mapInArrow(understand, _COLUMNS)


def _first_known(bounds: Bounds, since: int) -> int:
    """From which command on all are read: earlier ones may have had the ids of those since."""
    return max(bounds.control.starts[0], since - DUPLICATE_WINDOW)


def _understood(log: ControlLog, batch: pa.RecordBatch) -> pa.RecordBatch:
    begin = log.end
    for offset, key, value in zip(*(column.to_pylist() for column in batch.columns), strict=True):
        log.append(offset, key, value)
    found = [_row(asked) for asked in log.since(begin)]
    log.forget(log.end)
    return pa.RecordBatch.from_pylist(found, _ARROW)


def _row(asked: Asked) -> dict[str, Any]:
    command = asked.command
    return {
        "o": asked.offset,
        "home": asked.home,
        "name": "" if command is None else command.name,
        "id": "" if command is None else command.id,
        "duplicate": asked.first is not None,
        "expires_at": command.expires_at if isinstance(command, Hold) else None,
    }


def faults_of_answers(
    commands: DataFrame, journal: DataFrame, since: Mapping[int, int], bounds: Bounds
) -> DataFrame:
    """Commands that are not answered once and fittingly, and answers to commands never given.

    Every command from `since` up to what its own partition has taken must be answered there. A
    partition that has an entry of the key, though it is not its own, answers as well.
    """
    taken = {p: position.control for p, position in bounds.positions.items()}
    answers = journal.where(
        sql.col("command_offset").isNotNull() & (sql.col("outcome") != Outcome.EXPIRED)
    )
    own = answers.where(~sql.coalesce(sql.col("note"), sql.lit("")).startswith(_FOUND_HERE))
    due = commands.where(
        (sql.col("o") >= at(since, sql.col("home"))) & (sql.col("o") < at(taken, sql.col("home")))
    )
    answered = own.groupBy(sql.col("p").alias("home"), sql.col("command_offset").alias("o")).agg(
        sql.count("*").alias("answers"), sql.min("outcome").alias("outcome")
    )
    fault = (
        sql.when(sql.col("answers").isNull(), sql.lit(Fault.UNANSWERED))
        .when(sql.col("answers") > 1, sql.lit(Fault.ANSWERED_TWICE))
        .when(~_fits(), sql.lit(Fault.WRONG_ANSWER))
    )
    bad = (
        due.join(answered, ["home", "o"], "left")
        .select(
            fault.alias("fault"),
            sql.lit("control").alias("log"),
            sql.lit(0).alias("p"),
            "o",
            sql.concat_ws(" ", "name", "id", "outcome").alias("detail"),
        )
        .where("fault IS NOT NULL")
    )
    first = _first_known(bounds, min(since.values()))
    return bad.unionByName(_faults_of_named(commands, journal, first))


def _fits() -> Column:
    outcome = sql.col("outcome")
    fits = sql.lit(False)
    for name, outcomes in _ANSWERS.items():
        fits = fits | ((sql.col("name") == name) & outcome.isin(*outcomes))
    return sql.when(sql.col("duplicate"), outcome == Outcome.DUPLICATE).otherwise(fits)


def _faults_of_named(commands: DataFrame, journal: DataFrame, first: int) -> DataFrame:
    """Journal records whose command is not where they say that it is; and holds that expired before
    their time. Of commands from `first` on, which are all known."""
    known = commands.select(
        sql.col("o").alias("command_offset"), sql.col("id").alias("given"), "name", "expires_at"
    )
    nothing = sql.lit("")
    absent = sql.col("given").isNull() | (
        (sql.col("given") != sql.coalesce("command_id", nothing))
        | (sql.col("name") != sql.coalesce("command", nothing))
    )
    early = (sql.col("outcome") == Outcome.EXPIRED) & sql.coalesce(
        sql.col("expires_at") > sql.col("at"), sql.lit(True)
    )
    place = sql.concat_ws(" ", sql.lit("control offset"), sql.col("command_offset").cast("string"))
    return (
        journal.where(sql.col("command_offset") >= first)
        .join(known, "command_offset", "left")
        .select(
            sql.when(absent, sql.lit(Fault.ANSWERS_NOTHING))
            .when(early, sql.lit(Fault.EXPIRED_EARLY))
            .alias("fault"),
            sql.lit("journal").alias("log"),
            "p",
            sql.col("place").alias("o"),
            sql.when(absent, place).otherwise(nothing).alias("detail"),
        )
        .where("fault IS NOT NULL")
    )
