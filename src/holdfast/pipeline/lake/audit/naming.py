"""What is wrong, by name: how often each fault was found, and the first places."""

from functools import reduce

from pyspark.sql import DataFrame, Row, Window
from pyspark.sql import functions as sql

from holdfast.pipeline.lake.audit.verification import Example, Fault, Found


def name_faults(judged: DataFrame, others: list[DataFrame], examples: int) -> dict[Fault, Found]:
    """The faults of the coordinates in `judged`, and those in `others`, which have a row each. Of
    each kind at most so many examples."""
    of_events = judged.where("size(faults) > 0").select(
        sql.explode("faults").alias("fault"),
        sql.when(sql.col("p") < 0, "record without source").otherwise("events").alias("log"),
        "p",
        "o",
        sql.lit("").alias("detail"),
    )
    every = reduce(DataFrame.unionByName, [of_events, *others])
    by_fault = Window.partitionBy("fault")
    first = (
        every.withColumn("count", sql.count("*").over(by_fault))
        .withColumn("rank", sql.row_number().over(by_fault.orderBy("log", "p", "o")))
        .where(sql.col("rank") <= examples)
        .collect()
    )
    return _grouped(first)


def _grouped(rows: list[Row]) -> dict[Fault, Found]:
    places: dict[Fault, list[Example]] = {}
    counts: dict[Fault, int] = {}
    for row in rows:
        fault = Fault(row["fault"])
        counts[fault] = row["count"]
        example = Example(row["log"], row["p"], row["o"], row["detail"] or "")
        places.setdefault(fault, []).append(example)
    return {fault: Found(fault, counts[fault], tuple(places[fault])) for fault in places}
