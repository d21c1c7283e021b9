"""The gate's query: Spark plans ranges of events, and each is taken exactly once.

Every start begins at the committed offsets, under a checkpoint of its own: Spark's memory of what
it has planned is never trusted over Kafka's of what was taken.
"""

import logging
import pickle
import sys
import uuid
from collections.abc import Iterable
from functools import partial
from threading import Event, Lock, Thread
from time import monotonic, time

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.streaming.query import StreamingQuery

from holdfast.pipeline import faults
from holdfast.pipeline.batch_size import SMALL_BYTES, BatchSize
from holdfast.pipeline.bulk.cluster import Cluster
from holdfast.pipeline.bulk.reading import Ranges, read_ranges
from holdfast.pipeline.driver_path import SettingsChangedError, take_rows
from holdfast.pipeline.events import COLUMNS
from holdfast.pipeline.flow_gate import FlowGate, GateClosedError
from holdfast.pipeline.hadoop_files import HadoopFiles
from holdfast.pipeline.kafka_source import read_events
from holdfast.pipeline.planned import planned_ends
from holdfast.pipeline.query_errors import ending
from holdfast.pipeline.session import GATE_POOL, use_pool
from holdfast.pipeline.task_path import TaskPath
from holdfast.pipeline.tasks import OUTCOME, Job, Outcome, run_task, run_task_with_rows, split
from holdfast.pipeline.validation import why_invalid

log = logging.getLogger(__name__)

_MOST_READ = 4 * SMALL_BYTES
_WATCH_SECONDS = 0.1
_BLOCKED_SECONDS = 0.1
_MOST_MEASURED = 1_000
_END_SECONDS = 10.0
_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 10.0


