# Written by tools/generate_codecs.py from ListGroupsRequest.json in kafka-clients-4.1.1: do not edit.
from dataclasses import dataclass, field

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
class ListGroupsRequest:
    states_filter: list[str] = field(default_factory=list)
    types_filter: list[str] = field(default_factory=list)


def _decode_0(buffer: memoryview, position: int) -> ListGroupsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    return ListGroupsRequest()


def _decode_3(buffer: memoryview, position: int) -> ListGroupsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return ListGroupsRequest()


def _decode_4(buffer: memoryview, position: int) -> ListGroupsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    states_filter: list[str]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count <= end - position or room < 0:
        raise bad_length("states_filter", count)
    states_filter = []
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
        states_filter.append(item)
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return ListGroupsRequest(states_filter=states_filter)


def _decode_5(buffer: memoryview, position: int) -> ListGroupsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    states_filter: list[str]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count <= end - position or room < 0:
        raise bad_length("states_filter", count)
    states_filter = []
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
        states_filter.append(item)
    types_filter: list[str]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count <= end - position or room < 0:
        raise bad_length("types_filter", count)
    types_filter = []
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
        types_filter.append(item)
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return ListGroupsRequest(states_filter=states_filter, types_filter=types_filter)


def _encode_0(message: ListGroupsRequest) -> list[Buffer]:
    out = bytearray()
    return [out]


def _encode_3(message: ListGroupsRequest) -> list[Buffer]:
    out = bytearray()
    out.append(0)
    return [out]


def _encode_4(message: ListGroupsRequest) -> list[Buffer]:
    out = bytearray()
    size = len(message.states_filter) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for item in message.states_filter:
        raw = item.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    out.append(0)
    return [out]


def _encode_5(message: ListGroupsRequest) -> list[Buffer]:
    out = bytearray()
    size = len(message.states_filter) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for item in message.states_filter:
        raw = item.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    size = len(message.types_filter) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for item in message.types_filter:
        raw = item.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_0, 2: _decode_0, 3: _decode_3, 4: _decode_4, 5: _decode_5}
_ENCODERS = {0: _encode_0, 1: _encode_0, 2: _encode_0, 3: _encode_3, 4: _encode_4, 5: _encode_5}


def decode(version: int, buffer: Buffer, position: int = 0) -> ListGroupsRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"ListGroupsRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No ListGroupsRequest of version {version}: {error}") from error


def encode(version: int, message: ListGroupsRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
