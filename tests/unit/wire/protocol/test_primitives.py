"""Varints, at every place where their length changes."""

import pytest

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import read_uvarint, uvarint

EDGES = sorted({edge for bits in (7, 14, 21, 28, 32) for edge in ((1 << bits) - 1, 1 << bits)})


@pytest.mark.parametrize(
    ("value", "raw"),
    [
        (0, "00"),
        (127, "7f"),
        (128, "8001"),
        (300, "ac02"),
        (16_383, "ff7f"),
        (16_384, "808001"),
        (2_097_152, "80808001"),
        (268_435_456, "8080808001"),
        (0xFFFFFFFF, "ffffffff0f"),
    ],
)
def test_varints_store_seven_bits_per_byte_lowest_first(value: int, raw: str) -> None:
    assert uvarint(value).hex() == raw
    assert read_uvarint(memoryview(bytes.fromhex(raw)), 0) == (value, len(raw) // 2)


@pytest.mark.parametrize("value", [edge for edge in EDGES if edge < 1 << 32])
def test_a_written_varint_is_read_at_any_position(value: int) -> None:
    raw = b".." + uvarint(value) + b"\x81"
    assert read_uvarint(memoryview(raw), 2) == (value, len(raw) - 1)


def test_a_varint_of_six_bytes_is_refused() -> None:
    with pytest.raises(MalformedMessage, match="32 bits"):
        read_uvarint(memoryview(b"\x80\x80\x80\x80\x80\x01"), 0)
