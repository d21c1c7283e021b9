"""The tables of a flow: where they are, and how they are made: plain Delta, one writer."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from delta.tables import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from holdfast.errors import ConflictError, NotFoundError
from holdfast.pipeline.hadoop_files import HadoopFiles
from holdfast.pipeline.raw_zone import table_location

PLAIN = {
    # Plain tables are read by delta-rs, DuckDB and Polars.
    "delta.enableDeletionVectors": "false",
    "delta.logRetentionDuration": "interval 7 days",
}


def columns_of(ddl: str) -> StructType:
    """Columns as Spark writes them, e.g. `id BIGINT, total DOUBLE`."""
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
    """What a table has taken in of the one below it. It may be lost: that costs time alone."""
    return f"{lake.rstrip('/')}/checkpoints/{layer}/{flow}"


def make_table(
    session: SparkSession,
    location: str,
    columns: StructType,
    *,
    by: str | None = None,
    properties: Mapping[str, str] | None = None,
    anew: bool = False,
) -> None:
    """Make a table if there is none, or in place of the one there is. Those who read the old one
    go on doing so."""
    wanted = {**PLAIN, **(properties or {})}
    if anew and DeltaTable.isDeltaTable(session, location):
        _empty(session, location, columns, by, wanted)
        return
    builder = DeltaTable.createIfNotExists(session).location(location).addColumns(columns)
    for name, value in wanted.items():
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
    """Take all rows out, and give it these columns. (Delta's own "create or replace" refuses other
    columns for a table that has a location and no name.)"""
    nothing = session.createDataFrame([], columns)
    writer = nothing.write.format("delta").mode("overwrite").option("overwriteSchema", "true")
    if by is not None:
        writer = writer.partitionBy(by)
    writer.save(location)
    listed = ", ".join(f"'{name}' = '{value}'" for name, value in properties.items())
    session.sql(f"ALTER TABLE delta.`{location}` SET TBLPROPERTIES ({listed})")


def properties_of(session: SparkSession, location: str) -> dict[str, str]:
    """What a table says about itself; empty if there is none."""
    if not DeltaTable.isDeltaTable(session, location):
        return {}
    (detail,) = DeltaTable.forPath(session, location).detail().collect()
    found: dict[str, str] = detail["properties"]
    return found


def require_raw(session: SparkSession, lake: str, flow: str) -> str:
    """Where the raw zone of a flow is, or NotFoundError."""
    location = table_location(lake, flow)
    if not DeltaTable.isDeltaTable(session, location):
        raise NotFoundError(
            f"There is no raw zone of {flow} at {location}. Name the lake with --lake; a pipeline "
            "lands events there."
        )
    return location


@contextmanager
def alone(session: SparkSession, location: str) -> Iterator[None]:
    """While this process alone writes the table, or ConflictError."""
    files = HadoopFiles(session)
    lock = files.lock(f"{location}.lock") if files.is_local(location) else None
    if lock is None and files.is_local(location):
        raise ConflictError(f"Another process writes the table {location}. Try again when it ends.")
    try:
        yield
    finally:
        if lock is not None:
            lock.release()
