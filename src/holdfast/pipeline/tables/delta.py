"""The Delta tables of a flow: their locations, and functions to create and lock them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from delta.tables import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from holdfast.errors import ConflictError, NotFoundError
from holdfast.pipeline.raw_zone.zone import table_location
from holdfast.pipeline.spark.hadoop_files import HadoopFiles

PLAIN = {
    # delta-rs, DuckDB and Polars can read plain tables.
    "delta.enableDeletionVectors": "false",
    "delta.logRetentionDuration": "interval 7 days",
}


def columns_of(ddl: str) -> StructType:
    """The columns of a Spark DDL text, e.g. `id BIGINT, total DOUBLE`."""
    columns = StructType.fromDDL(ddl)
    assert isinstance(columns, StructType)
    return columns


def silver_location(lake: str, flow: str) -> str:
    return f"{lake.rstrip('/')}/silver/{flow}"


def quarantine_location(lake: str, flow: str) -> str:
    return f"{lake.rstrip('/')}/quarantine/{flow}"


def gold_location(lake: str, table: str) -> str:
    return f"{lake.rstrip('/')}/gold/{table}"


def checkpoint_location(lake: str, layer: str, flow: str) -> str:
    """The checkpoint of a table: how far it has read its source. Losing it only costs time."""
    return f"{lake.rstrip('/')}/checkpoints/{layer}/{flow}"


def make_table(
    session: SparkSession,
    location: str,
    columns: StructType,
    *,
    by: str | None = None,
    properties: Mapping[str, str] | None = None,
    rebuild: bool = False,
) -> None:
    """Create a table if there is none. With `rebuild`, replace an existing one; queries that read
    the old version continue."""
    properties = {**PLAIN, **(properties or {})}
    if rebuild and DeltaTable.isDeltaTable(session, location):
        _empty(session, location, columns, by, properties)
        return
    builder = DeltaTable.createIfNotExists(session).location(location).addColumns(columns)
    for name, value in properties.items():
        builder = builder.property(name, value)
    if by is not None:
        builder = builder.partitionedBy(by)
    builder.execute()


def _empty(
    session: SparkSession,
    location: str,
    columns: StructType,
    by: str | None,
    properties: Mapping[str, str],
) -> None:
    """Remove all rows, and set these columns. (Delta's own "create or replace" refuses other
    columns for a table that has a location but no name.)"""
    nothing = session.createDataFrame([], columns)
    writer = nothing.write.format("delta").mode("overwrite").option("overwriteSchema", "true")
    if by is not None:
        writer = writer.partitionBy(by)
    writer.save(location)
    listed = ", ".join(f"'{name}' = '{value}'" for name, value in properties.items())
    session.sql(f"ALTER TABLE delta.`{location}` SET TBLPROPERTIES ({listed})")


def properties_of(session: SparkSession, location: str) -> dict[str, str]:
    """The properties of a table; empty if the table does not exist."""
    if not DeltaTable.isDeltaTable(session, location):
        return {}
    (detail,) = DeltaTable.forPath(session, location).detail().collect()
    properties: dict[str, str] = detail["properties"]
    return properties


def require_raw(session: SparkSession, lake: str, flow: str) -> str:
    """The location of a flow's raw zone. Raises NotFoundError if there is none."""
    location = table_location(lake, flow)
    if not DeltaTable.isDeltaTable(session, location):
        raise NotFoundError(
            f"There is no raw zone of {flow} at {location}. Give the pipeline's lake with --lake, "
            "or start a pipeline, which creates the raw zone."
        )
    return location


@contextmanager
def only_writer(session: SparkSession, location: str) -> Iterator[None]:
    """Lock the table for this process. Raises ConflictError if another process writes it."""
    files = HadoopFiles(session)
    lock = files.lock(f"{location}.lock") if files.is_local(location) else None
    if lock is None and files.is_local(location):
        raise ConflictError(
            f"Another process is writing the table {location}. Try again when it has ended."
        )
    try:
        yield
    finally:
        if lock is not None:
            lock.release()
