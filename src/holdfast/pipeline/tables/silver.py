"""Silver: the events of a flow with a schema, parsed and typed, each event once.

Events that do not match the schema are in quarantine, with the reason. Rows are added by MERGE on
the identity of an event (its id, if the flow declares one; otherwise its source coordinate), so a
batch that is repeated after a crash adds nothing. The checkpoint stores how far the raw zone was
read. If it is lost, or older than the raw zone's history, all of the raw zone is read again,
without duplicates.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256

from delta.tables import DeltaTable
from pyspark.errors import StreamingQueryException
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as sql

from holdfast import faults
from holdfast.errors import ConflictError, InvalidArgumentError
from holdfast.flows.registry import FlowDefinition
from holdfast.pipeline.spark.errors import root_cause
from holdfast.pipeline.spark.few_rows import session_for
from holdfast.pipeline.spark.hadoop_files import HadoopFiles
from holdfast.pipeline.spark.validation import why_invalid
from holdfast.pipeline.tables.delta import (
    checkpoint_location,
    columns_of,
    make_table,
    only_writer,
    properties_of,
    quarantine_location,
    require_raw,
    silver_location,
)
from holdfast.pipeline.tables.gold import reset_gold

log = logging.getLogger(__name__)

Progress = Callable[[float, str], None]

_FORM = "holdfast.form"
"""The table property with a hash of the schema and event id that the table was built with."""

IDENTITY = "identity"
_COORDINATE = ("source_topic", "source_partition", "source_offset")
SOURCE_COLUMNS = (
    "source_topic STRING, source_partition INT, source_offset BIGINT, timestamp TIMESTAMP, "
    "key STRING, date DATE"
)
_QUARANTINE = f"{SOURCE_COLUMNS}, value BINARY, reason STRING"
_FILES_PER_BATCH = 200
"""The limit keeps a batch within the memory of a small driver."""


@dataclass(frozen=True, slots=True)
class Refreshed:
    """The numbers of rows that a refresh added to silver and to quarantine."""

    flow: str
    rows: int
    quarantined: int
    total: int
    """The number of rows in silver."""


def refresh_silver(
    session: SparkSession,
    flow: FlowDefinition,
    lake: str,
    progress: Progress = lambda share, what: None,
    *,
    rebuild: bool = False,
) -> Refreshed:
    """Add the events that have landed in the raw zone since the last refresh; with `rebuild`, build
    new tables from the whole raw zone.

    Raises ConflictError if the schema has changed, or if another process writes the table.
    """
    if flow.schema is None:
        raise InvalidArgumentError(
            f"The flow {flow.name} has no schema, so its events cannot be parsed. Set one with "
            f"`holdfast flow set {flow.name} --schema ...`."
        )
    raw = require_raw(session, lake, flow.name)
    session = session_for(session, _count(session, raw))
    silver, quarantine = silver_location(lake, flow.name), quarantine_location(lake, flow.name)
    with only_writer(session, silver):
        _make(session, flow, silver, quarantine, rebuild=rebuild)
        checkpoint = checkpoint_location(lake, "silver", flow.name)
        if rebuild:
            HadoopFiles(session).delete(checkpoint)
            reset_gold(session, flow.name, lake)
        before = _count(session, silver), _count(session, quarantine)
        progress(0.1, "Parsing new events")
        _catch_up(session, flow, raw, checkpoint)
        after = _count(session, silver), _count(session, quarantine)
    return Refreshed(flow.name, after[0] - before[0], after[1] - before[1], after[0])


def _make(
    session: SparkSession, flow: FlowDefinition, silver: str, quarantine: str, *, rebuild: bool
) -> None:
    assert flow.schema is not None
    form = sha256(f"{flow.schema}|{flow.event_id}".encode()).hexdigest()[:16]
    existing = properties_of(session, silver).get(_FORM)
    if existing not in (None, form) and not rebuild:
        raise ConflictError(
            f"The schema or the event id of {flow.name} has changed since its silver table was "
            f"built. Run `holdfast table rebuild {flow.name} silver` to build it again from the "
            "raw zone."
        )
    columns = columns_of(f"{IDENTITY} STRING, {SOURCE_COLUMNS}")
    fields = columns_of(flow.schema)
    reserved = set(columns.names) & {name.lower() for name in fields.names}
    if reserved:
        raise InvalidArgumentError(
            f"The schema of {flow.name} has fields with names that silver reserves: "
            f"{', '.join(sorted(reserved))}. Rename them."
        )
    for field in fields.fields:
        columns.add(field.name, field.dataType)
    make_table(session, silver, columns, by="date", properties={_FORM: form}, rebuild=rebuild)
    make_table(session, quarantine, columns_of(_QUARANTINE), by="date", rebuild=rebuild)


def _catch_up(session: SparkSession, flow: FlowDefinition, raw: str, checkpoint: str) -> None:
    """Read on from the checkpoint. Its version of the raw zone may be gone, in several ways, all of
    which fail: then everything is read, once."""
    files = HadoopFiles(session)
    continued = files.exists(checkpoint)
    try:
        _update(session, flow, raw, checkpoint)
    except StreamingQueryException as error:
        if not continued:
            raise
        log.warning(
            "Silver of %s cannot go on where it ended, so it reads the whole raw zone: %s",
            flow.name, root_cause(error),
        )  # fmt: skip
        files.delete(checkpoint)
        _update(session, flow, raw, checkpoint)


def _update(session: SparkSession, flow: FlowDefinition, raw: str, checkpoint: str) -> None:
    lake = raw.rsplit("/", 2)[0]
    targets = silver_location(lake, flow.name), quarantine_location(lake, flow.name)

    def land(rows: DataFrame, _: int) -> None:
        rows = rows.persist()
        try:
            _merge(session, targets[1], _invalid(rows, flow), _coordinates(_dates(rows)))
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
    """The typed rows, each event once: the first of all rows with the same identity."""
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


def _invalid(rows: DataFrame, flow: FlowDefinition) -> DataFrame:
    reason = sql.when(sql.col("value").isNull(), "The value is null.").otherwise(_why(flow))
    invalid = rows.select(*_source(), "value", reason.alias("reason")).where("reason IS NOT NULL")
    return invalid.dropDuplicates(list(_COORDINATE))


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
    event_id = sql.concat(sql.lit("id:"), _nested("value", flow.event_id).cast("string"))
    return sql.coalesce(event_id, coordinate)


def _nested(column: str, path: str) -> Column:
    field = sql.col(column)
    for name in path.split("."):
        field = field[name]
    return field


def _merge(session: SparkSession, location: str, rows: DataFrame, on: str) -> None:
    """Add the rows that the table does not have yet."""
    if rows.isEmpty():  # a MERGE of nothing takes seconds, too
        return
    (
        DeltaTable.forPath(session, location)
        .alias("old")
        .merge(rows.alias("new"), on)
        .whenNotMatchedInsertAll()
        .execute()
    )


def _dates(rows: DataFrame) -> list[str]:
    """The days of these rows. An existing row of the same event has the same day, so MERGE only
    has to read these days."""
    return [str(row["date"]) for row in rows.select("date").distinct().collect()]


def _in_dates(dates: list[str]) -> str:
    listed = ", ".join(f"DATE '{date}'" for date in dates) or "NULL"
    return f"old.date IN ({listed})"


def _coordinates(dates: list[str]) -> str:
    same = (f"old.{name} = new.{name}" for name in _COORDINATE)
    return " AND ".join((_in_dates(dates), *same))


def _count(session: SparkSession, location: str) -> int:
    return session.read.format("delta").load(location).count()
