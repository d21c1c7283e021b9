"""A step turns the commands, the time and the events of one source partition into records to write.

In this order: settings, commands, expiry, limits, then the events (or, in a step of the keeper,
the held rows that leave). A step works on a draft; the state stays unchanged until
`PartitionState.apply` gets the changes of a committed step. So a failed step needs no clean-up and
may be repeated with another range, other commands and another time.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from holdfast.errors import GateStoppedError, StaleStateError
from holdfast.flows.journal import JournalRecord, Outcome
from holdfast.flows.keys import partition_of
from holdfast.flows.status import Active, Entry, Position, ScopeStatus
from holdfast.gate.answers import answer_commands, answer_limits, answer_settings, answer_time
from holdfast.gate.backlog import Backlog, Payload
from holdfast.gate.clock import Now
from holdfast.gate.control import ControlEntry
from holdfast.gate.draft import Draft
from holdfast.gate.drain import Drained, Verdict, drain
from holdfast.gate.holds import FlowHolds
from holdfast.gate.scopes import FlowPausedError
from holdfast.gate.settings import GateSettings
from holdfast.gate.state import Changes, PartitionState
from holdfast.gate.transitions import begin_hold, count_in, reference_of
from holdfast.gate.unreadable import Unreadable


@dataclass(frozen=True, slots=True)
class StepContext:
    """The input that the steps of all partitions of a flow share, while the flow's lock is held."""

    owner: str
    partitions: int
    holds: FlowHolds
    now: Now
    settings: GateSettings
    over: bool = False
    """The flow is at its limit: `flow_is_over` at the start of the batch."""
    topics: str = ""
    """The topics that the offsets belong to: see `Position.topics`."""


@dataclass(frozen=True, slots=True)
class Result:
    """The records that a step writes besides events, in the same transaction. The position comes
    last: in status and, as offset and metadata, in the group's offsets."""

    position: Position
    journal: tuple[JournalRecord, ...]
    status: tuple[Entry | Active | ScopeStatus, ...]
    changes: Changes
    foreign: Mapping[bytes, int]
    """Events per key that were held in another partition than murmur2 gives: a warning is due."""
    idle: bool
    """The step changes nothing: it need not be committed."""


@dataclass(slots=True)
class Tally:
    """The events that one key adds to held in this step."""

    events: int = 0
    bytes: int = 0
    oldest: int = 0
    last: int = -1


