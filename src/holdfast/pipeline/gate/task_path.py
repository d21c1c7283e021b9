"""Large batches, seen from the driver: plan the job, run it under the lock, follow its results."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from holdfast.errors import EventsLostError, HoldfastError
from holdfast.gate import (
    FlowHolds,
    GateSettings,
    PartitionState,
    StepContext,
    Unreadable,
    range_to_take,
)
from holdfast.kafka.fetch import Ranges
from holdfast.pipeline.gate.driver_path import check_batch
from holdfast.pipeline.gate.events import Events
from holdfast.pipeline.gate.exclusive import ExclusiveFlow
from holdfast.pipeline.gate.flow_gate import FlowGate
from holdfast.pipeline.gate.replicas import DriverReplica, MakeBroadcast
from holdfast.pipeline.gate.tasks import BatchJob, PartitionResult, PlannedRange

RunJob = Callable[[BatchJob], Iterable[PartitionResult]]


class Taken(NamedTuple):
    """The result of a batch that tasks have taken."""

    size: int = 0
    """Bytes of the rows that were read."""
    newest: int = 0
    """The timestamp of the newest."""
    unreadable: Mapping[int, Unreadable] = {}
    """The batch at which a partition ended early, by partition."""


@dataclass(slots=True)
class TaskPath:
    """Runs batches of one flow in tasks."""

    gate: FlowGate
    broadcast: MakeBroadcast | None = None
    """Makes broadcasts; without it all goes with the job."""
    _workers: dict[int, str] = field(default_factory=dict)
    """Which worker has a producer of each partition's transactional id in its newest epoch."""
    _initialisations: int = -1
    """As of when `_workers` holds."""
    _states: dict[int, DriverReplica[PartitionState]] = field(default_factory=dict)
    _holds: DriverReplica[FlowHolds] = field(init=False)

    def __post_init__(self) -> None:
        self._holds = DriverReplica(self.broadcast)

    def take(self, ranges: Ranges, run: RunJob, settings: GateSettings) -> Taken:
        """Take the events of the ranges in tasks. When this returns, each is committed exactly
        once, but for those from an unreadable batch on.

        `run` runs the job and returns the results of its tasks. The lock is held meanwhile: the
        control log's end, read after the ranges were fixed, is that of all tasks.
        """

        def step(flow: ExclusiveFlow) -> Taken:
            check_batch(flow, ranges, settings)
            context = flow.begin_batch()
            flow.refresh_held_ends()
            job = self._plan(flow, ranges, context)
            if not job.partitions:
                return Taken()
            try:
                results = list(run(job))
            except BaseException:
                flow.mark_tasks_unaccounted()
                raise
            self._apply(flow, results)
            empty = job.partitions.keys() - {result.partition for result in results}
            _pass_over(flow, ranges, context, empty)
            return Taken(
                sum(result.size for result in results),
                max((result.newest for result in results), default=0),
                {o.partition: o.unreadable for o in results if o.unreadable is not None},
            )

        return self.gate.run_exclusively(step)

    def _plan(self, flow: ExclusiveFlow, ranges: Ranges, context: StepContext) -> BatchJob:
        if self._initialisations != flow.initialisations:
            self._initialisations = flow.initialisations
            self._workers.clear()
        planned = {}
        for p, (start, end) in ranges.items():
            state = flow.states[p]
            if range_to_take(state.position.offset, start, end) is not None:
                copy = self._states.setdefault(p, DriverReplica(self.broadcast)).update(state)
                planned[p] = PlannedRange(
                    start, end, copy, flow.held_ends[p], self._workers.get(p, "")
                )
        holds, connection = context.holds, self.gate.connection
        lowest = min((flow.states[p].position.control for p in planned), default=holds.through)
        return BatchJob(
            client=connection.settings,
            brokers=connection.brokers,
            flow=flow.names.flow,
            processed_partitions=flow.guard.processed_partitions,
            group_metadata=flow.owner.group_metadata(),
            context=replace(context, holds=FlowHolds()),
            holds=self._holds.update(holds),
            through=holds.through,
            commands=tuple(flow.tail.log.between(lowest, holds.through)),
            partitions=planned,
        )

    def _apply(self, flow: ExclusiveFlow, results: list[PartitionResult]) -> None:
        """Apply the changes that tasks have committed; then raise the first task's error."""
        for result in results:
            state = flow.states[result.partition]
            if result.error is not None:
                flow.mark_tasks_unaccounted()  # its transaction may still be open
            else:
                self._workers[result.partition] = result.worker
            if result.from_step != state.position.step:
                flow.mark_state_stale()  # an earlier attempt has committed steps unknown here
                continue
            for changes in result.changes:
                state.apply(changes)
        flow.count(result.counts for result in results)
        for error in (result.error for result in results):
            if isinstance(error, EventsLostError):
                # Another attempt cannot help. The intake then compares positions with the log.
                raise HoldfastError(str(error)) from error
            if error is not None:
                raise error


def _pass_over(
    flow: ExclusiveFlow, ranges: Ranges, context: StepContext, empty: Collection[int]
) -> None:
    """Move the position behind ranges without rows: those of markers and aborted records alone
    yield no task."""
    ends = {p: ranges[p][1] for p in sorted(empty)}
    flow.commit(
        [
            flow.decide_events(p, context, Events(), end)
            for p, end in ends.items()
            if flow.states[p].position.offset < end
        ]
    )
