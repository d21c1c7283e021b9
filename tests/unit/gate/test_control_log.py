"""The control log: every process that reads it comes to the same answers."""

import pytest

from holdfast.errors import GateStoppedError
from holdfast.flows.commands import NO_TIME, Hold, Void, encode_command
from holdfast.flows.keys import partition_of
from holdfast.gate import DUPLICATE_WINDOW, ControlLog, UnreadableCommandError


def hold(identity: str, key: bytes = b"k") -> Hold:
    return Hold(id=identity, actor="ana", at=1, key=key)


def void(identity: str, offset: int) -> Void:
    return Void(id=identity, actor="ana", at=1, offset=offset)


def spoil(log: ControlLog, offset: int) -> None:
    log.append(offset, b"k", b"{not json", NO_TIME)


def test_the_home_partition_of_a_key_answers_its_commands() -> None:
    log = ControlLog(6)
    for offset in range(20):
        log.append(offset, *encode_command(hold(str(offset), b"key-%d" % offset)), NO_TIME)
    homes = [asked.home for asked in log.between(0, 20)]
    assert homes == [partition_of(b"key-%d" % n, 6) for n in range(20)]


def test_between_returns_exactly_the_commands_of_the_range() -> None:
    log = ControlLog(1)
    for offset in (0, 1, 4, 5):
        log.append_command(offset, hold(str(offset)))
    log.advance(9)
    assert [asked.offset for asked in log.between(1, 5)] == [1, 4]
    assert log.between(6, 9) == []


def test_since_returns_all_known_records_readable_or_not() -> None:
    log = ControlLog(1)
    log.append_command(0, hold("0"))
    spoil(log, 1)
    log.append_command(2, hold("0"))
    found = log.since(1)
    assert [(asked.offset, asked.command is None, asked.first) for asked in found] == [
        (1, True, None),
        (2, False, 0),
    ]


def test_a_control_log_with_a_gap_stops_the_gate() -> None:
    log = ControlLog(1, start=3)
    log.append_command(3, hold("a"))
    for control, end in ((2, 4), (3, 5), (5, 4)):
        with pytest.raises(GateStoppedError, match="control log"):
            log.between(control, end)


def test_a_control_log_whose_offsets_go_back_stops_the_gate() -> None:
    log = ControlLog(1)
    log.append_command(4, hold("a"))
    with pytest.raises(GateStoppedError, match="created again"):
        log.append_command(3, hold("b"))


def test_dropped_records_cannot_be_requested() -> None:
    log = ControlLog(1)
    for offset in range(4):
        log.append_command(offset, hold(str(offset)))
    log.forget(2)
    log.forget(1)
    assert [asked.offset for asked in log.between(2, 4)] == [2, 3]
    with pytest.raises(GateStoppedError):
        log.between(1, 4)
    log.append_command(4, hold("0"))
    assert log.between(4, 5)[0].first == 0, "ids are remembered for longer than commands"


def test_a_duplicate_names_the_offset_of_the_first_command() -> None:
    log = ControlLog(1)
    for offset, identity in enumerate(("a", "b", "a", "a")):
        log.append_command(offset, hold(identity))
    assert [asked.first for asked in log.between(0, 4)] == [None, None, 0, 0]


def test_a_log_read_from_a_later_offset_finds_the_same_duplicates() -> None:
    early, late = ControlLog(1), ControlLog(1, start=10)
    offsets = (5, 10 + DUPLICATE_WINDOW, 11 + 2 * DUPLICATE_WINDOW, 12 + 2 * DUPLICATE_WINDOW)
    for offset in offsets:
        early.append_command(offset, hold("a"))
        if offset >= late.start:
            late.append_command(offset, hold("a"))
    lowest, end = offsets[1], offsets[-1] + 1
    for log in (early, late):
        duplicate = [asked.first is not None for asked in log.between(lowest, end)]
        assert duplicate == [False, False, True]


def test_an_unreadable_command_stops_the_gate_until_its_void_is_read() -> None:
    log = ControlLog(1)
    spoil(log, 0)
    log.append_command(1, hold("a"))
    log.append_command(2, void("v", 0))
    with pytest.raises(UnreadableCommandError, match="offset 0") as stopped:
        log.between(0, 2)
    assert stopped.value.offset == 0
    unreadable, _, voided = log.between(0, 3)
    assert (unreadable.command, voided.voids) == (None, True)
    assert "not JSON" in unreadable.why
    assert [asked.offset for asked in log.between(1, 2)] == [1]


def test_a_void_only_applies_to_earlier_records() -> None:
    log = ControlLog(1)
    log.append_command(0, void("v", 1))
    spoil(log, 1)
    with pytest.raises(UnreadableCommandError):
        log.between(0, 2)


def test_a_void_with_the_id_of_another_command_has_no_effect() -> None:
    log = ControlLog(1)
    log.append_command(0, hold("a"))
    spoil(log, 1)
    log.append_command(2, void("a", 1))
    with pytest.raises(UnreadableCommandError):
        log.between(0, 3)


def test_only_the_first_void_of_a_record_acts() -> None:
    log = ControlLog(1)
    spoil(log, 0)
    log.append_command(1, void("v", 0))
    log.append_command(2, void("w", 0))
    assert [asked.voids for asked in log.between(1, 3)] == [True, False]


def test_a_command_of_a_later_version_is_unreadable() -> None:
    key, value = encode_command(hold("a"))
    log = ControlLog(1)
    log.append(0, key, value.replace(b'"version":1', b'"version":2'), NO_TIME)
    with pytest.raises(UnreadableCommandError, match="version"):
        log.between(0, 1)
