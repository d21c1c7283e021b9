"""What can be extended, as the view knows it: from what was asked and what came of it."""

import pytest

from holdfast.api.commanding import KeyNotHeldError, reason_of_hold
from holdfast.flows.commands import Command, Hold, Release, encode_command
from holdfast.flows.journal import CommandReference, JournalRecord, Outcome, encode_journal
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.status import Entry, KeyState
from holdfast.views.audit import effective, requested
from holdfast.views.flow_view import FlowView

KEY = b"customer-7"
HOLD = Hold(id="h", actor="ana", at=1_000, key=KEY, reason="disputed")
RELEASE = Release(id="r", actor="bo", at=500, key=KEY)
"""By a clock that is late: the place on the log tells, not the time."""


@pytest.fixture
def view() -> FlowView:
    return FlowView(FlowDefinition(name="orders", partitions=1, created_at=1))


def ask(view: FlowView, command: Command, offset: int) -> None:
    view.take_audit(requested(offset, command.at, *encode_command(command)))


def answer(view: FlowView, outcome: Outcome, command: Command, offset: int) -> None:
    reference = CommandReference(command.id, command.name, offset)
    record = JournalRecord(outcome=outcome, cut=41, step=1, at=2_000, key=KEY, command=reference)
    view.take_audit(effective(0, offset, 2_000, *encode_journal(record)))


def is_held(view: FlowView) -> bool:
    try:
        return reason_of_hold(view, KEY) == "disputed"
    except KeyNotHeldError:
        return False


def test_who_has_just_been_told_of_a_hold_may_extend_it(view: FlowView) -> None:
    assert not is_held(view)
    ask(view, HOLD, 0)
    assert is_held(view), "requested"
    answer(view, Outcome.HELD, HOLD, 0)
    assert view.key(KEY).row.state is KeyState.ACTIVE, "status is not seen yet"
    assert is_held(view), "effective"


def test_release_and_expiry_end_what_can_be_extended(view: FlowView) -> None:
    ask(view, HOLD, 0)
    answer(view, Outcome.HELD, HOLD, 0)
    ask(view, RELEASE, 1)
    assert not is_held(view), "its end is requested"
    answer(view, Outcome.RELEASED, RELEASE, 1)
    assert not is_held(view)
    ask(view, HOLD, 2)
    answer(view, Outcome.HELD, HOLD, 2)
    assert is_held(view)
    answer(view, Outcome.EXPIRED, HOLD, 2)
    assert not is_held(view)


def test_command_that_did_not_act_changes_nothing(view: FlowView) -> None:
    ask(view, HOLD, 0)
    answer(view, Outcome.HELD, HOLD, 0)
    ask(view, RELEASE, 1)
    answer(view, Outcome.SUPERSEDED, RELEASE, 1)
    assert is_held(view)


def test_hold_from_before_what_the_view_remembers_is_known_by_its_state(view: FlowView) -> None:
    entry = Entry(
        key=KEY, state=KeyState.HELD, command_id="h", actor="ana", reason="disputed", since=1,
        cut=41, held_from=0, drained_through=40,
    )  # fmt: skip
    view.take_status(0, entry)
    assert is_held(view)
