"""A guard without Kafka: one partition's logs, a worker that may die at any point, and a naive
model that knows only what was sent, asked and committed."""

import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from holdfast.flows.commands import Command, DeadLetter, Hold, Pause, Release, Resume
from holdfast.flows.holds import GUARD
from holdfast.flows.registry import Limits
from holdfast.flows.status import Position
from holdfast.gate import (
    Backlog,
    ControlLog,
    FlowPausedError,
    GateSettings,
    HeldRow,
    Now,
    PartitionState,
    Recount,
    Result,
    StatusReader,
    StepContext,
    blocked,
    flow_is_over,
)
from holdfast.guard.control import RequestedHolds
from holdfast.guard.event import Event
from holdfast.guard.plan import Plan
from holdfast.guard.policy import Decision, Failure, Fate, Policy
from holdfast.guard.schedule import Job, Schedule
from holdfast.guard.settlement import Letter, Settlement
from holdfast.guard.step import GuardStep

SETTINGS = [
    GateSettings(),
    GateSettings(Limits(key_events=3), "block"),
    GateSettings(Limits(key_events=3, flow_events=8), "dead-letter"),
]
POLICY = Policy(attempts=3, first_ms=1_000, longest_ms=4_000)


class FakeMessage:
    """As much of a message as a step uses."""

    def __init__(self, key: bytes, offset: int) -> None:
        self._key, self._offset = key, offset

    def key(self) -> bytes:
        return self._key

    def value(self) -> bytes:
        return b"%d" % self._offset

    def partition(self) -> int:
        return 0

    def timestamp(self) -> tuple[int, int]:
        return 1, 1_000 + self._offset


@dataclass
class Logs:
    """What survives a worker."""

    keys: list[bytes] = field(default_factory=list)
    """The source: the key of each event."""
    commands: list[Command] = field(default_factory=list)
    held: list[tuple[bytes, int]] = field(default_factory=list)
    status: list[Any] = field(default_factory=list)
    dead: list[int] = field(default_factory=list)
    handled: list[int] = field(default_factory=list)
    position: Position | None = None


class Model:
    """Checks the promises against what was committed and what was started."""

    def __init__(self, logs: Logs) -> None:
        self.logs = logs
        self.done: set[int] = set()
        """Handled or dead, as committed."""
        self.failures: dict[int, int] = defaultdict(int)
        """Failures since the last release, as committed."""

    def start(self, source: int, succeeded: set[int]) -> None:
        """An event of a key starts only when all earlier ones have succeeded or are dead.
        `succeeded`: those of this process whose step is not committed yet."""
        key = self.logs.keys[source]
        for earlier in range(source):
            if self.logs.keys[earlier] == key:
                assert earlier in self.done or earlier in succeeded, (source, earlier)
        assert source not in self.done, f"{source} starts after it was done"

    def commit(self, state: PartitionState) -> None:
        """Each event is in exactly one place."""
        logs = self.logs
        ended = [*logs.handled, *logs.dead]
        assert len(ended) == len(set(ended)), "twice"
        waiting = [
            source
            for key, source in logs.held
            if (entry := state.entries.get(key)) is not None and source > entry.drained_through
        ]
        assert len(waiting) == len(set(waiting))
        assert not set(waiting) & set(ended)
        assert sorted([*waiting, *ended]) == list(range(state.position.offset))
        assert sum(entry.events for entry in state.entries.values()) == len(waiting)
        for key, entry in state.entries.items():
            assert entry.events == sum(logs.keys[source] == key for source in waiting)
        order: dict[bytes, int] = {}
        for source in ended:
            if source in logs.handled:
                assert order.get(logs.keys[source], -1) < source
                order[logs.keys[source]] = source
        self.done = set(ended)


