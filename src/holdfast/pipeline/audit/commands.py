"""Checks that the journal answers every command."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql

from holdfast.errors import InvalidRecordError
from holdfast.flows.commands import (
    Hold,
    Pause,
    PrefixHold,
    PrefixRelease,
    Release,
    Resume,
    ScopeCommand,
    Skip,
    decode_command,
    key_of,
)
from holdfast.flows.journal import Outcome
from holdfast.flows.keys import partition_of
from holdfast.pipeline.audit.bounds import Bounds, LogRange, at
from holdfast.pipeline.audit.clocks import both_clocks, broker_time, expired_early
from holdfast.pipeline.audit.reading import LogReading, in_gaps
from holdfast.pipeline.audit.verification import Fault
from holdfast.pipeline.spark.readable import Gap

_COLUMNS = """
    o LONG, home INT, key BINARY, name STRING, id STRING, duplicate BOOLEAN, asked_at LONG,
    given_at LONG, expires_at LONG, hold STRING, holds ARRAY<STRING>, every BOOLEAN,
    prefix BINARY, everywhere BOOLEAN
"""
_ARROW = pa.schema(
    [
        ("o", pa.int64()),
        ("home", pa.int32()),
        ("key", pa.binary()),
        ("name", pa.string()),
        ("id", pa.string()),
        ("duplicate", pa.bool_()),
        ("asked_at", pa.int64()),
        ("given_at", pa.int64()),
        ("expires_at", pa.int64()),
        ("hold", pa.string()),
        ("holds", pa.list_(pa.string())),
        ("every", pa.bool_()),
        ("prefix", pa.binary()),
        ("everywhere", pa.bool_()),
    ]
)

_ANSWERS = {
    "hold": (Outcome.HELD, Outcome.ADDED, Outcome.UPDATED, Outcome.REFUSED, Outcome.SUPERSEDED),
    "release": (
        Outcome.RELEASED, Outcome.HOLD_RELEASED, Outcome.UPDATED, Outcome.NOTHING_TO_DO,
        Outcome.SUPERSEDED,
    ),
    "hold-prefix": (Outcome.HELD, Outcome.ADDED, Outcome.UPDATED, Outcome.REFUSED),
    "release-prefix": (Outcome.RELEASED, Outcome.HOLD_RELEASED, Outcome.NOTHING_TO_DO),
    "pause": (Outcome.PAUSED, Outcome.ADDED, Outcome.UPDATED, Outcome.REFUSED),
    "resume": (Outcome.RESUMED, Outcome.HOLD_RELEASED, Outcome.NOTHING_TO_DO),
    "dead-letter": (Outcome.DEAD_LETTERED, Outcome.NOTHING_TO_DO),
    "void": (Outcome.VOIDED, Outcome.NOTHING_TO_DO),
    "skip": (Outcome.SKIPPED, Outcome.NOTHING_TO_DO),
    "": (Outcome.UNREADABLE,),
}  # fmt: skip
"""The possible outcomes of each command; the last is for an unreadable one."""
_EXPIRIES = (Outcome.EXPIRED, Outcome.HOLD_EXPIRED)
_DUPLICATE_WINDOW = 100_000
"""A command is a duplicate if its id appears within this many control offsets before it."""
_BY_NAME = (Outcome.HELD, Outcome.ADDED, Outcome.UPDATED, Outcome.PAUSED, *_EXPIRIES)
"""The outcomes that name the hold of their command."""
_HOLDS = (Hold.name, PrefixHold.name, Pause.name)
_OF_PREFIXES = (PrefixHold.name, PrefixRelease.name)
_WITHOUT_KEY = 0
"""The partition that answers commands without a key: `void` and unreadable ones. Every partition
answers those about a prefix or the whole flow, but for duplicates."""
_FOUND_HERE = "Found here"
"""The note of a hold in a foreign partition, which journals the hold once more."""


def read_commands(logs: LogReading, bounds: Bounds, since: int, partitions: int) -> DataFrame:
    """The commands from `since` on, each with the partition that must answer it and whether it is a
    duplicate. Includes earlier commands as far as needed to find duplicates.

    The control log has one partition, so this is one task, in log order.
    """
    start = _first_known(bounds, since)
    control, ends = logs.names.control, bounds.control.ends
    rows = logs.read(control, LogRange({0: min(start, ends[0])}, ends))
    if logs.gaps(control):
        rows = rows.coalesce(1).sortWithinPartitions("offset")

    def decode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        offsets: dict[str, int] = {}
        for batch in batches:
            commands = [_row(*record, partitions, offsets) for record in _records(batch)]
            yield pa.RecordBatch.from_pylist(commands, _ARROW)

    times = broker_time(), sql.unix_millis("timestamp")
    return logs.compute(rows.select("offset", "key", "value", *times), decode, _COLUMNS)


def _first_known(bounds: Bounds, since: int) -> int:
    """The first command to read: earlier ones may have the same ids as those from `since` on."""
    return max(bounds.control.starts[0], since - _DUPLICATE_WINDOW)


def _records(
    batch: pa.RecordBatch,
) -> Iterator[tuple[int, bytes | None, bytes | None, int | None, int]]:
    """Offset, key, value, the broker's time and the timestamp of each record."""
    return zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _row(
    offset: int,
    key: bytes | None,
    value: bytes | None,
    given_at: int | None,
    time: int,
    partitions: int,
    offsets: dict[str, int],
) -> dict[str, Any]:
    """A record of the control log. `offsets`: the last offset of each id so far."""
    try:
        command = decode_command(key, value, time)
    except InvalidRecordError:
        return {
            "o": offset, "home": _WITHOUT_KEY, "name": "", "id": "", "duplicate": False,
            "everywhere": False,
        }  # fmt: skip
    about = key_of(command)
    if about is not None:
        home = partition_of(about, partitions)
    else:
        named = command.partition if isinstance(command, Skip) else _WITHOUT_KEY
        home = named if named < partitions else _WITHOUT_KEY
    duplicate = offset - offsets.get(command.id, -1 - _DUPLICATE_WINDOW) <= _DUPLICATE_WINDOW
    offsets[command.id] = offset
    expires_at = command.expires_at if isinstance(command, Hold | PrefixHold) else None
    by_duration = isinstance(command, Hold | PrefixHold) and command.expires_in is not None
    return {
        "o": offset,
        "home": home,
        "key": about,
        "name": command.name,
        "id": command.id,
        "duplicate": duplicate,
        "asked_at": max(time, command.at) if by_duration else command.at,
        "given_at": given_at,
        "expires_at": expires_at,
        "hold": command.hold_name if isinstance(command, Hold | PrefixHold | Pause) else None,
        "holds": list(command.holds) if isinstance(command, _ENDING) else None,
        "every": isinstance(command, _ENDING) and command.every,
        "prefix": command.prefix if isinstance(command, PrefixHold | PrefixRelease) else None,
        "everywhere": isinstance(command, ScopeCommand) and not duplicate,
    }


