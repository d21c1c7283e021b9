"""Large batches: Spark tasks run the same steps, with a producer for each Kafka partition.

This module runs in Spark's Python workers. A worker keeps its clients from job to job. A task
compares the state that it was sent with the committed offsets first, as the driver does.
"""

import os
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc

from holdfast import faults
from holdfast.client.committed import committed_positions
from holdfast.client.connection import Connection
from holdfast.client.loading import Loader
from holdfast.client.positions import Partition
from holdfast.client.settings import ClientSettings
from holdfast.errors import HoldfastError, StaleStateError
from holdfast.flows.names import FlowNames
from holdfast.gate import (
    Changes,
    ControlEntry,
    FlowHolds,
    KeysOfInterest,
    PartitionState,
    StepContext,
    Unreadable,
    is_current,
    range_to_take,
)
from holdfast.kafka.cluster import ClusterClient
from holdfast.kafka.errors import MembershipLostError
from holdfast.kafka.fetch import UnreadableRecordsError, read_range
from holdfast.kafka.producer import BrokerConnections, TransactionalProducer
from holdfast.pipeline.gate.column_writer import ColumnWriter
from holdfast.pipeline.gate.events import COLUMNS, Events, KeySet, rows_from
from holdfast.pipeline.gate.replicas import ReplicaUpdate, WorkerReplica
from holdfast.pipeline.gate.sizes import MOST_ATTEMPTS, SizeLimits, limits_keep_changing
from holdfast.pipeline.gate.steps import (
    Committer,
    Counts,
    DecidedStep,
    LimitsChangedError,
    decide_events,
)
from holdfast.pipeline.spark.tasks import WorkerRegistry, result_batch, rows_by_transaction

_COMMITTED_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class PlannedRange:
    """The range of one partition that a task takes, and the state to start from."""

    start: int
    end: int
    state: ReplicaUpdate[PartitionState]
    held_end: int
    worker: str
    """The worker that had this partition last: its producer can go on."""

    @property
    def size(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class BatchJob:
    """The input of all tasks of one batch. Plain data, sent to each of them."""

    client: ClientSettings
    brokers: tuple[str, ...]
    """Those that the driver has learned of: configured ones may be dead when a worker starts."""
    flow: str
    processed_partitions: int
    group_metadata: bytes
    context: StepContext
    """The driver's, without the holds. Its time is that of all tasks."""
    holds: ReplicaUpdate[FlowHolds]
    through: int
    """The end of the control log that the holds speak of."""
    commands: tuple[ControlEntry, ...]
    partitions: dict[int, PlannedRange]


@dataclass(slots=True)
class PartitionResult:
    """The changes that a task has committed in one partition, for the driver to apply."""

    partition: int
    worker: str
    from_step: int = -1
    """The step of the state that the first of the changes follows."""
    changes: list[Changes] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)
    size: int = 0
    """Bytes of the rows."""
    newest: int = 0
    """The last timestamp of a row."""
    error: HoldfastError | None = None
    unreadable: Unreadable | None = None
    """The unreadable batch at which the range ended early."""

    def follow(self, step: DecidedStep) -> None:
        """Add a committed step. Changes that only count are merged with the last ones: each step
        may change most of ten thousand held keys, and the driver waits to read them."""
        self.counts = self.counts.plus(step.counts())
        changes = step.result.changes
        if self.changes and self.changes[-1].only_count and changes.only_count:
            changes = self.changes.pop().then(changes)
        self.changes.append(changes)


def split(planned: Mapping[int, PlannedRange], most: int) -> list[list[int]]:
    """The partitions of each task, for at most `most` tasks of about the same work: to start and
    end a task costs as much as some thousands of events."""
    groups: list[list[int]] = [[] for _ in range(min(most, len(planned)))]
    sizes = [0] * len(groups)
    for partition in sorted(planned, key=lambda p: planned[p].size, reverse=True):
        least = sizes.index(min(sizes))
        groups[least].append(partition)
        sizes[least] += planned[partition].size
    return groups


