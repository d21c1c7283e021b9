"""What a hook reports, made from a journal record or from a report of the pipeline."""

from collections.abc import Callable
from dataclasses import dataclass

from holdfast.flows.holds import GUARD
from holdfast.flows.journal import CommandReference, JournalRecord, Outcome
from holdfast.flows.reports import Report
from holdfast.hooks.hook import EventKind, Hook

Requester = Callable[[str, CommandReference], tuple[str, str]]
"""Actor and reason of a command of a flow; empty if they are not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookEvent:
    """One event. Its id is the same in every attempt and after every restart."""

    id: str
    kind: EventKind
    flow: str
    at: int
    """Milliseconds since 1970."""
    key: bytes | None = None
    partition: int | None = None
    cut: int | None = None
    """The source offset from which it applies."""
    actor: str = ""
    reason: str = ""
    hold: str = ""
    """The name of the hold that it is about."""
    note: str = ""


_KINDS = {
    Outcome.HELD: EventKind.HELD,
    Outcome.EXPIRED: EventKind.EXPIRED,
    Outcome.DRAINED: EventKind.DRAINED,
}


def event_of_journal(
    flow: str, partition: int, offset: int, record: JournalRecord, requester: Requester
) -> HookEvent | None:
    """The event of a journal record; None for outcomes that no hook reports."""
    kind = _KINDS.get(record.outcome)
    if kind is None or record.key is None:
        return None
    if record.name == GUARD:
        if kind is not EventKind.HELD:
            return None  # the expiry of the guard's own hold is the next try
        kind = EventKind.PARKED
    command = record.command
    actor, reason = requester(flow, command) if command else ("", "")
    return HookEvent(
        id=f"{flow}.journal-{partition}-{offset}",
        kind=kind,
        flow=flow,
        at=record.at,
        key=record.key,
        partition=partition,
        cut=record.cut,
        actor=actor or (record.name if record.name == GUARD else ""),
        reason=reason,
        hold=record.name,
        note=record.note,
    )


def event_of_report(report: Report, why: str) -> HookEvent:
    """The event of a gate that no longer works."""
    return HookEvent(
        id=f"{report.flow}-{report.process}-{report.at}",
        kind=EventKind.STOPPED,
        flow=report.flow,
        at=report.at,
        reason=why,
        note=f"The {report.part} reported {report.state!r} last.",
    )


def event_of_test(hook: Hook, actor: str, now: int) -> HookEvent:
    """The event with which a person tries a hook."""
    return HookEvent(
        id=f"test-{hook.id}-{now}",
        kind=EventKind.TEST,
        flow="test",
        at=now,
        key=b"customer-7",
        actor=actor,
        reason="a test of this hook",
    )
