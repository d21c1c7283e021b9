# Written by tools/generate_codecs.py from SyncGroupRequest.json in kafka-clients-4.1.1: do not edit.
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
class SyncGroupRequestAssignment:
    member_id: str = ''
    assignment: bytes = b''


@dataclass(slots=True)
class SyncGroupRequest:
    group_id: str = ''
    generation_id: int = 0
    member_id: str = ''
    group_instance_id: str | None = None
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignments: list[SyncGroupRequestAssignment] = field(default_factory=list)


_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack


def _decode_0(buffer: memoryview, position: int) -> SyncGroupRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("group_id", stop - position)
    group_id = str(buffer[position:stop], "utf-8")
    position = stop
    generation_id, length = _unpack_ih(buffer, position)
    position += 6
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("member_id", stop - position)
    member_id = str(buffer[position:stop], "utf-8")
    position = stop
    assignments: list[SyncGroupRequestAssignment]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("assignments", count)
    assignments = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("sync_group_request_assignment_member_id", stop - position)
        sync_group_request_assignment_member_id = str(buffer[position:stop], "utf-8")
        position = stop
        (length,) = _unpack_i(buffer, position)
        position += 4
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("sync_group_request_assignment_assignment", stop - position)
        sync_group_request_assignment_assignment = bytes(buffer[position:stop])
        position = stop
        assignments.append(SyncGroupRequestAssignment(member_id=sync_group_request_assignment_member_id, assignment=sync_group_request_assignment_assignment))
    return SyncGroupRequest(group_id=group_id, generation_id=generation_id, member_id=member_id, assignments=assignments)


def _decode_3(buffer: memoryview, position: int) -> SyncGroupRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("group_id", stop - position)
    group_id = str(buffer[position:stop], "utf-8")
    position = stop
    generation_id, length = _unpack_ih(buffer, position)
    position += 6
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("member_id", stop - position)
    member_id = str(buffer[position:stop], "utf-8")
    position = stop
    group_instance_id: str | None
    (length,) = _unpack_h(buffer, position)
    position += 2
    if length >= 0:
        stop = position + length
        if stop > end:
            raise bad_length("group_instance_id", stop - position)
        group_instance_id = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        group_instance_id = None
    assignments: list[SyncGroupRequestAssignment]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("assignments", count)
    assignments = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("sync_group_request_assignment_member_id", stop - position)
        sync_group_request_assignment_member_id = str(buffer[position:stop], "utf-8")
        position = stop
        (length,) = _unpack_i(buffer, position)
        position += 4
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("sync_group_request_assignment_assignment", stop - position)
        sync_group_request_assignment_assignment = bytes(buffer[position:stop])
        position = stop
        assignments.append(SyncGroupRequestAssignment(member_id=sync_group_request_assignment_member_id, assignment=sync_group_request_assignment_assignment))
    return SyncGroupRequest(group_id=group_id, generation_id=generation_id, member_id=member_id, group_instance_id=group_instance_id, assignments=assignments)


