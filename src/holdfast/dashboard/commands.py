"""Commands as rows: the request, the outcome, and the cut."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from holdfast.dashboard.formats import clock, number, rate, short, size
from holdfast.dashboard.key_name import KeyName
from holdfast.dashboard.state_styles import StateStyle, outcome_style, pending_style
from holdfast.flows.holds import GUARD, prefix_text, still_held
from holdfast.flows.journal import Outcome
from holdfast.views.audit import MAX_PAGE, AuditQuery, AuditRow, HistoryItem, history_of
from holdfast.views.flow_view import FlowView

_SAME_TIME_MS = 2_000
"""Commands of one actor within this time belong together."""
_RELEASES = ("release", "release-prefix", "resume")
TRIES = {
    Outcome.HELD: "Failed", Outcome.ADDED: "Failed", Outcome.UPDATED: "Failed",
    Outcome.EXPIRED: "Tried again", Outcome.HOLD_EXPIRED: "Try was due",
}  # fmt: skip
"""Of a guard's own hold: it begins when a try has failed, and expires for the next one."""
_UNASKED = (Outcome.DRAINED, Outcome.EXPIRED, Outcome.HOLD_EXPIRED)


@dataclass(frozen=True, slots=True)
class Cut:
    """The source offset from which a command acts, in one partition."""

    partition: int
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRow:
    """One command, or several that were sent together."""

    flow: str
    at: int
    effective_at: int | None
    style: StateStyle
    title: str
    """The verb (Hold, Release), or the name of an outcome without a command."""
    what: str
    """Reason, pace, expiry."""
    actor: str
    key: KeyName | None
    cuts: tuple[Cut, ...]
    keys: int = 1
    asked: bool = True
    """True if a command was the cause."""
    outcome: Outcome | None = None
    remains: str = ""
    """Of a release: the holds that still stand, in a sentence."""

    @property
    def pending(self) -> bool:
        return self.asked and self.effective_at is None


def command_row(flow: str, item: HistoryItem, now: int) -> CommandRow:
    asked = item.requested or item.effective[0]
    # A repeated command has its own outcomes; the first one with an effect is shown.
    shown = next((row for row in item.effective if row.outcome), None)
    outcome = shown.outcome if shown else None
    tried = TRIES.get(outcome) if outcome and asked.name == GUARD and not asked.command else None
    command = "" if outcome in _UNASKED else asked.command
    return CommandRow(
        flow=flow,
        at=item.at,
        effective_at=max((row.at for row in item.effective), default=None),
        style=pending_style(command) if outcome is None else outcome_style(outcome, command),
        title=tried or _title(command, outcome),
        what=_what(asked, shown, now),
        actor=asked.actor if command else "",
        key=None if asked.key is None else KeyName(asked.key),
        cuts=tuple(Cut(row.partition, row.cut) for row in item.effective if row.cut is not None),
        asked=bool(command),
        outcome=outcome,
        remains=_remains(asked, shown),
    )


def _remains(asked: AuditRow, shown: AuditRow | None) -> str:
    if asked.command not in _RELEASES or shown is None or not shown.others:
        return ""
    own = shown.holds and set(shown.holds) <= {asked.actor}
    ended = "Your hold is released." if own else "Released."
    rest = still_held(_whom(asked), shown.others)
    return f"{ended if shown.holds else 'Nothing was released.'} {rest}"


def _whom(row: AuditRow) -> str:
    """The key, prefix or flow that a command is about."""
    if row.key is not None:
        return KeyName(row.key).brief
    return f"The prefix {prefix_text(row.prefix)}" if row.prefix else "The flow"


def recent_commands(flow: FlowView, now: int) -> list[CommandRow]:
    """The newest commands of a flow; those that were sent together are one row."""
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
    same = (a.flow, a.title, a.actor, a.style, a.asked) == (
        b.flow,
        b.title,
        b.actor,
        b.style,
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
    """The note of a row for people: changed settings are JSON in the journal."""
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
    """The details of a row in one sentence."""
    told = [asked.reason]
    if asked.command == "hold" and asked.name not in ("", asked.actor):
        told.append(f"as {asked.name}")
    if asked.command == "release" and asked.every:
        told.append("all holds")
    elif asked.command == "release" and not set(asked.holds) <= {"", asked.actor}:
        told.append(f"of {', '.join(filter(None, asked.holds))}")
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
