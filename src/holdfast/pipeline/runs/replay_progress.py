"""The progress of a replay, and the rows to send next, for both ways of sending."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql

from holdfast.client.connection import Connection
from holdfast.pipeline.runs.execution import Execution
from holdfast.pipeline.runs.slices import SendOptions, Slice, SliceProgress
from holdfast.pipeline.runs.windows import Window

PAUSE_SECONDS = 1.0
"""Pause before a retry."""


@dataclass(slots=True)
class ReplayProgress:
    """The progress of all slices of a run."""

    slices: Mapping[int, Slice]
    sent: dict[int, SliceProgress] = field(default_factory=dict)

    @property
    def events(self) -> int:
        return sum(each.events for each in self.sent.values())

    @property
    def left_out(self) -> int:
        return sum(each.left_out for each in self.sent.values())

    def offset(self, number: int) -> int:
        return self.sent[number].offset if number in self.sent else 0


@dataclass(slots=True)
class Sending:
    """Shared input of both ways of sending: `PacedSending` and `TaskSending`."""

    connection: Connection
    execution: Execution
    rows: DataFrame
    options: SendOptions
    state: ReplayProgress


def rows_of(rows: DataFrame, slices: Mapping[int, Slice], window: Window) -> DataFrame:
    """The rows of a window, each with the number of its slice, in the form of `Events.of`."""
    within: Column | None = None
    number = sql.col("partition")
    for each, (start, end) in window.items():
        part = slices[each]
        source = (sql.col("topic") == part.topic) & (sql.col("partition") == part.partition)
        here = source & (sql.col("offset") >= start) & (sql.col("offset") < end)
        within = here if within is None else within | here
        if each != part.partition:
            number = sql.when(source, sql.lit(each)).otherwise(number)
    assert within is not None
    return rows.where(within).select(
        number.alias("slice"),
        sql.col("offset"),
        sql.col("time").alias("timestamp"),
        sql.col("key"),
        sql.col("value"),
        sql.when(sql.size("headers") > 0, sql.to_json("headers")).alias("headers"),
    )
