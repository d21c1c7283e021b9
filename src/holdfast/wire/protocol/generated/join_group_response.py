# Written by tools/generate_codecs.py from JoinGroupResponse.json in kafka-clients-4.1.1: do not edit.
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
class JoinGroupResponseMember:
    member_id: str = ''
    group_instance_id: str | None = None
    metadata: bytes = b''


@dataclass(slots=True)
class JoinGroupResponse:
    throttle_time_ms: int = 0
    error_code: int = 0
    generation_id: int = -1
    protocol_type: str | None = None
    protocol_name: str | None = ''
    leader: str = ''
    skip_assignment: bool = False
    member_id: str = ''
    members: list[JoinGroupResponseMember] = field(default_factory=list)


_unpack_h = Struct(">h").unpack_from
_unpack_hih = Struct(">hih").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ihiB = Struct(">ihiB").unpack_from
_unpack_ihih = Struct(">ihih").unpack_from
_unpack_tB = Struct(">?B").unpack_from
_pack_h = Struct(">h").pack
_pack_hih = Struct(">hih").pack
_pack_i = Struct(">i").pack
_pack_ihi = Struct(">ihi").pack
_pack_ihih = Struct(">ihih").pack
_pack_t = Struct(">?").pack


def _decode_0(buffer: memoryview, position: int) -> JoinGroupResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    protocol_name: str | None
    error_code, generation_id, length = _unpack_hih(buffer, position)
    position += 8
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("protocol_name", stop - position)
    protocol_name = str(buffer[position:stop], "utf-8")
    position = stop
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("leader", stop - position)
    leader = str(buffer[position:stop], "utf-8")
    position = stop
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("member_id", stop - position)
    member_id = str(buffer[position:stop], "utf-8")
    position = stop
    members: list[JoinGroupResponseMember]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("members", count)
    members = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("join_group_response_member_member_id", stop - position)
        join_group_response_member_member_id = str(buffer[position:stop], "utf-8")
        position = stop
        (length,) = _unpack_i(buffer, position)
        position += 4
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("join_group_response_member_metadata", stop - position)
        join_group_response_member_metadata = bytes(buffer[position:stop])
        position = stop
        members.append(JoinGroupResponseMember(member_id=join_group_response_member_member_id, metadata=join_group_response_member_metadata))
    return JoinGroupResponse(error_code=error_code, generation_id=generation_id, protocol_name=protocol_name, leader=leader, member_id=member_id, members=members)


def _decode_2(buffer: memoryview, position: int) -> JoinGroupResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    protocol_name: str | None
    throttle_time_ms, error_code, generation_id, length = _unpack_ihih(buffer, position)
    position += 12
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("protocol_name", stop - position)
    protocol_name = str(buffer[position:stop], "utf-8")
    position = stop
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("leader", stop - position)
    leader = str(buffer[position:stop], "utf-8")
    position = stop
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("member_id", stop - position)
    member_id = str(buffer[position:stop], "utf-8")
    position = stop
    members: list[JoinGroupResponseMember]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("members", count)
    members = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("join_group_response_member_member_id", stop - position)
        join_group_response_member_member_id = str(buffer[position:stop], "utf-8")
        position = stop
        (length,) = _unpack_i(buffer, position)
        position += 4
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("join_group_response_member_metadata", stop - position)
        join_group_response_member_metadata = bytes(buffer[position:stop])
        position = stop
        members.append(JoinGroupResponseMember(member_id=join_group_response_member_member_id, metadata=join_group_response_member_metadata))
    return JoinGroupResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, generation_id=generation_id, protocol_name=protocol_name, leader=leader, member_id=member_id, members=members)


def _decode_5(buffer: memoryview, position: int) -> JoinGroupResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    protocol_name: str | None
    throttle_time_ms, error_code, generation_id, length = _unpack_ihih(buffer, position)
    position += 12
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("protocol_name", stop - position)
    protocol_name = str(buffer[position:stop], "utf-8")
    position = stop
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("leader", stop - position)
    leader = str(buffer[position:stop], "utf-8")
    position = stop
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("member_id", stop - position)
    member_id = str(buffer[position:stop], "utf-8")
    position = stop
    members: list[JoinGroupResponseMember]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 8 <= end - position or room < 0:
        raise bad_length("members", count)
    members = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("join_group_response_member_member_id", stop - position)
        join_group_response_member_member_id = str(buffer[position:stop], "utf-8")
        position = stop
        join_group_response_member_group_instance_id: str | None
        (length,) = _unpack_h(buffer, position)
        position += 2
        if length >= 0:
            stop = position + length
            if stop > end:
                raise bad_length("join_group_response_member_group_instance_id", stop - position)
            join_group_response_member_group_instance_id = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            join_group_response_member_group_instance_id = None
        (length,) = _unpack_i(buffer, position)
        position += 4
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("join_group_response_member_metadata", stop - position)
        join_group_response_member_metadata = bytes(buffer[position:stop])
        position = stop
        members.append(JoinGroupResponseMember(member_id=join_group_response_member_member_id, group_instance_id=join_group_response_member_group_instance_id, metadata=join_group_response_member_metadata))
    return JoinGroupResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, generation_id=generation_id, protocol_name=protocol_name, leader=leader, member_id=member_id, members=members)