class GateQuery:
    """The streaming query of one flow's gate. A query that ends by itself, or should take other
    amounts at a time, is followed by a new one."""

    def __init__(
        self, session: SparkSession, gate: FlowGate, checkpoints: str, *, small: bool | None = None
    ) -> None:
        """`small`: take all batches in the driver, or none; by their size unless given."""
        self._session = session
        self._gate = gate
        self._small = small
        self._files = HadoopFiles(session)
        self._root = f"{checkpoints}/gate/{gate.flow.name}"
        self._checkpoint = ""
        self._tasks = TaskPath(gate, session.sparkContext.broadcast)
        self._cluster = Cluster(gate.connection.settings)
        self.size = BatchSize()
        self._planned: dict[int, int] = {}
        self._in_hand = Lock()
        self._leaving = Event()
        self._query: StreamingQuery | None = None
        self._watcher: Thread | None = None
        self._error: Exception | None = None
        self.batches = 0
        """How many were taken since a query last ended by itself."""
        self.waits_for: str | None = None
        """Why no batch is taken: there is no room in held, or Spark has said so."""
        self.newest_timestamp = 0
        """Of the last event that was taken."""
        self._measured: list[tuple[float, float]] = []

    def start(self) -> None:
        self._files.delete(self._root)
        self._begin()
        name = f"query of {self._gate.flow.name}"
        self._watcher = Thread(target=self._watch, name=name, daemon=True)
        self._watcher.start()

    def failure(self) -> Exception | None:
        """Why no batches are taken any more."""
        return self._error

    def stop(self) -> None:
        """End after the batch that runs. The gate must be stopping, or a batch that waits for room
        would wait on."""
        self._gate.stopping.set()
        self._gate.news.set()
        if self._watcher is not None:
            self._watcher.join()
        self._end()

    def take_measured(self) -> list[tuple[float, float]]:
        """Of each batch since the last call, how long it took, and how old its newest event was
        when it was committed, in seconds."""
        measured, self._measured = self._measured, []
        return measured

    def _begin(self) -> None:
        use_pool(self._session, GATE_POOL)
        gate = self._gate
        # Through `carry_out`, so that what is uncertain is compared first.
        self._planned = gate.carry_out(
            lambda: {state.partition: state.position.offset for state in gate.states}
        )
        gate.check_logs()
        self._checkpoint = f"{self._root}/{uuid.uuid4()}"
        self._leaving.clear()
        rows = read_events(
            self._session,
            gate.connection,
            gate.names.events,
            starts=self._planned,
            limit=self.size.limit,
            reader=f"{gate.names.group}.reader",
        )
        self._query = (
            _columns(rows)
            .writeStream.queryName(f"{gate.flow.name}.gate")
            .option("checkpointLocation", self._checkpoint)
            .foreachBatch(self._take)
            .start()
        )

    def _end(self) -> None:
        """No batch is begun any more, the one that runs is waited for, and the query is stopped:
        stopping alone would leave a batch behind that is in Python's hands."""
        self._leaving.set()
        if self._query is None:
            return
        if self._in_hand.acquire(timeout=_END_SECONDS):
            self._in_hand.release()
        self._query.stop()  # a batch that waits for a broker is cut off by this
        with self._in_hand:
            self._files.delete(self._checkpoint)

    def _watch(self) -> None:
        pause = _FIRST_PAUSE
        try:
            while not self._gate.stopping.wait(_WATCH_SECONDS):
                assert self._query is not None
                ended = ending(self._query)
                if ended is not None:
                    if self.batches:
                        pause, self.batches = _FIRST_PAUSE, 0
                    log.warning("The query of %s has ended: %s", self._gate.flow.name, ended)
                    self.waits_for = str(ended)
                    self._gate.stopping.wait(pause)
                    pause = min(2 * pause, _LONGEST_PAUSE)
                if ended is not None or self.size.changed:
                    self._end()
                    self.size.settle()
                    self._begin()
        except GateClosedError:
            pass
        except Exception as error:
            self._error = error

    def _take(self, rows: DataFrame, batch: int) -> None:
        with self._in_hand:
            if self._leaving.is_set():
                return  # planned by a query that is about to end: the next one plans it again
            ranges = self._ranges(batch)
            begun = monotonic()
            while not self._take_ranges(rows, ranges):
                log.info("The settings of %s have changed: validating again", self._gate.flow.name)
            self._measure(monotonic() - begun)
            self._planned.update({p: end for p, (_, end) in ranges.items()})
            self.batches += 1
            faults.reach("before-spark-commit")

    def _measure(self, seconds: float) -> None:
        if len(self._measured) < _MOST_MEASURED:
            self._measured.append((seconds, max(0.0, time() - self.newest_timestamp / 1000)))

    def _ranges(self, batch: int) -> Ranges:
        """What Spark has planned, markers and aborted records included."""
        ends = planned_ends(self._files, self._checkpoint, batch, self._gate.names.events)
        return {
            p: (self._planned.get(p, 0), end)
            for p, end in ends.items()
            if end > self._planned.get(p, 0)
        }

    def _take_ranges(self, rows: DataFrame, ranges: Ranges) -> bool:
        """-> False if the settings changed meanwhile

        Spark reads the events only where it has something to say about them: it validates them by
        the flow's schema. Without one its planned ranges are all that is needed of it here.
        """
        self._wait_for_room()
        settings = self._gate.settings
        validated = None
        if settings.schema is not None:
            why = why_invalid(sql.col("value"), settings.schema)
            validated = rows.withColumn("invalid", why)
        count = sum(end - start for start, end in ranges.values())
        begun = monotonic()
        try:
            table = self._few_rows(ranges, validated, count)
            if table is not None:
                take_rows(self._gate, ranges, table, settings)
                self.size.seen(table.num_rows, table.nbytes)
                self._note_newest(pc.max(table["timestamp"]).as_py())
            else:
                run = self._run if validated is None else partial(_run_with_rows, validated)
                size, newest = self._tasks.take(ranges, run, settings)
                self.size.seen(count, size)
                self._note_newest(newest)
                self.size.took(count, monotonic() - begun)
        except SettingsChangedError:
            return False
        return True

    def _few_rows(self, ranges: Ranges, validated: DataFrame | None, count: int) -> pa.Table | None:
        """The rows, if they are so few that the driver takes them itself."""
        if validated is not None:
            small = self.size.is_small(count) if self._small is None else self._small
            return self._collect(validated) if small else None
        small = self.size.may_be_small(count) if self._small is None else self._small
        return self._read(ranges) if small else None

    def _read(self, ranges: Ranges) -> pa.Table | None:
        most = _MOST_READ if self._small is None else sys.maxsize
        try:
            return read_ranges(self._cluster, self._gate.names.events, ranges, most_bytes=most)
        except BaseException:
            self._cluster.forget()
            raise

    def _collect(self, rows: DataFrame) -> pa.Table:
        """A task costs more than the few rows that it reads: no more of them than run at once.
        Each reads its partitions one after the other, so their order stays."""
        return rows.coalesce(self._at_once()).toArrow().cast(COLUMNS)

    def _run(self, job: Job) -> Iterable[Outcome]:
        """One Spark job: as many tasks as run at once, if there are partitions for them."""
        groups = split(job.shares, self._at_once())
        numbers = self._session.range(0, len(groups), 1, len(groups))
        return _outcomes(numbers.mapInArrow(partial(run_task, job, groups), OUTCOME))

    def _at_once(self) -> int:
        """How many tasks run at once now: executors of a cluster come and go."""
        return self._session.sparkContext.defaultParallelism

    def _note_newest(self, timestamp: int | None) -> None:
        self.newest_timestamp = max(self.newest_timestamp, timestamp or 0)

    def _wait_for_room(self) -> None:
        """At the limit, with the policy `block`, no more events are taken; the keeper drains."""
        while (why := self._gate.blocked()) is not None:
            if why != self.waits_for:
                log.warning("Flow %s: %s", self._gate.flow.name, why)
            self.waits_for = why
            if self._gate.stopping.wait(_BLOCKED_SECONDS):
                raise GateClosedError("The gate is being stopped.")
        self.waits_for = None


def _columns(events: DataFrame) -> DataFrame:
    """The columns of `COLUMNS`. They are part of the streaming query, which Spark plans in any
    case, and not a plan of their own in each batch; only a flow's schema may change meanwhile."""
    return events.select(
        "partition",
        "offset",
        sql.unix_millis("timestamp").alias("timestamp"),
        "key",
        "value",
        # Spark looks at the size of its Arrow batch after each row, and a list's costs as much
        # as it is long. As text headers cost nothing where there are none.
        sql.when(sql.size("headers") > 0, sql.to_json("headers")).alias("headers"),
        sql.lit(None).cast("string").alias("invalid"),
    )


def _run_with_rows(rows: DataFrame, job: Job) -> Iterable[Outcome]:
    """One Spark job: a task for each Kafka partition that has rows."""
    return _outcomes(rows.mapInArrow(partial(run_task_with_rows, job), OUTCOME))


def _outcomes(tasks: DataFrame) -> Iterable[Outcome]:
    gathered: pa.Table = tasks.toArrow()
    return [pickle.loads(row) for row in gathered["outcome"].to_pylist()]  # noqa: S301
