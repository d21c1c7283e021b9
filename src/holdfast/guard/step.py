"""A step of a guard: a step of the gate, whose passing events go to a handler. Pure.

In this order: commands and expiries (as in the gate), then what the handler made of fresh events
and of rows that are tried again, then the events that are to wait. The state stays unchanged until
the commit, so a crash at any point repeats the step.

A key whose event has failed gets an entry with one hold in the guard's own name. The hold expires
when the event is to be tried again. So a retry is a drain that follows an expiry, a person's hold
stands beside the guard's, and both clocks are handled as those of any hold.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from holdfast.flows.holds import GUARD, StandingHold
from holdfast.flows.journal import Outcome
from holdfast.flows.status import Entry, KeyState, shared_text
from holdfast.gate import Backlog, Drained, HeldRow, Result, Step, Verdict
from holdfast.gate.backlog import Payload
from holdfast.gate.drain import pay, within_pace, without
from holdfast.gate.step import Tally
from holdfast.gate.transitions import begin_hold, gives_out, hold_again
from holdfast.guard.policy import Decide, Decision, Failure, Fate

RUNNING = "The handler is running."
"""The reason of an entry whose first row is with the handler since an earlier step. If the worker
crashes, its next owner counts that as a failure of this event."""
_IN_TURN = "It waits for its turn."
_CRASHED = Failure("crash", "The process has ended while this event was handled.")
_RELEASED = -1
"""The value of `Position.starts` after an owner has given the partition up in order."""


_ROWS_OF_KEY = 1_000
"""Rows of one key in one step."""
_TRACED_KEYS = 10_000
"""If more keys of the partition wait, errors are kept without their tracebacks: a million of them
must fit into memory."""


class GuardStep(Step):
    """One step of one partition of a guard."""

    steady = True
    """The owner has had the partition for long: if it dies now, the start is not to blame."""
    _progress = False
    _marks: dict[str, int] | None = None
    _circuit: bool | None = None

    def rows(self, backlog: Backlog[Payload]) -> Iterator[list[Drained[Payload]]]:
        """For each key that may drain now: the rows that were read ahead, in order. PASS rows go to
        the handler, DEAD ones to the dead letters."""
        for key in backlog.waiting():
            entry = self._draft.entry(key)
            if entry is not None and gives_out(entry):
                rows = islice(within_pace(self._draft, entry, backlog.rows(entry)), _ROWS_OF_KEY)
                if drained := [Drained(key, row, verdict) for row, verdict in rows]:
                    yield drained

    def entry(self, key: bytes) -> Entry | None:
        """The key's entry, as it will be if the step is committed."""
        return self._draft.entry(key)

    @property
    def now(self) -> int:
        return self._draft.now

    def set_held_end(self, offset: int) -> None:
        """The end of held, read again. No row of this step is below it."""
        self._draft.held_end = offset

    def shorten(self, end: int) -> None:
        """Take only the events below `end`. No later one has gone to the handler."""
        assert self._start <= end <= self._end
        self._end = end

    def handled(self) -> None:
        """The handler has done something that this step commits."""
        self._progress = True

    def park(self, key: bytes, source: int, failure: Failure, decision: Decision) -> None:
        """A fresh event has failed: it and all later ones of its key wait."""
        entry = begin_hold(
            key,
            [_hold(failure, decision)],
            cut=source,
            now=self._draft.now,
            held_end=self._draft.held_end,
        )
        entry = entry._replace(attempts=decision.attempts, error=self._error(failure))
        if decision.fate is Fate.STOP:
            entry = _draining(entry, failure.cause)
        else:
            self._draft.note(
                Outcome.HELD, key, cut=source, name=GUARD, note=_note(failure, decision)
            )
        self._begin(entry)

    def spill(self, key: bytes, source: int, *, running: bool) -> None:
        """The handler still runs with a fresh event, or could not begin with it: the event and all
        later ones of its key go to held, and no other key waits for them."""
        reason = RUNNING if running else _IN_TURN
        failure, decision = Failure(reason, ""), Decision(Fate.RETRY, 0)
        entry = begin_hold(
            key,
            [_hold(failure, decision)],
            cut=source,
            now=self._draft.now,
            held_end=self._draft.held_end,
        )
        self._begin(_draining(entry, reason))

    def keep_running(self, key: bytes, source: int) -> None:
        """The handler still runs with the first row of a key."""
        entry = self._draft.entry(key)
        if entry is not None and entry.state is KeyState.DRAINING and entry.reason != RUNNING:
            self._draft.put(entry._replace(drained_through=source - 1, reason=RUNNING))

    def decide(
        self,
        keys: Sequence[bytes | None],
        offsets: Sequence[int],
        sizes: Sequence[int],
        timestamps: Sequence[int],
    ) -> bytearray:
        """Where the events go that wait: all of them at once."""
        verdicts = super().decide(keys, offsets, sizes, timestamps)
        # A key may have had a verdict for events that a shortened step does not take.
        self._tallies = {key: tally for key, tally in self._tallies.items() if tally.events}
        return verdicts

    def leave(self, drained: Sequence[Drained[Payload]], backlog: Backlog[Payload]) -> None:
        """The first rows of a key leave held: handled, or as dead letters. After the events of this
        step have been decided."""
        key = drained[0].key
        entry = self._draft.entry(key)
        assert entry is not None
        pay(self._draft, entry, drained)
        left = without(entry, drained, backlog)._replace(attempts=0, error="")
        if left.reason == RUNNING:
            left = left._replace(reason=_IN_TURN)
        if key in self._tallies:
            self._draft.put(left)  # this step adds rows to it
        else:
            self._draft.settle(left)
        self._progress = True

    def park_row(
        self, key: bytes, row: HeldRow[Payload], failure: Failure, decision: Decision
    ) -> None:
        """The first row of a key has failed again: it waits, and the others behind it."""
        draft, entry = self._draft, self._draft.entry(key)
        assert entry is not None
        entry = entry._replace(
            # The first row is the one after this offset: a command may name it.
            drained_through=row.source - 1,
            attempts=decision.attempts,
            error=self._error(failure),
        )
        self._progress = True
        if decision.fate is Fate.STOP:
            draft.put(entry)
            return
        hold = _hold(failure, decision)
        changed, outcome = hold_again(entry, hold, cut=draft.cut, now=draft.now)
        draft.note(
            outcome,
            key,
            drained_through=entry.drained_through,
            name=GUARD,
            others=tuple(each for each in changed.holds if each != hold),
            note=_note(failure, decision),
        )
        draft.put(changed)

    def report(self, key: bytes, source: int, error: str) -> None:
        """Show people what is wrong with the key's first row, which is with the handler."""
        entry = self._draft.entry(key)
        if entry is not None:
            self._draft.put(entry._replace(drained_through=source - 1, error=error))

    def note_dead(self, key: bytes | None, source: int, failure: Failure) -> None:
        """Journal that the guard has given up on an event."""
        self._draft.note(Outcome.DEAD_LETTERED, key, drained_through=source, note=failure.cause)
        self._progress = True

    def note_circuit(self, is_open: bool, why: str = "") -> None:
        outcome = Outcome.CIRCUIT_OPENED if is_open else Outcome.CIRCUIT_CLOSED
        self._draft.note(outcome, note=why)
        self._circuit = is_open

    def take_over(self, decide: Decide) -> None:
        """This step makes its owner the partition's owner. An event that was with the handler when
        an earlier owner crashed has failed once more."""
        old = self._draft.state.position
        self._circuit = False  # each process has a circuit of its own
        if old.alone >= 0:
            self._marks = _marks(old.starts, old.alone, old.crashes + 1)
        else:
            self._marks = _marks((old.starts if old.step else _RELEASED) + 1)
        if old.starts == _RELEASED:
            return
        for entry in list(self._draft.state.entries.values()):
            if entry.state is KeyState.DRAINING and entry.reason == RUNNING:
                self._blame(entry, decide(entry.attempts, _CRASHED))

    def shorten_waits(self, longest: int) -> None:
        """No try is further away than the longest pause. It may be, after the clock was set back,
        or if the last owner's clock was ahead."""
        latest = self._draft.now + longest
        for key, known in self._draft.state.entries.items():
            if not known.others and (known.expires_at or 0) <= latest:
                continue
            entry = self._draft.entry(key)
            if entry is None:
                continue
            holds = [
                hold._replace(expires_at=latest)
                if hold.name == GUARD and (hold.expires_at or 0) > latest
                else hold
                for hold in entry.holds
            ]
            if tuple(holds) != entry.holds:
                self._draft.put(entry.with_holds(holds))

    def _error(self, failure: Failure) -> str:
        many = len(self._draft.state.entries) > _TRACED_KEYS
        return shared_text(failure.reason if many else failure.text)

    def _blame(self, entry: Entry, decision: Decision) -> None:
        draft = self._draft
        entry = entry._replace(attempts=decision.attempts, error=_CRASHED.text, reason=_IN_TURN)
        if decision.fate is Fate.DEAD:
            running = entry.drained_through + 1
            self.note_dead(entry.key, running, _CRASHED)
            draft.put(entry._replace(dead_through=running))
            return
        changed, outcome = hold_again(
            entry, _hold(_CRASHED, decision), cut=draft.cut, now=draft.now
        )
        note = _note(_CRASHED, decision)
        draft.note(outcome, entry.key, drained_through=entry.drained_through, name=GUARD, note=note)
        draft.put(changed)

    def mark_alone(self, source: int) -> None:
        """The next step runs the event of this offset, and nothing else."""
        old = self._draft.state.position
        crashes = old.crashes if old.alone == source else 0
        self._marks = _marks(old.starts, source, crashes)

    def release(self) -> None:
        """The owner gives the partition up in order."""
        self._marks = _marks(_RELEASED)

    def finish(self, *, publish: int = 0, trim: bool = False) -> Result:
        result, old = super().finish(publish=publish, trim=trim), self._draft.state.position
        marks = _marks(old.starts, old.alone, old.crashes)
        if self._marks is not None:
            marks = self._marks
        elif self._progress or result.position.offset > old.offset:
            marks = _marks(0 if self.steady else old.starts)
        circuit = old.circuit if self._circuit is None else self._circuit
        position = replace(result.position, **marks, circuit=circuit)  # type: ignore[arg-type]
        idle = not (result.journal or result.changes.entries) and position == replace(
            old, step=old.step + 1
        )
        changes = replace(result.changes, position=position)
        return replace(result, position=position, changes=changes, idle=idle)

    def _begin(self, entry: Entry) -> None:
        self._draft.put(entry)
        self._verdicts[entry.key] = Verdict.HOLD
        self._tallies[entry.key] = Tally()
        self._progress = True


def _marks(starts: int = 0, alone: int = -1, crashes: int = 0) -> dict[str, int]:
    return {"starts": starts, "alone": alone, "crashes": crashes}


def _hold(failure: Failure, decision: Decision) -> StandingHold:
    note = shared_text(_note(failure, decision))
    return StandingHold("", -1, GUARD, note, decision.at, GUARD)


def _note(failure: Failure, decision: Decision) -> str:
    times = f"Failed {decision.attempts} times" if decision.attempts > 1 else "Failed"
    return f"{times}: {failure.cause}"


def _draining(entry: Entry, reason: str) -> Entry:
    return entry._replace(state=KeyState.DRAINING, name="", expires_at=None, reason=reason)
