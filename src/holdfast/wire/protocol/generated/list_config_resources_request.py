# Written by tools/generate_codecs.py from ListConfigResourcesRequest.json in kafka-clients-4.1.1: do not edit.
import struct
from dataclasses import dataclass, field

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    MOST_REQUESTED,
    UNDECODABLE,
    Buffer,
    bad_length,
    read_long_uvarint,
    skip_tags,
    uvarint,
)


@dataclass(slots=True)
class ListConfigResourcesRequest:
    resource_types: list[int] = field(default_factory=list)


def _decode_0(buffer: memoryview, position: int) -> ListConfigResourcesRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return ListConfigResourcesRequest()


def _decode_1(buffer: memoryview, position: int) -> ListConfigResourcesRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    resource_types: list[int]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count <= end - position or room < 0:
        raise bad_length("resource_types", count)
    resource_types = list(struct.unpack_from(f">{count}b", buffer, position))
    position += count * 1
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return ListConfigResourcesRequest(resource_types=resource_types)


def _encode_0(message: ListConfigResourcesRequest) -> list[Buffer]:
    out = bytearray()
    out.append(0)
    return [out]


def _encode_1(message: ListConfigResourcesRequest) -> list[Buffer]:
    out = bytearray()
    size = len(message.resource_types) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += struct.pack(f">{len(message.resource_types)}b", *message.resource_types)
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_1}
_ENCODERS = {0: _encode_0, 1: _encode_1}


def decode(version: int, buffer: Buffer, position: int = 0) -> ListConfigResourcesRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"ListConfigResourcesRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No ListConfigResourcesRequest of version {version}: {error}") from error


def encode(version: int, message: ListConfigResourcesRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
