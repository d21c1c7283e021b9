"""Large batches, seen from the driver: plan the job, run it under the lock, follow its outcomes."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from holdfast.gate import FlowHolds, GateSettings, Moment, PartitionState, range_to_take
from holdfast.pipeline.bulk.reading import Ranges
from holdfast.pipeline.copies import Original, Spread
from holdfast.pipeline.driver_path import SettingsChangedError, check_ranges
from holdfast.pipeline.events import Events
from holdfast.pipeline.flow_gate import FlowGate
from holdfast.pipeline.steps import Prepared, decide_events
from holdfast.pipeline.tasks import Job, Outcome, Share

RunJob = Callable[[Job], Iterable[Outcome]]


@dataclass(slots=True)
class TaskPath:
    """Runs batches of one flow in tasks."""

    gate: FlowGate
    spread: Spread | None = None
    """Makes broadcasts; without it all goes with the job."""
    _workers: dict[int, str] = field(default_factory=dict)
    """Which worker ran each partition last."""
    _states: dict[int, Original[PartitionState]] = field(default_factory=dict)
    _holds: Original[FlowHolds] = field(init=False)

    def __post_init__(self) -> None:
        self._holds = Original(self.spread)

    def take(self, ranges: Ranges, run: RunJob, settings: GateSettings) -> tuple[int, int]:
        """Take the events of the ranges in tasks. When this returns, each is committed exactly
        once. -> bytes of the rows that were read, and the timestamp of the newest

        `run` starts the job and returns what its tasks gave back. The lock is held meanwhile: the
        control log's end, read after the ranges were fixed, is that of all tasks.
        """

        def work() -> tuple[int, int]:
            gate = self.gate
            check_ranges(gate, ranges)
            if gate.settings is not settings:
                raise SettingsChangedError
            moment = gate.moment()
            gate.refresh_held_ends()
            job = self._plan(ranges, moment)
            if not job.shares:
                return 0, 0
            try:
                outcomes = list(run(job))
            except BaseException:
                self._workers.clear()
                gate.tasks_at_large()
                raise
            self._follow(outcomes)
            self._pass_over(ranges, moment, job.shares.keys() - {o.partition for o in outcomes})
            newest = max((outcome.newest for outcome in outcomes), default=0)
            return sum(outcome.size for outcome in outcomes), newest

        return self.gate.carry_out(work)

    def _plan(self, ranges: Ranges, moment: Moment) -> Job:
        gate = self.gate
        shares = {}
        for p, (start, end) in ranges.items():
            state = gate.states[p]
            if range_to_take(state.position.offset, start, end) is not None:
                copy = self._states.setdefault(p, Original(self.spread)).copy(state)
                shares[p] = Share(start, end, copy, gate.held_ends[p], self._workers.get(p, ""))
        lowest = min(
            (gate.states[p].position.control for p in shares), default=moment.holds.through
        )
        holds = moment.holds
        return Job(
            client=gate.connection.settings,
            flow=gate.flow.name,
            partitions=gate.flow.partitions,
            processed_partitions=gate.guard.processed_partitions,
            batch_bytes=gate.producer_config["batch.size"],
            owner=gate.id,
            group_metadata=gate.owner.group_metadata(),
            settings=moment.settings,
            over=moment.over,
            topics=moment.topics,
            now=holds.now,
            holds=self._holds.copy(holds),
            through=holds.through,
            commands=tuple(gate.tail.log.between(lowest, holds.through)),
            shares=shares,
        )

    def _follow(self, outcomes: list[Outcome]) -> None:
        """Make what tasks have committed the state; then raise the first error, if there was."""
        gate = self.gate
        for outcome in outcomes:
            state = gate.states[outcome.partition]
            if outcome.failure is not None:
                gate.tasks_at_large()  # its transaction may still be open
                self._workers.pop(outcome.partition, None)
            else:
                self._workers[outcome.partition] = outcome.worker
            if outcome.from_step != state.position.step:
                gate.doubt()  # an earlier attempt has committed steps that never got here
                continue
            for changes in outcome.changes:
                state.apply(changes)
        gate.note(outcome.counts for outcome in outcomes)
        for outcome in outcomes:
            if outcome.failure is not None:
                raise outcome.failure.raised()

    def _pass_over(self, ranges: Ranges, moment: Moment, empty: Collection[int]) -> None:
        """Ranges of markers and aborted records alone have no rows, and so no task: the position
        moves behind them all the same."""

        def prepare(_: Collection[tuple[int, int]]) -> list[Prepared]:
            return [
                decide_events(
                    gate.states[p],
                    moment,
                    gate.commands(gate.states[p]),
                    held_end=gate.held_ends[p],
                    end=ranges[p][1],
                    events=Events(),
                )
                for p in sorted(empty)
                if gate.states[p].position.offset < ranges[p][1]
            ]

        gate = self.gate
        gate.commit(prepare)
