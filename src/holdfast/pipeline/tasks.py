"""Large batches: Spark tasks run the same steps, with a producer for each Kafka partition.

What is here runs in Spark's Python workers. A worker keeps its clients from job to job; a task
trusts nothing that it was sent: it compares with the committed offsets first, as everybody does.
"""

import gc
import os
import pickle
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc
from confluent_kafka import Consumer

from holdfast.client.connection import Connection
from holdfast.client.positions import Partition
from holdfast.client.settings import ClientSettings
from holdfast.errors import FencedError, GateStoppedError, HoldfastError, StaleStateError
from holdfast.flows.names import FlowNames
from holdfast.gate import (
    Asked,
    Changes,
    FlowHolds,
    GateSettings,
    KeysOfInterest,
    Moment,
    PartitionState,
    is_current,
    range_to_take,
)
from holdfast.pipeline import faults
from holdfast.pipeline.bulk.cluster import Cluster
from holdfast.pipeline.bulk.reading import read_range
from holdfast.pipeline.bulk.transactions import BulkTransactions, Lines
from holdfast.pipeline.bulk.writer import BulkWriter
from holdfast.pipeline.copies import Copy, Keeping
from holdfast.pipeline.events import COLUMNS, Events, KeySet, rows_from
from holdfast.pipeline.loading import Loader
from holdfast.pipeline.owner import committed_positions
from holdfast.pipeline.steps import (
    STEP_BYTES,
    STEP_ROWS,
    Committer,
    Counts,
    Prepared,
    decide_events,
)
from holdfast.pipeline.transactions import MembershipLostError

OUTCOME = "outcome binary"
"""Schema, as Spark writes it, of what tasks give back: pickled `Outcome`s."""

_COMMITTED_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Share:
    """What is to be done in one partition: its range, from this state on."""

    start: int
    end: int
    state: Copy[PartitionState]
    held_end: int
    worker: str
    """The worker that had this partition last: its producer need not begin anew."""

    @property
    def size(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Job:
    """All that the tasks of one batch need. Plain data, sent to each of them."""

    client: ClientSettings
    flow: str
    partitions: int
    processed_partitions: int
    batch_bytes: int
    owner: str
    group_metadata: bytes
    settings: GateSettings
    over: bool
    topics: str
    now: int
    """The driver's time, which is that of all tasks."""
    holds: Copy[FlowHolds]
    through: int
    """The end of the control log that the holds speak of."""
    commands: tuple[Asked, ...]
    shares: dict[int, Share]


@dataclass(frozen=True, slots=True)
class Failure:
    """An error of ours in a task. By its kind: exceptions do not travel well between processes."""

    kind: Literal["replaced", "lost", "stopped", "transient", "other"]
    text: str

    @classmethod
    def of(cls, error: HoldfastError) -> "Failure":
        if isinstance(error, FencedError):
            return cls("replaced", str(error))
        if isinstance(error, MembershipLostError):
            return cls("lost", str(error))
        if isinstance(error, GateStoppedError):
            return cls("stopped", str(error))
        return cls("transient" if error.transient else "other", f"{type(error).__name__}: {error}")

    def raised(self) -> HoldfastError:
        """The error for the driver to handle."""
        match self.kind:
            case "replaced":
                return FencedError(self.text)
            case "lost":
                return MembershipLostError(self.text)
            case "stopped":
                return GateStoppedError(self.text)
            case "transient":
                return StaleStateError(self.text)
        return HoldfastError(self.text)


@dataclass(slots=True)
class Outcome:
    """What was committed in one partition, for the driver's state to follow."""

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
    failure: Failure | None = None

    def follow(self, step: Prepared) -> None:
        """The step was committed. Where it counts on, its changes are one with the last: of ten
        thousand held keys each step changes most, and the driver waits to read them."""
        self.counts = self.counts.plus(step.counts())
        changes = step.result.changes
        if self.changes and self.changes[-1].only_count and changes.only_count:
            changes = self.changes.pop().then(changes)
        self.changes.append(changes)


def split(shares: Mapping[int, Share], most: int) -> list[list[int]]:
    """The partitions of each of at most so many tasks, about the same work for all: to begin and
    end a task costs as much as some thousands of events."""
    groups: list[list[int]] = [[] for _ in range(min(most, len(shares)))]
    sizes = [0] * len(groups)
    for partition in sorted(shares, key=lambda p: shares[p].size, reverse=True):
        least = sizes.index(min(sizes))
        groups[least].append(partition)
        sizes[least] += shares[partition].size
    return groups


def run_task(
    job: Job, groups: Sequence[Sequence[int]], numbers: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The partitions of groups, by their number: each is read where it is."""
    faults.name_points("task-")
    for batch in numbers:
        for number in batch.column(0).to_pylist():
            for partition in groups[number]:
                yield _given_back(_worker(job).take(job, partition))


def run_task_with_rows(job: Job, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One Kafka partition of the batch that Spark has read, in the order of its offsets."""
    faults.name_points("task-")
    for first in batches:
        if first.num_rows:
            partition = first.column("partition")[0].as_py()
            yield _given_back(_worker(job).take(job, partition, chain([first], batches)))


def _given_back(outcome: "Outcome") -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([pickle.dumps(outcome)])], ["outcome"])


