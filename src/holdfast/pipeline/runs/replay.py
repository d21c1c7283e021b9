"""Replay: sends events of the raw zone to `<flow>.events` again, so that holds apply to them.

The end offset of each source is fixed when the run starts. Without a rate limit Spark's tasks send
the events, one slice each; with one the driver sends them at that rate.
"""

import logging
from collections.abc import Mapping
from contextlib import closing
from time import monotonic
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions
from delta.tables import DeltaTable
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql

from holdfast.client.connection import Connection
from holdfast.client.topics import Topics
from holdfast.clock import now_ms
from holdfast.errors import ConflictError, HoldfastError, NotFoundError
from holdfast.flows.keys import key_to_json
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.run_specs import Replay
from holdfast.pipeline.runs.execution import Execution
from holdfast.pipeline.runs.paced_sending import PacedSending
from holdfast.pipeline.runs.replay_progress import ReplayProgress
from holdfast.pipeline.runs.selection import select
from holdfast.pipeline.runs.slices import (
    SendOptions,
    Slice,
    SliceProgress,
    committed_progress,
    keeps_from,
    slice_id,
)
from holdfast.pipeline.runs.task_sending import TaskSending
from holdfast.pipeline.runs.windows import Windows

log = logging.getLogger(__name__)

WINDOW_ROWS = 300_000
"""Rows per Spark job: a few seconds, during which a cancellation waits."""
SLICE_ROWS = 75_000
"""Rows per task: half a second, during which the gate's next batch waits if all cores are busy."""
PACED_SECONDS = 10
PACED_BYTES = 32 * 1024**2
"""With a rate limit, the driver loads rows for this many seconds into memory, up to this many
bytes."""
_READ_AGAIN_SECONDS = 15 * 60.0
"""Until the table is opened again: files of the version that was opened are deleted in the end, and
a replay at a rate may take weeks. The ends of the slices stay."""
_SAMPLE = 10
_SAMPLE_BYTES = 2_000


class ReplayRun:
    """Executes one replay, from its start or after an interruption."""

    def __init__(
        self,
        session: SparkSession,
        connection: Connection,
        flow: FlowDefinition,
        location: str,
        execution: Execution,
    ) -> None:
        work = execution.run.request.spec
        assert isinstance(work, Replay)
        self._session = session
        self._connection = connection
        self._flow = flow
        self._location = location
        self._execution = execution
        self._work = work

    def carry_out(self) -> Mapping[str, Any]:
        """Returns the run's result."""
        rows = self._rows()
        if self._work.dry_run:
            return self._look(rows)
        slices = self._slices(rows)
        self._execution.check()
        state = ReplayProgress(slices, self._read_positions(slices))
        windows = self._windows(state)
        common = self._connection, self._execution, rows, self._options(), state
        rate = self._work.rate
        sending = TaskSending(*common) if rate is None else PacedSending(*common, rate)
        with closing(sending):
            opened_at = monotonic()
            while (window := windows.take()) is not None:
                if monotonic() - opened_at > _READ_AGAIN_SECONDS:
                    sending.rows, opened_at = self._rows(), monotonic()
                before = state.events
                sending.send(window)
                windows.learn(state.events - before)
                self._execution.reach(state.events)
        return {"events": state.events, "left_out": state.left_out}

    def clean_up(self) -> None:
        """Delete the positions of the slices after the end of the run."""
        groups = [
            slice_id(self._execution.run.id, each.number)
            for each in (self._planned() or {}).values()
        ]
        if not groups:
            return  # a dry run, or one that has planned nothing: librdkafka refuses an empty list
        try:
            for group, future in self._connection.admin.delete_consumer_groups(groups).items():
                self._connection.wait(future, f"Deleting the group {group}")
        except HoldfastError as error:
            log.debug("%s They expire by themselves.", error)

    def _rows(self) -> DataFrame:
        return select(self._session, self._raw(), self._flow.names.events, self._work)

    def _raw(self) -> DataFrame:
        if not DeltaTable.isDeltaTable(self._session, self._location):
            raise NotFoundError(f"No events of {self._flow.name} have landed in the raw zone yet.")
        return self._session.read.format("delta").load(self._location)

    def _look(self, rows: DataFrame) -> Mapping[str, Any]:
        totals = rows.agg(
            sql.count("*").alias("events"),
            sql.count_distinct("key").alias("keys"),
            sql.coalesce(sql.sum(_size()), sql.lit(0)).alias("bytes"),
        ).collect()[0]
        sample = rows.limit(_SAMPLE).toArrow().to_pylist() if totals["events"] else []
        return {**totals.asDict(), "sample": [_shown(row) for row in sample]}

    def _planned(self) -> dict[int, Slice] | None:
        plan = self._execution.progress.plan
        if "slices" not in plan:
            return None
        return {each[0]: Slice(*each) for each in plan["slices"]}

    def _slices(self, rows: DataFrame) -> dict[int, Slice]:
        """The slices to send: the stored plan if the run was interrupted, otherwise a new one."""
        planned = self._planned()
        if planned is not None:
            return planned
        # Sizes matter only if the driver has to keep a window in memory.
        size = sql.lit(0) if self._work.rate is None else sql.sum(_size())
        sources = (
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
        for row in sorted(sources, key=lambda row: (row["topic"], row["partition"])):
            number = row["partition"]
            if row["topic"] != self._flow.names.events:
                number, files = files, files + 1
            slices[number] = Slice(number, row["topic"], row["partition"], row["start"], row["end"])
        total = sum(row["rows"] for row in sources)
        plan = {
            "slices": [[s.number, s.topic, s.partition, s.start, s.end] for s in slices.values()],
            "mean_bytes": sum(row["bytes"] for row in sources) // max(1, total),
        }
        self._execution.begin(plan, total)
        return slices

    def _read_positions(self, slices: Mapping[int, Slice]) -> dict[int, SliceProgress]:
        """The positions from which to read rows. Tasks check themselves which events were sent."""
        if not self._execution.progress.done and self._execution.run.progress is None:
            return {}
        positions = {}
        for number in slices:
            group = slice_id(self._execution.run.id, number)
            futures = self._connection.admin.list_consumer_group_offsets(
                [ConsumerGroupTopicPartitions(group)], require_stable=True
            )
            committed = self._connection.wait(futures[group], "Reading the progress of a replay")
            for offset in committed.topic_partitions or ():
                sent = committed_progress(offset)
                if sent is not None:
                    positions[number] = sent
        if sum(sent.events for sent in positions.values()) < self._execution.progress.done:
            raise ConflictError(
                "The broker has lost the positions of this run, so it cannot continue without "
                "sending events twice. Start a new run with the remaining events."
            )
        return positions

    def _options(self) -> SendOptions:
        topic = self._flow.names.events
        now = now_ms()
        settings = Topics(self._connection).config(topic)
        return SendOptions(
            run=self._execution.run.id,
            topic=topic,
            partitions=self._flow.partitions,
            keeps_from=keeps_from(int(settings["retention.ms"].value), now),
            now=now,
        )

    def _windows(self, state: "ReplayProgress") -> Windows:
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
