"""Compare, then act."""

from dataclasses import replace
from typing import Any

import pytest

from holdfast.errors import FencedError, GateStoppedError
from holdfast.flows.status import Position
from holdfast.gate import check_log, is_current, range_to_take, starting_position

HERE = Position(offset=7, control=3, step=5, owner="me", last_held=4, trim=2)
COMMITTED = Position(offset=7, control=3, step=5, owner="me")
"""A committed offset with its metadata, which has fewer fields than the position record."""


def test_first_start_requires_no_offset_no_position_and_an_empty_journal() -> None:
    assert starting_position(None, None, journal_is_empty=True) is None


@pytest.mark.parametrize("committed", [None, COMMITTED])
def test_a_partition_continues_at_its_position_record(committed: Position | None) -> None:
    """Also when the group's offsets have expired."""
    assert starting_position(committed, HERE, journal_is_empty=False) == HERE


@pytest.mark.parametrize("field", ["offset", "control", "step", "owner"])
def test_a_committed_offset_that_differs_from_status_stops_the_gate(field: str) -> None:
    change: dict[str, Any] = {field: "you" if field == "owner" else 1}
    other = replace(COMMITTED, **change)
    with pytest.raises(GateStoppedError, match="Another program"):
        starting_position(other, HERE, journal_is_empty=False)


@pytest.mark.parametrize("committed", [None, COMMITTED])
def test_a_lost_status_stops_the_gate(committed: Position | None) -> None:
    with pytest.raises(GateStoppedError, match="Restore the status topic"):
        starting_position(committed, None, journal_is_empty=False)


def test_deleted_unread_events_stop_the_gate() -> None:
    check_log(HERE, 7, 7)
    with pytest.raises(GateStoppedError, match="7 to 9 were deleted"):
        check_log(HERE, 10, 20)


def test_a_log_that_ends_below_the_position_stops_the_gate() -> None:
    with pytest.raises(GateStoppedError, match="has lost events that were taken"):
        check_log(HERE, 0, 6)


def test_another_owner_fences_this_process() -> None:
    with pytest.raises(FencedError, match="you"):
        is_current(replace(COMMITTED, owner="you"), HERE, "me")


def test_a_commit_took_place_if_its_step_is_committed() -> None:
    assert is_current(COMMITTED, HERE, "me")
    assert not is_current(replace(COMMITTED, step=6), HERE, "me")


def test_only_the_untaken_part_of_a_range_is_taken() -> None:
    assert range_to_take(5, 5, 9) == (5, 9)
    assert range_to_take(7, 5, 9) == (7, 9)
    assert range_to_take(9, 5, 9) is None
    assert range_to_take(12, 5, 9) is None


def test_a_range_beyond_the_position_stops_the_gate() -> None:
    with pytest.raises(GateStoppedError, match="skipped"):
        range_to_take(4, 5, 9)
