"""Commands as rows: what was asked, what came of it, and from which event on it holds."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from holdfast.dashboard.key_name import KeyName
from holdfast.dashboard.looks import Look, outcome_look, pending_look
from holdfast.dashboard.words import clock, number, rate, short, size
from holdfast.flows.journal import Outcome
from holdfast.views.audit import MAX_PAGE, AuditQuery, AuditRow, HistoryItem, history_of
from holdfast.views.flow_view import FlowView

_SAME_TIME_MS = 2_000
"""Commands of one actor that are no further apart were asked for together."""
_UNASKED = (Outcome.DRAINED, Outcome.EXPIRED)


@dataclass(frozen=True, slots=True)
class Cut:
    """The source offset from which a command acts, in one partition."""

    partition: int
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRow:
    """One command, or several that were asked for together."""

    flow: str
    at: int
    effective_at: int | None
    look: Look
    title: str
    """The verb: Hold, Release; or what happened without being asked for."""
    what: str
    """Reason, pace, expiry: what else was said."""
    actor: str
    key: KeyName | None
    cuts: tuple[Cut, ...]
    keys: int = 1
    asked: bool = True
    """Whether a command was behind it."""
    outcome: Outcome | None = None

    @property
    def pending(self) -> bool:
        return self.asked and self.effective_at is None


def command_row(flow: str, item: HistoryItem, now: int) -> CommandRow:
    """The history's item as a row."""
    asked = item.requested or item.effective[0]
    # A repeated command has outcomes of its own; the first that did something tells more.
    shown = next((row for row in item.effective if row.outcome), None)
    outcome = shown.outcome if shown else None
    command = "" if outcome in _UNASKED else asked.command
    return CommandRow(
        flow=flow,
        at=item.at,
        effective_at=max((row.at for row in item.effective), default=None),
        look=pending_look(command) if outcome is None else outcome_look(outcome, command),
        title=_title(command, outcome),
        what=_what(asked, shown, now),
        actor=asked.actor if command else "",
        key=None if asked.key is None else KeyName(asked.key),
        cuts=tuple(Cut(row.partition, row.cut) for row in item.effective if row.cut is not None),
        asked=bool(command),
        outcome=outcome,
    )


def recent_commands(flow: FlowView, now: int) -> list[CommandRow]:
    """The newest commands of a flow, those that were asked for together as one."""
    rows = flow.audit(AuditQuery(limit=MAX_PAGE)).rows
    return together([command_row(flow.name, item, now) for item in history_of(rows)])


def together(rows: Sequence[CommandRow]) -> list[CommandRow]:
    """Neighbours of the same flow, actor, kind and time as one row with a count of keys."""
    grouped: list[CommandRow] = []
    for row in rows:
        last = grouped[-1] if grouped else None
        if last is not None and _alike(last, row):
            grouped[-1] = _merged(last, row)
        else:
            grouped.append(row)
    return grouped


def times_to_effective(rows: Iterable[CommandRow]) -> list[int]:
    """How long each command took, in milliseconds, shortest first."""
    return sorted(
        max(0, row.effective_at - row.at)
        for row in rows
        if row.asked and row.effective_at is not None
    )


def _alike(a: CommandRow, b: CommandRow) -> bool:
    same = (a.flow, a.title, a.actor, a.look, a.asked) == (
        b.flow,
        b.title,
        b.actor,
        b.look,
        b.asked,
    )
    return same and a.key != b.key and abs(a.at - b.at) <= _SAME_TIME_MS


def _merged(a: CommandRow, b: CommandRow) -> CommandRow:
    ends = [row.effective_at for row in (a, b) if row.effective_at is not None]
    return replace(
        a,
        at=min(a.at, b.at),
        effective_at=max(ends, default=None),
        cuts=_distinct((*a.cuts, *b.cuts)),
        keys=a.keys + b.keys,
    )


def _distinct(cuts: tuple[Cut, ...]) -> tuple[Cut, ...]:
    return tuple({cut.partition: cut for cut in cuts}.values())


def _title(command: str, outcome: Outcome | None) -> str:
    if command:
        return command.capitalize()
    if outcome is None:
        return "Unreadable"
    return outcome.value.replace("-", " ").capitalize()


def note_of(row: AuditRow) -> str:
    """What else a row says, for people: settings that have changed are JSON in the journal."""
    if row.outcome is not Outcome.CHANGED:
        return row.note
    try:
        said = json.loads(row.note)
        each = f"{short(said['key_events'])} events or {size(said['key_bytes'])} a key"
        whole = f"{short(said['flow_events'])} events or {size(said['flow_bytes'])} in all"
        told = f"at most {each}, {whole}; at the limit: {said['overflow']}"
        return f"{told}; schema: {said['schema']}" if said.get("schema") else told
    except (ValueError, KeyError, TypeError):
        return row.note


def _what(asked: AuditRow, shown: AuditRow | None, now: int) -> str:
    """The part of a row that is a sentence."""
    told = [asked.reason]
    if asked.pace is not None:
        told.append(f"pace {rate(asked.pace)}/s")
    if asked.expires_at is not None:
        told.append(f"until {clock(asked.expires_at, now)}")
    if shown is not None and shown.outcome in _UNASKED and shown.drained_through is not None:
        told.append(f"through {shown.partition}:{shown.drained_through}")
    if shown is not None and shown.superseded_by is not None:
        told.append(f"the command at {number(shown.superseded_by)} acted instead")
    if shown is not None:
        told.append(note_of(shown))
    if asked is not shown:
        told.append(note_of(asked))
    return ", ".join(part for part in told if part)