def run_task(
    job: BatchJob, groups: Sequence[Sequence[int]], numbers: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Takes the partitions of the groups with these numbers. Each is read from Kafka."""
    faults.name_points("task-")
    for batch in numbers:
        for number in batch.column(0).to_pylist():
            for partition in groups[number]:
                yield result_batch(_worker(job).take(job, partition))


def run_task_with_rows(
    job: BatchJob, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Takes one Kafka partition that Spark has read, in the order of its offsets."""
    faults.name_points("task-")
    for first in batches:
        if first.num_rows:
            partition = first.column("partition")[0].as_py()
            if partition not in job.partitions:
                return  # it was taken before
            yield result_batch(_worker(job).take(job, partition, chain([first], batches)))


class Worker:
    """The clients of one worker process for one flow."""

    def __init__(self, job: BatchJob) -> None:
        self.id = f"{os.getpid()}-{uuid.uuid4()}"
        self._names = FlowNames(job.flow)
        self._connection = Connection(job.client)
        self._cluster = ClusterClient(job.client)
        self._broker_connections = BrokerConnections(job.client)
        self._committers: dict[int, Committer] = {}
        self._limits = SizeLimits.of_flow(job.client, self._names)
        self._loader = Loader(self._connection, self._names)
        self._consumer = self._connection.reader({"retry.backoff.ms": 20}, group=self._names.group)
        self._holds: WorkerReplica[FlowHolds] = WorkerReplica()
        self._states: dict[int, WorkerReplica[PartitionState]] = {}
        self._beside = ThreadPoolExecutor(1, thread_name_prefix="beside the reading")

    def close(self) -> None:
        self._beside.shutdown()
        self._loader.close()
        self._consumer.close()
        self._cluster.forget()
        self._broker_connections.forget()

    def take(
        self, job: BatchJob, partition: int, rows: Iterator[pa.RecordBatch] | None = None
    ) -> PartitionResult:
        """Takes the range of a partition. `rows`: its events, if Spark has read them."""
        result, planned = PartitionResult(partition, self.id), job.partitions[partition]
        own = rows is None
        if rows is None:
            rows = read_range(
                self._cluster, self._names.events, partition, planned.start, planned.end
            )
        try:
            self._take(job, planned, rows, result, own)
        except HoldfastError as error:
            self._give_up(partition)
            result.error = error
        except BaseException:
            self._give_up(partition)
            raise
        return result

    def _take(
        self,
        job: BatchJob,
        planned: PlannedRange,
        batches: Iterator[pa.RecordBatch],
        result: PartitionResult,
        own: bool,
    ) -> None:
        begun = self._beside.submit(self._begin, job, planned, result.partition)
        steps = _cut(_readable(batches, result), planned.end, result)
        try:
            first = next(steps)  # a new producer waits for its broker most of that time
        finally:
            committer, state = begun.result()
        result.from_step = state.position.step
        context = replace(job.context, holds=self._read_holds(job))
        keys = KeysOfInterest([state], context.holds, job.commands)
        interest = KeySet(keys, keys.prefixes)
        for rows, end in chain([first], steps):
            result.size += rows.nbytes
            if rows.num_rows:
                result.newest = max(result.newest, pc.max(rows["timestamp"]).as_py())
            taken = range_to_take(state.position.offset, min(planned.start, end), end)
            if taken is None:
                continue
            self._check_leader(state, own)
            events = Events.of(rows_from(rows, taken[0]), interest)
            step = _commit_step(job, planned, committer, state, context, events, end)
            state.apply(step.result.changes)
            result.follow(step)

    def _check_leader(self, state: PartitionState, own: bool) -> None:
        """Refuse rows of another leader than that of the position: the driver compares that
        leader's log first. `own`: our client has read the rows, and knows their leader."""
        events, p = self._names.events, state.partition
        if not own:
            self._cluster.look_up(events)
        if self._cluster.known_epoch(events, p) not in (None, state.position.epoch):
            raise StaleStateError(f"Partition {p} of {events} has another leader: read it again.")

    def _begin(
        self, job: BatchJob, planned: PlannedRange, partition: int
    ) -> tuple[Committer, PartitionState]:
        """The producer first, then the comparison: the new producer ends what the last one left
        open."""
        committer = self._committer(job, partition, fresh=planned.worker != self.id)
        keeping = self._states.setdefault(partition, WorkerReplica())
        return committer, self._current(job, keeping.follow(planned.state))

    def _committer(self, job: BatchJob, partition: int, *, fresh: bool) -> Committer:
        committer = self._committers.get(partition)
        if committer is not None and not fresh:
            return committer
        transactional_id = self._names.task_transactional_id(partition)
        transactions = TransactionalProducer(
            job.client, transactional_id, self._limits.batch_bytes, self._broker_connections
        )
        self._committers.pop(partition, None)
        transactions.renew()
        names, processed_partitions = self._names, job.processed_partitions
        self._committers[partition] = Committer(
            names,
            transactions,
            lambda limit: ColumnWriter(names, processed_partitions, transactions.begin(), limit),
            self._limits,
        )
        return self._committers[partition]

    def _give_up(self, partition: int) -> None:
        """After an error: a reply may still be on its way, and it is not known what was
        committed."""
        self._cluster.forget()
        self._broker_connections.forget()
        self._committers.pop(partition, None)
        self._states.pop(partition, None)

    def _current(self, job: BatchJob, state: PartitionState) -> PartitionState:
        """Compare, then act: an earlier attempt may have committed steps that the driver does not
        know of."""
        p = state.partition
        source = {Partition(self._names.events, p)}
        committed = committed_positions(self._consumer, source, _COMMITTED_SECONDS)[p]
        if committed is None:
            raise MembershipLostError(f"The committed offset of partition {p} is gone.")
        if is_current(committed, state.position, job.context.owner):
            return state
        self._states.pop(p, None)  # it differs from the driver's
        return self._loader.load(p, committed, job.context.now.monotonic)

    def _read_holds(self, job: BatchJob) -> FlowHolds:
        holds = self._holds.follow(job.holds)
        holds.through = job.through
        return holds


def _commit_step(
    job: BatchJob,
    planned: PlannedRange,
    committer: Committer,
    state: PartitionState,
    context: StepContext,
    events: Events,
    end: int,
) -> DecidedStep:
    """Decides and commits one step; decides again when the size limits turn out to be others."""
    commands = [a for a in job.commands if a.offset >= state.position.control]
    for _ in range(MOST_ATTEMPTS):
        step = decide_events(
            state,
            context,
            commands,
            held_end=planned.held_end,
            end=end,
            events=events,
            limits=committer.output_limits,
        )
        with suppress(LimitsChangedError):
            committer.commit([step], job.group_metadata)
            return step
    raise limits_keep_changing()


def _readable(
    batches: Iterator[pa.RecordBatch], result: PartitionResult
) -> Iterator[pa.RecordBatch]:
    """The rows, up to a batch that cannot be read."""
    try:
        yield from batches
    except UnreadableRecordsError as error:
        result.unreadable = error.unreadable


def _cut(
    batches: Iterator[pa.RecordBatch], end: int, result: PartitionResult
) -> Iterator[tuple[pa.Table, int]]:
    """The rows of each step, and where the step ends: behind its last row. The last step ends where
    the range ends, which may be later, or where it can be read no further."""
    for rows, last in rows_by_transaction(batches):
        if not last:
            yield pa.Table.from_batches(rows), rows[-1].column("offset")[-1].as_py() + 1
            continue
        if result.unreadable is not None:
            end = result.unreadable.start
        yield pa.Table.from_batches(rows, None if rows else COLUMNS), end


_workers: WorkerRegistry[Worker] = WorkerRegistry(sys.maxsize)


def _worker(job: BatchJob) -> Worker:
    return _workers.get(job.flow, job.client, job.brokers, lambda: Worker(job))
