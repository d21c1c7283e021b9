# Written by tools/generate_codecs.py from DeleteGroupsRequest.json in kafka-clients-4.1.1: do not edit.
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
class DeleteGroupsRequest:
    groups_names: list[str] = field(default_factory=list)


_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack


def _decode_0(buffer: memoryview, position: int) -> DeleteGroupsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    groups_names: list[str]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 2 <= end - position or room < 0:
        raise bad_length("groups_names", count)
    groups_names = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("item", stop - position)
        item = str(buffer[position:stop], "utf-8")
        position = stop
        groups_names.append(item)
    return DeleteGroupsRequest(groups_names=groups_names)


def _decode_2(buffer: memoryview, position: int) -> DeleteGroupsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    groups_names: list[str]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count <= end - position or room < 0:
        raise bad_length("groups_names", count)
    groups_names = []
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
        groups_names.append(item)
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return DeleteGroupsRequest(groups_names=groups_names)


def _encode_0(message: DeleteGroupsRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(len(message.groups_names))
    for item in message.groups_names:
        raw = item.encode()
        out += _pack_h(len(raw))
        out += raw
    return [out]


def _encode_2(message: DeleteGroupsRequest) -> list[Buffer]:
    out = bytearray()
    size = len(message.groups_names) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for item in message.groups_names:
        raw = item.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_0, 2: _decode_2}
_ENCODERS = {0: _encode_0, 1: _encode_0, 2: _encode_2}


def decode(version: int, buffer: Buffer, position: int = 0) -> DeleteGroupsRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"DeleteGroupsRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No DeleteGroupsRequest of version {version}: {error}") from error


def encode(version: int, message: DeleteGroupsRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
