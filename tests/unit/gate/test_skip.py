"""Events that cannot be read, and the command that skips them."""

import pytest

from holdfast.errors import InvalidArgumentError
from holdfast.flows.commands import Hold, Skip, decode_command, encode_command
from holdfast.flows.journal import JournalRecord
from holdfast.flows.keys import partition_of
from holdfast.gate import (
    ControlLog,
    FlowHolds,
    GateSettings,
    Now,
    PartitionState,
    Result,
    Step,
    StepContext,
    Unreadable,
    UnreadableEventsError,
)
from holdfast.gate.unreadable import offsets_to_skip

BAD = Unreadable(1, 10, 20, "The batch is damaged")


def skip(first: int = 10, last: int = 19, partition: int = 1, identity: str = "s") -> Skip:
    return Skip(id=identity, actor="ana", at=1, partition=partition, first=first, last=last)


def run(
    *commands: Skip | Hold,
    at: int = 10,
    unreadable: Unreadable | None = BAD,
    end: int | None = None,
    partition: int = 1,
) -> Result:
    """One step of a partition of two."""
    control = ControlLog(2)
    for offset, command in enumerate(commands):
        control.append_command(offset, command)
    state = PartitionState.first(partition, at, 0)
    holds = FlowHolds()
    holds.advance(control, len(commands), 1_000, [state])
    step = Step(
        state,
        StepContext("me", 2, holds, Now(1_000, 1_000), GateSettings()),
        control.between(0, len(commands)),
        held_end=0,
        end=end,
        unreadable=unreadable,
    )
    return step.finish()


def answers(result: Result) -> list[JournalRecord]:
    return [record for record in result.journal if record.command is not None]


def test_skip_of_an_unreadable_batch_moves_the_position_past_it_and_is_journalled() -> None:
    result = run(skip())
    assert result.position.offset == 20
    [answer] = answers(result)
    assert (answer.outcome, answer.cut, answer.lost_until) == ("skipped", 10, 20)
    assert (answer.command is not None and answer.command.id, answer.note) == ("s", BAD.why)


@pytest.mark.parametrize(
    ("command", "at", "unreadable", "why"),
    [
        (skip(first=10, last=18), 10, BAD, "offsets 10 to 19"),
        (skip(first=10, last=25), 10, BAD, "offsets 10 to 19"),
        (skip(first=12), 10, BAD, "has not reached"),
        (skip(first=8), 10, BAD, "before"),
        (skip(), 10, None, "can be read"),
        (skip(), 5, None, "has not reached"),
        (skip(), 20, None, "before"),
    ],
)
def test_skip_of_readable_events_does_nothing_and_journals_why(
    command: Skip, at: int, unreadable: Unreadable | None, why: str
) -> None:
    result = run(command, at=at, unreadable=unreadable)
    assert result.position.offset == at
    [answer] = answers(result)
    assert (answer.outcome, answer.lost_until) == ("nothing-to-do", None)
    assert why in answer.note


def test_skips_with_the_same_id_act_once() -> None:
    result = run(skip(), skip())
    assert result.position.offset == 20
    assert [answer.outcome for answer in answers(result)] == ["skipped", "duplicate"]


def test_second_skip_of_the_same_events_does_nothing() -> None:
    result = run(skip(), skip(identity="t"))
    assert result.position.offset == 20
    assert [answer.outcome for answer in answers(result)] == ["skipped", "nothing-to-do"]


def test_only_the_partition_of_the_events_answers() -> None:
    assert answers(run(skip(), partition=0, unreadable=None)) == []


def test_partition_0_answers_a_skip_of_an_unknown_partition() -> None:
    [answer] = answers(run(skip(partition=7), partition=0, unreadable=None))
    assert (answer.outcome, "no partition 7" in answer.note) == ("nothing-to-do", True)


def test_a_step_with_events_does_not_skip_them() -> None:
    result = run(skip(), end=15)
    assert (result.position.offset, answers(result)[0].outcome) == (15, "nothing-to-do")


def test_hold_beside_a_skip_begins_before_the_skipped_events() -> None:
    key = next(k for k in (b"a", b"b", b"c", b"d") if partition_of(k, 2) == 1)
    result = run(Hold(id="h", actor="ana", at=1, key=key), skip())
    assert [(answer.outcome, answer.cut) for answer in answers(result)] == [
        ("held", 10),
        ("skipped", 10),
    ]
    assert result.position.offset == 20


def test_skip_survives_encoding_and_decoding() -> None:
    command = Skip(id="a", actor="ana", at=5, partition=2, first=3, last=4, reason="rubbish")
    assert decode_command(*encode_command(command)) == command


@pytest.mark.parametrize(("partition", "first", "last"), [(-1, 0, 0), (0, -1, 0), (0, 5, 4)])
def test_invalid_skip_ranges_are_refused(partition: int, first: int, last: int) -> None:
    with pytest.raises(InvalidArgumentError):
        skip(first, last, partition)


def test_offsets_to_skip_are_parsed_from_the_trouble_of_a_stopped_gate() -> None:
    said = str(UnreadableEventsError("orders", BAD))
    assert offsets_to_skip(said) == (1, 10, 19)
    assert "partition 1, offsets 10 to 19 (The batch is damaged)" in said
    assert offsets_to_skip("The gate has stopped: something else.") is None
