# Written by tools/generate_codecs.py from GroupMetadataValue.json in kafka-group-coordinator-4.1.1: do not edit.
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
class MemberMetadata:
    member_id: str = ''
    group_instance_id: str | None = None
    client_id: str = ''
    client_host: str = ''
    rebalance_timeout: int = -1
    session_timeout: int = 0
    subscription: bytes = b''
    assignment: bytes = b''


@dataclass(slots=True)
class GroupMetadataValue:
    protocol_type: str = ''
    generation: int = 0
    protocol: str | None = ''
    leader: str | None = ''
    current_state_timestamp: int = -1
    members: list[MemberMetadata] = field(default_factory=list)


_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_unpack_iiB = Struct(">iiB").unpack_from
_unpack_iii = Struct(">iii").unpack_from
_unpack_qB = Struct(">qB").unpack_from
_unpack_qi = Struct(">qi").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_ii = Struct(">ii").pack
_pack_iii = Struct(">iii").pack
_pack_q = Struct(">q").pack
_pack_qi = Struct(">qi").pack


def _decode_0(buffer: memoryview, position: int) -> GroupMetadataValue:
    end = len(buffer)
    room = MOST_ELEMENTS
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("protocol_type", stop - position)
    protocol_type = str(buffer[position:stop], "utf-8")
    position = stop
    protocol: str | None
    generation, length = _unpack_ih(buffer, position)
    position += 6
    if length >= 0:
        stop = position + length
        if stop > end:
            raise bad_length("protocol", stop - position)
        protocol = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        protocol = None
    leader: str | None
    (length,) = _unpack_h(buffer, position)
    position += 2
    if length >= 0:
        stop = position + length
        if stop > end:
            raise bad_length("leader", stop - position)
        leader = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        leader = None
    members: list[MemberMetadata]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 18 <= end - position or room < 0:
        raise bad_length("members", count)
    members = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("member_metadata_member_id", stop - position)
        member_metadata_member_id = str(buffer[position:stop], "utf-8")
        position = stop
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("member_metadata_client_id", stop - position)
        member_metadata_client_id = str(buffer[position:stop], "utf-8")
        position = stop
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("member_metadata_client_host", stop - position)
        member_metadata_client_host = str(buffer[position:stop], "utf-8")
        position = stop
        member_metadata_session_timeout, length = _unpack_ii(buffer, position)
        position += 8
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("member_metadata_subscription", stop - position)
        member_metadata_subscription = bytes(buffer[position:stop])
        position = stop
        (length,) = _unpack_i(buffer, position)
        position += 4
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("member_metadata_assignment", stop - position)
        member_metadata_assignment = bytes(buffer[position:stop])
        position = stop
        members.append(MemberMetadata(member_id=member_metadata_member_id, client_id=member_metadata_client_id, client_host=member_metadata_client_host, session_timeout=member_metadata_session_timeout, subscription=member_metadata_subscription, assignment=member_metadata_assignment))
    return GroupMetadataValue(protocol_type=protocol_type, generation=generation, protocol=protocol, leader=leader, members=members)


def _decode_1(buffer: memoryview, position: int) -> GroupMetadataValue:
    end = len(buffer)
    room = MOST_ELEMENTS
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("protocol_type", stop - position)
    protocol_type = str(buffer[position:stop], "utf-8")
    position = stop
    protocol: str | None
    generation, length = _unpack_ih(buffer, position)
    position += 6
    if length >= 0:
        stop = position + length
        if stop > end:
            raise bad_length("protocol", stop - position)
        protocol = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        protocol = None
    leader: str | None
    (length,) = _unpack_h(buffer, position)
    position += 2
    if length >= 0:
        stop = position + length
        if stop > end:
            raise bad_length("leader", stop - position)
        leader = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        leader = None
    members: list[MemberMetadata]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 22 <= end - position or room < 0:
        raise bad_length("members", count)
    members = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("member_metadata_member_id", stop - position)
        member_metadata_member_id = str(buffer[position:stop], "utf-8")
        position = stop
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("member_metadata_client_id", stop - position)
        member_metadata_client_id = str(buffer[position:stop], "utf-8")
        position = stop
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("member_metadata_client_host", stop - position)
        member_metadata_client_host = str(buffer[position:stop], "utf-8")
        position = stop
        member_metadata_rebalance_timeout, member_metadata_session_timeout, length = _unpack_iii(buffer, position)
        position += 12
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("member_metadata_subscription", stop - position)
        member_metadata_subscription = bytes(buffer[position:stop])
        position = stop
        (length,) = _unpack_i(buffer, position)
        position += 4
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("member_metadata_assignment", stop - position)
        member_metadata_assignment = bytes(buffer[position:stop])
        position = stop
        members.append(MemberMetadata(member_id=member_metadata_member_id, client_id=member_metadata_client_id, client_host=member_metadata_client_host, rebalance_timeout=member_metadata_rebalance_timeout, session_timeout=member_metadata_session_timeout, subscription=member_metadata_subscription, assignment=member_metadata_assignment))
    return GroupMetadataValue(protocol_type=protocol_type, generation=generation, protocol=protocol, leader=leader, members=members)


