# Written by tools/generate_codecs.py from ConsumerGroupRegularExpressionValue.json in kafka-group-coordinator-4.1.1: do not edit.
from dataclasses import dataclass, field
from struct import Struct

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    MOST_ELEMENTS,
    UNDECODABLE,
    Buffer,
    bad_length,
    read_long_string_length,
    read_long_uvarint,
    skip_tags,
    uvarint,
)


@dataclass(slots=True)
class ConsumerGroupRegularExpressionValue:
    topics: list[str] = field(default_factory=list)
    version: int = 0
    timestamp: int = 0


_unpack_qqB = Struct(">qqB").unpack_from
_pack_qqB = Struct(">qqB").pack


def _decode_0(buffer: memoryview, position: int) -> ConsumerGroupRegularExpressionValue:
    end = len(buffer)
    room = MOST_ELEMENTS
    topics: list[str]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("item", stop - position)
        item = str(buffer[position:stop], "utf-8")
        position = stop
        topics.append(item)
    version, timestamp, tags = _unpack_qqB(buffer, position)
    position += 17
    if tags:
        position = skip_tags(buffer, position, tags)
    return ConsumerGroupRegularExpressionValue(topics=topics, version=version, timestamp=timestamp)


def _encode_0(message: ConsumerGroupRegularExpressionValue) -> list[Buffer]:
    out = bytearray()
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for item in message.topics:
        raw = item.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    out += _pack_qqB(message.version, message.timestamp, 0)
    return [out]


_DECODERS = {0: _decode_0}
_ENCODERS = {0: _encode_0}


def decode(version: int, buffer: Buffer, position: int = 0) -> ConsumerGroupRegularExpressionValue:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"ConsumerGroupRegularExpressionValue has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No ConsumerGroupRegularExpressionValue of version {version}: {error}") from error


def encode(version: int, message: ConsumerGroupRegularExpressionValue) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)


def pack(version: int, message: ConsumerGroupRegularExpressionValue) -> bytes:
    """The value as it is in a record: its version in two bytes, then the message."""
    return version.to_bytes(2, "big") + b"".join(encode(version, message))


def unpack(buffer: Buffer) -> tuple[int, ConsumerGroupRegularExpressionValue]:
    """The version and the message of a value that `pack` made, or Kafka."""
    version = int.from_bytes(buffer[:2], "big")
    return version, decode(version, buffer, 2)
