"""Silver: the events of a flow with a schema, parsed, typed and each there once.

What cannot be read as the schema says is in quarantine, with the reason. Rows are added by MERGE on
what names an event (its id, if the flow names one; else its source coordinate), so a batch that is
repeated after a crash adds nothing. The checkpoint says what of the raw zone was taken in; if it is
lost, all is looked at again, and nothing is doubled.
"""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256

from delta.tables import DeltaTable
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as sql

from holdfast.errors import ConflictError, InvalidArgumentError
from holdfast.flows.registry import FlowDefinition
from holdfast.pipeline import faults
from holdfast.pipeline.hadoop_files import HadoopFiles
from holdfast.pipeline.lake.gold import forget_gold
from holdfast.pipeline.lake.tables import (
    alone,
    checkpoint_location,
    columns_of,
    make_table,
    properties_of,
    quarantine_location,
    require_raw,
    silver_location,
)
from holdfast.pipeline.validation import why_invalid

Progress = Callable[[float, str], None]

_FORM = "holdfast.form"
"""The table's property that tells from which schema and event id it was made."""

IDENTITY = "identity"
_COORDINATE = ("source_topic", "source_partition", "source_offset")
SOURCE_COLUMNS = (
    "source_topic STRING, source_partition INT, source_offset BIGINT, timestamp TIMESTAMP, "
    "key STRING, date DATE"
)
_QUARANTINE = f"{SOURCE_COLUMNS}, value BINARY, reason STRING"
_FILES_PER_BATCH = 200
"""So that a batch fits into the memory of a small driver."""


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What a run added to silver, and to the quarantine beside it."""

    flow: str
    rows: int
    quarantined: int
    total: int
    """Rows that silver has now."""


def refresh_silver(
    session: SparkSession,
    flow: FlowDefinition,
    lake: str,
    progress: Progress = lambda share, what: None,
    *,
    anew: bool = False,
) -> Refreshed:
    """Take in what has landed in the raw zone since the last time; with `anew`, all of it, into
    tables made anew.

    ConflictError if the schema is another than that of the table, or another process writes it.
    """
    if flow.schema is None:
        raise InvalidArgumentError(
            f"The flow {flow.name} has no schema, so there is nothing to parse by. "
            f"`holdfast flow set {flow.name} --schema ...` gives it one."
        )
    raw = require_raw(session, lake, flow.name)
    silver, quarantine = silver_location(lake, flow.name), quarantine_location(lake, flow.name)
    with alone(session, silver):
        _make(session, flow, silver, quarantine, anew=anew)
        checkpoint = checkpoint_location(lake, "silver", flow.name)
        if anew:
            HadoopFiles(session).delete(checkpoint)
            forget_gold(session, flow.name, lake)
        before = _count(session, silver), _count(session, quarantine)
        progress(0.1, "Parsing what has landed")
        _take_in(session, flow, raw, checkpoint)
        after = _count(session, silver), _count(session, quarantine)
    return Refreshed(flow.name, after[0] - before[0], after[1] - before[1], after[0])


def _make(
    session: SparkSession, flow: FlowDefinition, silver: str, quarantine: str, *, anew: bool
) -> None:
    assert flow.schema is not None
    form = sha256(f"{flow.schema}|{flow.event_id}".encode()).hexdigest()[:16]
    known = properties_of(session, silver).get(_FORM)
    if known not in (None, form) and not anew:
        raise ConflictError(
            f"The schema or the event id of {flow.name} has changed since its silver table was "
            f"made. `holdfast table rebuild {flow.name} silver` makes it anew from the raw zone."
        )
    columns = columns_of(f"{IDENTITY} STRING, {SOURCE_COLUMNS}")
    fields = columns_of(flow.schema)
    taken = set(columns.names) & {name.lower() for name in fields.names}
    if taken:
        raise InvalidArgumentError(
            f"The schema of {flow.name} has fields that silver uses itself: "
            f"{', '.join(sorted(taken))}."
        )
    for field in fields.fields:
        columns.add(field.name, field.dataType)
    make_table(session, silver, columns, by="date", properties={_FORM: form}, anew=anew)
    make_table(session, quarantine, columns_of(_QUARANTINE), by="date", anew=anew)


def _take_in(session: SparkSession, flow: FlowDefinition, raw: str, checkpoint: str) -> None:
    lake = raw.rsplit("/", 2)[0]
    targets = silver_location(lake, flow.name), quarantine_location(lake, flow.name)

    def land(rows: DataFrame, _: int) -> None:
        rows = rows.persist()
        try:
            _merge(session, targets[1], _flawed(rows, flow), _coordinates(_dates(rows)))
            faults.reach("silver-mid-write")
            by_date = "" if flow.event_id else f"{_in_dates(_dates(rows))} AND "
            on = f"{by_date}old.{IDENTITY} = new.{IDENTITY}"
            _merge(session, targets[0], _parsed(rows, flow), on)
        finally:
            rows.unpersist()

    query = (
        session.readStream.format("delta")
        .option("maxFilesPerTrigger", _FILES_PER_BATCH)
        .load(raw)
        .writeStream.option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .foreachBatch(land)
        .start()
    )
    query.awaitTermination()


def _parsed(rows: DataFrame, flow: FlowDefinition) -> DataFrame:
    """The typed rows, each event once: the first of those that have the same identity."""
    assert flow.schema is not None
    fields = columns_of(flow.schema)
    valid = rows.where(_why(flow).isNull() & sql.col("value").isNotNull())
    value = sql.from_json(sql.col("value").cast("string"), flow.schema)
    typed = valid.select(*_source(), value.alias("value")).select(
        _identity(flow).alias(IDENTITY),
        *_COORDINATE, "timestamp", "key", "date",
        *(sql.col("value")[name].alias(name) for name in fields.names),
    )  # fmt: skip
    first = Window.partitionBy(IDENTITY).orderBy("timestamp", *_COORDINATE)
    return typed.withColumn("_rank", sql.row_number().over(first)).where("_rank = 1").drop("_rank")


def _flawed(rows: DataFrame, flow: FlowDefinition) -> DataFrame:
    reason = sql.when(sql.col("value").isNull(), "The value is null.").otherwise(_why(flow))
    flawed = rows.select(*_source(), "value", reason.alias("reason")).where("reason IS NOT NULL")
    return flawed.dropDuplicates(list(_COORDINATE))


def _why(flow: FlowDefinition) -> Column:
    return why_invalid(sql.col("value"), flow.schema)


def _source() -> list[Column]:
    return [
        sql.col("topic").alias("source_topic"),
        sql.col("partition").alias("source_partition"),
        sql.col("offset").alias("source_offset"),
        sql.col("timestamp"),
        sql.col("key").cast("string").alias("key"),
        sql.col("date"),
    ]


def _identity(flow: FlowDefinition) -> Column:
    coordinate = sql.concat_ws(":", sql.lit("at"), *_COORDINATE)
    if flow.event_id is None:
        return coordinate
    named = sql.concat(sql.lit("id:"), _nested("value", flow.event_id).cast("string"))
    return sql.coalesce(named, coordinate)


def _nested(column: str, path: str) -> Column:
    found = sql.col(column)
    for name in path.split("."):
        found = found[name]
    return found


def _merge(session: SparkSession, location: str, rows: DataFrame, on: str) -> None:
    """Add the rows that are not there yet."""
    (
        DeltaTable.forPath(session, location)
        .alias("old")
        .merge(rows.alias("new"), on)
        .whenNotMatchedInsertAll()
        .execute()
    )


def _dates(rows: DataFrame) -> list[str]:
    """The days of these rows. A row that is there already has the same day, so others need not be
    looked at."""
    return [str(row["date"]) for row in rows.select("date").distinct().collect()]


def _in_dates(dates: list[str]) -> str:
    listed = ", ".join(f"DATE '{date}'" for date in dates) or "NULL"
    return f"old.date IN ({listed})"


def _coordinates(dates: list[str]) -> str:
    same = (f"old.{name} = new.{name}" for name in _COORDINATE)
    return " AND ".join((_in_dates(dates), *same))


def _count(session: SparkSession, location: str) -> int:
    return session.read.format("delta").load(location).count()