def _decode_2(buffer: memoryview, position: int) -> GroupMetadataValue:
    end = len(buffer)
    room = MOST_ELEMENTS
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("protocol_type", stop - position)
    protocol_type = str(buffer[position:stop], "utf-8")
    position = stop
    protocol: str | None
    generation, length = _unpack_ih(buffer, position)
    position += 6
    if length >= 0:
        stop = position + length
        if stop > end:
            raise bad_length("protocol", stop - position)
        protocol = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        protocol = None
    leader: str | None
    (length,) = _unpack_h(buffer, position)
    position += 2
    if length >= 0:
        stop = position + length
        if stop > end:
            raise bad_length("leader", stop - position)
        leader = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        leader = None
    members: list[MemberMetadata]
    current_state_timestamp, count = _unpack_qi(buffer, position)
    position += 12
    room -= count
    if not 0 <= count * 22 <= end - position or room < 0:
        raise bad_length("members", count)
    members = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("member_metadata_member_id", stop - position)
        member_metadata_member_id = str(buffer[position:stop], "utf-8")
        position = stop
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("member_metadata_client_id", stop - position)
        member_metadata_client_id = str(buffer[position:stop], "utf-8")
        position = stop
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("member_metadata_client_host", stop - position)
        member_metadata_client_host = str(buffer[position:stop], "utf-8")
        position = stop
        member_metadata_rebalance_timeout, member_metadata_session_timeout, length = _unpack_iii(buffer, position)
        position += 12
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("member_metadata_subscription", stop - position)
        member_metadata_subscription = bytes(buffer[position:stop])
        position = stop
        (length,) = _unpack_i(buffer, position)
        position += 4
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("member_metadata_assignment", stop - position)
        member_metadata_assignment = bytes(buffer[position:stop])
        position = stop
        members.append(MemberMetadata(member_id=member_metadata_member_id, client_id=member_metadata_client_id, client_host=member_metadata_client_host, rebalance_timeout=member_metadata_rebalance_timeout, session_timeout=member_metadata_session_timeout, subscription=member_metadata_subscription, assignment=member_metadata_assignment))
    return GroupMetadataValue(protocol_type=protocol_type, generation=generation, protocol=protocol, leader=leader, current_state_timestamp=current_state_timestamp, members=members)


def _decode_3(buffer: memoryview, position: int) -> GroupMetadataValue:
    end = len(buffer)
    room = MOST_ELEMENTS
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("protocol_type", stop - position)
    protocol_type = str(buffer[position:stop], "utf-8")
    position = stop
    protocol: str | None
    generation, length = _unpack_ih(buffer, position)
    position += 6
    if length >= 0:
        stop = position + length
        if stop > end:
            raise bad_length("protocol", stop - position)
        protocol = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        protocol = None
    leader: str | None
    (length,) = _unpack_h(buffer, position)
    position += 2
    if length >= 0:
        stop = position + length
        if stop > end:
            raise bad_length("leader", stop - position)
        leader = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        leader = None
    members: list[MemberMetadata]
    current_state_timestamp, count = _unpack_qi(buffer, position)
    position += 12
    room -= count
    if not 0 <= count * 24 <= end - position or room < 0:
        raise bad_length("members", count)
    members = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("member_metadata_member_id", stop - position)
        member_metadata_member_id = str(buffer[position:stop], "utf-8")
        position = stop
        member_metadata_group_instance_id: str | None
        (length,) = _unpack_h(buffer, position)
        position += 2
        if length >= 0:
            stop = position + length
            if stop > end:
                raise bad_length("member_metadata_group_instance_id", stop - position)
            member_metadata_group_instance_id = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            member_metadata_group_instance_id = None
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("member_metadata_client_id", stop - position)
        member_metadata_client_id = str(buffer[position:stop], "utf-8")
        position = stop
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("member_metadata_client_host", stop - position)
        member_metadata_client_host = str(buffer[position:stop], "utf-8")
        position = stop
        member_metadata_rebalance_timeout, member_metadata_session_timeout, length = _unpack_iii(buffer, position)
        position += 12
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("member_metadata_subscription", stop - position)
        member_metadata_subscription = bytes(buffer[position:stop])
        position = stop
        (length,) = _unpack_i(buffer, position)
        position += 4
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("member_metadata_assignment", stop - position)
        member_metadata_assignment = bytes(buffer[position:stop])
        position = stop
        members.append(MemberMetadata(member_id=member_metadata_member_id, group_instance_id=member_metadata_group_instance_id, client_id=member_metadata_client_id, client_host=member_metadata_client_host, rebalance_timeout=member_metadata_rebalance_timeout, session_timeout=member_metadata_session_timeout, subscription=member_metadata_subscription, assignment=member_metadata_assignment))
    return GroupMetadataValue(protocol_type=protocol_type, generation=generation, protocol=protocol, leader=leader, current_state_timestamp=current_state_timestamp, members=members)