class Step:
    """One step of one partition. Created under the flow's lock, and used once.

    `commands` are the records from the partition's control offset to `context.holds.through`.
    `held_end` is the end of held/p, read before (a stale end is safe, one from the future is not).
    `end` is the end of this step's events, or None for a step without events. A paused flow takes
    no events: FlowPausedError. Only a step without
    events can skip an unreadable batch: `unreadable` is the one at the partition's position.
    """

    def __init__(
        self,
        state: PartitionState,
        context: StepContext,
        commands: Sequence[ControlEntry],
        *,
        held_end: int,
        end: int | None = None,
        unreadable: Unreadable | None = None,
    ) -> None:
        self._context = context
        self._draft = Draft(state, now=context.now, held_end=held_end)
        self._start = state.position.offset
        self._end = self._start if end is None else end
        self._has_events = end is not None
        self._through = context.holds.through
        self._seen = self._start - 1
        self._epoch = state.position.epoch
        self._verdicts: dict[bytes | None, Verdict] = {None: Verdict.PASS}
        self._tallies: dict[bytes, Tally] = {}
        self._check(commands)
        answer_settings(self._draft, context.settings)
        answer_commands(self._draft, commands, None if self._has_events else unreadable)
        if self._draft.skip_to is not None:
            self._end = self._draft.skip_to
        if self._has_events and self._draft.paused:
            raise FlowPausedError("The flow is paused: it takes no events.")
        answer_time(self._draft)
        answer_limits(self._draft, context.settings.limits, context.over)

    def _check(self, commands: Sequence[ControlEntry]) -> None:
        control = self._draft.state.position.control
        if self._through < control or any(
            not control <= record.offset < self._through for record in commands
        ):
            raise StaleStateError(
                f"A step from control offset {control} was given the holds of {self._through}. "
                "Read the control log's end, the positions and the state again."
            )
        if self._end < self._start:
            raise StaleStateError(
                f"A step from offset {self._start} cannot end at {self._end}: this range was taken."
            )

    def accept_loss(self, log_start: int) -> None:
        """Continue at the log's start, although events before it were deleted unread: an operator
        has accepted this. Only in a step without events.
        """
        if self._end != self._start or log_start <= self._start:
            raise GateStoppedError(
                "A loss can be accepted only if there is one, and only in a step without events."
            )
        self._draft.note(Outcome.LOSS_ACCEPTED, lost_until=log_start)
        self._end = log_start

    def note_oversized(self, sources: Collection[int], limit: int) -> None:
        """Journal that events at these source offsets are too large for an output topic, whose
        limits may change later."""
        document = {"limit": limit, "first": min(sources), "until": max(sources) + 1}
        self._draft.note(Outcome.OVERSIZED, settings=json.dumps(document))

    def follow_epoch(self, epoch: int, cut_back_to: int | None = None) -> None:
        """Continue with a new leader. It has all events below the position, or only those below
        `cut_back_to` and an operator has accepted that."""
        self._epoch = epoch
        if cut_back_to is not None:
            self._draft.note(
                Outcome.LOSS_ACCEPTED,
                lost_until=self._start,
                note=f"The log was cut back to {cut_back_to} and written again. Events now below "
                f"{self._start} are not taken.",
            )

    def decide(
        self,
        keys: Sequence[bytes | None],
        offsets: Sequence[int],
        sizes: Sequence[int],
        timestamps: Sequence[int],
    ) -> bytearray:
        """Where each of these events goes: one `Verdict` per byte.

        Pass in only events of `KeysOfInterest`; all others pass. Leave out invalid events: they
        go to the dead letters, whether or not their key is held. Offsets must rise, also from call
        to call. `sizes`: bytes of key and value.
        """
        self._check_range(offsets)
        verdicts = bytearray(len(keys))
        cached, tallies, hold = self._verdicts, self._tallies, Verdict.HOLD
        for index, key in enumerate(keys):
            verdict = cached.get(key)
            if verdict is None:
                verdict = self.verdict(key)
            if verdict:
                verdicts[index] = verdict
                if verdict is hold:
                    tally = tallies[key]  # type: ignore[index]  # records without key pass
                    if not tally.events:
                        tally.oldest = timestamps[index]
                    tally.events += 1
                    tally.bytes += sizes[index]
                    tally.last = offsets[index]
        return verdicts

    def drain(
        self, backlog: Backlog[Payload], *, rows: int = 50_000, size: int = 64 * 1024**2
    ) -> list[Drained[Payload]]:
        """The held rows that leave in this step. Only the keeper drains: rows that a step with
        events appends to held cannot be read yet, so it could not drain them in order."""
        if self._has_events:
            raise RuntimeError("A step with events cannot drain.")
        return drain(self._draft, backlog, rows=rows, size=size)

    def finish(self, *, publish: int = 0, trim: bool = False) -> Result:
        """The records to write.

        `publish`: how many entries whose counts alone have changed are written to status too.
        `trim`: compute a new trim point.
        """
        draft, old = self._draft, self._draft.state.position
        decided = dict(draft.changed)
        foreign = self._count()
        counted = self._counted_only(decided, publish)
        changed = {**draft.changed, **{key: draft.entry(key) for key in counted}}
        published = decided.keys() | counted
        uncounted = {key: draft.held_end for key in self._tallies if key not in published}
        position = Position(
            offset=self._end,
            control=self._through,
            step=old.step + 1,
            owner=self._context.owner,
            last_held=max((tally.last for tally in self._tallies.values()), default=old.last_held),
            trim=self._trim_point() if trim else old.trim,
            counted_from=self._counted_from(published, uncounted),
            settings=self._context.settings.digest,
            overflow=self._context.over,
            topics=self._context.topics,
            epoch=self._epoch,
        )
        status = (
            *(entry or Active(key) for key, entry in changed.items() if key not in uncounted),
            *draft.scopes.values(),
        )
        limits = self._context.settings.limits
        changes = Changes(position, changed, uncounted, draft.buckets, limits, draft.scopes)
        journal = tuple(draft.journal)
        idle = not journal and not changed and position == replace(old, step=old.step + 1)
        return Result(position, journal, status, changes, foreign, idle)

    def _check_range(self, offsets: Sequence[int]) -> None:
        if not offsets:
            return
        if not (self._seen < offsets[0] and offsets[-1] < self._end):
            raise StaleStateError(
                f"Events {offsets[0]} to {offsets[-1]} are not in the range {self._seen + 1} to "
                f"{self._end} that this step takes."
            )
        self._seen = offsets[-1]

    def verdict(self, key: bytes | None) -> Verdict:
        """The verdict for all of the key's events in this step."""
        known = self._verdicts.get(key)
        if known is not None:
            return known
        assert key is not None
        entry = self._draft.entry(key) or self._hold_found(key)
        settings = self._context.settings
        if entry is None:
            verdict = Verdict.PASS
        elif settings.overflow == "dead-letter" and (self._context.over or entry.overflow):
            verdict = Verdict.DEAD
        else:
            verdict = Verdict.HOLD
            self._tallies[key] = Tally()
        self._verdicts[key] = verdict
        return verdict

    def _hold_found(self, key: bytes) -> Entry | None:
        """A new entry for a key that has a held prefix, or that is held by commands that another
        partition answered. In the latter case its producer used another partitioner than murmur2;
        its events are held here too."""
        draft = self._draft
        holds = [hold for hold in self._context.holds.get(key) if hold.stands(draft.now)]
        holds += draft.prefix_holds(key)
        if not holds:
            return None
        home = partition_of(key, self._context.partitions)
        foreign = home != draft.state.partition
        entry = begin_hold(
            key, holds, cut=draft.cut, now=draft.now, held_end=draft.held_end, foreign=foreign
        )
        newest = entry.holds[0]
        draft.note(
            Outcome.HELD,
            key,
            command=reference_of(newest),
            name=newest.name,
            prefix=newest.prefix,
            others=entry.others,
            note="" if newest.prefix else f"Found here; its own partition is {home}.",
        )
        draft.put(entry)
        return entry

    def _count(self) -> dict[bytes, int]:
        """Add the newly held events to the entries' counts. Returns the number of events per key
        that are in another partition than murmur2 gives."""
        draft, foreign = self._draft, {}
        for key, tally in self._tallies.items():
            entry = draft.entry(key)
            assert entry is not None
            draft.changed[key] = count_in(
                entry, events=tally.events, size=tally.bytes, oldest=tally.oldest, last=tally.last
            )
            if entry.foreign:
                foreign[key] = tally.events
        return foreign

    def _counted_only(self, decided: Iterable[bytes], publish: int) -> set[bytes]:
        """Up to `publish` keys whose counts in status are out of date, longest waiting first."""
        counted: set[bytes] = set()
        for key in chain(self._draft.state.uncounted, self._tallies):
            if len(counted) >= publish:
                break
            if key not in decided:
                counted.add(key)
        return counted

    def _counted_from(self, published: set[bytes], uncounted: Mapping[bytes, int]) -> int:
        waiting = self._draft.state.uncounted
        oldest = next((at for key, at in waiting.items() if key not in published), None)
        return next(iter(uncounted.values()), -1) if oldest is None else oldest

    def _trim_point(self) -> int:
        """The held offset below which no entry has rows. The end of held was read before the
        entries, so later rows are above it."""
        draft = self._draft
        starts = [e.held_from for k, e in draft.state.entries.items() if k not in draft.changed]
        starts += [e.held_from for e in draft.changed.values() if e is not None]
        return max(draft.state.position.trim, min((draft.held_end, *starts)))
