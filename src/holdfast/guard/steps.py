"""The steps of one partition: each is planned, given to the handlers, settled and committed."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from math import inf
from threading import Event as Flag
from time import monotonic

from confluent_kafka import Message

from holdfast import faults
from holdfast.client.positions import Partition
from holdfast.errors import TerminalError
from holdfast.gate import (
    FlowPausedError,
    GateSettings,
    HeldRow,
    Now,
    PartitionState,
    StepContext,
    flow_is_over,
)
from holdfast.guard.buffer import EventBuffer
from holdfast.guard.circuit import Allowance
from holdfast.guard.counts import PartitionCounts
from holdfast.guard.event import Event
from holdfast.guard.held_rows import HeldRows
from holdfast.guard.ownership import LostError, Ownership
from holdfast.guard.plan import Plan
from holdfast.guard.policy import Decide, Decision, Failure
from holdfast.guard.schedule import Job, Schedule
from holdfast.guard.settlement import Settlement
from holdfast.guard.shared import Shared
from holdfast.guard.step import GuardStep
from holdfast.guard.stuck import StuckHandlers
from holdfast.guard.writer import StepOutput

log = logging.getLogger(__name__)

STEADY_SECONDS = 30.0
"""A worker that dies sooner after it took a partition over counts as a crash on what it ran."""
_FIRST_STEP = 100
_PUBLISHED = 500
"""Entries whose counts alone have changed, written to status in one step."""
_CONTROL_SECONDS = 10.0
_KEYLESS_SECONDS = 0.05


class GuardStoppedError(TerminalError):
    """An event has failed for the last time, and the guard's setting is to stop then."""

    def __init__(self, guard: str, partition: int, failure: Failure) -> None:
        text = (
            f"The guard {guard!r} has stopped: an event of partition {partition} has failed for "
            "the last time. {}. It is the first that is tried after the next start."
        )
        super().__init__(text.replace("{}", failure.reason))
        self.report = text.replace("{}", failure.cause)
        """For reports, which everyone may read: the message of an error may quote the event."""


