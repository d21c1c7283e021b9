"""What comes of commands, of time and of limits, before a step looks at its events."""

from collections.abc import Iterable, Sequence

from holdfast.flows.commands import DeadLetter, Hold, Release, Void
from holdfast.flows.journal import CommandReference, Outcome
from holdfast.flows.registry import Limits
from holdfast.flows.status import Entry
from holdfast.gate.control import Asked
from holdfast.gate.draft import Draft
from holdfast.gate.pacing import Bucket
from holdfast.gate.settings import GateSettings
from holdfast.gate.transitions import (
    Order,
    begin_hold,
    dead_letter,
    expire,
    hold_again,
    is_due,
    release,
)


def answer_settings(draft: Draft, settings: GateSettings) -> None:
    """Other limits, policy or schema act from this step's cut on."""
    if settings.digest != draft.state.position.settings:
        draft.note(Outcome.CHANGED, settings=settings.document)


def answer_commands(draft: Draft, commands: Iterable[Asked]) -> None:
    """Apply the commands that concern this partition, and journal each.

    They concern it if it is the key's own, or has an entry of the key. Of hold and release only
    the last acts; a dead-letter acts whatever comes with it, since it is about what is held.
    """
    partition, entries = draft.state.partition, draft.state.entries
    mine = [
        asked
        for asked in commands
        if asked.home == partition
        or (asked.command is not None and getattr(asked.command, "key", None) in entries)
    ]
    acting = _last_switches(mine)
    for asked in mine:
        command = asked.command
        reference = _reference(asked)
        if asked.first is not None:
            if asked.home == partition:
                key = getattr(command, "key", None)
                draft.note(Outcome.DUPLICATE, key, command=reference, first=asked.first)
            continue
        match command:
            case None:
                draft.note(Outcome.UNREADABLE, command=reference, note=asked.why)
            case Void():
                outcome = Outcome.VOIDED if asked.voids else Outcome.NOTHING_TO_DO
                draft.note(outcome, command=reference, note=command.reason)
            case DeadLetter():
                _answer_dead_letter(draft, command, reference)
            case Hold() | Release() if acting[command.key] != asked.offset:
                draft.note(
                    Outcome.SUPERSEDED,
                    command.key,
                    command=reference,
                    superseded_by=acting[command.key],
                )
            case Hold():
                _answer_hold(draft, command, reference)
            case Release():
                _answer_release(draft, command, reference)


def answer_time(draft: Draft) -> None:
    """Expire the holds whose time has come, also those that were asked for too late."""
    changed = [key for key, entry in draft.changed.items() if entry is not None]
    due = {*draft.state.due(draft.now), *changed}
    for key in sorted(due):
        entry = draft.entry(key)
        if entry is not None and is_due(entry, draft.now):
            hold = CommandReference(entry.command_id, Hold.name, entry.command_offset)
            draft.note(Outcome.EXPIRED, key, command=hold)
            draft.settle(expire(entry, cut=draft.cut, now=draft.now))


def answer_limits(draft: Draft, limits: Limits, flow_over: bool) -> None:
    """Journal where an overflow begins and ends, by the counts at the start of the step."""
    state = draft.state
    if flow_over != state.position.overflow:
        draft.note(Outcome.OVERFLOW_BEGUN if flow_over else Outcome.OVERFLOW_ENDED)
    over = state.over_limits(limits)
    for key in sorted(over ^ state.flagged):
        entry = draft.entry(key)
        if entry is not None:
            draft.flag_overflow(entry, key in over)


def _last_switches(commands: Sequence[Asked]) -> dict[bytes, int]:
    return {
        asked.command.key: asked.offset
        for asked in commands
        if asked.first is None and isinstance(asked.command, Hold | Release)
    }


def _reference(asked: Asked) -> CommandReference:
    if asked.command is None:
        return CommandReference("", "", asked.offset)
    return CommandReference(asked.command.id, asked.command.name, asked.offset)


def _answer_hold(draft: Draft, command: Hold, reference: CommandReference) -> None:
    entry, order = draft.entry(command.key), Order.given(command, reference.offset)
    cut, now = draft.cut, draft.now
    if entry is None:
        draft.note(Outcome.HELD, command.key, command=reference)
        draft.put(begin_hold(command.key, order, cut=cut, now=now, held_end=draft.held_end))
        return
    changed, outcome = hold_again(entry, order, cut=cut, now=now)
    stopped = entry.drained_through if outcome is Outcome.HELD else None
    draft.note(outcome, command.key, command=reference, drained_through=stopped)
    draft.put(changed)


def _answer_release(draft: Draft, command: Release, reference: CommandReference) -> None:
    entry = draft.entry(command.key)
    if entry is None:
        draft.note(Outcome.NOTHING_TO_DO, command.key, command=reference)
        return
    changed, outcome = release(entry, command, reference.offset, cut=draft.cut, now=draft.now)
    draft.note(outcome, command.key, command=reference)
    if outcome is not Outcome.NOTHING_TO_DO:
        _set_pace(draft, changed)
        draft.settle(changed)


def _set_pace(draft: Draft, entry: Entry) -> None:
    if entry.pace is not None:
        draft.buckets[entry.key] = Bucket(0.0, draft.now)


def _answer_dead_letter(draft: Draft, command: DeadLetter, reference: CommandReference) -> None:
    entry = draft.entry(command.key)
    if entry is None:
        draft.note(Outcome.NOTHING_TO_DO, command.key, command=reference)
        return
    changed, outcome = dead_letter(entry)
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
