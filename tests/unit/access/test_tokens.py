"""Tokens as records."""

import json

import pytest

from holdfast.access.roles import Role
from holdfast.access.tokens import decode_token, encode_token, new_token, split_token
from holdfast.errors import InvalidArgumentError, InvalidRecordError


def test_token_is_verified_by_its_secret_alone() -> None:
    token, text = new_token(name="anna", role=Role.OPERATOR, now=1, created_by="me")
    other, _ = new_token(name="bob", role=Role.OPERATOR, now=1, created_by="me")
    parts = split_token(text)
    assert parts is not None
    assert parts[0] == token.id
    assert token.proves(parts[1])
    assert not other.proves(parts[1])
    assert not token.proves(parts[1][:-1])
    assert not token.proves("")


def test_stored_token_does_not_contain_the_secret() -> None:
    token, text = new_token(name="anna", role=Role.ADMIN, now=1, created_by="me")
    secret = text.split("_", 2)[2]
    key, value = encode_token(token)
    assert secret not in value.decode() + key.decode()
    assert secret not in repr(token)


def test_two_tokens_have_nothing_in_common() -> None:
    made = [new_token(name="x", role=Role.VIEWER, now=1, created_by="me") for _ in range(100)]
    assert len({token.id for token, _ in made}) == 100
    assert len({text for _, text in made}) == 100


def test_a_token_is_read_as_it_was_written() -> None:
    token, _ = new_token(
        name="Anna Ångström", role=Role.VIEWER, now=7, created_by="me", expires_at=9, parent="p"
    )
    assert decode_token(*encode_token(token)) == token


@pytest.mark.parametrize(
    "change", [{"role": "root"}, {"name": ""}, {"hash": None}, {"more": 1}, {"version": 2}]
)
def test_record_of_unknown_form_is_not_a_token(change: dict[str, object]) -> None:
    token, _ = new_token(name="anna", role=Role.VIEWER, now=7, created_by="me")
    key, value = encode_token(token)
    with pytest.raises(InvalidRecordError):
        decode_token(key, json.dumps({**json.loads(value), **change}).encode())


@pytest.mark.parametrize("text", ["", "hf_", "hf_a_b", "Bearer hf_x", "hf_" + "0" * 12 + "_short"])
def test_text_of_another_form_is_not_a_token(text: str) -> None:
    assert split_token(text) is None


@pytest.mark.parametrize("name", ["", " anna", "anna ", "a\nb", "a\x1b[31m", "x" * 101])
def test_a_name_can_be_printed_and_is_short(name: str) -> None:
    with pytest.raises(InvalidArgumentError, match="cannot name a token"):
        new_token(name=name, role=Role.VIEWER, now=1, created_by="me")


def test_a_token_expires_at_its_time_and_not_before() -> None:
    token, _ = new_token(name="a", role=Role.VIEWER, now=1, created_by="me", expires_at=100)
    assert not token.expired(99)
    assert token.expired(100)


def test_each_role_has_the_rights_of_lower_ones() -> None:
    assert Role.VIEWER < Role.OPERATOR < Role.ADMIN
    assert [Role.parse(role.label) for role in Role] == list(Role)
    with pytest.raises(ValueError, match="viewer, operator, admin"):
        Role.parse("VIEWER")
