"""The outcomes of commands, expiries and limits, which a step computes before it takes events."""

from collections.abc import Iterable

from holdfast.flows.commands import (
    DeadLetter,
    Hold,
    Pause,
    PrefixHold,
    PrefixRelease,
    Release,
    Resume,
    ScopeCommand,
    Skip,
    Void,
    key_of,
)
from holdfast.flows.holds import MAX_HOLDS
from holdfast.flows.journal import CommandReference, Outcome
from holdfast.flows.registry import Limits
from holdfast.gate.control import ControlEntry
from holdfast.gate.draft import Draft
from holdfast.gate.scopes import answer_scope_hold, answer_scope_release, expire_scopes
from holdfast.gate.settings import GateSettings
from holdfast.gate.state import Bucket
from holdfast.gate.transitions import (
    begin_hold,
    dead_letter,
    due_holds,
    expire,
    hold_again,
    hold_of,
    reference_of,
    release,
)
from holdfast.gate.unreadable import Unreadable


def answer_settings(draft: Draft, settings: GateSettings) -> None:
    """Journal new limits, a new policy or a new schema: they act from this step's cut on."""
    if settings.digest != draft.state.position.settings:
        draft.note(Outcome.CHANGED, settings=settings.document)


def answer_commands(
    draft: Draft, commands: Iterable[ControlEntry], unreadable: Unreadable | None
) -> None:
    """Apply the commands that concern this partition, and journal each. `unreadable`: the batch at
    the partition's position, if it is known that it cannot be read.

    A command concerns the home partition of its key, and every partition with an entry of the key.
    One about a prefix or the whole flow concerns every partition.
    Commands act in the order of the control log, also several of one step: a hold, a release and
    another hold of a key may be about three different holds.
    """
    partition, entries = draft.state.partition, draft.state.entries
    mine = [
        record
        for record in commands
        if record.home == partition
        or isinstance(record.command, ScopeCommand)
        or (record.command is not None and key_of(record.command) in entries)
    ]
    for record in mine:
        command = record.command
        reference = _reference(record)
        key = None if command is None else key_of(command)
        if record.home != partition and key is not None and draft.entry(key) is None:
            continue  # an earlier command of this step has ended the entry
        if record.first is not None:
            if record.home == partition:
                draft.note(Outcome.DUPLICATE, key, command=reference, first=record.first)
            continue
        match command:
            case None:
                draft.note(Outcome.UNREADABLE, command=reference, note=record.why)
            case Void():
                outcome = Outcome.VOIDED if record.voids else Outcome.NOTHING_TO_DO
                draft.note(outcome, command=reference, note=command.reason)
            case Skip():
                _answer_skip(draft, command, reference, unreadable)
            case DeadLetter():
                _answer_dead_letter(draft, command, reference)
            case Hold():
                _answer_hold(draft, command, reference)
            case Release():
                _answer_release(draft, command, reference)
            case PrefixHold() | Pause():
                answer_scope_hold(draft, command, reference)
            case PrefixRelease() | Resume():
                answer_scope_release(draft, command, reference)


def answer_time(draft: Draft) -> None:
    """Expire the holds that are due by the current clock, including holds that were requested
    after their own expiry."""
    expire_scopes(draft)
    changed = [key for key, entry in draft.changed.items() if entry is not None]
    due = {*draft.state.due(draft.now), *changed}
    for key in sorted(due):
        entry = draft.entry(key)
        if entry is None:
            continue
        for hold in due_holds(entry, draft.now):
            entry, outcome = expire(entry, hold, cut=draft.cut, now=draft.now)
            draft.note(
                outcome,
                key,
                command=reference_of(hold),
                name=hold.name,
                prefix=hold.prefix,
                others=entry.holds,
            )
            draft.settle(entry)


def answer_limits(draft: Draft, limits: Limits, flow_over: bool) -> None:
    """Journal the begin and end of an overflow, by the counts at the start of the step."""
    state = draft.state
    if flow_over != state.position.overflow:
        draft.note(Outcome.OVERFLOW_BEGUN if flow_over else Outcome.OVERFLOW_ENDED)
    over = state.over_limits(limits)
    for key in sorted(over ^ state.flagged):
        entry = draft.entry(key)
        # A command of this step may have ended the entry, and another may have begun a new one.
        if entry is not None and entry.overflow != (key in over):
            draft.flag_overflow(entry, key in over)


