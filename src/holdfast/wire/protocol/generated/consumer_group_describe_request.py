# Written by tools/generate_codecs.py from ConsumerGroupDescribeRequest.json in kafka-clients-4.1.1: do not edit.
from dataclasses import dataclass, field
from struct import Struct

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    MOST_REQUESTED,
    UNDECODABLE,
    Buffer,
    bad_length,
    read_long_string_length,
    read_long_uvarint,
    skip_tags,
    uvarint,
)


@dataclass(slots=True)
class ConsumerGroupDescribeRequest:
    group_ids: list[str] = field(default_factory=list)
    include_authorized_operations: bool = False


_unpack_tB = Struct(">?B").unpack_from
_pack_tB = Struct(">?B").pack


def _decode_0(buffer: memoryview, position: int) -> ConsumerGroupDescribeRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    group_ids: list[str]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count <= end - position or room < 0:
        raise bad_length("group_ids", count)
    group_ids = []
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
        group_ids.append(item)
    include_authorized_operations, tags = _unpack_tB(buffer, position)
    position += 2
    if tags:
        position = skip_tags(buffer, position, tags)
    return ConsumerGroupDescribeRequest(group_ids=group_ids, include_authorized_operations=include_authorized_operations)


def _encode_0(message: ConsumerGroupDescribeRequest) -> list[Buffer]:
    out = bytearray()
    size = len(message.group_ids) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for item in message.group_ids:
        raw = item.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    out += _pack_tB(message.include_authorized_operations, 0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_0}
_ENCODERS = {0: _encode_0, 1: _encode_0}


def decode(version: int, buffer: Buffer, position: int = 0) -> ConsumerGroupDescribeRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"ConsumerGroupDescribeRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No ConsumerGroupDescribeRequest of version {version}: {error}") from error


def encode(version: int, message: ConsumerGroupDescribeRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