_ENDING = Release | PrefixRelease | Resume


def faults_of_answers(
    commands: DataFrame,
    journal: DataFrame,
    since: Mapping[int, int],
    bounds: Bounds,
    unreadable: Sequence[Gap],
) -> DataFrame:
    """Commands without exactly one fitting answer, and answers to commands that do not exist.

    Every command from `since` up to the position of its home partition must be answered there. A
    foreign partition with an entry of the key answers as well. The commands in `unreadable` are
    unknown, so answers to them are not compared.
    """
    taken = {p: position.control for p, position in bounds.positions.items()}
    answers = journal.where(
        sql.col("command_offset").isNotNull() & ~sql.col("outcome").isin(*_EXPIRIES)
    )
    own = answers.where(~sql.coalesce(sql.col("note"), sql.lit("")).startswith(_FOUND_HERE))
    # A prefix is answered without a key; records of its keys follow from that.
    of_key = sql.col("command").isin(*_OF_PREFIXES) & sql.col("key").isNotNull()
    own = own.where(~sql.coalesce(of_key, sql.lit(False)))
    every = sql.array(*(sql.lit(p) for p in sorted(taken)))
    homes = sql.when(sql.col("everywhere"), every).otherwise(sql.array("home"))
    due = commands.withColumn("home", sql.explode(homes)).where(
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
    named = journal.where(
        (sql.col("command_offset") >= first)
        & ~in_gaps(unreadable, sql.lit(0), sql.col("command_offset"))
    )
    return bad.unionByName(_faults_of_named(commands, named))


def _fits() -> Column:
    outcome = sql.col("outcome")
    fits = sql.lit(False)
    for name, outcomes in _ANSWERS.items():
        fits = fits | ((sql.col("name") == name) & outcome.isin(*outcomes))
    return sql.when(sql.col("duplicate"), outcome == Outcome.DUPLICATE).otherwise(fits)


def _faults_of_named(commands: DataFrame, journal: DataFrame) -> DataFrame:
    """Journal records whose command is not at the offset that they name, holds that expired early,
    and releases that ended a hold which they do not name."""
    known = commands.select(
        sql.col("o").alias("command_offset"), sql.col("id").alias("given"),
        sql.col("key").alias("about"), "asked_at", "given_at", "expires_at", "hold", "holds",
        "every", sql.col("name").alias("verb"), sql.col("prefix").alias("of_prefix"),
    )  # fmt: skip
    nothing = sql.lit("")
    absent = sql.col("given").isNull() | (
        (sql.col("given") != sql.coalesce("command_id", nothing))
        | (sql.col("verb") != sql.coalesce("command", nothing))
        | ~sql.when(
            sql.col("of_prefix").isNotNull() & sql.col("key").isNotNull(),
            sql.startswith("key", "of_prefix"),
        ).otherwise(sql.col("about").eqNullSafe(sql.col("key")))
    )
    by_gate = sql.coalesce(sql.col("expires_at") > sql.col("at"), sql.lit(True))
    early = sql.col("outcome").isin(*_EXPIRIES) & (by_gate | expired_early())
    others = sql.coalesce(
        sql.size(sql.array_except("ended", "holds")) > 0, sql.lit(False)
    ) & ~sql.coalesce("every", sql.lit(False))
    renamed = sql.col("outcome").isin(*_BY_NAME) & (
        sql.coalesce("hold", nothing) != sql.coalesce("name", nothing)
    )
    elsewhere = (sql.col("outcome").isin(*_BY_NAME) | (sql.size("ended") > 0)) & ~sql.col(
        "prefix"
    ).eqNullSafe(sql.col("of_prefix"))
    wrong = others | elsewhere | (sql.col("verb").isin(*_HOLDS) & renamed)
    named = sql.concat_ws(" ", sql.lit("control offset"), sql.col("command_offset").cast("string"))
    return (
        journal.join(known, "command_offset", "left")
        .select(
            sql.when(absent, sql.lit(Fault.ANSWERS_NOTHING))
            .when(early, sql.lit(Fault.EXPIRED_EARLY))
            .when(wrong, sql.lit(Fault.CUT_SHORT))
            .alias("fault"),
            sql.lit("journal").alias("log"),
            "p",
            sql.col("journal_offset").alias("o"),
            sql.when(absent | (wrong & ~early), named)
            .when(early, both_clocks())
            .otherwise(nothing)
            .alias("detail"),
        )
        .where("fault IS NOT NULL")
    )
