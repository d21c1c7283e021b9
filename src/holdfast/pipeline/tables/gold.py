"""Gold: example aggregates of orders, computed from silver.

Each row covers one period (a minute, a day) and depends only on the silver rows in it. For new rows
in silver, their periods are computed again and replaced. Doing so twice gives the same result, so a
crash leaves nothing to repair.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from delta.tables import DeltaTable
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql

from holdfast.errors import NotFoundError
from holdfast.flows.registry import FlowDefinition
from holdfast.pipeline.spark.few_rows import session_for
from holdfast.pipeline.spark.hadoop_files import HadoopFiles
from holdfast.pipeline.tables.delta import (
    checkpoint_location,
    columns_of,
    gold_location,
    make_table,
    only_writer,
    silver_location,
)

Progress = Callable[[float, str], None]


@dataclass(frozen=True, slots=True)
class GoldTable:
    """One gold table: the period of a row, and its aggregates."""

    columns: str
    period: Callable[[], Column]
    """The period of a silver row: the first column."""
    aggregate: Callable[[DataFrame], DataFrame]
    """Turns silver rows with a column `period` into one row per period."""
    needs: frozenset[str]
    """The fields of the flow's schema that it uses."""


def _status(name: str) -> Column:
    return sql.col("status") == name


def _per_minute(rows: DataFrame) -> DataFrame:
    return rows.groupBy("period").agg(
        sql.count_if(_status("placed")).alias("orders"),
        sql.count("*").alias("events"),
        sql.count_distinct("key").alias("customers"),
    )


def _per_day(rows: DataFrame) -> DataFrame:
    placed, cancelled = sql.count_if(_status("placed")), sql.count_if(_status("cancelled"))
    return rows.groupBy("period").agg(
        placed.alias("orders"),
        sql.round(sql.sum(sql.when(_status("paid"), sql.col("total")).otherwise(0.0)), 2).alias(
            "revenue"
        ),
        cancelled.alias("cancelled"),
        sql.when(placed > 0, sql.round(cancelled / placed, 4)).alias("failure_rate"),
    )


TABLES: Mapping[str, Mapping[str, GoldTable]] = {
    "orders": {
        "orders_per_minute": GoldTable(
            "minute TIMESTAMP, orders BIGINT, events BIGINT, customers BIGINT",
            lambda: sql.date_trunc("minute", "timestamp"),
            _per_minute,
            frozenset({"status"}),
        ),
        "orders_per_day": GoldTable(
            "day DATE, orders BIGINT, revenue DOUBLE, cancelled BIGINT, failure_rate DOUBLE",
            lambda: sql.col("date"),
            _per_day,
            frozenset({"status", "total"}),
        ),
    }
}
"""The gold tables of the demo, by the flow's name."""


def tables_of(flow: FlowDefinition) -> Mapping[str, GoldTable]:
    """The gold tables of a flow. A flow that only has the name of a demo flow has none."""
    fields = set() if flow.schema is None else set(columns_of(flow.schema).names)
    tables = TABLES.get(flow.name, {})
    return {name: table for name, table in tables.items() if table.needs <= fields}


def refresh_gold(
    session: SparkSession,
    flow: FlowDefinition,
    lake: str,
    progress: Progress = lambda share, what: None,
    *,
    rebuild: bool = False,
) -> dict[str, int]:
    """Update the gold tables of a flow from silver. Returns the number of rows by table."""
    tables = tables_of(flow)
    if not tables:
        raise NotFoundError(
            f"The flow {flow.name} has no gold tables: they belong to the demo's "
            f"{', '.join(TABLES)}, with the demo's schema."
        )
    silver = silver_location(lake, flow.name)
    if not DeltaTable.isDeltaTable(session, silver):
        raise NotFoundError(
            f"{flow.name} has no silver table yet. Run `holdfast table refresh {flow.name}`."
        )
    session = session_for(session, session.read.format("delta").load(silver).count())
    rows = {}
    for number, (name, table) in enumerate(tables.items()):
        progress(number / len(tables), f"Computing {name}")
        location = gold_location(lake, name)
        with only_writer(session, location):
            make_table(session, location, columns_of(table.columns), rebuild=rebuild)
            checkpoint = checkpoint_location(lake, "gold", name)
            if rebuild:
                HadoopFiles(session).delete(checkpoint)
            _update(session, silver, location, table, checkpoint)
        rows[name] = session.read.format("delta").load(location).count()
    return rows


def reset_gold(session: SparkSession, flow: str, lake: str) -> None:
    """Silver is rebuilt: let the gold tables read all of it at their next refresh."""
    for name in TABLES.get(flow, {}):
        HadoopFiles(session).delete(checkpoint_location(lake, "gold", name))


def _update(
    session: SparkSession, silver: str, location: str, table: GoldTable, checkpoint: str
) -> None:
    key, *_ = columns_of(table.columns).names

    def merge(new: DataFrame, _: int) -> None:
        changed = new.select(table.period().alias("period"), "date").distinct()
        every = session.read.format("delta").load(silver)
        rows = every.withColumn("period", table.period()).join(
            sql.broadcast(changed), ["date", "period"], "left_semi"
        )
        aggregates = table.aggregate(rows).withColumnRenamed("period", key)
        (
            DeltaTable.forPath(session, location)
            .alias("old")
            .merge(aggregates.alias("new"), f"old.{key} = new.{key}")
            .whenMatchedUpdateAll()
            .whenNotMatchedInsertAll()
            .execute()
        )

    query = (
        session.readStream.format("delta")
        .load(silver)
        .writeStream.option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .foreachBatch(merge)
        .start()
    )
    query.awaitTermination()
