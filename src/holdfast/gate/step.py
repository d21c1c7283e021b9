"""A step: the commands, the time and the events of one source partition become what to write.

In this order: settings, commands, expiry, limits, then the events (or, in a step of the keeper,
the held rows that are given out). A step decides on a draft; nothing of the state changes before
`PartitionState.apply` takes the changes of a step that was committed. So a step that failed is
simply forgotten, and may be repeated with another range, other commands, at another time.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from holdfast.errors import GateStoppedError, StaleStateError
from holdfast.flows.commands import Hold
from holdfast.flows.journal import CommandReference, JournalRecord, Outcome
from holdfast.flows.keys import partition_of
from holdfast.flows.status import Active, Entry, Position
from holdfast.gate.answers import answer_commands, answer_limits, answer_settings, answer_time
from holdfast.gate.backlog import Backlog, Payload
from holdfast.gate.control import Asked
from holdfast.gate.draft import Draft
from holdfast.gate.drain import Drained, drain
from holdfast.gate.holds import FlowHolds
from holdfast.gate.settings import GateSettings
from holdfast.gate.state import Changes, PartitionState
from holdfast.gate.transitions import begin_hold, count_in
from holdfast.gate.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Moment:
    """What all partitions of a flow share in their steps, while the flow's lock is held."""

    owner: str
    partitions: int
    holds: FlowHolds
    settings: GateSettings
    over: bool = False
    """The flow is at its limit: `flow_is_over` at the start of the batch."""
    topics: str = ""
    """Which topics the offsets are of: see `Position.topics`."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a step writes beside events, in the same transaction. The position goes last, into
    status and, with its metadata, to the group's offsets."""

    position: Position
    journal: tuple[JournalRecord, ...]
    status: tuple[Entry | Active, ...]
    changes: Changes
    foreign: Mapping[bytes, int]
    """Events held in a partition that murmur2 does not give, by key: to be warned about."""
    idle: bool
    """Nothing would be lost by not committing this step."""


@dataclass(slots=True)
class _Tally:
    """What one key adds to held in this step."""

    events: int = 0
    bytes: int = 0
    oldest: int = 0
    last: int = -1