def _decode_4(buffer: memoryview, position: int) -> GroupMetadataValue:
    end = len(buffer)
    room = MOST_ELEMENTS
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("protocol_type", stop - position)
    protocol_type = str(buffer[position:stop], "utf-8")
    position = stop
    protocol: str | None
    generation, length = _unpack_iB(buffer, position)
    position += 5
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    if length:
        stop = position + length - 1
        if stop > end:
            raise bad_length("protocol", stop - position)
        protocol = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        protocol = None
    leader: str | None
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    if length:
        stop = position + length - 1
        if stop > end:
            raise bad_length("leader", stop - position)
        leader = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        leader = None
    members: list[MemberMetadata]
    current_state_timestamp, count = _unpack_qB(buffer, position)
    position += 9
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 15 <= end - position or room < 0:
        raise bad_length("members", count)
    members = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("member_metadata_member_id", stop - position)
        member_metadata_member_id = str(buffer[position:stop], "utf-8")
        position = stop
        member_metadata_group_instance_id: str | None
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("member_metadata_group_instance_id", stop - position)
            member_metadata_group_instance_id = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            member_metadata_group_instance_id = None
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("member_metadata_client_id", stop - position)
        member_metadata_client_id = str(buffer[position:stop], "utf-8")
        position = stop
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("member_metadata_client_host", stop - position)
        member_metadata_client_host = str(buffer[position:stop], "utf-8")
        position = stop
        member_metadata_rebalance_timeout, member_metadata_session_timeout, length = _unpack_iiB(buffer, position)
        position += 9
        if length > 127:
            length, position = read_long_uvarint(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("member_metadata_subscription", stop - position)
        member_metadata_subscription = bytes(buffer[position:stop])
        position = stop
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_uvarint(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("member_metadata_assignment", stop - position)
        member_metadata_assignment = bytes(buffer[position:stop])
        position = stop
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        members.append(MemberMetadata(member_id=member_metadata_member_id, group_instance_id=member_metadata_group_instance_id, client_id=member_metadata_client_id, client_host=member_metadata_client_host, rebalance_timeout=member_metadata_rebalance_timeout, session_timeout=member_metadata_session_timeout, subscription=member_metadata_subscription, assignment=member_metadata_assignment))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return GroupMetadataValue(protocol_type=protocol_type, generation=generation, protocol=protocol, leader=leader, current_state_timestamp=current_state_timestamp, members=members)


def _encode_0(message: GroupMetadataValue) -> list[Buffer]:
    out = bytearray()
    raw = message.protocol_type.encode()
    out += _pack_h(len(raw))
    out += raw
    out += _pack_i(message.generation)
    if message.protocol is None:
        out += b"\xff\xff"
    else:
        raw = message.protocol.encode()
        out += _pack_h(len(raw))
        out += raw
    if message.leader is None:
        out += b"\xff\xff"
    else:
        raw = message.leader.encode()
        out += _pack_h(len(raw))
        out += raw
    out += _pack_i(len(message.members))
    for member_metadata in message.members:
        raw = member_metadata.member_id.encode()
        out += _pack_h(len(raw))
        out += raw
        raw = member_metadata.client_id.encode()
        out += _pack_h(len(raw))
        out += raw
        raw = member_metadata.client_host.encode()
        out += _pack_h(len(raw))
        out += raw
        raw = member_metadata.subscription
        out += _pack_ii(member_metadata.session_timeout, len(raw))
        out += raw
        raw = member_metadata.assignment
        out += _pack_i(len(raw))
        out += raw
    return [out]


def _encode_1(message: GroupMetadataValue) -> list[Buffer]:
    out = bytearray()
    raw = message.protocol_type.encode()
    out += _pack_h(len(raw))
    out += raw
    out += _pack_i(message.generation)
    if message.protocol is None:
        out += b"\xff\xff"
    else:
        raw = message.protocol.encode()
        out += _pack_h(len(raw))
        out += raw
    if message.leader is None:
        out += b"\xff\xff"
    else:
        raw = message.leader.encode()
        out += _pack_h(len(raw))
        out += raw
    out += _pack_i(len(message.members))
    for member_metadata in message.members:
        raw = member_metadata.member_id.encode()
        out += _pack_h(len(raw))
        out += raw
        raw = member_metadata.client_id.encode()
        out += _pack_h(len(raw))
        out += raw
        raw = member_metadata.client_host.encode()
        out += _pack_h(len(raw))
        out += raw
        raw = member_metadata.subscription
        out += _pack_iii(member_metadata.rebalance_timeout, member_metadata.session_timeout, len(raw))
        out += raw
        raw = member_metadata.assignment
        out += _pack_i(len(raw))
        out += raw
    return [out]


def _encode_2(message: GroupMetadataValue) -> list[Buffer]:
    out = bytearray()
    raw = message.protocol_type.encode()
    out += _pack_h(len(raw))
    out += raw
    out += _pack_i(message.generation)
    if message.protocol is None:
        out += b"\xff\xff"
    else:
        raw = message.protocol.encode()
        out += _pack_h(len(raw))
        out += raw
    if message.leader is None:
        out += b"\xff\xff"
    else:
        raw = message.leader.encode()
        out += _pack_h(len(raw))
        out += raw
    out += _pack_qi(message.current_state_timestamp, len(message.members))
    for member_metadata in message.members:
        raw = member_metadata.member_id.encode()
        out += _pack_h(len(raw))
        out += raw
        raw = member_metadata.client_id.encode()
        out += _pack_h(len(raw))
        out += raw
        raw = member_metadata.client_host.encode()
        out += _pack_h(len(raw))
        out += raw
        raw = member_metadata.subscription
        out += _pack_iii(member_metadata.rebalance_timeout, member_metadata.session_timeout, len(raw))
        out += raw
        raw = member_metadata.assignment
        out += _pack_i(len(raw))
        out += raw
    return [out]


def _encode_3(message: GroupMetadataValue) -> list[Buffer]:
    out = bytearray()
    raw = message.protocol_type.encode()
    out += _pack_h(len(raw))
    out += raw
    out += _pack_i(message.generation)
    if message.protocol is None:
        out += b"\xff\xff"
    else:
        raw = message.protocol.encode()
        out += _pack_h(len(raw))
        out += raw
    if message.leader is None:
        out += b"\xff\xff"
    else:
        raw = message.leader.encode()
        out += _pack_h(len(raw))
        out += raw
    out += _pack_qi(message.current_state_timestamp, len(message.members))
    for member_metadata in message.members:
        raw = member_metadata.member_id.encode()
        out += _pack_h(len(raw))
        out += raw
        if member_metadata.group_instance_id is None:
            out += b"\xff\xff"
        else:
            raw = member_metadata.group_instance_id.encode()
            out += _pack_h(len(raw))
            out += raw
        raw = member_metadata.client_id.encode()
        out += _pack_h(len(raw))
        out += raw
        raw = member_metadata.client_host.encode()
        out += _pack_h(len(raw))
        out += raw
        raw = member_metadata.subscription
        out += _pack_iii(member_metadata.rebalance_timeout, member_metadata.session_timeout, len(raw))
        out += raw
        raw = member_metadata.assignment
        out += _pack_i(len(raw))
        out += raw
    return [out]


def _encode_4(message: GroupMetadataValue) -> list[Buffer]:
    out = bytearray()
    raw = message.protocol_type.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    out += _pack_i(message.generation)
    if message.protocol is None:
        out.append(0)
    else:
        raw = message.protocol.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    if message.leader is None:
        out.append(0)
    else:
        raw = message.leader.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    out += _pack_q(message.current_state_timestamp)
    size = len(message.members) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for member_metadata in message.members:
        raw = member_metadata.member_id.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        if member_metadata.group_instance_id is None:
            out.append(0)
        else:
            raw = member_metadata.group_instance_id.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        raw = member_metadata.client_id.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        raw = member_metadata.client_host.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        raw = member_metadata.subscription
        out += _pack_ii(member_metadata.rebalance_timeout, member_metadata.session_timeout)
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        raw = member_metadata.assignment
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_1, 2: _decode_2, 3: _decode_3, 4: _decode_4}
_ENCODERS = {0: _encode_0, 1: _encode_1, 2: _encode_2, 3: _encode_3, 4: _encode_4}


def decode(version: int, buffer: Buffer, position: int = 0) -> GroupMetadataValue:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"GroupMetadataValue has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No GroupMetadataValue of version {version}: {error}") from error


def encode(version: int, message: GroupMetadataValue) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)


def pack(version: int, message: GroupMetadataValue) -> bytes:
    """The value as it is in a record: its version in two bytes, then the message."""
    return version.to_bytes(2, "big") + b"".join(encode(version, message))


def unpack(buffer: Buffer) -> tuple[int, GroupMetadataValue]:
    """The version and the message of a value that `pack` made, or Kafka."""
    version = int.from_bytes(buffer[:2], "big")
    return version, decode(version, buffer, 2)