def _decode_4(buffer: memoryview, position: int) -> SyncGroupRequest:
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
    generation_id, length = _unpack_iB(buffer, position)
    position += 5
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("member_id", stop - position)
    member_id = str(buffer[position:stop], "utf-8")
    position = stop
    group_instance_id: str | None
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    if length:
        stop = position + length - 1
        if stop > end:
            raise bad_length("group_instance_id", stop - position)
        group_instance_id = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        group_instance_id = None
    assignments: list[SyncGroupRequestAssignment]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 3 <= end - position or room < 0:
        raise bad_length("assignments", count)
    assignments = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("sync_group_request_assignment_member_id", stop - position)
        sync_group_request_assignment_member_id = str(buffer[position:stop], "utf-8")
        position = stop
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_uvarint(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("sync_group_request_assignment_assignment", stop - position)
        sync_group_request_assignment_assignment = bytes(buffer[position:stop])
        position = stop
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        assignments.append(SyncGroupRequestAssignment(member_id=sync_group_request_assignment_member_id, assignment=sync_group_request_assignment_assignment))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return SyncGroupRequest(group_id=group_id, generation_id=generation_id, member_id=member_id, group_instance_id=group_instance_id, assignments=assignments)


def _decode_5(buffer: memoryview, position: int) -> SyncGroupRequest:
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
    generation_id, length = _unpack_iB(buffer, position)
    position += 5
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("member_id", stop - position)
    member_id = str(buffer[position:stop], "utf-8")
    position = stop
    group_instance_id: str | None
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    if length:
        stop = position + length - 1
        if stop > end:
            raise bad_length("group_instance_id", stop - position)
        group_instance_id = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        group_instance_id = None
    protocol_type: str | None
    length = buffer[position]
    position += 1
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
    assignments: list[SyncGroupRequestAssignment]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 3 <= end - position or room < 0:
        raise bad_length("assignments", count)
    assignments = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("sync_group_request_assignment_member_id", stop - position)
        sync_group_request_assignment_member_id = str(buffer[position:stop], "utf-8")
        position = stop
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_uvarint(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("sync_group_request_assignment_assignment", stop - position)
        sync_group_request_assignment_assignment = bytes(buffer[position:stop])
        position = stop
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        assignments.append(SyncGroupRequestAssignment(member_id=sync_group_request_assignment_member_id, assignment=sync_group_request_assignment_assignment))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return SyncGroupRequest(group_id=group_id, generation_id=generation_id, member_id=member_id, group_instance_id=group_instance_id, protocol_type=protocol_type, protocol_name=protocol_name, assignments=assignments)


def _encode_0(message: SyncGroupRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.group_id.encode()
    out += _pack_h(len(raw))
    out += raw
    raw = message.member_id.encode()
    out += _pack_ih(message.generation_id, len(raw))
    out += raw
    out += _pack_i(len(message.assignments))
    for sync_group_request_assignment in message.assignments:
        raw = sync_group_request_assignment.member_id.encode()
        out += _pack_h(len(raw))
        out += raw
        raw = sync_group_request_assignment.assignment
        out += _pack_i(len(raw))
        out += raw
    return [out]


def _encode_3(message: SyncGroupRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.group_id.encode()
    out += _pack_h(len(raw))
    out += raw
    raw = message.member_id.encode()
    out += _pack_ih(message.generation_id, len(raw))
    out += raw
    if message.group_instance_id is None:
        out += b"\xff\xff"
    else:
        raw = message.group_instance_id.encode()
        out += _pack_h(len(raw))
        out += raw
    out += _pack_i(len(message.assignments))
    for sync_group_request_assignment in message.assignments:
        raw = sync_group_request_assignment.member_id.encode()
        out += _pack_h(len(raw))
        out += raw
        raw = sync_group_request_assignment.assignment
        out += _pack_i(len(raw))
        out += raw
    return [out]


def _encode_4(message: SyncGroupRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.group_id.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    raw = message.member_id.encode()
    out += _pack_i(message.generation_id)
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    if message.group_instance_id is None:
        out.append(0)
    else:
        raw = message.group_instance_id.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    size = len(message.assignments) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for sync_group_request_assignment in message.assignments:
        raw = sync_group_request_assignment.member_id.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        raw = sync_group_request_assignment.assignment
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out.append(0)
    out.append(0)
    return [out]


def _encode_5(message: SyncGroupRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.group_id.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    raw = message.member_id.encode()
    out += _pack_i(message.generation_id)
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    if message.group_instance_id is None:
        out.append(0)
    else:
        raw = message.group_instance_id.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
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
    size = len(message.assignments) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for sync_group_request_assignment in message.assignments:
        raw = sync_group_request_assignment.member_id.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        raw = sync_group_request_assignment.assignment
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


def decode(version: int, buffer: Buffer, position: int = 0) -> SyncGroupRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"SyncGroupRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No SyncGroupRequest of version {version}: {error}") from error


def encode(version: int, message: SyncGroupRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