class Worker:
    """One process that owns the partition. What it has not committed dies with it."""

    def __init__(
        self,
        logs: Logs,
        model: Model,
        name: str,
        now: Now,
        rng: random.Random,
        settings: GateSettings = SETTINGS[0],
    ) -> None:
        self.logs, self.model, self.name, self.rng, self.now = logs, model, name, rng, now
        self.settings = settings
        self.backlog: Backlog[Any] = Backlog(rows=6)
        self.running: dict[bytes, Job] = {}
        self.succeeded: set[int] = set()
        self.state = self._load(now)
        self.broken: set[int] = set()
        """Events that fail now."""
        self.slow: set[int] = set()
        self.fates: list[Fate | None] = [None, None, None, Fate.HOLD, Fate.DEAD]
        """What handlers that fail decide for themselves; None: nothing."""
        step = self.begin(None)
        step.take_over(self._decide)
        self.commit(step.finish(), [], [], [])

    def _load(self, now: Now) -> PartitionState:
        if self.logs.position is None:
            return PartitionState.first(0, 0, 0)
        reader = StatusReader()
        for record in self.logs.status:
            reader.take(record)
        assert reader.position == self.logs.position
        recount = Recount(self.logs.position, reader.entries.values())
        if not recount.complete:
            for key, source in self.logs.held[recount.start :]:
                recount.take(source, key, _size(key, source), 1_000 + source)
        return PartitionState.load(
            0, self.logs.position, recount.entries(), now=now.monotonic, recounted=recount.counted
        )

    def begin(self, end: int | None) -> GuardStep:
        control = ControlLog(1)
        for offset, command in enumerate(self.logs.commands):
            control.append_command(offset, command)
        holds = RequestedHolds()
        holds.follow(control, control.end)
        over = flow_is_over([self.state], self.settings.limits)
        context = StepContext(self.name, 1, holds, self.now, self.settings, over)
        commands = control.between(self.state.position.control, control.end)
        # A stale end of held is allowed.
        held_end = max(0, len(self.logs.held) - self.rng.choice((0, 0, 3)))
        return GuardStep(self.state, context, commands, held_end=held_end, end=end)

    def turn(self, now: Now, *, most: int, crash: str = "", jumped: bool = False) -> None:
        """One step. `crash`: where the process dies: before the commit, or after it. `jumped`: the
        clock was set to another time."""
        self.now = now
        self._read_ahead()
        at = self.state.position.offset
        end = min(len(self.logs.keys), at + self.rng.randint(0, most))
        if blocked([self.state], self.settings) is not None:
            end = at
        try:
            step = self.begin(end if end > at else None)
        except FlowPausedError:
            end, step = at, self.begin(None)
        if jumped:
            step.shorten_waits(POLICY.longest_ms)
        plan = Plan(step, Schedule())
        plan.add_events([self._event(source, 1) for source in range(at, end)])
        for key, _ in list(plan.add_ended(self.running, self.backlog)):
            del self.running[key]
        plan.add_rows(self.backlog, lambda row, n: self._event(row.source, n), busy=self.running)
        buried = {d.row.source for lane in plan.lanes for d, _, job in lane.rows if job is None}
        self._handle(plan.schedule, buried)
        if crash == "before":
            return
        plan.cut(at)
        settlement = Settlement(plan.step, self._decide)
        held = settlement.settle(plan, self.backlog)
        self.running |= {job.key: job for job in settlement.running if job.key is not None}
        result = plan.step.finish(publish=self.rng.choice((0, 1, 10)))
        handled = [job.source for job in plan.fresh if job.succeeded]
        handled += [
            job.source
            for lane in plan.lanes
            for _, _, job in lane.rows
            if job is not None and job.succeeded
        ]
        if not result.idle:
            self.commit(result, held, settlement.letters, handled)
        if crash == "":
            self.succeeded -= self.model.done

    def _decide(self, failed: int, failure: Failure) -> Decision:
        return POLICY.decide(failed, failure, now=self.now.wall, chance=self.rng.random())

    def _event(self, source: int, attempt: int) -> Event:
        return Event(FakeMessage(self.logs.keys[source], source), "t", source, attempt, None)  # type: ignore[arg-type]

    def _handle(self, schedule: Schedule, buried: set[int]) -> None:
        """Call the handler in a random order, as threads would, and stop at some point. `buried`:
        the step has decided that these are dead."""
        jobs: list[Job] = []
        budget = self.rng.choice((2, 5, 1_000))
        while schedule.is_ready or any(job.source not in self.slow for job in jobs):
            if schedule.is_ready and (len(jobs) < 3 or self.rng.random() < 0.5):
                if budget == 0:
                    break
                budget -= 1
                job = schedule.start(0.0)
                self.model.start(job.source, self.succeeded | buried)
                assert job.event.attempt <= POLICY.attempts
                jobs.append(job)
                continue
            quick = [job for job in jobs if job.source not in self.slow]
            if not quick:
                break
            job = self.rng.choice(quick)
            jobs.remove(job)
            self._end(schedule, job)
        schedule.close()

    def _end(self, schedule: Schedule, job: Job) -> None:
        if job.source in self.broken:
            fate = self.rng.choice(self.fates)
            schedule.finish(job, Failure("Error", "no", fate=fate))
        else:
            self.succeeded.add(job.source)
            schedule.finish(job, None)

    def wake_slow(self) -> None:
        """Handlers that ran on after their step come to an end."""
        for job in self.running.values():
            if not job.finished and job.schedule is not None:
                self.slow.discard(job.source)
                self._end(job.schedule, job)

    def _read_ahead(self) -> None:
        late = [
            key for key, job in self.running.items()
            if job.finished and key in self.state.entries and key not in self.state.outgoing
        ]  # fmt: skip
        reading = self.backlog.read(self.state, self.now.monotonic, also=late)
        if reading is None:
            return
        end = min(len(self.logs.held), reading.start + self.rng.choice((1, 4, 100)))
        for offset in range(reading.start, end):
            key, source = self.logs.held[offset]
            if reading.done:
                end = offset
                break
            row = HeldRow(offset, source, _size(key, source), 1_000 + source, None)
            reading.take(key, row)
        reading.end(max(reading.start, end))

    def commit(
        self, result: Result, held: list[Event], letters: list[Letter], handled: list[int]
    ) -> None:
        logs = self.logs
        assert logs.position is None or logs.position.step == self.state.position.step
        logs.held += [(event.key or b"", event.offset) for event in held]
        logs.dead += [letter.event.offset for letter in letters]
        logs.handled += sorted(handled)
        logs.status += [*result.status, result.position]
        logs.position = result.position
        self.state.apply(result.changes)
        self.model.commit(self.state)


def _size(key: bytes, source: int) -> int:
    return len(key) + len(b"%d" % source)


def commands_for(rng: random.Random, keys: list[bytes], at: int) -> Iterator[Command]:
    """What people ask for."""
    key = rng.choice(keys)
    common: dict[str, Any] = {"id": f"c{rng.random()}", "actor": "ana", "at": at, "key": key}
    match rng.randrange(8):
        case 0:
            yield Hold(**common, hold_name="ana")
        case 1:
            yield Hold(**common, hold_name="bob", expires_at=at + rng.choice((500, 5_000)))
        case 2:
            yield Release(**common, holds=("ana",))
        case 3:
            yield Release(**common, holds=(GUARD,))
        case 4:
            yield DeadLetter(**common, first=True)
        case 5:
            yield DeadLetter(**common)
        case 6:
            yield Pause(id=f"c{rng.random()}", actor="ana", at=at, hold_name="ana")
        case 7:
            yield Resume(id=f"c{rng.random()}", actor="ana", at=at, every=True, reason="over")
