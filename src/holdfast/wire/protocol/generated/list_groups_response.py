# Written by tools/generate_codecs.py from ListGroupsResponse.json in kafka-clients-4.1.1: do not edit.
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
class ListedGroup:
    group_id: str = ''
    protocol_type: str = ''
    group_state: str = ''
    group_type: str = ''


@dataclass(slots=True)
class ListGroupsResponse:
    throttle_time_ms: int = 0
    error_code: int = 0
    groups: list[ListedGroup] = field(default_factory=list)


_unpack_h = Struct(">h").unpack_from
_unpack_hi = Struct(">hi").unpack_from
_unpack_ihB = Struct(">ihB").unpack_from
_unpack_ihi = Struct(">ihi").unpack_from
_pack_h = Struct(">h").pack
_pack_hi = Struct(">hi").pack
_pack_ih = Struct(">ih").pack
_pack_ihi = Struct(">ihi").pack


def _decode_0(buffer: memoryview, position: int) -> ListGroupsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    groups: list[ListedGroup]
    error_code, count = _unpack_hi(buffer, position)
    position += 6
    room -= count
    if not 0 <= count * 4 <= end - position or room < 0:
        raise bad_length("groups", count)
    groups = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("listed_group_group_id", stop - position)
        listed_group_group_id = str(buffer[position:stop], "utf-8")
        position = stop
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("listed_group_protocol_type", stop - position)
        listed_group_protocol_type = str(buffer[position:stop], "utf-8")
        position = stop
        groups.append(ListedGroup(group_id=listed_group_group_id, protocol_type=listed_group_protocol_type))
    return ListGroupsResponse(error_code=error_code, groups=groups)


def _decode_1(buffer: memoryview, position: int) -> ListGroupsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    groups: list[ListedGroup]
    throttle_time_ms, error_code, count = _unpack_ihi(buffer, position)
    position += 10
    room -= count
    if not 0 <= count * 4 <= end - position or room < 0:
        raise bad_length("groups", count)
    groups = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("listed_group_group_id", stop - position)
        listed_group_group_id = str(buffer[position:stop], "utf-8")
        position = stop
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("listed_group_protocol_type", stop - position)
        listed_group_protocol_type = str(buffer[position:stop], "utf-8")
        position = stop
        groups.append(ListedGroup(group_id=listed_group_group_id, protocol_type=listed_group_protocol_type))
    return ListGroupsResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, groups=groups)


def _decode_3(buffer: memoryview, position: int) -> ListGroupsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    groups: list[ListedGroup]
    throttle_time_ms, error_code, count = _unpack_ihB(buffer, position)
    position += 7
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 3 <= end - position or room < 0:
        raise bad_length("groups", count)
    groups = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("listed_group_group_id", stop - position)
        listed_group_group_id = str(buffer[position:stop], "utf-8")
        position = stop
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("listed_group_protocol_type", stop - position)
        listed_group_protocol_type = str(buffer[position:stop], "utf-8")
        position = stop
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        groups.append(ListedGroup(group_id=listed_group_group_id, protocol_type=listed_group_protocol_type))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return ListGroupsResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, groups=groups)


def _decode_4(buffer: memoryview, position: int) -> ListGroupsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    groups: list[ListedGroup]
    throttle_time_ms, error_code, count = _unpack_ihB(buffer, position)
    position += 7
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 4 <= end - position or room < 0:
        raise bad_length("groups", count)
    groups = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("listed_group_group_id", stop - position)
        listed_group_group_id = str(buffer[position:stop], "utf-8")
        position = stop
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("listed_group_protocol_type", stop - position)
        listed_group_protocol_type = str(buffer[position:stop], "utf-8")
        position = stop
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("listed_group_group_state", stop - position)
        listed_group_group_state = str(buffer[position:stop], "utf-8")
        position = stop
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        groups.append(ListedGroup(group_id=listed_group_group_id, protocol_type=listed_group_protocol_type, group_state=listed_group_group_state))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return ListGroupsResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, groups=groups)


def _decode_5(buffer: memoryview, position: int) -> ListGroupsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    groups: list[ListedGroup]
    throttle_time_ms, error_code, count = _unpack_ihB(buffer, position)
    position += 7
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 5 <= end - position or room < 0:
        raise bad_length("groups", count)
    groups = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("listed_group_group_id", stop - position)
        listed_group_group_id = str(buffer[position:stop], "utf-8")
        position = stop
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("listed_group_protocol_type", stop - position)
        listed_group_protocol_type = str(buffer[position:stop], "utf-8")
        position = stop
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("listed_group_group_state", stop - position)
        listed_group_group_state = str(buffer[position:stop], "utf-8")
        position = stop
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("listed_group_group_type", stop - position)
        listed_group_group_type = str(buffer[position:stop], "utf-8")
        position = stop
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        groups.append(ListedGroup(group_id=listed_group_group_id, protocol_type=listed_group_protocol_type, group_state=listed_group_group_state, group_type=listed_group_group_type))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return ListGroupsResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, groups=groups)


def _encode_0(message: ListGroupsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_hi(message.error_code, len(message.groups))
    for listed_group in message.groups:
        raw = listed_group.group_id.encode()
        out += _pack_h(len(raw))
        out += raw
        raw = listed_group.protocol_type.encode()
        out += _pack_h(len(raw))
        out += raw
    return [out]


def _encode_1(message: ListGroupsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ihi(message.throttle_time_ms, message.error_code, len(message.groups))
    for listed_group in message.groups:
        raw = listed_group.group_id.encode()
        out += _pack_h(len(raw))
        out += raw
        raw = listed_group.protocol_type.encode()
        out += _pack_h(len(raw))
        out += raw
    return [out]


def _encode_3(message: ListGroupsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ih(message.throttle_time_ms, message.error_code)
    size = len(message.groups) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for listed_group in message.groups:
        raw = listed_group.group_id.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        raw = listed_group.protocol_type.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out.append(0)
    out.append(0)
    return [out]


def _encode_4(message: ListGroupsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ih(message.throttle_time_ms, message.error_code)
    size = len(message.groups) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for listed_group in message.groups:
        raw = listed_group.group_id.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        raw = listed_group.protocol_type.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        raw = listed_group.group_state.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out.append(0)
    out.append(0)
    return [out]


def _encode_5(message: ListGroupsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ih(message.throttle_time_ms, message.error_code)
    size = len(message.groups) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for listed_group in message.groups:
        raw = listed_group.group_id.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        raw = listed_group.protocol_type.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        raw = listed_group.group_state.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        raw = listed_group.group_type.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_1, 2: _decode_1, 3: _decode_3, 4: _decode_4, 5: _decode_5}
_ENCODERS = {0: _encode_0, 1: _encode_1, 2: _encode_1, 3: _encode_3, 4: _encode_4, 5: _encode_5}


def decode(version: int, buffer: Buffer, position: int = 0) -> ListGroupsResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"ListGroupsResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No ListGroupsResponse of version {version}: {error}") from error


def encode(version: int, message: ListGroupsResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
