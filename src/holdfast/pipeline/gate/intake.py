"""The intake of a gate: ranges of new events are planned, and each is taken exactly once.

Ranges begin at the committed offsets and end where the watch of all logs has seen the end of
committed events. While there are none, nothing runs.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from threading import Event, Thread
from time import monotonic, time

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from holdfast.backoff import Backoff
from holdfast.errors import EventsLostError, HoldfastError
from holdfast.gate import FlowPausedError, GateSettings, Unreadable, UnreadableEventsError
from holdfast.kafka.cluster import ClusterClient
from holdfast.kafka.fetch import NO_LIMIT, Ranges, Read, read_ranges
from holdfast.kafka.watch import KnownEnds, Subscription
from holdfast.pipeline.gate.batch_size import SMALL_BYTES, BatchSize, seconds_apart
from holdfast.pipeline.gate.driver_path import LeaderChangedError, SettingsChangedError, take_rows
from holdfast.pipeline.gate.exclusive import ExclusiveFlow
from holdfast.pipeline.gate.flow_gate import FlowGate, GateClosedError
from holdfast.pipeline.gate.replicas import Broadcast
from holdfast.pipeline.gate.task_path import RunJob, TaskPath
from holdfast.pipeline.gate.tasks import (
    BatchJob,
    PartitionResult,
    run_task,
    run_task_with_rows,
    split,
)
from holdfast.pipeline.spark.errors import root_cause
from holdfast.pipeline.spark.kafka_source import read_range
from holdfast.pipeline.spark.readable import find_unreadable, read_slice, readable, validated
from holdfast.pipeline.spark.session import GATE_POOL, use_pool
from holdfast.pipeline.spark.tasks import RESULTS, run_tasks
from holdfast.pipeline.spark.validation import why_invalid

log = logging.getLogger(__name__)

_MOST_READ = 4 * SMALL_BYTES
_BLOCKED_SECONDS = 0.1
_READ_AGAIN_SECONDS = 5.0
"""Until events that could not be read are tried again: a replica may have been restored."""
_MOST_MEASURED = 1_000
_END_SECONDS = 10.0
_FIRST_PAUSE_SECONDS = 0.2
_LONGEST_PAUSE_SECONDS = 10.0


class Intake:
    """Takes the new events of one flow, on a thread of its own."""

    def __init__(
        self, session: Callable[[], SparkSession], gate: FlowGate, *, small: bool | None = None
    ) -> None:
        """`session` is called when Spark is needed. `small`: take all batches in the driver, or
        none; by their size unless given."""
        self._get_session = session
        self._uses_spark = False
        self._gate = gate
        self._small = small
        self._tasks = TaskPath(gate, self._broadcast)
        self._cluster = ClusterClient(gate.connection.settings)
        self.size = BatchSize()
        self._ends = KnownEnds()
        self._check_log = False
        """The log may lack events that were not taken."""
        self._woken = Event()
        self._watching: Subscription | None = None
        self._thread: Thread | None = None
        self._error: Exception | None = None
        self.batches = 0
        """Batches that were taken since one last failed."""
        self.waits_for: str | None = None
        """Why no batch is taken: there is no room in held, or the last one has failed."""
        self.newest_timestamp = 0
        """The timestamp of the newest event of the last batch that had any."""
        self._measured: list[tuple[float, float]] = []

    def start(self) -> None:
        self._begin()
        name = f"intake of {self._gate.flow.name}"
        self._thread = Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def failure(self) -> Exception | None:
        """The error that ended the intake for good."""
        return self._error

    def stop(self) -> None:
        """End after the batch that runs. The gate must be stopping, or a batch that waits for room
        would wait on."""
        self._gate.stopping.set()
        self._gate.news.set()
        self._unsubscribe()
        self._woken.set()
        if self._thread is not None:
            self._thread.join(_END_SECONDS)
            if self._uses_spark:  # a job that waits for a broker is cut off by this
                self._get_session().sparkContext.cancelJobGroup(self._job_group)
            self._thread.join()
            self._unsubscribe()  # it may have begun again meanwhile
        self._cluster.forget()

    def take_measured(self) -> list[tuple[float, float]]:
        """Duration and latency of each batch since the last call, in seconds. The latency is the
        age of its newest event at the commit."""
        measured, self._measured = self._measured, []
        return measured

    def ends(self) -> dict[int, int]:
        """The known end of the committed events of each partition."""
        return self._ends.current()

    # planning

    def _begin(self) -> None:
        """Plan from the committed offsets on."""
        gate = self._gate
        # Exclusively, so that stale states are read again first.
        starts = gate.run_exclusively(
            lambda flow: {state.partition: state.position.offset for state in flow.states}
        )
        gate.check_logs()
        self._ends.begin(starts)
        self._check_log = False
        self._unsubscribe()
        self._watching = gate.watches.events.add(
            gate.names.events, starts, self._moved, self._not_watched
        )

    def _unsubscribe(self) -> None:
        if self._watching is not None:
            self._watching.cancel()

    def _moved(self, ends: Mapping[int, int]) -> None:
        self._ends.advance(ends)
        self._gate.broker_answered()
        self._woken.set()

    def _not_watched(self, error: HoldfastError) -> None:
        if isinstance(error, EventsLostError):
            self._check_log = True
            self._woken.set()
        else:
            if self._gate.trouble is None:
                self._gate.report_trouble(error)
            self._gate.news.set()  # the keeper then finds out when the broker answers again

    def _run(self) -> None:
        backoff = Backoff(_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS)
        gate = self._gate
        try:
            while True:
                self._woken.clear()  # before `stopping` is looked at, so that no end is missed
                if gate.stopping.is_set():
                    return
                try:
                    if self._check_log:
                        self._begin()
                    taken = self._take_batch()
                except GateClosedError:
                    return
                except Exception as error:
                    if self.batches:
                        backoff.reset()
                        self.batches = 0
                    self.waits_for = root_cause(error)
                    log.warning("A batch of %s has failed: %s", gate.flow.name, self.waits_for)
                    gate.stopping.wait(backoff.next())
                    self._begin()
                    continue
                if not taken:
                    self._woken.wait()
        except GateClosedError:
            pass
        except Exception as error:
            self._error = error

    def _take_batch(self) -> bool:
        """Take one batch. Returns False if there are no events."""
        ranges = self._plan()
        if not ranges:
            return False
        begun = monotonic()
        self._take_ranges(ranges)
        seconds = monotonic() - begun
        self._measure(seconds)
        self.batches += 1
        count = sum(end - start for start, end in ranges.values())
        if count < self.size.limit:
            apart = seconds_apart(count, self._gate.watches.events.busy())
            self._gate.stopping.wait(max(0.0, apart - seconds))
        return True

    def _plan(self) -> Ranges:
        """The ranges to take, markers and aborted records included: at most the batch size,
        evenly."""
        ends = self.ends()
        starts = {p: position.offset for p, position in enumerate(self._gate.positions())}
        sizes = {p: end - starts.get(p, 0) for p, end in ends.items()}
        total = sum(size for size in sizes.values() if size > 0)
        part = min(1.0, self.size.limit / total) if total else 1.0
        return {
            p: (starts.get(p, 0), starts.get(p, 0) + max(1, int(part * size)))
            for p, size in sizes.items()
            if size > 0
        }

    def _left(self, ranges: Ranges) -> Ranges:
        """The part of the ranges that is not taken. A skip may have gone past the end of an earlier
        one."""
        taken = {p: position.offset for p, position in enumerate(self._gate.positions())}
        return {
            p: (max(start, taken.get(p, start)), end)
            for p, (start, end) in ranges.items()
            if taken.get(p, start) < end
        }

    # taking

    def _take_ranges(self, ranges: Ranges) -> None:
        """Take all of the ranges, however long that is forbidden: by a pause, by a full flow, or by
        events that cannot be read until a command skips them."""
        by_spark = True
        while left := self._left(ranges):
            self._wait_for_room()
            try:
                unreadable = self._take_some(left) if by_spark else self._take_slice(left)
            except SettingsChangedError:
                log.info("The settings of %s have changed: validating again", self._gate.flow.name)
                continue
            except LeaderChangedError:
                self._cluster.forget()
                continue
            except FlowPausedError:  # the keeper will take the command
                self._wait_a_moment()
                continue
            except HoldfastError:
                raise
            except Exception:  # Spark's own, which names no offset
                found = find_unreadable(self._cluster, self._gate.names.events, left)
                if found is None or not by_spark:
                    raise
                by_spark, unreadable = False, {}
            for each in unreadable.values():
                self._wait_for_skip(each)
        self.waits_for = None

    def _wait_for_skip(self, unreadable: Unreadable) -> None:
        """Until the events were skipped, or it is time to look whether they can be read again."""
        error = UnreadableEventsError(self._gate.flow.name, unreadable)
        if str(error) != self.waits_for:
            log.error("Flow %s: %s", self._gate.flow.name, error)
        self.waits_for = str(error)
        deadline = monotonic() + _READ_AGAIN_SECONDS
        while self._gate.positions()[unreadable.partition].offset <= unreadable.start:
            self._wait_a_moment()
            if monotonic() > deadline:
                return

    def _measure(self, seconds: float) -> None:
        if len(self._measured) < _MOST_MEASURED:
            self._measured.append((seconds, max(0.0, time() - self.newest_timestamp / 1000)))

    def _take_some(self, ranges: Ranges) -> Mapping[int, Unreadable]:
        """Take the events of the ranges up to those that cannot be read, which are returned.

        Many events of a flow with a schema are read by Spark, to validate them.
        """
        settings = self._gate.settings
        count = sum(end - start for start, end in ranges.values())
        begun = monotonic()
        epochs = self._gate.epochs()
        read = self._few_rows(ranges, count)
        if read is not None:
            rows = self._validated(read.rows, settings.schema)
            self._take_rows(readable(ranges, read.unreadable), rows, settings, epochs)
            return read.unreadable
        run: RunJob = self._run_job
        if settings.schema is not None:  # a task for each Kafka partition that has rows
            by_spark = self._validated_by_spark(ranges, settings.schema)
            run = lambda job: run_tasks(  # noqa: E731
                by_spark.mapInArrow(partial(run_task_with_rows, job), RESULTS)
            )
        taken = self._tasks.take(ranges, run, settings)
        self.size.seen(count, taken.size)
        self._note_newest(taken.newest)
        self.size.took(count, monotonic() - begun)
        return taken.unreadable

    def _take_slice(self, ranges: Ranges) -> Mapping[int, Unreadable]:
        """Take a beginning of the ranges, without Spark's source, up to unreadable events."""
        settings, epochs = self._gate.settings, self._gate.epochs()
        some, read = read_slice(self._cluster, self._gate.names.events, ranges)
        rows = self._validated(read.rows, settings.schema)
        self._take_rows(some, rows, settings, epochs)
        return read.unreadable

    def _validated(self, rows: pa.Table, schema: str | None) -> pa.Table:
        return rows if schema is None else validated(self._session, rows, schema)

    def _take_rows(
        self, ranges: Ranges, rows: pa.Table, settings: GateSettings, epochs: Mapping[int, int]
    ) -> None:
        self._check_leaders(ranges, epochs)
        take_rows(self._gate, ranges, rows, settings, epochs)
        self.size.seen(rows.num_rows, rows.nbytes)
        self._note_newest(pc.max(rows["timestamp"]).as_py())

    def _check_leaders(self, ranges: Ranges, epochs: Mapping[int, int]) -> None:
        """Raise LeaderChangedError if our client has met other leaders than those of the gate's
        positions."""
        events = self._gate.names.events
        if any(self._cluster.known_epoch(events, p) not in (None, epochs[p]) for p in ranges):
            self._gate.run_exclusively(ExclusiveFlow.begin_step)
            raise LeaderChangedError

    def _few_rows(self, ranges: Ranges, count: int) -> Read | None:
        """The rows, if they are few enough for the driver to take them itself."""
        small = self.size.may_be_small(count) if self._small is None else self._small
        return self._read(ranges) if small else None

    def _read(self, ranges: Ranges) -> Read | None:
        """The rows, or None if they turn out to be too large for the driver."""
        most = NO_LIMIT if self._small else _MOST_READ
        return read_ranges(self._cluster, self._gate.names.events, ranges, most_bytes=most)

    @property
    def _session(self) -> SparkSession:
        session = self._get_session()
        use_pool(session, GATE_POOL)
        what = f"Gate of {self._gate.flow.name}"
        session.sparkContext.setJobGroup(self._job_group, what, False)
        self._uses_spark = True
        return session

    @property
    def _job_group(self) -> str:
        return f"holdfast.gate.{self._gate.flow.name}"

    def _broadcast(self, value: bytes) -> Broadcast:
        made: Broadcast = self._session.sparkContext.broadcast(value)
        return made

    def _validated_by_spark(self, ranges: Ranges, schema: str) -> DataFrame:
        """The events of the ranges, read by Spark, with the reason why one is invalid."""
        gate = self._gate
        at = {p: position.offset for p, position in enumerate(gate.positions())}
        rows = read_range(
            self._session,
            gate.connection,
            gate.names.events,
            starts={p: ranges[p][0] if p in ranges else at[p] for p in at},
            ends={p: ranges[p][1] if p in ranges else at[p] for p in at},
            reader=f"{gate.names.group}.reader",
        )
        return _columns(rows).withColumn("invalid", why_invalid(sql.col("value"), schema))

    def _run_job(self, job: BatchJob) -> Iterable[PartitionResult]:
        """One Spark job: as many tasks as run at once, if there are partitions for them."""
        groups = split(job.partitions, self._at_once())
        numbers = self._session.range(0, len(groups), 1, len(groups))
        return run_tasks(numbers.mapInArrow(partial(run_task, job, groups), RESULTS))

    def _at_once(self) -> int:
        """How many tasks run at once now: executors of a cluster come and go."""
        return self._session.sparkContext.defaultParallelism

    def _note_newest(self, timestamp: int | None) -> None:
        """Not the newest of all time: one event from the future would hide all latency after it."""
        self.newest_timestamp = timestamp or self.newest_timestamp

    def _wait_for_room(self) -> None:
        """While the flow is paused, or at the limit with the policy `block`, no more events are
        taken. The keeper serves commands and drains meanwhile."""
        while (why := self._gate.blocked()) is not None:
            if why != self.waits_for:
                log.warning("Flow %s: %s", self._gate.flow.name, why)
            self.waits_for = why
            self._wait_a_moment()

    def _wait_a_moment(self) -> None:
        if self._gate.stopping.wait(_BLOCKED_SECONDS):
            raise GateClosedError("The gate is being stopped.")


def _columns(events: DataFrame) -> DataFrame:
    """The columns of `COLUMNS`."""
    return events.select(
        "partition",
        "offset",
        sql.unix_millis("timestamp").alias("timestamp"),
        "key",
        "value",
        # As text headers cost nothing where there are none. A list's size is computed each time.
        sql.when(sql.size("headers") > 0, sql.to_json("headers")).alias("headers"),
    )
