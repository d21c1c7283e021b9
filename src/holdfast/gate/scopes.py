"""Holds of prefixes, and pauses of the whole flow: how a step answers their commands.

Every partition has all of them in its state, takes their commands and journals its own cut. A hold
of a prefix is added to the entries of its keys; a key without an entry gets one when an event of it
comes. So a key drains when its last hold ends, whether that is its own or one of a prefix.
"""

from collections.abc import Iterable, Sequence

from holdfast.errors import HoldfastError
from holdfast.flows.commands import (
    Pause,
    PrefixHold,
    PrefixRelease,
    Resume,
    ScopeHold,
    ScopeRelease,
    scope_of,
)
from holdfast.flows.holds import MAX_HOLDS, MAX_PREFIX_HOLDS, WHOLE_FLOW, StandingHold
from holdfast.flows.journal import CommandReference, Outcome
from holdfast.flows.status import Entry
from holdfast.gate.control import ANSWERS_FOR_NO_KEY, ControlEntry
from holdfast.gate.draft import Draft
from holdfast.gate.state import Bucket
from holdfast.gate.transitions import hold_again, hold_of, reference_of, release


class FlowPausedError(HoldfastError):
    """The flow is paused: no step may take events."""


def is_paused(pauses: Sequence[StandingHold], commands: Iterable[ControlEntry]) -> bool:
    """Returns True if the flow is paused after these commands."""
    standing = list(pauses)
    for record in commands:
        command = record.command
        if record.first is not None:
            continue
        if isinstance(command, Pause):
            standing.append(hold_of(command, record.offset))
        elif isinstance(command, Resume):
            standing = [hold for hold in standing if not command.ends(hold)]
    return bool(standing)


def answer_scope_hold(draft: Draft, command: ScopeHold, reference: CommandReference) -> None:
    """Hold a prefix, or pause the flow."""
    scope, hold = scope_of(command), hold_of(command, reference.offset)
    known = draft.scope_holds(scope)
    others = tuple(each for each in known if not each.is_same(hold))
    if len(others) == len(known) and (why := _why_refused(draft, scope)):
        draft.note(Outcome.REFUSED, command=reference, prefix=scope, note=why)
        return
    outcome = Outcome.PAUSED if isinstance(command, Pause) else Outcome.HELD
    if others:
        outcome = Outcome.ADDED
    if len(others) < len(known):
        outcome = Outcome.UPDATED
    draft.note(outcome, command=reference, name=hold.name, prefix=scope, others=others)
    draft.put_scope(scope, (hold, *others))
    if isinstance(command, PrefixHold):
        for entry in draft.entries_with(command.prefix):
            _hold_key(draft, entry, hold, reference)


def answer_scope_release(draft: Draft, command: ScopeRelease, reference: CommandReference) -> None:
    """End holds of a prefix, or pauses of the flow."""
    scope = scope_of(command)
    known = draft.scope_holds(scope)
    remaining = tuple(hold for hold in known if not command.ends(hold))
    ended = tuple(hold.name for hold in known if command.ends(hold))
    outcome = Outcome.HOLD_RELEASED
    if not ended:
        outcome = Outcome.NOTHING_TO_DO
    elif not remaining:
        outcome = Outcome.RELEASED if isinstance(command, PrefixRelease) else Outcome.RESUMED
    draft.note(outcome, command=reference, ended=ended, prefix=scope, others=remaining)
    if not ended:
        return
    draft.put_scope(scope, remaining)
    if isinstance(command, PrefixRelease):
        for entry in draft.entries_with(command.prefix):
            _release_key(draft, entry, command, reference)


def expire_scopes(draft: Draft) -> None:
    """End the holds of prefixes that are due. Those of their keys are due at the same time."""
    for scope, holds in list(draft.held_scopes()):
        due = sorted(
            (hold for hold in holds if not hold.stands(draft.now)),
            key=lambda hold: (hold.expires_at, hold.offset),
        )
        for hold in due:
            holds = tuple(each for each in holds if each != hold)
            draft.note(
                Outcome.HOLD_EXPIRED if holds else Outcome.EXPIRED,
                command=reference_of(hold),
                name=hold.name,
                prefix=scope,
                others=holds,
            )
            draft.put_scope(scope, holds)


def _why_refused(draft: Draft, scope: bytes) -> str:
    """Why the scope gets no more holds; empty if it may. Other partitions take what the answering
    one takes: they may not have expired as many yet."""
    factor = 1 if draft.state.partition == ANSWERS_FOR_NO_KEY else 2
    if scope == WHOLE_FLOW:
        count, most = len(draft.scope_holds(scope)), MAX_HOLDS
        what = "pauses"
    else:
        count = sum(len(holds) for each, holds in draft.held_scopes() if each != WHOLE_FLOW)
        most = MAX_PREFIX_HOLDS
        what = "holds of prefixes"
    return f"The flow has {count} {what}, and at most {most}." if count >= factor * most else ""


def _hold_key(draft: Draft, entry: Entry, hold: StandingHold, reference: CommandReference) -> None:
    changed, outcome = hold_again(entry, hold, cut=draft.cut, now=draft.now)
    draft.note(
        outcome,
        entry.key,
        command=reference,
        drained_through=entry.drained_through if outcome is Outcome.HELD else None,
        name=hold.name,
        prefix=hold.prefix,
        others=tuple(each for each in changed.holds if each != hold),
    )
    draft.put(changed)


def _release_key(
    draft: Draft, entry: Entry, command: PrefixRelease, reference: CommandReference
) -> None:
    ended = tuple(hold.name for hold in entry.holds if command.ends(hold))
    if not ended:
        return
    changed, outcome = release(entry, command, reference.offset, cut=draft.cut, now=draft.now)
    draft.note(
        outcome,
        entry.key,
        command=reference,
        ended=ended,
        prefix=command.prefix,
        others=changed.holds,
    )
    if changed.pace is not None:
        draft.buckets[changed.key] = Bucket(0.0, draft.paced_at)
    draft.settle(changed)
