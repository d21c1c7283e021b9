# Written by tools/generate_codecs.py from LeaveGroupResponse.json in kafka-clients-4.1.1: do not edit.
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
class MemberResponse:
    member_id: str = ''
    group_instance_id: str | None = ''
    error_code: int = 0


@dataclass(slots=True)
class LeaveGroupResponse:
    throttle_time_ms: int = 0
    error_code: int = 0
    members: list[MemberResponse] = field(default_factory=list)


_unpack_h = Struct(">h").unpack_from
_unpack_hB = Struct(">hB").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_unpack_ihB = Struct(">ihB").unpack_from
_unpack_ihi = Struct(">ihi").unpack_from
_pack_h = Struct(">h").pack
_pack_hB = Struct(">hB").pack
_pack_ih = Struct(">ih").pack
_pack_ihi = Struct(">ihi").pack


def _decode_0(buffer: memoryview, position: int) -> LeaveGroupResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    (error_code,) = _unpack_h(buffer, position)
    position += 2
    return LeaveGroupResponse(error_code=error_code)


def _decode_1(buffer: memoryview, position: int) -> LeaveGroupResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    throttle_time_ms, error_code = _unpack_ih(buffer, position)
    position += 6
    return LeaveGroupResponse(throttle_time_ms=throttle_time_ms, error_code=error_code)


def _decode_3(buffer: memoryview, position: int) -> LeaveGroupResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    members: list[MemberResponse]
    throttle_time_ms, error_code, count = _unpack_ihi(buffer, position)
    position += 10
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("members", count)
    members = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("member_response_member_id", stop - position)
        member_response_member_id = str(buffer[position:stop], "utf-8")
        position = stop
        member_response_group_instance_id: str | None
        (length,) = _unpack_h(buffer, position)
        position += 2
        if length >= 0:
            stop = position + length
            if stop > end:
                raise bad_length("member_response_group_instance_id", stop - position)
            member_response_group_instance_id = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            member_response_group_instance_id = None
        (member_response_error_code,) = _unpack_h(buffer, position)
        position += 2
        members.append(MemberResponse(member_id=member_response_member_id, group_instance_id=member_response_group_instance_id, error_code=member_response_error_code))
    return LeaveGroupResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, members=members)


def _decode_4(buffer: memoryview, position: int) -> LeaveGroupResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    members: list[MemberResponse]
    throttle_time_ms, error_code, count = _unpack_ihB(buffer, position)
    position += 7
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 5 <= end - position or room < 0:
        raise bad_length("members", count)
    members = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("member_response_member_id", stop - position)
        member_response_member_id = str(buffer[position:stop], "utf-8")
        position = stop
        member_response_group_instance_id: str | None
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("member_response_group_instance_id", stop - position)
            member_response_group_instance_id = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            member_response_group_instance_id = None
        member_response_error_code, tags = _unpack_hB(buffer, position)
        position += 3
        if tags:
            position = skip_tags(buffer, position, tags)
        members.append(MemberResponse(member_id=member_response_member_id, group_instance_id=member_response_group_instance_id, error_code=member_response_error_code))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return LeaveGroupResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, members=members)


def _encode_0(message: LeaveGroupResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_h(message.error_code)
    return [out]


def _encode_1(message: LeaveGroupResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ih(message.throttle_time_ms, message.error_code)
    return [out]


def _encode_3(message: LeaveGroupResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ihi(message.throttle_time_ms, message.error_code, len(message.members))
    for member_response in message.members:
        raw = member_response.member_id.encode()
        out += _pack_h(len(raw))
        out += raw
        if member_response.group_instance_id is None:
            out += b"\xff\xff"
        else:
            raw = member_response.group_instance_id.encode()
            out += _pack_h(len(raw))
            out += raw
        out += _pack_h(member_response.error_code)
    return [out]


def _encode_4(message: LeaveGroupResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ih(message.throttle_time_ms, message.error_code)
    size = len(message.members) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for member_response in message.members:
        raw = member_response.member_id.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        if member_response.group_instance_id is None:
            out.append(0)
        else:
            raw = member_response.group_instance_id.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        out += _pack_hB(member_response.error_code, 0)
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_1, 2: _decode_1, 3: _decode_3, 4: _decode_4, 5: _decode_4}
_ENCODERS = {0: _encode_0, 1: _encode_1, 2: _encode_1, 3: _encode_3, 4: _encode_4, 5: _encode_4}


def decode(version: int, buffer: Buffer, position: int = 0) -> LeaveGroupResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"LeaveGroupResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No LeaveGroupResponse of version {version}: {error}") from error


def encode(version: int, message: LeaveGroupResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