def _decode_6(buffer: memoryview, position: int) -> JoinGroupResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    protocol_name: str | None
    throttle_time_ms, error_code, generation_id, length = _unpack_ihiB(buffer, position)
    position += 11
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("protocol_name", stop - position)
    protocol_name = str(buffer[position:stop], "utf-8")
    position = stop
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("leader", stop - position)
    leader = str(buffer[position:stop], "utf-8")
    position = stop
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("member_id", stop - position)
    member_id = str(buffer[position:stop], "utf-8")
    position = stop
    members: list[JoinGroupResponseMember]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 4 <= end - position or room < 0:
        raise bad_length("members", count)
    members = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("join_group_response_member_member_id", stop - position)
        join_group_response_member_member_id = str(buffer[position:stop], "utf-8")
        position = stop
        join_group_response_member_group_instance_id: str | None
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("join_group_response_member_group_instance_id", stop - position)
            join_group_response_member_group_instance_id = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            join_group_response_member_group_instance_id = None
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_uvarint(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("join_group_response_member_metadata", stop - position)
        join_group_response_member_metadata = bytes(buffer[position:stop])
        position = stop
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        members.append(JoinGroupResponseMember(member_id=join_group_response_member_member_id, group_instance_id=join_group_response_member_group_instance_id, metadata=join_group_response_member_metadata))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return JoinGroupResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, generation_id=generation_id, protocol_name=protocol_name, leader=leader, member_id=member_id, members=members)


def _decode_7(buffer: memoryview, position: int) -> JoinGroupResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    protocol_type: str | None
    throttle_time_ms, error_code, generation_id, length = _unpack_ihiB(buffer, position)
    position += 11
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    if length:
        stop = position + length - 1
        if stop > end:
            raise bad_length("protocol_type", stop - position)
        protocol_type = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        protocol_type = None
    protocol_name: str | None
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    if length:
        stop = position + length - 1
        if stop > end:
            raise bad_length("protocol_name", stop - position)
        protocol_name = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        protocol_name = None
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("leader", stop - position)
    leader = str(buffer[position:stop], "utf-8")
    position = stop
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("member_id", stop - position)
    member_id = str(buffer[position:stop], "utf-8")
    position = stop
    members: list[JoinGroupResponseMember]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 4 <= end - position or room < 0:
        raise bad_length("members", count)
    members = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("join_group_response_member_member_id", stop - position)
        join_group_response_member_member_id = str(buffer[position:stop], "utf-8")
        position = stop
        join_group_response_member_group_instance_id: str | None
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("join_group_response_member_group_instance_id", stop - position)
            join_group_response_member_group_instance_id = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            join_group_response_member_group_instance_id = None
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_uvarint(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("join_group_response_member_metadata", stop - position)
        join_group_response_member_metadata = bytes(buffer[position:stop])
        position = stop
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        members.append(JoinGroupResponseMember(member_id=join_group_response_member_member_id, group_instance_id=join_group_response_member_group_instance_id, metadata=join_group_response_member_metadata))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return JoinGroupResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, generation_id=generation_id, protocol_type=protocol_type, protocol_name=protocol_name, leader=leader, member_id=member_id, members=members)


def _decode_9(buffer: memoryview, position: int) -> JoinGroupResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    protocol_type: str | None
    throttle_time_ms, error_code, generation_id, length = _unpack_ihiB(buffer, position)
    position += 11
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    if length:
        stop = position + length - 1
        if stop > end:
            raise bad_length("protocol_type", stop - position)
        protocol_type = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        protocol_type = None
    protocol_name: str | None
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    if length:
        stop = position + length - 1
        if stop > end:
            raise bad_length("protocol_name", stop - position)
        protocol_name = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        protocol_name = None
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("leader", stop - position)
    leader = str(buffer[position:stop], "utf-8")
    position = stop
    skip_assignment, length = _unpack_tB(buffer, position)
    position += 2
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("member_id", stop - position)
    member_id = str(buffer[position:stop], "utf-8")
    position = stop
    members: list[JoinGroupResponseMember]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 4 <= end - position or room < 0:
        raise bad_length("members", count)
    members = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("join_group_response_member_member_id", stop - position)
        join_group_response_member_member_id = str(buffer[position:stop], "utf-8")
        position = stop
        join_group_response_member_group_instance_id: str | None
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("join_group_response_member_group_instance_id", stop - position)
            join_group_response_member_group_instance_id = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            join_group_response_member_group_instance_id = None
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_uvarint(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("join_group_response_member_metadata", stop - position)
        join_group_response_member_metadata = bytes(buffer[position:stop])
        position = stop
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        members.append(JoinGroupResponseMember(member_id=join_group_response_member_member_id, group_instance_id=join_group_response_member_group_instance_id, metadata=join_group_response_member_metadata))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return JoinGroupResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, generation_id=generation_id, protocol_type=protocol_type, protocol_name=protocol_name, leader=leader, skip_assignment=skip_assignment, member_id=member_id, members=members)


