"""From the results of a step's handlers to what the step writes. No I/O."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from holdfast.gate import Backlog, Drained, Verdict
from holdfast.guard.event import Event, Sent
from holdfast.guard.plan import Lane, Plan
from holdfast.guard.policy import Decide, Decision, Failure, Fate
from holdfast.guard.schedule import Job
from holdfast.guard.step import GuardStep

DEAD = Failure("dead-lettered", "It was held when its key was dead-lettered.")
OVERFLOWN = Failure("overflow", "The limit of held events is reached.")


@dataclass(frozen=True, slots=True)
class Letter:
    """An event that becomes a dead letter."""

    event: Event
    failure: Failure
    attempts: int


class Settlement:
    """Applies results to a step, and collects the records that it writes beside its own."""

    def __init__(self, step: GuardStep, decide: Decide) -> None:
        self._step = step
        self._decide = decide
        self.waiting: list[Event] = []
        """Fresh events for held."""
        self.letters: list[Letter] = []
        self.sent: list[Sent] = []
        self.running: list[Job] = []
        """Jobs whose event is in held from this step on, and whose result comes later."""
        self.handled = 0
        """Events whose handler has succeeded."""
        self.stopped: Failure | None = None
        """The worker must end after this step."""

    def settle(self, plan: Plan, backlog: Backlog[Any]) -> list[Event]:
        """All results of the plan. Returns the fresh events that go to held."""
        self.settle_fresh(plan.fresh)
        waiting = sorted([*plan.waiting, *self.waiting], key=lambda event: event.offset)
        held = self.hold(waiting)
        for lane in plan.lanes:
            self.settle_rows(lane, backlog)
        if plan.fresh or plan.lanes:
            self._step.handled()
        return held

    def settle_fresh(self, jobs: Sequence[Job]) -> None:
        """In offset order. The event after a failed or a running one of its key waits."""
        parked: set[bytes] = set()
        for job in jobs:
            key = job.key
            if key in parked:
                self.waiting.append(job.event)
            elif job.succeeded:
                self.sent += job.event.sent
                self.handled += 1
            elif job.failure is not None:
                if self._fail_fresh(job, job.failure) and key is not None:
                    parked.add(key)
            else:
                assert key is not None, "events without a key are never left running"
                self._step.spill(key, job.source, running=job.running)
                self.waiting.append(job.event)
                parked.add(key)
                if job.running:
                    self.running.append(job)

    def _fail_fresh(self, job: Job, failure: Failure) -> bool:
        """Returns True if the event waits."""
        decision = self._decide(0, failure)
        if decision.fate is Fate.STOP:
            self.stopped = failure
        if job.key is None or decision.fate is Fate.DEAD:
            # An event without a key has nothing to wait under.
            self._bury(job.key, job.source, Letter(job.event, failure, decision.attempts))
            return False
        self._step.park(job.key, job.source, failure, decision)
        self.waiting.append(job.event)
        return True

    def hold(self, events: Sequence[Event]) -> list[Event]:
        """Fresh events that wait, in offset order. Returns those that go to held; the others are
        over the limit."""
        verdicts = self._step.decide(
            [event.key for event in events],
            [event.offset for event in events],
            [len(event.key or b"") + len(event.value or b"") for event in events],
            [event.timestamp for event in events],
        )
        held = []
        for event, verdict in zip(events, verdicts, strict=True):
            if verdict == Verdict.HOLD:
                held.append(event)
            else:
                self.letters.append(Letter(event, OVERFLOWN, 0))
        return held

    def settle_rows(self, lane: Lane, backlog: Backlog[Any]) -> None:
        """After `hold`: rows of this step go behind those that are here."""
        entry = self._step.entry(lane.key)
        assert entry is not None
        failed = entry.attempts
        taken: list[Drained[Any]] = []
        running: Job | None = None
        parked: tuple[Drained[Any], Failure, Decision] | None = None
        for drained, event, job in lane.rows:
            if job is None:
                failure = replace(DEAD, message=f"{DEAD.message} {entry.error}".strip())
                self.letters.append(Letter(event, failure if not taken else DEAD, failed))
                taken.append(drained)
            elif job.succeeded:
                self.sent += job.event.sent
                self.handled += 1
                taken.append(replace(drained, verdict=Verdict.PASS))
            elif job.failure is not None:
                decision = self._decide(failed, job.failure)
                if drained.verdict is Verdict.DEAD or decision.fate is Fate.DEAD:
                    letter = Letter(event, job.failure, decision.attempts)
                    self._bury(lane.key, job.source, letter)
                    taken.append(replace(drained, verdict=Verdict.DEAD))
                    failed = 0
                    continue
                parked = drained, job.failure, decision
                break
            else:
                running = job if job.running else None
                break
            failed = 0
        if taken:
            self._step.leave(taken, backlog)
        if running is not None:
            self.running.append(running)
            self._step.keep_running(lane.key, running.source)
        if parked is not None:
            drained, failure, decision = parked
            if decision.fate is Fate.STOP:
                self.stopped = failure
            self._step.park_row(lane.key, drained.row, failure, decision)

    def _bury(self, key: bytes | None, source: int, letter: Letter) -> None:
        self._step.note_dead(key, source, letter.failure)
        self.letters.append(letter)