class Step:
    """One step of one partition. Made under the flow's lock, and used once.

    `commands` are those from the partition's control to `moment.holds.through`; `held_end` is the
    end of held/p, read before (an older end is safe, a later one is not); `end` is where the
    events of this step end, or None for a step without events.
    """

    def __init__(
        self,
        state: PartitionState,
        moment: Moment,
        commands: Sequence[Asked],
        *,
        held_end: int,
        end: int | None = None,
    ) -> None:
        self._moment = moment
        self._draft = Draft(state, now=moment.holds.now, held_end=held_end)
        self._start = state.position.offset
        self._end = self._start if end is None else end
        self._through = moment.holds.through
        self._seen = self._start - 1
        self._verdicts: dict[bytes | None, Verdict] = {None: Verdict.PASS}
        self._tallies: dict[bytes, _Tally] = {}
        self._check(commands)
        answer_settings(self._draft, moment.settings)
        answer_commands(self._draft, commands)
        answer_time(self._draft)
        answer_limits(self._draft, moment.settings.limits, moment.over)

    def _check(self, commands: Sequence[Asked]) -> None:
        control = self._draft.state.position.control
        if self._through < control or any(
            not control <= asked.offset < self._through for asked in commands
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
        """Go on at the log's start, though events before it were deleted unread; someone said so.

        Only before events, and in a step that has none.
        """
        if self._end != self._start or log_start <= self._start:
            raise GateStoppedError("A loss is accepted by a step of its own, and only of one.")
        self._draft.note(Outcome.LOSS_ACCEPTED, lost_until=log_start)
        self._end = log_start

    def decide(
        self,
        keys: Sequence[bytes | None],
        offsets: Sequence[int],
        sizes: Sequence[int],
        timestamps: Sequence[int],
    ) -> bytearray:
        """Where each of these events goes, as a `Verdict` a byte.

        Only events of `KeysOfInterest` need be shown; what is not shown passes. Invalid events
        are not shown: they go to the dead letters, held key or not. Offsets rise, also from call
        to call; a size is that of key and value.
        """
        self._check_range(offsets)
        verdicts = bytearray(len(keys))
        known, tallies, hold = self._verdicts, self._tallies, Verdict.HOLD
        for index, key in enumerate(keys):
            verdict = known.get(key)
            if verdict is None:
                verdict = self._verdict(key)
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
        """The held rows that this step gives out. Only the keeper drains: a step with events
        appends to held, and what it appends is not there yet to be given out in order."""
        if self._end != self._start:
            raise RuntimeError("A step with events cannot drain.")
        return drain(self._draft, backlog, rows=rows, size=size)

    def finish(self, *, publish: int = 0, trim: bool = False) -> Result:
        """What to write.

        `publish`: so many entries whose counts alone have changed are written to status too;
        `trim`: compute the trim point anew.
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
            owner=self._moment.owner,
            last_held=max((tally.last for tally in self._tallies.values()), default=old.last_held),
            trim=self._trim_point() if trim else old.trim,
            counted_from=self._counted_from(published, uncounted),
            settings=self._moment.settings.digest,
            overflow=self._moment.over,
            topics=self._moment.topics,
        )
        status = tuple(
            entry or Active(key) for key, entry in changed.items() if key not in uncounted
        )
        changes = Changes(position, changed, uncounted, draft.buckets, self._moment.settings.limits)
        journal = tuple(draft.journal)
        idle = not journal and not changed and position == replace(old, step=old.step + 1)
        return Result(position, journal, status, changes, foreign, idle)

    def _check_range(self, offsets: Sequence[int]) -> None:
        if not offsets:
            return
        if not (self._seen < offsets[0] and offsets[-1] < self._end):
            raise StaleStateError(
                f"Events {offsets[0]} to {offsets[-1]} do not lie between {self._seen + 1} and "
                f"{self._end}, where this step takes events."
            )
        self._seen = offsets[-1]

    def _verdict(self, key: bytes | None) -> Verdict:
        """The verdict on a key's events; it is the same for all of this step."""
        assert key is not None
        entry = self._draft.entry(key) or self._hold_where_it_is(key)
        settings = self._moment.settings
        if entry is None:
            verdict = Verdict.PASS
        elif settings.overflow == "dead-letter" and (self._moment.over or entry.overflow):
            verdict = Verdict.DEAD
        else:
            verdict = Verdict.HOLD
            self._tallies[key] = _Tally()
        self._verdicts[key] = verdict
        return verdict

    def _hold_where_it_is(self, key: bytes) -> Entry | None:
        """The entry of a key that is held, but not by command in this partition: its events got
        here by another partitioner than murmur2, and are held here all the same."""
        order = self._moment.holds.get(key)
        if order is None:
            return None
        draft, home = self._draft, partition_of(key, self._moment.partitions)
        foreign = home != draft.state.partition
        entry = begin_hold(
            key, order, cut=draft.cut, now=draft.now, held_end=draft.held_end, foreign=foreign
        )
        draft.note(
            Outcome.HELD,
            key,
            command=CommandReference(order.id, Hold.name, order.offset),
            note=f"Found here; its own partition is {home}.",
        )
        draft.put(entry)
        return entry

    def _count(self) -> dict[bytes, int]:
        """Add what was held to the entries' counts. -> how much of it came in a partition that
        murmur2 does not give its key"""
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
        """Up to `publish` keys of which status has old counts, the longest waiting first."""
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
        """Below this no entry has rows. The end of held was read before the entries are looked at,
        so rows that come later lie above it."""
        draft = self._draft
        starts = [e.held_from for k, e in draft.state.entries.items() if k not in draft.changed]
        starts += [e.held_from for e in draft.changed.values() if e is not None]
        return max(draft.state.position.trim, min((draft.held_end, *starts)))
