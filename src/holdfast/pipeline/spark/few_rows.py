"""Queries over few rows, of which Spark's preparation takes most of the time."""

from functools import lru_cache

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

FEW = 100_000
"""Up to this many rows, or records of all logs together, count as few."""

_SETTINGS = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.leafNodeDefaultParallelism": "1",
}


def session_for(session: SparkSession, rows: int) -> SparkSession:
    """The session itself, or `for_few_rows` if there are few."""
    return for_few_rows(session) if rows <= FEW else session


@lru_cache(maxsize=1)
def for_few_rows(session: SparkSession) -> SparkSession:
    """A sibling session for few rows: with one task for each query, and without code generation,
    adaptive execution and broadcasts, which cost more than they save."""
    sibling = session.newSession()
    for name, value in _SETTINGS.items():
        sibling.conf.set(name, value)
    return sibling


def local_rows(session: SparkSession, rows: pa.Table) -> DataFrame:
    """Rows of this process as a table in one partition: no query over it needs a shuffle."""
    if not rows.num_rows:  # Spark cannot take columns that have no chunk
        nothing = [pa.array([], field.type) for field in rows.schema]
        rows = pa.Table.from_arrays(nothing, schema=rows.schema)
    return session.createDataFrame(rows).coalesce(1)