def _encode_0(message: JoinGroupResponse) -> list[Buffer]:
    out = bytearray()
    raw = (message.protocol_name or "").encode()
    out += _pack_hih(message.error_code, message.generation_id, len(raw))
    out += raw
    raw = message.leader.encode()
    out += _pack_h(len(raw))
    out += raw
    raw = message.member_id.encode()
    out += _pack_h(len(raw))
    out += raw
    out += _pack_i(len(message.members))
    for join_group_response_member in message.members:
        raw = join_group_response_member.member_id.encode()
        out += _pack_h(len(raw))
        out += raw
        raw = join_group_response_member.metadata
        out += _pack_i(len(raw))
        out += raw
    return [out]


def _encode_2(message: JoinGroupResponse) -> list[Buffer]:
    out = bytearray()
    raw = (message.protocol_name or "").encode()
    out += _pack_ihih(message.throttle_time_ms, message.error_code, message.generation_id, len(raw))
    out += raw
    raw = message.leader.encode()
    out += _pack_h(len(raw))
    out += raw
    raw = message.member_id.encode()
    out += _pack_h(len(raw))
    out += raw
    out += _pack_i(len(message.members))
    for join_group_response_member in message.members:
        raw = join_group_response_member.member_id.encode()
        out += _pack_h(len(raw))
        out += raw
        raw = join_group_response_member.metadata
        out += _pack_i(len(raw))
        out += raw
    return [out]


def _encode_5(message: JoinGroupResponse) -> list[Buffer]:
    out = bytearray()
    raw = (message.protocol_name or "").encode()
    out += _pack_ihih(message.throttle_time_ms, message.error_code, message.generation_id, len(raw))
    out += raw
    raw = message.leader.encode()
    out += _pack_h(len(raw))
    out += raw
    raw = message.member_id.encode()
    out += _pack_h(len(raw))
    out += raw
    out += _pack_i(len(message.members))
    for join_group_response_member in message.members:
        raw = join_group_response_member.member_id.encode()
        out += _pack_h(len(raw))
        out += raw
        if join_group_response_member.group_instance_id is None:
            out += b"\xff\xff"
        else:
            raw = join_group_response_member.group_instance_id.encode()
            out += _pack_h(len(raw))
            out += raw
        raw = join_group_response_member.metadata
        out += _pack_i(len(raw))
        out += raw
    return [out]


def _encode_6(message: JoinGroupResponse) -> list[Buffer]:
    out = bytearray()
    raw = (message.protocol_name or "").encode()
    out += _pack_ihi(message.throttle_time_ms, message.error_code, message.generation_id)
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    raw = message.leader.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    raw = message.member_id.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    size = len(message.members) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for join_group_response_member in message.members:
        raw = join_group_response_member.member_id.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        if join_group_response_member.group_instance_id is None:
            out.append(0)
        else:
            raw = join_group_response_member.group_instance_id.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        raw = join_group_response_member.metadata
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out.append(0)
    out.append(0)
    return [out]


def _encode_7(message: JoinGroupResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ihi(message.throttle_time_ms, message.error_code, message.generation_id)
    if message.protocol_type is None:
        out.append(0)
    else:
        raw = message.protocol_type.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    if message.protocol_name is None:
        out.append(0)
    else:
        raw = message.protocol_name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    raw = message.leader.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    raw = message.member_id.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    size = len(message.members) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for join_group_response_member in message.members:
        raw = join_group_response_member.member_id.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        if join_group_response_member.group_instance_id is None:
            out.append(0)
        else:
            raw = join_group_response_member.group_instance_id.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        raw = join_group_response_member.metadata
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out.append(0)
    out.append(0)
    return [out]


def _encode_9(message: JoinGroupResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ihi(message.throttle_time_ms, message.error_code, message.generation_id)
    if message.protocol_type is None:
        out.append(0)
    else:
        raw = message.protocol_type.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    if message.protocol_name is None:
        out.append(0)
    else:
        raw = message.protocol_name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    raw = message.leader.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    raw = message.member_id.encode()
    out += _pack_t(message.skip_assignment)
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    size = len(message.members) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for join_group_response_member in message.members:
        raw = join_group_response_member.member_id.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        if join_group_response_member.group_instance_id is None:
            out.append(0)
        else:
            raw = join_group_response_member.group_instance_id.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        raw = join_group_response_member.metadata
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_0, 2: _decode_2, 3: _decode_2, 4: _decode_2, 5: _decode_5, 6: _decode_6, 7: _decode_7, 8: _decode_7, 9: _decode_9}
_ENCODERS = {0: _encode_0, 1: _encode_0, 2: _encode_2, 3: _encode_2, 4: _encode_2, 5: _encode_5, 6: _encode_6, 7: _encode_7, 8: _encode_7, 9: _encode_9}


def decode(version: int, buffer: Buffer, position: int = 0) -> JoinGroupResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"JoinGroupResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No JoinGroupResponse of version {version}: {error}") from error


def encode(version: int, message: JoinGroupResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
