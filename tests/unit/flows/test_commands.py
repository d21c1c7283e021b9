"""Commands on the control log: what goes in comes out, and nothing else is taken for one."""

import json
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import InvalidArgumentError, InvalidRecordError
from holdfast.flows.command_builder import CommandBuilder
from holdfast.flows.commands import (
    MAX_ACTOR,
    MAX_REASON,
    Command,
    DeadLetter,
    Hold,
    Release,
    Void,
    decode_command,
    encode_command,
)
from holdfast.flows.holds import StandingHold

keys = st.binary(max_size=40)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
signed = {
    "id": st.from_regex(r"[A-Za-z0-9_.:-]{1,64}", fullmatch=True),
    "actor": texts.filter(bool),
    "at": st.integers(0, 2**53),
}
commands: st.SearchStrategy[Command] = st.one_of(
    st.builds(Hold, **signed, key=keys, reason=texts).flatmap(
        lambda hold: st.one_of(
            st.just(hold),
            st.integers(1, 10**9).map(lambda ms: replace(hold, expires_at=hold.at + ms)),
        )
    ),
    st.builds(
        Release, **signed, key=keys,
        pace=st.none() | st.floats(0, 1e6, exclude_min=True, allow_subnormal=False),
    ),
    st.builds(DeadLetter, **signed, key=keys, reason=texts),
    st.builds(Void, **signed, offset=st.integers(0, 2**53), reason=texts),
)  # fmt: skip

HOLD = Hold(id="c-1", actor="ana", at=1_000, key=b"customer-7", reason="disputed", expires_at=2_000)


@given(commands)
def test_every_command_survives_the_log(command: Command) -> None:
    assert decode_command(*encode_command(command)) == command


def test_a_command_reads_as_documented() -> None:
    assert encode_command(HOLD) == (
        b"customer-7",
        b'{"version":1,"command":"hold","id":"c-1","key":"customer-7","actor":"ana","at":1000,'
        b'"reason":"disputed","expires_at":2000}',
    )


@pytest.mark.parametrize("slow_ms", [-3_600_000, 0, 900_000])
def test_duration_of_a_hold_begins_at_the_later_of_two_clocks(slow_ms: int) -> None:
    """One slow clock, the sender's or the broker's, ends no hold before its time."""
    appended_at = 1_767_225_600_000
    sent = CommandBuilder("ana", appended_at - slow_ms).hold(b"k", expires_in=600)
    command = decode_command(*encode_command(sent), appended_at)
    assert isinstance(command, Hold)
    assert command.expires_at == max(sent.at, appended_at) + 600_000


def test_time_of_an_expiry_stays_as_given() -> None:
    command = decode_command(*encode_command(HOLD), 10**12)
    assert isinstance(command, Hold)
    assert command.expires_at == HOLD.expires_at


def test_key_that_is_not_text_is_base64_in_the_value() -> None:
    key, value = encode_command(replace(HOLD, key=b"\x00\xff"))
    assert key == b"\x00\xff"
    assert json.loads(value)["key_base64"] == "AP8="


@given(commands, st.data())
def test_a_damaged_command_is_unreadable_or_still_a_command(
    command: Command, data: st.DataObject
) -> None:
    key, value = encode_command(command)
    place = data.draw(st.integers(0, len(value) - 1))
    damaged = value[:place] + bytes([data.draw(st.integers(0, 255))]) + value[place + 1 :]
    with suppress(InvalidRecordError):  # and no other error
        decode_command(key, damaged)


def changed(**fields: object) -> bytes:
    document = json.loads(encode_command(HOLD)[1])
    document.update(fields)
    return json.dumps({k: v for k, v in document.items() if v != "(gone)"}).encode()


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (None, "no value"),
        (b"", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "not a JSON object"),
        (b'{"version":1,"version":1}', "twice"),
        (changed(version=2), "version is 2"),
        (changed(version="(gone)"), "'version' is missing"),
        (changed(command="wait"), "no command 'wait'"),
        (changed(id=7), "'id' must be text"),
        (changed(id=""), "command id"),
        (changed(at=True), "'at' must be a whole number"),
        (changed(at=1.5), "'at' must be a whole number"),
        (changed(actor=""), "'actor' is empty"),
        (changed(key="(gone)"), "has no key"),
        (changed(key="another"), "another key"),
        (changed(key_base64="AP8="), "not as both"),
        (changed(expires_at=1_000), "expire in the future"),
        (changed(colour="blue"), "unknown fields: colour"),
        (changed(reason="x" * (MAX_REASON + 1)), "limit"),
    ],
)
def test_invalid_command_record_is_refused_with_a_reason(value: bytes | None, why: str) -> None:
    with pytest.raises(InvalidRecordError, match=why):
        decode_command(b"customer-7", value)


def test_a_command_under_another_key_is_refused() -> None:
    with pytest.raises(InvalidRecordError, match="another key"):
        decode_command(b"customer-8", encode_command(HOLD)[1])


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": "has space"},
        {"id": "x" * 65},
        {"actor": ""},
        {"actor": "x" * (MAX_ACTOR + 1)},
        {"at": -1},
        {"reason": "\ud800"},
        {"expires_at": 1_000},
    ],
)
def test_invalid_hold_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentError):
        replace(HOLD, **wrong)


@pytest.mark.parametrize("pace", [0, -1, float("nan"), float("inf"), 1e7])
def test_invalid_pace_is_refused(pace: float) -> None:
    with pytest.raises(InvalidArgumentError, match="pace"):
        Release(id="c", actor="a", at=0, key=b"k", pace=pace)


def test_builder_gives_each_command_its_actor_time_and_id() -> None:
    commands = CommandBuilder("ana", 1_000, "c-1")
    built = commands.hold("customer-7", reason="disputed", expires_at=2_000)
    assert built == replace(HOLD, hold_name="ana")
    built = commands.hold(b"customer-7", reason="disputed", expires_in=1.0)
    assert built == replace(HOLD, hold_name="ana", expires_in=1_000)
    assert commands.hold("customer-7", name="fraud").hold_name == "fraud"
    assert commands.release("customer-7", pace=2).pace == 2
    assert commands.release("customer-7").holds == ("ana",)
    assert commands.dead_letter("customer-7", reason="bad").key == b"customer-7"
    assert commands.void(7).offset == 7
    new_ids = CommandBuilder("ana", 1_000)
    assert new_ids.void(7).id != new_ids.void(7).id


def test_release_of_every_hold_needs_a_reason() -> None:
    commands = CommandBuilder("ana", 1_000)
    another = StandingHold("h", 0, "eve", name="whoever")
    assert commands.release("k", every=True, reason="mistake").ends(another)
    with pytest.raises(InvalidArgumentError, match="needs a reason"):
        commands.release("k", every=True)


@pytest.mark.parametrize("expires_in", [0, -1.0, float("nan"), 10**9, timedelta(0)])
def test_hold_with_no_time_to_live_is_refused(expires_in: float | timedelta) -> None:
    with pytest.raises(InvalidArgumentError, match="positive time"):
        CommandBuilder("ana", 1_000).hold("k", expires_in=expires_in)


def test_hold_with_two_expiries_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="not both"):
        CommandBuilder("ana", 1_000).hold("k", expires_in=1, expires_at=2_000)


def test_skip_of_an_unknown_partition_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="the flow has 3"):
        CommandBuilder("ana", 1_000).skip(3, 0, 1, partitions=3)
