"""Commands on the control log: what goes in comes out, and nothing else is taken for one."""

import json
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import InvalidArgumentError, InvalidRecordError
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


def test_a_key_that_is_no_text_is_base64_in_the_value() -> None:
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
        (changed(command="pause"), "no command 'pause'"),
        (changed(id=7), "'id' must be text"),
        (changed(id=""), "command id"),
        (changed(at=True), "'at' must be a whole number"),
        (changed(at=1.5), "'at' must be a whole number"),
        (changed(actor=""), "'actor' is empty"),
        (changed(key="(gone)"), "names no key"),
        (changed(key="another"), "another key"),
        (changed(key_base64="AP8="), "not as both"),
        (changed(expires_at=1_000), "expire after"),
        (changed(colour="blue"), "unknown fields: colour"),
        (changed(reason="x" * (MAX_REASON + 1)), "limit"),
    ],
)
def test_what_is_not_a_command_is_refused_with_the_reason(value: bytes | None, why: str) -> None:
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
def test_a_hold_that_makes_no_sense_cannot_be_made(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidArgumentError):
        replace(HOLD, **wrong)


@pytest.mark.parametrize("pace", [0, -1, float("nan"), float("inf"), 1e7])
def test_a_pace_that_makes_no_sense_cannot_be_made(pace: float) -> None:
    with pytest.raises(InvalidArgumentError, match="pace"):
        Release(id="c", actor="a", at=0, key=b"k", pace=pace)
