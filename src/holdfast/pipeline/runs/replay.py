"""Replay: events of the raw zone through `<flow>.events` again, so that holds apply to them.

What is sent is fixed when the run begins: up to which offset of each source. Without a limit of
the rate Spark's tasks send, a slice each; with one the driver sends, at that rate.
"""

import logging
from collections.abc import Mapping
from time import time
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions
from delta.tables import DeltaTable
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql

from holdfast.client.connection import Connection
from holdfast.client.topics import Topics
from holdfast.errors import ConflictError, HoldfastError, NotFoundError
from holdfast.flows.keys import key_to_json
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.work import Replay
from holdfast.pipeline.runs.execution import Execution
from holdfast.pipeline.runs.paced_sending import PacedSending
from holdfast.pipeline.runs.reached import Reached
from holdfast.pipeline.runs.selection import select
from holdfast.pipeline.runs.slices import Sending, Sent, Slice, keeps_from, sent_in, slice_id
from holdfast.pipeline.runs.task_sending import TaskSending
from holdfast.pipeline.runs.windows import Windows
from holdfast.pipeline.topic_guard import MOST_BATCH_BYTES

log = logging.getLogger(__name__)

WINDOW_ROWS = 300_000
"""Of one job: a few seconds, for which a cancellation waits."""
SLICE_ROWS = 75_000
"""Of one task: half a second, for which the gate's next batch waits if all cores are taken."""
PACED_SECONDS = 10
PACED_BYTES = 32 * 1024**2
"""How long the rows last that the driver takes at once when there is a limit of the rate, and how
large they may be: the driver holds them."""
_SAMPLE = 10
_SAMPLE_BYTES = 2_000
_BATCH_OVERHEAD = 1_024


