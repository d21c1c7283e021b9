"""A pipeline without Spark: it runs steps on the simulated Kafka, and may die at any point."""

import pickle
import random
from collections.abc import Callable
from enum import Enum

from tests.unit.gate.kafka import Kafka, Transaction

from holdfast.flows.commands import NO_TIME
from holdfast.flows.status import Position
from holdfast.gate import (
    Backlog,
    ControlLog,
    FlowHolds,
    FlowPausedError,
    GateSettings,
    KeysOfInterest,
    Now,
    PartitionState,
    Recount,
    StatusReader,
    Step,
    StepContext,
    Verdict,
    blocked,
    flow_is_over,
    is_current,
    range_to_take,
    starting_position,
)
from holdfast.gate.state import Changes


class Crash(Enum):
    """Where a step fails."""

    NEVER = 0
    BEFORE_COMMIT = 1
    AFTER_COMMIT = 2
    """The commit took place, but its response was lost."""


class Driver:
    """One process: its state is lost with it, and read again from the logs by the next."""

    def __init__(
        self,
        kafka: Kafka,
        owner: str,
        settings: GateSettings,
        *,
        now: Now,
        rng: random.Random,
        observe: Callable[[Transaction], None] = lambda _: None,
    ) -> None:
        self.kafka = kafka
        self.owner = owner
        self.settings = settings
        self.rng = rng
        self.observe = observe
        self.now = now
        self.backlogs: list[Backlog[None]] = [Backlog(rows=4) for _ in range(kafka.partitions)]
        self.states = [self._start(p, now.monotonic) for p in range(kafka.partitions)]
        self.control = ControlLog(kafka.partitions)
        self._read_control()
        self.holds = FlowHolds.build(self.states, self.control)

    def begin(self, now: Now) -> None:
        """The step over all partitions that makes this process the owner."""
        context = self.context(now)
        for p in range(self.kafka.partitions):
            self.step(p, context, compare=False)

    def context(self, now: Now) -> StepContext:
        """Read the control log's end, and what follows from it. May find it unreadable."""
        self._read_control()
        self.holds.advance(self.control, len(self.kafka.control), now.wall, self.states)
        self.now = now
        over = flow_is_over(self.states, self.settings.limits)
        return StepContext(self.owner, self.kafka.partitions, self.holds, now, self.settings, over)

    def batch(self, ends: dict[int, int], now: Now, *, chunk: int, task: bool,
              crash: Crash) -> bool:  # fmt: skip
        """One micro-batch, a share cut into steps of at most `chunk` offsets; False: blocked or
        paused."""
        for p in ends:
            self._compare(p)
        if blocked(self.states, self.settings) is not None:
            return False
        context = self.context(now)
        for p, end in ends.items():
            at = self.states[p].position.offset
            share = range_to_take(at, at, end)
            if share is not None:
                try:
                    self._share(p, context, *share, chunk=chunk, task=task, crash=crash)
                except FlowPausedError:
                    return False
        return True

    def _share(self, p: int, context: StepContext, start: int, end: int, *, chunk: int, task: bool,
               crash: Crash) -> None:  # fmt: skip
        mine = self.states[p]
        if task:
            self.states[p] = pickle.loads(pickle.dumps(mine))
        changes = []
        for at in range(start, end, chunk):
            last = at + chunk >= end
            change = self.step(p, context, end=min(at + chunk, end),
                               crash=crash if last else Crash.NEVER)  # fmt: skip
            if change is None:
                break
            changes.append(change)
        if task:
            self.states[p] = mine
            if crash is Crash.NEVER:
                for change in changes:
                    mine.apply(change)

    def keep(self, now: Now, *, crash: Crash = Crash.NEVER, rows: int = 50) -> None:
        """One round of the keeper: commands, expiry and drains, in steps without events."""
        for p in range(self.kafka.partitions):
            self._compare(p)
            self._read_ahead(p)
        context = self.context(now)
        for p in range(self.kafka.partitions):
            self.step(p, context, crash=crash, drain=rows, trim=self.rng.random() < 0.4)

    def step(
        self,
        p: int,
        context: StepContext,
        *,
        end: int | None = None,
        crash: Crash = Crash.NEVER,
        drain: int = 0,
        trim: bool = False,
        compare: bool = True,
    ) -> Changes | None:
        if compare:
            self._compare(p)
        state, rng = self.states[p], self.rng
        position = state.position
        held_end = self._held_end(p)
        commands = self.control.between(position.control, context.holds.through)
        step = Step(state, context, commands, held_end=held_end, end=end)
        t = Transaction(
            p, position.offset, position.offset if end is None else end, position.control,
            context.holds.through, context.now, context.over, held_end,
        )  # fmt: skip
        if end is not None:
            self._events(step, t)
        if drain:
            t.drained = step.drain(self.backlogs[p], rows=drain)
        result = step.finish(publish=rng.choice((0, 0, 0, 1, 9)), trim=trim)
        if (result.idle and compare) or crash is Crash.BEFORE_COMMIT:
            return None
        t.journal, t.status, t.position = result.journal, result.status, result.position
        self.kafka.commit(t)
        self.observe(t)
        if crash is Crash.AFTER_COMMIT:
            return None
        state.apply(result.changes)
        self.kafka.delete_held(p, state.position.trim)
        return result.changes

    def _events(self, step: Step, t: Transaction) -> None:
        low = min(state.position.control for state in self.states)
        commands = self.control.between(low, self.holds.through)
        interest = KeysOfInterest(self.states, self.holds, commands)
        shown = []
        log = self.kafka.events[t.partition]
        for offset in range(t.start, t.end):
            event = log[offset]
            if event is None:
                continue
            if not event.valid:
                t.invalid.append(offset)
            elif event.key in interest or _begins_so(event.key, interest.prefixes):
                shown.append((event.key, offset, event.size, event.timestamp))
            else:
                t.passed.append(offset)
        half = len(shown) // 2
        for part in (shown[:half], shown[half:]):
            if not part:
                continue
            keys, offsets, sizes, timestamps = zip(*part, strict=True)
            verdicts = step.decide(keys, offsets, sizes, timestamps)
            where = (t.passed, t.held, t.dead)
            for offset, verdict in zip(offsets, verdicts, strict=True):
                where[Verdict(verdict)].append(offset)
        t.passed.sort()

    def _read_ahead(self, p: int) -> None:
        backlog = self.backlogs[p]
        reading = backlog.read(self.states[p])
        if reading is None:
            return
        rows, end = self.kafka.read_held(p, reading.start, self._lag())
        for key, row in rows:
            if reading.done:
                end = row.offset
                break
            reading.take(key, row)
        reading.end(end)

    def _held_end(self, p: int) -> int:
        """The end of held; what was just committed may not show in it."""
        lag = self._lag()
        return self.kafka.read_held(p, 0, lag)[1] if lag else self.kafka.held_end[p]

    def _lag(self) -> int:
        return self.rng.choice((0, 0, 0, 1, 3))

    def _compare(self, p: int) -> None:
        committed = self.kafka.committed[p]
        assert committed is not None
        if not is_current(committed, self.states[p].position, self.owner):
            self.states[p] = self._load(p, committed, self.now.monotonic)

    def _start(self, p: int, now: int) -> PartitionState:
        recorded = next(
            (r for r in reversed(self.kafka.status[p]) if isinstance(r, Position)), None
        )
        position = starting_position(
            self.kafka.committed[p], recorded, journal_is_empty=not self.kafka.journal[p]
        )
        if position is None:
            return PartitionState.first(p, 0, 0)
        return self._load(p, position, now)

    def _load(self, p: int, committed: Position, now: int) -> PartitionState:
        reader = StatusReader()
        records = iter(self.kafka.status[p])
        while not reader.is_at(committed.step):
            reader.take(next(records))
        assert reader.position is not None
        recount = Recount(reader.position, reader.entries.values())
        start, lag = recount.start, 2
        while not recount.complete:
            rows, start = self.kafka.read_held(p, start, lag)
            for key, row in rows:
                recount.take(row.source, key, row.size, row.timestamp)
            assert lag > 0 or recount.complete, "the row of the last held event is gone"
            start, lag = max(start, recount.start), max(0, lag - 1)
        return PartitionState.load(
            p,
            reader.position,
            recount.entries(),
            now=now,
            scopes=reader.scopes.values(),
            recounted=recount.counted,
        )

    def _read_control(self) -> None:
        for offset in range(self.control.end, len(self.kafka.control)):
            command = self.kafka.control[offset]
            if command is None:
                self.control.append(offset, b"?", b"not a command", NO_TIME)
            else:
                self.control.append_command(offset, command)


def _begins_so(key: bytes | None, prefixes: set[bytes]) -> bool:
    return key is not None and key.startswith(tuple(prefixes))