class Steps:
    """For the thread of the partition alone, except for `buffer`, `wake` and the flags of
    `ownership`."""

    def __init__(self, shared: Shared, partition: int) -> None:
        self.partition = partition
        self.ownership = Ownership(shared, partition)
        self.buffer = EventBuffer()
        self.wake = Flag()
        """There may be something to do."""
        self.settings = GateSettings.of(shared.flow)
        self.share = _share_of(self.settings, shared.flow.partitions)
        self.held = HeldRows(shared.connection, Partition(shared.flow.names.held, partition))
        self.running: dict[bytes, Job] = {}
        """The first row of each of these keys is with the handler since an earlier step."""
        self.stuck = StuckHandlers(shared.pool)
        self.counts = PartitionCounts()
        self.circuit_noted = False
        """What the journal says of the circuit."""
        self.most = _FIRST_STEP
        """Events for the next step."""
        self._failure: Failure | None = None
        """Why the worker must end after the step that runs."""
        self._shared = shared
        self._taken_over = inf
        self._jumps = shared.clock.jumps

    @property
    def state(self) -> PartitionState:
        """As of the last commit."""
        return self.ownership.state

    @property
    def clock_has_jumped(self) -> bool:
        """Returns True if the wall clock was set to another time since the last step."""
        return self._shared.clock.jumps != self._jumps

    def take_over(self) -> int:
        """Fence every earlier owner, load the state and become the owner. Returns the source offset
        of the event that ran alone when an earlier owner crashed, or -1."""
        self.ownership.take_over()
        self.held.refresh_end()
        self.counts.load(self.state)
        alone = self.state.position.alone
        step = self.begin(self._shared.control.end(), None)
        step.take_over(self._decider(step))
        step.shorten_waits(self._shared.policy.longest_ms)
        self.commit(StepOutput(step.finish()))
        self._taken_over = monotonic()
        return alone

    def run(
        self, messages: Sequence[Message], allowance: Allowance, *, alone: bool = False
    ) -> bool:
        """One step. Returns True if it was committed."""
        begun = monotonic()
        plan = self.plan(messages, allowance, alone=alone)
        self._call_handlers(plan.schedule, allowance)
        if self.ownership.lost.is_set():
            raise LostError("It was given away while handlers ran.")
        cut = plan.cut(self.state.position.offset)
        if cut is not None:
            self.buffer.put_back([m for m in messages if (m.offset() or 0) >= cut])
        self._adapt(len(messages), cut is not None)
        output = self.settle(plan)
        if output.result.idle:
            return False
        self.commit(output)
        self.counts.step_seconds += monotonic() - begun
        return True

    def plan(
        self, messages: Sequence[Message], allowance: Allowance, *, alone: bool = False
    ) -> Plan:
        """Begin a step with these events, and with the rows that are due."""
        control, outputs = self._shared.control, self._shared.limits
        # The range is fixed first, then the end of the control log is read: a hold that was
        # acknowledged before an event was sent is below that end.
        through = control.end() if messages else control.log.end
        try:
            step = self.begin(through, (messages[-1].offset() or 0) + 1 if messages else None)
        except FlowPausedError:
            self.buffer.put_back(messages)
            messages, step = [], self.begin(through, None)
        if self.clock_has_jumped:
            self._jumps = self._shared.clock.jumps
            step.shorten_waits(self._shared.policy.longest_ms)
        plan = Plan(step, Schedule(self.wake.set))
        topic = self._shared.flow.names.events
        with control.lock:  # a key that is not known here may be held by a command
            plan.add_events([Event(m, topic, m.offset() or 0, 1, outputs) for m in messages])
        self._add_ended(plan)
        if allowance is not Allowance.NONE:
            most = 1 if alone or allowance is Allowance.ONE else None
            plan.add_rows(self.held.backlog, self._row_event, busy=self.running, most=most)
        return plan

    def begin(self, control_end: int, end: int | None) -> GuardStep:
        """Apply commands and expiries."""
        shared, state = self._shared, self.state
        shared.control.read_through(control_end, _CONTROL_SECONDS)
        with shared.control.lock:
            shared.control.holds.follow(shared.control.log, control_end)
            context = self._context(shared.clock())
            commands = shared.control.log.between(state.position.control, context.holds.through)
            step = GuardStep(state, context, commands, held_end=self.held.end, end=end)
        step.steady = monotonic() - self._taken_over > STEADY_SECONDS
        return step

    def settle(self, plan: Plan) -> StepOutput:
        """From the handlers' results to what the step writes."""
        step = plan.step
        settlement = Settlement(step, self._decider(step))
        if any(not job.succeeded for job in plan.fresh):
            step.set_held_end(self.held.refresh_end())
        held = settlement.settle(plan, self.held.backlog)
        for job in settlement.running:
            assert job.key is not None
            self.running[job.key] = job
        if self._shared.circuit.is_open != self.circuit_noted:
            self.circuit_noted = not self.circuit_noted
            step.note_circuit(self.circuit_noted)
        self._failure = settlement.stopped
        result = step.finish(publish=_PUBLISHED, trim=self.held.trim_is_due)
        taken = len(plan.fresh) + len(plan.waiting)
        return StepOutput(
            result, held, settlement.letters, settlement.sent, taken, settlement.handled
        )

    def commit(self, output: StepOutput) -> None:
        more_failing = self.counts.more_failing(self.state, output.result.changes)
        self.ownership.commit(output)
        self.counts.add(output, self.state, more_failing)
        self.held.trim(self.state.position.trim)
        if self._failure is not None:
            self._shared.fail(
                GuardStoppedError(self._shared.flow.name, self.partition, self._failure)
            )

    def close(self) -> None:
        self.held.close()
        self.ownership.close()

    def _context(self, now: Now) -> StepContext:
        shared = self._shared
        over = flow_is_over([self.state], self.share.limits)
        return StepContext(
            shared.owner, shared.flow.partitions, shared.control.holds, now, self.settings, over
        )

    def _add_ended(self, plan: Plan) -> None:
        """Settle the handlers that have ended since an earlier step, and report stuck ones."""
        for key, job in list(plan.add_ended(self.running, self.held.backlog)):
            del self.running[key]
            self.stuck.forget(job)
        for key, job in self.running.items():
            if self.stuck.is_new(job):
                plan.step.report(key, job.source, self.stuck.report(job))

    def _row_event(self, row: HeldRow[Message], attempt: int) -> Event:
        topic, outputs = self._shared.flow.names.events, self._shared.limits
        return Event(row.payload, topic, row.source, attempt, outputs, row=True)

    def _call_handlers(self, schedule: Schedule, allowance: Allowance) -> None:
        if not schedule.jobs:
            return
        shared, ownership = self._shared, self.ownership
        faults.reach("before-handlers")

        def stop() -> bool:
            opened = allowance is Allowance.ALL and shared.circuit.is_open
            return ownership.lost.is_set() or opened or ownership.is_late

        shared.pool.run(schedule, shared.settings.step_seconds, stop)
        self._finish_keyless([job for job in schedule.jobs if job.key is None])
        faults.reach("after-handlers")

    def _finish_keyless(self, jobs: Sequence[Job]) -> None:
        """An event without a key has no key to wait under, so its step waits for it."""
        lost = self.ownership.lost.is_set
        left = [job for job in jobs if not job.finished]
        while left and not lost():
            again = Schedule()
            for job in left:
                if job.begun is None:
                    again.add(job)
                elif self.stuck.is_new(job):
                    self.stuck.report(job)
            if again.jobs:
                self._shared.pool.run(again, inf, lost)
            else:
                self.wake.wait(_KEYLESS_SECONDS)
                self.wake.clear()
            left = [job for job in left if not job.finished]
        for job in jobs:
            self.stuck.forget(job)

    def _adapt(self, events: int, was_cut: bool) -> None:
        """Take as many events at once as handlers finish within a step. After a crash take few, so
        that few can be to blame for the next one."""
        if self.state.position.starts > 0:
            self.most = _FIRST_STEP
        elif was_cut:
            self.most = max(_FIRST_STEP, self.most // 2)
        elif events >= self.most:
            self.most = min(self._shared.settings.step_events, 2 * self.most)

    def _decider(self, step: GuardStep) -> Decide:
        shared = self._shared

        def decide(failed: int, failure: Failure) -> Decision:
            if shared.circuit.is_open and failure.fate is None:
                failure = replace(failure, counts=False)
            return shared.decide(step.now, failed, failure)

        return decide


def _share_of(settings: GateSettings, partitions: int) -> GateSettings:
    """The limits of one partition. Workers do not know each other's counts, so each partition has
    its share of the guard's limit."""
    limits = replace(
        settings.limits,
        flow_events=max(1, settings.limits.flow_events // partitions),
        flow_bytes=max(1, settings.limits.flow_bytes // partitions),
    )
    return GateSettings(limits, settings.overflow, settings.schema)