class Worker:
    """The clients of one worker process for one flow."""

    def __init__(self, job: Job) -> None:
        self.id = f"{os.getpid()}-{uuid.uuid4()}"
        self._names = FlowNames(job.flow)
        self._connection = Connection(job.client)
        self._cluster = Cluster(job.client)
        self._lines = Lines(job.client)
        self._committers: dict[int, Committer] = {}
        self._loader = Loader(self._connection, self._names)
        settings = {
            "group.id": self._names.group,
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "retry.backoff.ms": 20,
        }
        # It never joins: it only asks for the group's offsets.
        self._consumer: Consumer = self._connection.make(Consumer, settings)
        self._holds: Keeping[FlowHolds] = Keeping()
        self._states: dict[int, Keeping[PartitionState]] = {}
        self._beside = ThreadPoolExecutor(1, thread_name_prefix="beside the reading")

    def take(
        self, job: Job, partition: int, rows: Iterator[pa.RecordBatch] | None = None
    ) -> Outcome:
        """A partition's share of the job. `rows`: its events, if Spark has read them."""
        outcome, share = Outcome(partition, self.id), job.shares[partition]
        if rows is None:
            rows = read_range(self._cluster, self._names.events, partition, share.start, share.end)
        try:
            self._take(job, share, rows, outcome)
        except HoldfastError as error:
            self._give_up(partition)
            outcome.failure = Failure.of(error)
        except BaseException:
            self._give_up(partition)
            raise
        return outcome

    def _take(
        self, job: Job, share: Share, batches: Iterator[pa.RecordBatch], outcome: Outcome
    ) -> None:
        begun = self._beside.submit(self._begin, job, share, outcome.partition)
        portions = _cut(batches, share.end)
        try:
            first = next(portions)  # a new producer waits for its broker most of that time
        finally:
            committer, state = begun.result()
        outcome.from_step = state.position.step
        holds = self._read_holds(job)
        moment = Moment(job.owner, job.partitions, holds, job.settings, job.over, job.topics)
        interest = KeySet(KeysOfInterest([state], moment.holds))
        for rows, end in chain([first], portions):
            outcome.size += rows.nbytes
            if rows.num_rows:
                outcome.newest = max(outcome.newest, pc.max(rows["timestamp"]).as_py())
            taken = range_to_take(state.position.offset, min(share.start, end), end)
            if taken is None:
                continue
            events = Events.of(rows_from(rows, taken[0]), interest)
            prepared = committer.commit(
                _Decide(job, state, moment, share.held_end, end, events), job.group_metadata
            )
            for each in prepared:
                state.apply(each.result.changes)
                outcome.follow(each)

    def _begin(self, job: Job, share: Share, partition: int) -> tuple[Committer, PartitionState]:
        """The producer first, then the comparison: what the last one left open is over then."""
        committer = self._committer(job, partition, fresh=share.worker != self.id)
        keeping = self._states.setdefault(partition, Keeping())
        return committer, self._current(job, keeping.follow(share.state))

    def _committer(self, job: Job, partition: int, *, fresh: bool) -> Committer:
        committer = self._committers.get(partition)
        if committer is not None and not fresh:
            return committer
        transactional_id = self._names.task_transactional_id(partition)
        transactions = BulkTransactions(job.client, transactional_id, job.batch_bytes, self._lines)
        self._committers.pop(partition, None)
        transactions.renew()
        writer = BulkWriter(self._names, job.processed_partitions)
        self._committers[partition] = Committer(self._names, transactions, writer)
        return self._committers[partition]

    def _give_up(self, partition: int) -> None:
        """After an error: an answer may be on its way that nobody waits for any more, and what
        was committed is not known."""
        self._cluster.forget()
        self._lines.forget()
        self._committers.pop(partition, None)
        self._states.pop(partition, None)

    def _current(self, job: Job, state: PartitionState) -> PartitionState:
        """Compare, then act: an earlier attempt may have committed what the driver knows not of."""
        p = state.partition
        place = {Partition(self._names.events, p)}
        committed = committed_positions(self._consumer, place, _COMMITTED_SECONDS)[p]
        if committed is None:
            raise MembershipLostError(f"The committed offset of partition {p} is gone.")
        if is_current(committed, state.position, job.owner):
            return state
        self._states.pop(p, None)  # it is not what the driver has
        return self._loader.load(p, committed, job.now)

    def _read_holds(self, job: Job) -> FlowHolds:
        holds = self._holds.follow(job.holds)
        holds.through, holds.now = job.through, job.now
        return holds


