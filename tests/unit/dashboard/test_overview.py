"""The overview tells of what is, not of what once was."""

from holdfast.dashboard.pages.overview import overview
from holdfast.flows.commands import Hold, encode_command
from holdfast.flows.journal import CommandReference, JournalRecord, Outcome, encode_journal
from holdfast.flows.registry import FlowDefinition
from holdfast.views.audit import effective, requested
from holdfast.views.flow_view import FlowView

NOW = 1_767_225_600_000
MINUTE = 60_000


def hold(view: FlowView, offset: int, at: int, took: int) -> None:
    """A hold that took so long to become effective."""
    key = b"%d" % offset
    command = Hold(id=f"h{offset}", actor=f"a{offset}", at=at, key=key)
    view.take_audit(requested(offset, at, *encode_command(command)))
    record = JournalRecord(
        outcome=Outcome.HELD, cut=0, step=1, at=at + took, key=key,
        command=CommandReference(command.id, command.name, offset),
    )  # fmt: skip
    view.take_audit(effective(0, offset, at + took, *encode_journal(record)))


def test_time_to_effective_is_that_of_the_last_minutes() -> None:
    view = FlowView(FlowDefinition(name="orders", partitions=1, created_at=1))
    hold(view, 0, NOW - 11 * MINUTE, took=40_000)
    assert overview([view], NOW).totals.p99_ms is None
    hold(view, 1, NOW - 9 * MINUTE, took=300)
    totals = overview([view], NOW).totals
    assert (totals.p99_ms, totals.commands) == (300, 1)
