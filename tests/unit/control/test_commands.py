"""Keys that can be extended, as the view knows them from commands and outcomes."""

from dataclasses import replace

import pytest

from holdfast.control.commands import (
    CommandRequest,
    IdempotencyKeyReusedError,
    KeyNotHeldError,
    Verb,
    _command,
    _known,
    hold_to_extend,
)
from holdfast.control.holds import standing_holds
from holdfast.errors import ConflictError, InvalidArgumentError
from holdfast.flows.command_builder import CommandBuilder
from holdfast.flows.commands import Command, DeadLetter, Hold, Release, encode_command
from holdfast.flows.holds import ChooseHoldError
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
        return hold_to_extend(view, KEY, None, "eve").reason == "disputed"
    except KeyNotHeldError:
        return False


def test_key_counts_as_held_from_the_request_on(view: FlowView) -> None:
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


def test_hold_older_than_the_view_is_known_from_status(view: FlowView) -> None:
    entry = Entry(
        key=KEY, state=KeyState.HELD, command_id="h", actor="ana", reason="disputed", since=1,
        cut=41, held_from=0, drained_through=40,
    )  # fmt: skip
    view.take_status(0, entry)
    assert is_held(view)


def names(view: FlowView) -> list[str]:
    return [hold.name for hold in standing_holds(view, KEY)]


def test_several_holds_stand_until_each_is_released_or_expired(view: FlowView) -> None:
    fraud = replace(HOLD, id="h1", hold_name="fraud")
    support = replace(HOLD, id="h2", hold_name="support", expires_at=9_000)
    ask(view, fraud, 0)
    answer(view, Outcome.HELD, fraud, 0)
    ask(view, support, 1)
    assert names(view) == ["support", "fraud"], "requested"
    answer(view, Outcome.ADDED, support, 1)
    answer(view, Outcome.HOLD_EXPIRED, support, 1)
    assert names(view) == ["fraud"]
    other = replace(RELEASE, id="r1", holds=("support",))
    ask(view, other, 2)
    answer(view, Outcome.NOTHING_TO_DO, other, 2)
    assert names(view) == ["fraud"]
    ask(view, replace(RELEASE, id="r2", holds=("fraud",)), 3)
    assert names(view) == []


def test_actor_without_a_hold_must_name_one_of_several(view: FlowView) -> None:
    for offset, name in enumerate(("fraud", "support")):
        ask(view, replace(HOLD, id=name, hold_name=name), offset)
    eve = CommandBuilder("eve", 2_000)
    verbs: tuple[Verb, ...] = ("release", "extend")
    for verb in verbs:
        with pytest.raises(ChooseHoldError):
            _command(view, CommandRequest(verb=verb), KEY, eve)
    own = _command(view, CommandRequest(verb="release"), KEY, CommandBuilder("fraud", 2_000))
    assert isinstance(own, Release)
    assert own.holds == ("fraud",)
    every = CommandRequest(verb="release", every=True, reason="mistake")
    assert _command(view, every, KEY, eve).every  # type: ignore[union-attr]


def test_extension_does_not_shorten_the_hold_of_another(view: FlowView) -> None:
    ask(view, replace(HOLD, hold_name="fraud"), 0)
    shorter = CommandRequest(verb="extend", expires_in=60)
    with pytest.raises(ConflictError, match="shorten a hold of another: fraud"):
        _command(view, shorter, KEY, CommandBuilder("eve", 2_000))
    extended = _command(view, shorter, KEY, CommandBuilder("fraud", 2_000))
    assert isinstance(extended, Hold)
    assert (extended.hold_name, extended.reason) == ("fraud", "disputed")


def test_commands_of_a_flow_that_requires_reasons_are_refused_without(view: FlowView) -> None:
    strict = FlowView(replace(view.definition, require_reasons=True))
    verbs: tuple[Verb, ...] = ("hold", "release", "dead-letter")
    for verb in verbs:
        with pytest.raises(InvalidArgumentError, match="requires a reason"):
            _command(strict, CommandRequest(verb=verb), KEY, CommandBuilder("eve", 2_000))


@pytest.mark.parametrize("first", [True, False])
def test_repeated_dead_letter_is_about_as_many_events(view: FlowView, first: bool) -> None:
    ask(view, DeadLetter(id="d", actor="ana", at=1_000, key=KEY, first=first), 0)
    same = CommandRequest(verb="dead-letter", first=first)
    known = _known(view, "d", same, KEY)
    assert known is not None
    assert known.repeated
    with pytest.raises(IdempotencyKeyReusedError):
        _known(view, "d", replace(same, first=not first), KEY)
