# Written by tools/generate_codecs.py from LeaveGroupRequest.json in kafka-clients-4.1.1: do not edit.
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
class MemberIdentity:
    member_id: str = ''
    group_instance_id: str | None = None
    reason: str | None = None


@dataclass(slots=True)
class LeaveGroupRequest:
    group_id: str = ''
    member_id: str = ''
    members: list[MemberIdentity] = field(default_factory=list)


_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack


def _decode_0(buffer: memoryview, position: int) -> LeaveGroupRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("group_id", stop - position)
    group_id = str(buffer[position:stop], "utf-8")
    position = stop
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("member_id", stop - position)
    member_id = str(buffer[position:stop], "utf-8")
    position = stop
    return LeaveGroupRequest(group_id=group_id, member_id=member_id)


def _decode_3(buffer: memoryview, position: int) -> LeaveGroupRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("group_id", stop - position)
    group_id = str(buffer[position:stop], "utf-8")
    position = stop
    members: list[MemberIdentity]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 4 <= end - position or room < 0:
        raise bad_length("members", count)
    members = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("member_identity_member_id", stop - position)
        member_identity_member_id = str(buffer[position:stop], "utf-8")
        position = stop
        member_identity_group_instance_id: str | None
        (length,) = _unpack_h(buffer, position)
        position += 2
        if length >= 0:
            stop = position + length
            if stop > end:
                raise bad_length("member_identity_group_instance_id", stop - position)
            member_identity_group_instance_id = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            member_identity_group_instance_id = None
        members.append(MemberIdentity(member_id=member_identity_member_id, group_instance_id=member_identity_group_instance_id))
    return LeaveGroupRequest(group_id=group_id, members=members)


def _decode_4(buffer: memoryview, position: int) -> LeaveGroupRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("group_id", stop - position)
    group_id = str(buffer[position:stop], "utf-8")
    position = stop
    members: list[MemberIdentity]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 3 <= end - position or room < 0:
        raise bad_length("members", count)
    members = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("member_identity_member_id", stop - position)
        member_identity_member_id = str(buffer[position:stop], "utf-8")
        position = stop
        member_identity_group_instance_id: str | None
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("member_identity_group_instance_id", stop - position)
            member_identity_group_instance_id = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            member_identity_group_instance_id = None
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        members.append(MemberIdentity(member_id=member_identity_member_id, group_instance_id=member_identity_group_instance_id))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return LeaveGroupRequest(group_id=group_id, members=members)


def _decode_5(buffer: memoryview, position: int) -> LeaveGroupRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("group_id", stop - position)
    group_id = str(buffer[position:stop], "utf-8")
    position = stop
    members: list[MemberIdentity]
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
            raise bad_length("member_identity_member_id", stop - position)
        member_identity_member_id = str(buffer[position:stop], "utf-8")
        position = stop
        member_identity_group_instance_id: str | None
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("member_identity_group_instance_id", stop - position)
            member_identity_group_instance_id = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            member_identity_group_instance_id = None
        member_identity_reason: str | None
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("member_identity_reason", stop - position)
            member_identity_reason = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            member_identity_reason = None
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        members.append(MemberIdentity(member_id=member_identity_member_id, group_instance_id=member_identity_group_instance_id, reason=member_identity_reason))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return LeaveGroupRequest(group_id=group_id, members=members)


def _encode_0(message: LeaveGroupRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.group_id.encode()
    out += _pack_h(len(raw))
    out += raw
    raw = message.member_id.encode()
    out += _pack_h(len(raw))
    out += raw
    return [out]


def _encode_3(message: LeaveGroupRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.group_id.encode()
    out += _pack_h(len(raw))
    out += raw
    out += _pack_i(len(message.members))
    for member_identity in message.members:
        raw = member_identity.member_id.encode()
        out += _pack_h(len(raw))
        out += raw
        if member_identity.group_instance_id is None:
            out += b"\xff\xff"
        else:
            raw = member_identity.group_instance_id.encode()
            out += _pack_h(len(raw))
            out += raw
    return [out]


def _encode_4(message: LeaveGroupRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.group_id.encode()
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
    for member_identity in message.members:
        raw = member_identity.member_id.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        if member_identity.group_instance_id is None:
            out.append(0)
        else:
            raw = member_identity.group_instance_id.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        out.append(0)
    out.append(0)
    return [out]


def _encode_5(message: LeaveGroupRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.group_id.encode()
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
    for member_identity in message.members:
        raw = member_identity.member_id.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        if member_identity.group_instance_id is None:
            out.append(0)
        else:
            raw = member_identity.group_instance_id.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        if member_identity.reason is None:
            out.append(0)
        else:
            raw = member_identity.reason.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_0, 2: _decode_0, 3: _decode_3, 4: _decode_4, 5: _decode_5}
_ENCODERS = {0: _encode_0, 1: _encode_0, 2: _encode_0, 3: _encode_3, 4: _encode_4, 5: _encode_5}


def decode(version: int, buffer: Buffer, position: int = 0) -> LeaveGroupRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"LeaveGroupRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No LeaveGroupRequest of version {version}: {error}") from error


def encode(version: int, message: LeaveGroupRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