@dataclass(frozen=True, slots=True)
class _Decide:
    """Decides one step, as often as it is asked to."""

    job: Job
    state: PartitionState
    moment: Moment
    held_end: int
    end: int
    events: Events

    def __call__(self, too_large: Collection[tuple[int, int]]) -> list[Prepared]:
        state = self.state
        commands = [a for a in self.job.commands if a.offset >= state.position.control]
        events = self.events.without({o for p, o in too_large if p == state.partition})
        return [
            decide_events(
                state,
                self.moment,
                commands,
                held_end=self.held_end,
                end=self.end,
                events=events,
            )
        ]


def _cut(batches: Iterator[pa.RecordBatch], end: int) -> Iterator[tuple[pa.Table, int]]:
    """The rows in portions of a step each, and where each step ends: behind its last row, or, the
    last one, where the range ends, which may be later."""
    waiting: list[pa.RecordBatch] = []
    for batch in chain.from_iterable(map(_pieces, batches)):
        rows = batch.num_rows + sum(b.num_rows for b in waiting)
        if waiting and (rows > STEP_ROWS or sum(b.nbytes for b in waiting) >= STEP_BYTES):
            yield pa.Table.from_batches(waiting), waiting[-1].column("offset")[-1].as_py() + 1
            waiting = []
        waiting.append(batch)
    yield pa.Table.from_batches(waiting, None if waiting else COLUMNS), end


def _pieces(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The batch in as few even pieces as are no longer than a step; none if it is empty."""
    count = -(-batch.num_rows // STEP_ROWS)
    for number in range(count):
        start, end = (batch.num_rows * n // count for n in (number, number + 1))
        yield batch.slice(start, end - start)


_workers: dict[tuple[int, str, str], Worker] = {}


def _worker(job: Job) -> Worker:
    """This process's, also if it was forked from one that had some."""
    identity = (os.getpid(), job.flow, job.client.bootstrap)
    if identity not in _workers:
        _workers[identity] = Worker(job)
        # Modules and clients, which stay: Spark has a worker's objects looked through for garbage
        # after every task, thirty milliseconds for these alone.
        gc.freeze()
    return _workers[identity]