class ReplayRun:
    """Carries one replay out, or on."""

    def __init__(
        self,
        session: SparkSession,
        connection: Connection,
        flow: FlowDefinition,
        location: str,
        execution: Execution,
    ) -> None:
        work = execution.run.request.work
        assert isinstance(work, Replay)
        self._session = session
        self._connection = connection
        self._flow = flow
        self._location = location
        self._execution = execution
        self._work = work

    def carry_out(self) -> Mapping[str, Any]:
        """-> the run's result"""
        rows = select(self._session, self._raw(), self._flow.names.events, self._work)
        if self._work.dry_run:
            return self._look(rows)
        slices = self._slices(rows)
        self._execution.check()
        state = Reached(slices, self._read_positions(slices))
        sending = self._sending()
        windows = self._windows(state)
        rate = self._work.rate
        if rate is None:
            way: TaskSending | PacedSending = TaskSending(self._connection, self._execution, rows)
        else:
            way = PacedSending(self._connection, self._execution, rows, rate)
        way.send(sending, state, windows)
        return {"events": state.events, "left_out": state.left_out}

    def clean_up(self) -> None:
        """After the end: how far each slice came is needed by nobody any more."""
        groups = [
            slice_id(self._execution.run.id, each.number)
            for each in (self._planned() or {}).values()
        ]
        try:
            for group, future in self._connection.admin.delete_consumer_groups(groups).items():
                self._connection.wait(future, f"Deleting the group {group}")
        except HoldfastError as error:
            log.debug("%s They expire by themselves.", error)

    def _raw(self) -> DataFrame:
        if not DeltaTable.isDeltaTable(self._session, self._location):
            raise NotFoundError(f"Nothing of {self._flow.name} has landed in the raw zone yet.")
        return self._session.read.format("delta").load(self._location)

    def _look(self, rows: DataFrame) -> Mapping[str, Any]:
        found = rows.agg(
            sql.count("*").alias("events"),
            sql.count_distinct("key").alias("keys"),
            sql.coalesce(sql.sum(_size()), sql.lit(0)).alias("bytes"),
        ).collect()[0]
        sample = rows.limit(_SAMPLE).toArrow().to_pylist() if found["events"] else []
        return {**found.asDict(), "sample": [_shown(row) for row in sample]}

    def _planned(self) -> dict[int, Slice] | None:
        plan = self._execution.progress.plan
        if "slices" not in plan:
            return None
        return {each[0]: Slice(*each) for each in plan["slices"]}

    def _slices(self, rows: DataFrame) -> dict[int, Slice]:
        """What is to be sent: as it was fixed when the run began, or as it is now."""
        planned = self._planned()
        if planned is not None:
            return planned
        # Sizes are looked at only where the driver has to hold a window.
        size = sql.lit(0) if self._work.rate is None else sql.sum(_size())
        found = (
            rows.groupBy("topic", "partition")
            .agg(
                sql.count("*").alias("rows"),
                sql.min("offset").alias("start"),
                (sql.max("offset") + 1).alias("end"),
                size.alias("bytes"),
            )
            .collect()
        )
        slices = {}
        files = self._flow.partitions
        for row in sorted(found, key=lambda row: (row["topic"], row["partition"])):
            number = row["partition"]
            if row["topic"] != self._flow.names.events:
                number, files = files, files + 1
            slices[number] = Slice(number, row["topic"], row["partition"], row["start"], row["end"])
        total = sum(row["rows"] for row in found)
        plan = {
            "slices": [[s.number, s.topic, s.partition, s.start, s.end] for s in slices.values()],
            "mean_bytes": sum(row["bytes"] for row in found) // max(1, total),
        }
        self._execution.begin(plan, total)
        return slices

    def _read_positions(self, slices: Mapping[int, Slice]) -> dict[int, Sent]:
        """Where to look for rows: tasks themselves make sure of what was sent."""
        if not self._execution.progress.done and self._execution.run.progress is None:
            return {}
        positions = {}
        for number in slices:
            group = slice_id(self._execution.run.id, number)
            futures = self._connection.admin.list_consumer_group_offsets(
                [ConsumerGroupTopicPartitions(group)], require_stable=True
            )
            found = self._connection.wait(futures[group], "Reading how far a replay is")
            for place in found.topic_partitions or ():
                sent = sent_in(place)
                if sent is not None:
                    positions[number] = sent
        if sum(sent.events for sent in positions.values()) < self._execution.progress.done:
            raise ConflictError(
                "The broker has forgotten how far this run was, so it cannot go on without sending "
                "events twice. Ask for a new run with the events that are still to be sent."
            )
        return positions

    def _sending(self) -> Sending:
        topic = self._flow.names.events
        now = round(time() * 1000)
        settings = Topics(self._connection).config(topic)
        limit = int(settings["max.message.bytes"].value)
        return Sending(
            run=self._execution.run.id,
            topic=topic,
            partitions=self._flow.partitions,
            # The topic's limit is on batches: innocent records must not be refused with others.
            batch_bytes=max(1, min(MOST_BATCH_BYTES, limit - _BATCH_OVERHEAD)),
            keeps_from=keeps_from(int(settings["retention.ms"].value), now),
            now=now,
        )

    def _windows(self, state: "Reached") -> Windows:
        rows, rate = min(WINDOW_ROWS, SLICE_ROWS * max(1, len(state.slices))), self._work.rate
        if rate is not None:
            fit = PACED_BYTES // max(1, self._execution.progress.plan["mean_bytes"])
            rows = max(1, min(rows, fit, int(rate * PACED_SECONDS)))
        total = self._execution.progress.total or 0
        left = {
            number: (max(part.start, state.offset(number)), part.end)
            for number, part in state.slices.items()
        }
        return Windows(left, rows, max(0, total - state.events))


def _size() -> Column:
    """Bytes of key and value."""
    nothing = sql.lit(0)
    return sql.coalesce(sql.length("key"), nothing) + sql.coalesce(sql.length("value"), nothing)


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    value = row["value"]
    text = None if value is None else value[:_SAMPLE_BYTES].decode(errors="backslashreplace")
    key = {"key": None} if row["key"] is None else key_to_json(row["key"])
    coordinate = {name: row[name] for name in ("topic", "partition", "offset")}
    return {**coordinate, "timestamp": row["time"], **key, "value": text}
