"""Compare, then act."""

from dataclasses import replace

import pytest

from holdfast.errors import FencedError, GateStoppedError
from holdfast.flows.status import Position
from holdfast.gate import check_log, is_current, range_to_take, starting_position

HERE = Position(offset=7, control=3, step=5, owner="me", last_held=4, trim=2)
COMMITTED = Position(offset=7, control=3, step=5, owner="me")
"""What a committed offset and its metadata say: less than the position record does."""


def test_the_first_start_is_that_of_a_flow_without_any_trace() -> None:
    assert starting_position(None, None, journal_is_empty=True) is None


@pytest.mark.parametrize("committed", [None, COMMITTED])
def test_the_position_record_is_where_a_partition_goes_on(committed: Position | None) -> None:
    """Also when the group's offsets have expired."""
    assert starting_position(committed, HERE, journal_is_empty=False) == HERE


@pytest.mark.parametrize("field", ["offset", "control", "step", "owner"])
def test_a_committed_offset_that_says_something_else_stops_the_gate(field: str) -> None:
    other = replace(COMMITTED, **{field: "you" if field == "owner" else 1})
    with pytest.raises(GateStoppedError, match="Something else"):
        starting_position(other, HERE, journal_is_empty=False)


@pytest.mark.parametrize("committed", [None, COMMITTED])
def test_a_lost_status_stops_the_gate(committed: Position | None) -> None:
    with pytest.raises(GateStoppedError, match="Restore the status topic"):
        starting_position(committed, None, journal_is_empty=False)


def test_events_that_were_deleted_unread_stop_the_gate() -> None:
    check_log(HERE, 7, 7)
    with pytest.raises(GateStoppedError, match="7 to 9 were deleted"):
        check_log(HERE, 10, 20)


def test_events_that_end_before_the_position_stop_the_gate() -> None:
    with pytest.raises(GateStoppedError, match="another one"):
        check_log(HERE, 0, 6)


def test_another_owner_ends_this_process() -> None:
    with pytest.raises(FencedError, match="you"):
        is_current(replace(COMMITTED, owner="you"), HERE, "me")


def test_a_commit_took_place_if_its_step_is_there() -> None:
    assert is_current(COMMITTED, HERE, "me")
    assert not is_current(replace(COMMITTED, step=6), HERE, "me")


def test_only_what_was_not_taken_of_a_range_is_taken() -> None:
    assert range_to_take(5, 5, 9) == (5, 9)
    assert range_to_take(7, 5, 9) == (7, 9)
    assert range_to_take(9, 5, 9) is None
    assert range_to_take(12, 5, 9) is None


def test_a_range_beyond_the_position_stops_the_gate() -> None:
    with pytest.raises(GateStoppedError, match="skipped"):
        range_to_take(4, 5, 9)