def _reference(record: ControlEntry) -> CommandReference:
    if record.command is None:
        return CommandReference("", "", record.offset)
    return CommandReference(record.command.id, record.command.name, record.offset)


def _answer_skip(
    draft: Draft, command: Skip, reference: CommandReference, unreadable: Unreadable | None
) -> None:
    why = _why_not_skip(draft, command, unreadable)
    if why or unreadable is None:
        draft.note(Outcome.NOTHING_TO_DO, command=reference, note=why)
        return
    draft.skip_to = unreadable.end
    draft.note(Outcome.SKIPPED, command=reference, lost_until=unreadable.end, note=unreadable.why)


def _why_not_skip(draft: Draft, command: Skip, unreadable: Unreadable | None) -> str:
    """Why the command may not skip these events; empty if it may. Only a whole batch that cannot
    be read may be skipped."""
    at = draft.cut if draft.skip_to is None else draft.skip_to
    if draft.paused:
        return "The flow is paused. Resume it first."
    if command.partition != draft.state.partition:
        return f"There is no partition {command.partition}."
    if command.first > at:
        return f"The gate is at offset {at}: it has not reached these events."
    if command.first < at:
        return f"The gate is at offset {at}: it has taken or skipped offset {command.first} before."
    if unreadable is None or unreadable.start != at:
        return f"The events from offset {at} on can be read."
    if command.last != unreadable.end - 1:
        return (
            f"The unreadable events are offsets {at} to {unreadable.end - 1}: name exactly these."
        )
    return ""


def _answer_hold(draft: Draft, command: Hold, reference: CommandReference) -> None:
    entry, hold = draft.entry(command.key), hold_of(command, reference.offset)
    cut, now = draft.cut, draft.now
    if entry is None:
        entry = begin_hold(
            command.key,
            [hold, *draft.prefix_holds(command.key)],
            cut=cut,
            now=now,
            held_end=draft.held_end,
        )
        draft.note(
            Outcome.HELD, command.key, command=reference, name=hold.name, others=entry.others
        )
        draft.put(entry)
        return
    changed, outcome = hold_again(entry, hold, cut=cut, now=now)
    if outcome is Outcome.REFUSED:
        why = f"The key has {len(entry.holds)} holds, and a key has at most {MAX_HOLDS}."
        draft.note(outcome, command.key, command=reference, note=why)
        return
    draft.note(
        outcome,
        command.key,
        command=reference,
        drained_through=entry.drained_through if outcome is Outcome.HELD else None,
        name=hold.name,
        others=tuple(each for each in changed.holds if each != hold),
    )
    draft.put(changed)


def _answer_release(draft: Draft, command: Release, reference: CommandReference) -> None:
    entry = draft.entry(command.key)
    if entry is None:
        draft.note(Outcome.NOTHING_TO_DO, command.key, command=reference)
        return
    changed, outcome = release(entry, command, reference.offset, cut=draft.cut, now=draft.now)
    draft.note(
        outcome,
        command.key,
        command=reference,
        ended=tuple(hold.name for hold in entry.holds if command.ends(hold)),
        others=changed.holds,
    )
    if outcome is not Outcome.NOTHING_TO_DO:
        if changed.pace is not None:
            draft.buckets[changed.key] = Bucket(0.0, draft.paced_at)
        draft.settle(changed)


def _answer_dead_letter(draft: Draft, command: DeadLetter, reference: CommandReference) -> None:
    entry = draft.entry(command.key)
    if entry is None:
        draft.note(Outcome.NOTHING_TO_DO, command.key, command=reference)
        return
    changed, outcome = dead_letter(entry, command, cut=draft.cut, now=draft.now)
    if outcome is Outcome.NOTHING_TO_DO:
        draft.note(outcome, command.key, command=reference)
        return
    draft.note(
        outcome,
        command.key,
        command=reference,
        drained_through=entry.drained_through,
        note=command.reason,
    )
    draft.put(changed)
