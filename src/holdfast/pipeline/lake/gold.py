"""Gold: what people ask of the orders, worked out from silver. An example to copy from.

Each row speaks of one stretch of time (a minute, a day) and is a function of the silver rows in it.
So new rows in silver mean that the stretches they fall into are worked out anew and replaced: twice
is the same as once, and a crash leaves nothing to mend.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from delta.tables import DeltaTable
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql

from holdfast.errors import NotFoundError
from holdfast.pipeline.hadoop_files import HadoopFiles
from holdfast.pipeline.lake.tables import (
    alone,
    checkpoint_location,
    columns_of,
    gold_location,
    make_table,
    silver_location,
)

Progress = Callable[[float, str], None]


@dataclass(frozen=True, slots=True)
class GoldTable:
    """One table: the stretch of time of a row, and what is said of it."""

    columns: str
    stretch: Callable[[], Column]
    """The stretch that a silver row falls into: the first column."""
    figures: Callable[[DataFrame], DataFrame]
    """From silver rows that have their `stretch`, one row for each."""


def _status(name: str) -> Column:
    return sql.col("status") == name


def _per_minute(rows: DataFrame) -> DataFrame:
    return rows.groupBy("stretch").agg(
        sql.count_if(_status("placed")).alias("orders"),
        sql.count("*").alias("events"),
        sql.count_distinct("key").alias("customers"),
    )


def _per_day(rows: DataFrame) -> DataFrame:
    placed, cancelled = sql.count_if(_status("placed")), sql.count_if(_status("cancelled"))
    return rows.groupBy("stretch").agg(
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
        ),
        "orders_per_day": GoldTable(
            "day DATE, orders BIGINT, revenue DOUBLE, cancelled BIGINT, failure_rate DOUBLE",
            lambda: sql.col("date"),
            _per_day,
        ),
    }
}
"""By flow, the tables that are worked out from its silver rows."""


def refresh_gold(
    session: SparkSession,
    flow: str,
    lake: str,
    progress: Progress = lambda share, what: None,
    *,
    anew: bool = False,
) -> dict[str, int]:
    """Bring the gold tables of a flow up to date with silver. -> their rows, by table"""
    if flow not in TABLES:
        raise NotFoundError(
            f"No gold table is worked out from {flow}: there are some of {', '.join(TABLES)}."
        )
    silver = silver_location(lake, flow)
    if not DeltaTable.isDeltaTable(session, silver):
        raise NotFoundError(f"{flow} has no silver table yet: run `holdfast table refresh {flow}`.")
    rows = {}
    for number, (name, table) in enumerate(TABLES[flow].items()):
        progress(number / len(TABLES[flow]), f"Working out {name}")
        location = gold_location(lake, name)
        with alone(session, location):
            make_table(session, location, columns_of(table.columns), anew=anew)
            checkpoint = checkpoint_location(lake, "gold", name)
            if anew:
                HadoopFiles(session).delete(checkpoint)
            _take_in(session, silver, location, table, checkpoint)
        rows[name] = session.read.format("delta").load(location).count()
    return rows


def forget_gold(session: SparkSession, flow: str, lake: str) -> None:
    """Silver is made anew: the gold tables take all of it in at their next turn."""
    for name in TABLES.get(flow, {}):
        HadoopFiles(session).delete(checkpoint_location(lake, "gold", name))


def _take_in(
    session: SparkSession, silver: str, location: str, table: GoldTable, checkpoint: str
) -> None:
    key, *_ = columns_of(table.columns).names

    def work_out(new: DataFrame, _: int) -> None:
        touched = new.select(table.stretch().alias("stretch"), "date").distinct()
        every = session.read.format("delta").load(silver)
        rows = every.withColumn("stretch", table.stretch()).join(
            sql.broadcast(touched), ["date", "stretch"], "left_semi"
        )
        figures = table.figures(rows).withColumnRenamed("stretch", key)
        (
            DeltaTable.forPath(session, location)
            .alias("old")
            .merge(figures.alias("new"), f"old.{key} = new.{key}")
            .whenMatchedUpdateAll()
            .whenNotMatchedInsertAll()
            .execute()
        )

    query = (
        session.readStream.format("delta")
        .load(silver)
        .writeStream.option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .foreachBatch(work_out)
        .start()
    )
    query.awaitTermination()
