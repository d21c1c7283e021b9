# Written by tools/generate_codecs.py from DescribeGroupsRequest.json in kafka-clients-4.1.1: do not edit.
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
class DescribeGroupsRequest:
    groups: list[str] = field(default_factory=list)
    include_authorized_operations: bool = False


_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_t = Struct(">?").unpack_from
_unpack_tB = Struct(">?B").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_t = Struct(">?").pack
_pack_tB = Struct(">?B").pack


def _decode_0(buffer: memoryview, position: int) -> DescribeGroupsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    groups: list[str]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 2 <= end - position or room < 0:
        raise bad_length("groups", count)
    groups = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("item", stop - position)
        item = str(buffer[position:stop], "utf-8")
        position = stop
        groups.append(item)
    return DescribeGroupsRequest(groups=groups)


def _decode_3(buffer: memoryview, position: int) -> DescribeGroupsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    groups: list[str]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 2 <= end - position or room < 0:
        raise bad_length("groups", count)
    groups = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("item", stop - position)
        item = str(buffer[position:stop], "utf-8")
        position = stop
        groups.append(item)
    (include_authorized_operations,) = _unpack_t(buffer, position)
    position += 1
    return DescribeGroupsRequest(groups=groups, include_authorized_operations=include_authorized_operations)


def _decode_5(buffer: memoryview, position: int) -> DescribeGroupsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    groups: list[str]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count <= end - position or room < 0:
        raise bad_length("groups", count)
    groups = []
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
        groups.append(item)
    include_authorized_operations, tags = _unpack_tB(buffer, position)
    position += 2
    if tags:
        position = skip_tags(buffer, position, tags)
    return DescribeGroupsRequest(groups=groups, include_authorized_operations=include_authorized_operations)


def _encode_0(message: DescribeGroupsRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(len(message.groups))
    for item in message.groups:
        raw = item.encode()
        out += _pack_h(len(raw))
        out += raw
    return [out]


def _encode_3(message: DescribeGroupsRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(len(message.groups))
    for item in message.groups:
        raw = item.encode()
        out += _pack_h(len(raw))
        out += raw
    out += _pack_t(message.include_authorized_operations)
    return [out]


def _encode_5(message: DescribeGroupsRequest) -> list[Buffer]:
    out = bytearray()
    size = len(message.groups) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for item in message.groups:
        raw = item.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    out += _pack_tB(message.include_authorized_operations, 0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_0, 2: _decode_0, 3: _decode_3, 4: _decode_3, 5: _decode_5, 6: _decode_5}
_ENCODERS = {0: _encode_0, 1: _encode_0, 2: _encode_0, 3: _encode_3, 4: _encode_3, 5: _encode_5, 6: _encode_5}


def decode(version: int, buffer: Buffer, position: int = 0) -> DescribeGroupsRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"DescribeGroupsRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No DescribeGroupsRequest of version {version}: {error}") from error


def encode(version: int, message: DescribeGroupsRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
