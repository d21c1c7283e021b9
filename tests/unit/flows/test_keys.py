"""Keys: text and base64, and the partition that Java gives them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import InvalidArgumentError
from holdfast.flows.keys import (
    MAX_KEY_BYTES,
    key_bytes,
    key_from_base64,
    key_from_json,
    key_to_json,
    murmur2,
    partition_of,
)

# What org.apache.kafka.common.utils.Utils.murmur2 gives (its own test has these).
JAVA = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    b"abc": 479470107,
}


@pytest.mark.parametrize(("key", "expected"), JAVA.items())
def test_murmur2_is_that_of_the_java_client(key: bytes, expected: int) -> None:
    assert murmur2(key) == expected & 0xFFFFFFFF


def test_a_negative_hash_gives_a_partition_as_in_java() -> None:
    assert partition_of(b"21", 7) == (-973932308 & 0x7FFFFFFF) % 7


@given(st.binary(max_size=64))
def test_any_key_survives_json(key: bytes) -> None:
    fields = key_to_json(key)
    assert list(fields) == ["key"] or list(fields) == ["key_base64"]
    assert key_from_json(dict(fields)) == key


def test_a_key_is_given_once() -> None:
    with pytest.raises(InvalidArgumentError, match="not as both"):
        key_from_json({"key": "a", "key_base64": "YQ=="})


@pytest.mark.parametrize("text", ["%%", "abc", "YQ", "é"])
def test_invalid_base64_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgumentError, match="is not base64"):
        key_from_base64(text)


def test_a_key_that_is_neither_text_nor_bytes_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="not int"):
        key_bytes(7)  # type: ignore[arg-type]


def test_a_key_that_is_too_long_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="limit"):
        key_bytes("x" * (MAX_KEY_BYTES + 1))


def test_text_that_is_not_unicode_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="give such a key as bytes"):
        key_bytes("\udcff")
