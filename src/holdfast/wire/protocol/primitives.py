"""Functions that the generated codecs share, for the rare, long or fallible parts of the encoding.

The generated code reads and writes the common case inline. A length below 128, for example, is
one byte; only a longer one is read here.
"""

import struct
from functools import lru_cache
from uuid import UUID

from holdfast.wire.protocol.errors import MalformedMessage

Buffer = bytes | bytearray | memoryview

ZERO_UUID = UUID(int=0)
LONGEST_STRING = 0x7FFF

# An element may take one byte on the wire and a hundred in memory, and a message is decoded in one
# go. Without limits a single frame could fill the memory and block all other clients. A request
# lists what its client names; a response may list everything that exists.
MOST_ELEMENTS = 1 << 18
MOST_REQUESTED = 1 << 14
MOST_TAGS = 32

UNDECODABLE = (struct.error, IndexError, UnicodeDecodeError)
"""Raised inside a generated decoder by a read past the end or by text that is not UTF-8."""


@lru_cache(maxsize=4096)
def uuid_of(raw: bytes) -> UUID:
    """The UUID of 16 bytes. Few are in use at a time, and building one costs a microsecond."""
    return UUID(bytes=raw)


def bad_length(field: str, length: int) -> MalformedMessage:
    """The error for a length that is null but must not be, beyond the end, or far too large."""
    return MalformedMessage(f"{field} has an impossible length of {length}")


def read_uvarint(buffer: memoryview, position: int) -> tuple[int, int]:
    """The unsigned varint at `position`, and the position after it."""
    first = buffer[position]
    if first < 0x80:
        return first, position + 1
    return read_long_uvarint(buffer, position + 1, first)


def read_long_uvarint(buffer: memoryview, position: int, first: int) -> tuple[int, int]:
    """A varint whose `first` byte was already read and is followed by more."""
    second = buffer[position]
    if second < 0x80:  # up to 16 KB, which most record batches are
        return first & 0x7F | second << 7, position + 1
    value = first & 0x7F | (second & 0x7F) << 7
    for shift in (14, 21, 28):
        position += 1
        byte = buffer[position]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFF, position + 1
    raise MalformedMessage("A varint is longer than 32 bits")


def read_long_string_length(buffer: memoryview, position: int, first: int) -> tuple[int, int]:
    """Like `read_long_uvarint`, for a string's length plus one: Kafka limits strings."""
    length, position = read_long_uvarint(buffer, position, first)
    if length > LONGEST_STRING + 1:
        raise MalformedMessage(f"A string of {length - 1} bytes is longer than {LONGEST_STRING}")
    return length, position


def skip_tags(buffer: memoryview, position: int, count: int) -> int:
    """The position after `count` unknown tagged fields. A valid count fits in one byte."""
    if count > MOST_TAGS:
        raise bad_length("A section of tagged fields", count)
    for _ in range(count):
        _, position = read_uvarint(buffer, position)
        size, position = read_uvarint(buffer, position)
        position += size
    if position > len(buffer):
        raise MalformedMessage("A tagged field extends beyond the end of its message")
    return position


def skip_tagged_fields(buffer: memoryview, position: int) -> int:
    """The position after the tagged fields at `position`: the last part of a flexible header."""
    try:
        return skip_tags(buffer, position + 1, buffer[position])
    except IndexError as error:
        raise MalformedMessage("A header ends within its tagged fields") from error


def uvarint(value: int) -> bytes:
    """A non-negative `value` as an unsigned varint."""
    if 0x7F < value < 0x4000:
        return bytes((value & 0x7F | 0x80, value >> 7))
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
