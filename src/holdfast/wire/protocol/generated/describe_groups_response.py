# Written by tools/generate_codecs.py from DescribeGroupsResponse.json in kafka-clients-4.1.1: do not edit.
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
class DescribedGroupMember:
    member_id: str = ''
    group_instance_id: str | None = None
    client_id: str = ''
    client_host: str = ''
    member_metadata: bytes = b''
    member_assignment: bytes = b''


@dataclass(slots=True)
class DescribedGroup:
    error_code: int = 0
    error_message: str | None = None
    group_id: str = ''
    group_state: str = ''
    protocol_type: str = ''
    protocol_data: str = ''
    members: list[DescribedGroupMember] = field(default_factory=list)
    authorized_operations: int = -2147483648


@dataclass(slots=True)
class DescribeGroupsResponse:
    throttle_time_ms: int = 0
    groups: list[DescribedGroup] = field(default_factory=list)


_unpack_h = Struct(">h").unpack_from
_unpack_hB = Struct(">hB").unpack_from
_unpack_hh = Struct(">hh").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_pack_h = Struct(">h").pack
_pack_hh = Struct(">hh").pack
_pack_i = Struct(">i").pack
_pack_iB = Struct(">iB").pack
_pack_ii = Struct(">ii").pack


def _decode_0(buffer: memoryview, position: int) -> DescribeGroupsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    groups: list[DescribedGroup]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 14 <= end - position or room < 0:
        raise bad_length("groups", count)
    groups = []
    for _ in range(count):
        described_group_error_code, length = _unpack_hh(buffer, position)
        position += 4
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("described_group_group_id", stop - position)
        described_group_group_id = str(buffer[position:stop], "utf-8")
        position = stop
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("described_group_group_state", stop - position)
        described_group_group_state = str(buffer[position:stop], "utf-8")
        position = stop
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("described_group_protocol_type", stop - position)
        described_group_protocol_type = str(buffer[position:stop], "utf-8")
        position = stop
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("described_group_protocol_data", stop - position)
        described_group_protocol_data = str(buffer[position:stop], "utf-8")
        position = stop
        described_group_members: list[DescribedGroupMember]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 14 <= end - position or room < 0:
            raise bad_length("described_group_members", count)
        described_group_members = []
        for _ in range(count):
            (length,) = _unpack_h(buffer, position)
            position += 2
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("described_group_member_member_id", stop - position)
            described_group_member_member_id = str(buffer[position:stop], "utf-8")
            position = stop
            (length,) = _unpack_h(buffer, position)
            position += 2
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("described_group_member_client_id", stop - position)
            described_group_member_client_id = str(buffer[position:stop], "utf-8")
            position = stop
            (length,) = _unpack_h(buffer, position)
            position += 2
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("described_group_member_client_host", stop - position)
            described_group_member_client_host = str(buffer[position:stop], "utf-8")
            position = stop
            (length,) = _unpack_i(buffer, position)
            position += 4
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("described_group_member_member_metadata", stop - position)
            described_group_member_member_metadata = bytes(buffer[position:stop])
            position = stop
            (length,) = _unpack_i(buffer, position)
            position += 4
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("described_group_member_member_assignment", stop - position)
            described_group_member_member_assignment = bytes(buffer[position:stop])
            position = stop
            described_group_members.append(DescribedGroupMember(member_id=described_group_member_member_id, client_id=described_group_member_client_id, client_host=described_group_member_client_host, member_metadata=described_group_member_member_metadata, member_assignment=described_group_member_member_assignment))
        groups.append(DescribedGroup(error_code=described_group_error_code, group_id=described_group_group_id, group_state=described_group_group_state, protocol_type=described_group_protocol_type, protocol_data=described_group_protocol_data, members=described_group_members))
    return DescribeGroupsResponse(groups=groups)


def _decode_1(buffer: memoryview, position: int) -> DescribeGroupsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    groups: list[DescribedGroup]
    throttle_time_ms, count = _unpack_ii(buffer, position)
    position += 8
    room -= count
    if not 0 <= count * 14 <= end - position or room < 0:
        raise bad_length("groups", count)
    groups = []
    for _ in range(count):
        described_group_error_code, length = _unpack_hh(buffer, position)
        position += 4
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("described_group_group_id", stop - position)
        described_group_group_id = str(buffer[position:stop], "utf-8")
        position = stop
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("described_group_group_state", stop - position)
        described_group_group_state = str(buffer[position:stop], "utf-8")
        position = stop
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("described_group_protocol_type", stop - position)
        described_group_protocol_type = str(buffer[position:stop], "utf-8")
        position = stop
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("described_group_protocol_data", stop - position)
        described_group_protocol_data = str(buffer[position:stop], "utf-8")
        position = stop
        described_group_members: list[DescribedGroupMember]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 14 <= end - position or room < 0:
            raise bad_length("described_group_members", count)
        described_group_members = []
        for _ in range(count):
            (length,) = _unpack_h(buffer, position)
            position += 2
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("described_group_member_member_id", stop - position)
            described_group_member_member_id = str(buffer[position:stop], "utf-8")
            position = stop
            (length,) = _unpack_h(buffer, position)
            position += 2
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("described_group_member_client_id", stop - position)
            described_group_member_client_id = str(buffer[position:stop], "utf-8")
            position = stop
            (length,) = _unpack_h(buffer, position)
            position += 2
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("described_group_member_client_host", stop - position)
            described_group_member_client_host = str(buffer[position:stop], "utf-8")
            position = stop
            (length,) = _unpack_i(buffer, position)
            position += 4
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("described_group_member_member_metadata", stop - position)
            described_group_member_member_metadata = bytes(buffer[position:stop])
            position = stop
            (length,) = _unpack_i(buffer, position)
            position += 4
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("described_group_member_member_assignment", stop - position)
            described_group_member_member_assignment = bytes(buffer[position:stop])
            position = stop
            described_group_members.append(DescribedGroupMember(member_id=described_group_member_member_id, client_id=described_group_member_client_id, client_host=described_group_member_client_host, member_metadata=described_group_member_member_metadata, member_assignment=described_group_member_member_assignment))
        groups.append(DescribedGroup(error_code=described_group_error_code, group_id=described_group_group_id, group_state=described_group_group_state, protocol_type=described_group_protocol_type, protocol_data=described_group_protocol_data, members=described_group_members))
    return DescribeGroupsResponse(throttle_time_ms=throttle_time_ms, groups=groups)


def _decode_3(buffer: memoryview, position: int) -> DescribeGroupsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    groups: list[DescribedGroup]
    throttle_time_ms, count = _unpack_ii(buffer, position)
    position += 8
    room -= count
    if not 0 <= count * 18 <= end - position or room < 0:
        raise bad_length("groups", count)
    groups = []
    for _ in range(count):
        described_group_error_code, length = _unpack_hh(buffer, position)
        position += 4
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("described_group_group_id", stop - position)
        described_group_group_id = str(buffer[position:stop], "utf-8")
        position = stop
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("described_group_group_state", stop - position)
        described_group_group_state = str(buffer[position:stop], "utf-8")
        position = stop
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("described_group_protocol_type", stop - position)
        described_group_protocol_type = str(buffer[position:stop], "utf-8")
        position = stop
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("described_group_protocol_data", stop - position)
        described_group_protocol_data = str(buffer[position:stop], "utf-8")
        position = stop
        described_group_members: list[DescribedGroupMember]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 14 <= end - position or room < 0:
            raise bad_length("described_group_members", count)
        described_group_members = []
        for _ in range(count):
            (length,) = _unpack_h(buffer, position)
            position += 2
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("described_group_member_member_id", stop - position)
            described_group_member_member_id = str(buffer[position:stop], "utf-8")
            position = stop
            (length,) = _unpack_h(buffer, position)
            position += 2
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("described_group_member_client_id", stop - position)
            described_group_member_client_id = str(buffer[position:stop], "utf-8")
            position = stop
            (length,) = _unpack_h(buffer, position)
            position += 2
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("described_group_member_client_host", stop - position)
            described_group_member_client_host = str(buffer[position:stop], "utf-8")
            position = stop
            (length,) = _unpack_i(buffer, position)
            position += 4
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("described_group_member_member_metadata", stop - position)
            described_group_member_member_metadata = bytes(buffer[position:stop])
            position = stop
            (length,) = _unpack_i(buffer, position)
            position += 4
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("described_group_member_member_assignment", stop - position)
            described_group_member_member_assignment = bytes(buffer[position:stop])
            position = stop
            described_group_members.append(DescribedGroupMember(member_id=described_group_member_member_id, client_id=described_group_member_client_id, client_host=described_group_member_client_host, member_metadata=described_group_member_member_metadata, member_assignment=described_group_member_member_assignment))
        (described_group_authorized_operations,) = _unpack_i(buffer, position)
        position += 4
        groups.append(DescribedGroup(error_code=described_group_error_code, group_id=described_group_group_id, group_state=described_group_group_state, protocol_type=described_group_protocol_type, protocol_data=described_group_protocol_data, members=described_group_members, authorized_operations=described_group_authorized_operations))
    return DescribeGroupsResponse(throttle_time_ms=throttle_time_ms, groups=groups)


def _decode_4(buffer: memoryview, position: int) -> DescribeGroupsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    groups: list[DescribedGroup]
    throttle_time_ms, count = _unpack_ii(buffer, position)
    position += 8
    room -= count
    if not 0 <= count * 18 <= end - position or room < 0:
        raise bad_length("groups", count)
    groups = []
    for _ in range(count):
        described_group_error_code, length = _unpack_hh(buffer, position)
        position += 4
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("described_group_group_id", stop - position)
        described_group_group_id = str(buffer[position:stop], "utf-8")
        position = stop
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("described_group_group_state", stop - position)
        described_group_group_state = str(buffer[position:stop], "utf-8")
        position = stop
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("described_group_protocol_type", stop - position)
        described_group_protocol_type = str(buffer[position:stop], "utf-8")
        position = stop
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("described_group_protocol_data", stop - position)
        described_group_protocol_data = str(buffer[position:stop], "utf-8")
        position = stop
        described_group_members: list[DescribedGroupMember]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 16 <= end - position or room < 0:
            raise bad_length("described_group_members", count)
        described_group_members = []
        for _ in range(count):
            (length,) = _unpack_h(buffer, position)
            position += 2
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("described_group_member_member_id", stop - position)
            described_group_member_member_id = str(buffer[position:stop], "utf-8")
            position = stop
            described_group_member_group_instance_id: str | None
            (length,) = _unpack_h(buffer, position)
            position += 2
            if length >= 0:
                stop = position + length
                if stop > end:
                    raise bad_length("described_group_member_group_instance_id", stop - position)
                described_group_member_group_instance_id = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                described_group_member_group_instance_id = None
            (length,) = _unpack_h(buffer, position)
            position += 2
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("described_group_member_client_id", stop - position)
            described_group_member_client_id = str(buffer[position:stop], "utf-8")
            position = stop
            (length,) = _unpack_h(buffer, position)
            position += 2
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("described_group_member_client_host", stop - position)
            described_group_member_client_host = str(buffer[position:stop], "utf-8")
            position = stop
            (length,) = _unpack_i(buffer, position)
            position += 4
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("described_group_member_member_metadata", stop - position)
            described_group_member_member_metadata = bytes(buffer[position:stop])
            position = stop
            (length,) = _unpack_i(buffer, position)
            position += 4
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("described_group_member_member_assignment", stop - position)
            described_group_member_member_assignment = bytes(buffer[position:stop])
            position = stop
            described_group_members.append(DescribedGroupMember(member_id=described_group_member_member_id, group_instance_id=described_group_member_group_instance_id, client_id=described_group_member_client_id, client_host=described_group_member_client_host, member_metadata=described_group_member_member_metadata, member_assignment=described_group_member_member_assignment))
        (described_group_authorized_operations,) = _unpack_i(buffer, position)
        position += 4
        groups.append(DescribedGroup(error_code=described_group_error_code, group_id=described_group_group_id, group_state=described_group_group_state, protocol_type=described_group_protocol_type, protocol_data=described_group_protocol_data, members=described_group_members, authorized_operations=described_group_authorized_operations))
    return DescribeGroupsResponse(throttle_time_ms=throttle_time_ms, groups=groups)


def _decode_5(buffer: memoryview, position: int) -> DescribeGroupsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    groups: list[DescribedGroup]
    throttle_time_ms, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 12 <= end - position or room < 0:
        raise bad_length("groups", count)
    groups = []
    for _ in range(count):
        described_group_error_code, length = _unpack_hB(buffer, position)
        position += 3
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("described_group_group_id", stop - position)
        described_group_group_id = str(buffer[position:stop], "utf-8")
        position = stop
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("described_group_group_state", stop - position)
        described_group_group_state = str(buffer[position:stop], "utf-8")
        position = stop
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("described_group_protocol_type", stop - position)
        described_group_protocol_type = str(buffer[position:stop], "utf-8")
        position = stop
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("described_group_protocol_data", stop - position)
        described_group_protocol_data = str(buffer[position:stop], "utf-8")
        position = stop
        described_group_members: list[DescribedGroupMember]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 7 <= end - position or room < 0:
            raise bad_length("described_group_members", count)
        described_group_members = []
        for _ in range(count):
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("described_group_member_member_id", stop - position)
            described_group_member_member_id = str(buffer[position:stop], "utf-8")
            position = stop
            described_group_member_group_instance_id: str | None
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            if length:
                stop = position + length - 1
                if stop > end:
                    raise bad_length("described_group_member_group_instance_id", stop - position)
                described_group_member_group_instance_id = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                described_group_member_group_instance_id = None
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("described_group_member_client_id", stop - position)
            described_group_member_client_id = str(buffer[position:stop], "utf-8")
            position = stop
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("described_group_member_client_host", stop - position)
            described_group_member_client_host = str(buffer[position:stop], "utf-8")
            position = stop
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_uvarint(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("described_group_member_member_metadata", stop - position)
            described_group_member_member_metadata = bytes(buffer[position:stop])
            position = stop
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_uvarint(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("described_group_member_member_assignment", stop - position)
            described_group_member_member_assignment = bytes(buffer[position:stop])
            position = stop
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            described_group_members.append(DescribedGroupMember(member_id=described_group_member_member_id, group_instance_id=described_group_member_group_instance_id, client_id=described_group_member_client_id, client_host=described_group_member_client_host, member_metadata=described_group_member_member_metadata, member_assignment=described_group_member_member_assignment))
        described_group_authorized_operations, tags = _unpack_iB(buffer, position)
        position += 5
        if tags:
            position = skip_tags(buffer, position, tags)
        groups.append(DescribedGroup(error_code=described_group_error_code, group_id=described_group_group_id, group_state=described_group_group_state, protocol_type=described_group_protocol_type, protocol_data=described_group_protocol_data, members=described_group_members, authorized_operations=described_group_authorized_operations))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return DescribeGroupsResponse(throttle_time_ms=throttle_time_ms, groups=groups)


def _decode_6(buffer: memoryview, position: int) -> DescribeGroupsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    groups: list[DescribedGroup]
    throttle_time_ms, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 13 <= end - position or room < 0:
        raise bad_length("groups", count)
    groups = []
    for _ in range(count):
        described_group_error_message: str | None
        described_group_error_code, length = _unpack_hB(buffer, position)
        position += 3
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("described_group_error_message", stop - position)
            described_group_error_message = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            described_group_error_message = None
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("described_group_group_id", stop - position)
        described_group_group_id = str(buffer[position:stop], "utf-8")
        position = stop
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("described_group_group_state", stop - position)
        described_group_group_state = str(buffer[position:stop], "utf-8")
        position = stop
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("described_group_protocol_type", stop - position)
        described_group_protocol_type = str(buffer[position:stop], "utf-8")
        position = stop
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("described_group_protocol_data", stop - position)
        described_group_protocol_data = str(buffer[position:stop], "utf-8")
        position = stop
        described_group_members: list[DescribedGroupMember]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 7 <= end - position or room < 0:
            raise bad_length("described_group_members", count)
        described_group_members = []
        for _ in range(count):
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("described_group_member_member_id", stop - position)
            described_group_member_member_id = str(buffer[position:stop], "utf-8")
            position = stop
            described_group_member_group_instance_id: str | None
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            if length:
                stop = position + length - 1
                if stop > end:
                    raise bad_length("described_group_member_group_instance_id", stop - position)
                described_group_member_group_instance_id = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                described_group_member_group_instance_id = None
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("described_group_member_client_id", stop - position)
            described_group_member_client_id = str(buffer[position:stop], "utf-8")
            position = stop
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("described_group_member_client_host", stop - position)
            described_group_member_client_host = str(buffer[position:stop], "utf-8")
            position = stop
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_uvarint(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("described_group_member_member_metadata", stop - position)
            described_group_member_member_metadata = bytes(buffer[position:stop])
            position = stop
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_uvarint(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("described_group_member_member_assignment", stop - position)
            described_group_member_member_assignment = bytes(buffer[position:stop])
            position = stop
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            described_group_members.append(DescribedGroupMember(member_id=described_group_member_member_id, group_instance_id=described_group_member_group_instance_id, client_id=described_group_member_client_id, client_host=described_group_member_client_host, member_metadata=described_group_member_member_metadata, member_assignment=described_group_member_member_assignment))
        described_group_authorized_operations, tags = _unpack_iB(buffer, position)
        position += 5
        if tags:
            position = skip_tags(buffer, position, tags)
        groups.append(DescribedGroup(error_code=described_group_error_code, error_message=described_group_error_message, group_id=described_group_group_id, group_state=described_group_group_state, protocol_type=described_group_protocol_type, protocol_data=described_group_protocol_data, members=described_group_members, authorized_operations=described_group_authorized_operations))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return DescribeGroupsResponse(throttle_time_ms=throttle_time_ms, groups=groups)


def _encode_0(message: DescribeGroupsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(len(message.groups))
    for described_group in message.groups:
        raw = described_group.group_id.encode()
        out += _pack_hh(described_group.error_code, len(raw))
        out += raw
        raw = described_group.group_state.encode()
        out += _pack_h(len(raw))
        out += raw
        raw = described_group.protocol_type.encode()
        out += _pack_h(len(raw))
        out += raw
        raw = described_group.protocol_data.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(described_group.members))
        for described_group_member in described_group.members:
            raw = described_group_member.member_id.encode()
            out += _pack_h(len(raw))
            out += raw
            raw = described_group_member.client_id.encode()
            out += _pack_h(len(raw))
            out += raw
            raw = described_group_member.client_host.encode()
            out += _pack_h(len(raw))
            out += raw
            raw = described_group_member.member_metadata
            out += _pack_i(len(raw))
            out += raw
            raw = described_group_member.member_assignment
            out += _pack_i(len(raw))
            out += raw
    return [out]


def _encode_1(message: DescribeGroupsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ii(message.throttle_time_ms, len(message.groups))
    for described_group in message.groups:
        raw = described_group.group_id.encode()
        out += _pack_hh(described_group.error_code, len(raw))
        out += raw
        raw = described_group.group_state.encode()
        out += _pack_h(len(raw))
        out += raw
        raw = described_group.protocol_type.encode()
        out += _pack_h(len(raw))
        out += raw
        raw = described_group.protocol_data.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(described_group.members))
        for described_group_member in described_group.members:
            raw = described_group_member.member_id.encode()
            out += _pack_h(len(raw))
            out += raw
            raw = described_group_member.client_id.encode()
            out += _pack_h(len(raw))
            out += raw
            raw = described_group_member.client_host.encode()
            out += _pack_h(len(raw))
            out += raw
            raw = described_group_member.member_metadata
            out += _pack_i(len(raw))
            out += raw
            raw = described_group_member.member_assignment
            out += _pack_i(len(raw))
            out += raw
    return [out]


def _encode_3(message: DescribeGroupsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ii(message.throttle_time_ms, len(message.groups))
    for described_group in message.groups:
        raw = described_group.group_id.encode()
        out += _pack_hh(described_group.error_code, len(raw))
        out += raw
        raw = described_group.group_state.encode()
        out += _pack_h(len(raw))
        out += raw
        raw = described_group.protocol_type.encode()
        out += _pack_h(len(raw))
        out += raw
        raw = described_group.protocol_data.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(described_group.members))
        for described_group_member in described_group.members:
            raw = described_group_member.member_id.encode()
            out += _pack_h(len(raw))
            out += raw
            raw = described_group_member.client_id.encode()
            out += _pack_h(len(raw))
            out += raw
            raw = described_group_member.client_host.encode()
            out += _pack_h(len(raw))
            out += raw
            raw = described_group_member.member_metadata
            out += _pack_i(len(raw))
            out += raw
            raw = described_group_member.member_assignment
            out += _pack_i(len(raw))
            out += raw
        out += _pack_i(described_group.authorized_operations)
    return [out]


def _encode_4(message: DescribeGroupsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ii(message.throttle_time_ms, len(message.groups))
    for described_group in message.groups:
        raw = described_group.group_id.encode()
        out += _pack_hh(described_group.error_code, len(raw))
        out += raw
        raw = described_group.group_state.encode()
        out += _pack_h(len(raw))
        out += raw
        raw = described_group.protocol_type.encode()
        out += _pack_h(len(raw))
        out += raw
        raw = described_group.protocol_data.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(described_group.members))
        for described_group_member in described_group.members:
            raw = described_group_member.member_id.encode()
            out += _pack_h(len(raw))
            out += raw
            if described_group_member.group_instance_id is None:
                out += b"\xff\xff"
            else:
                raw = described_group_member.group_instance_id.encode()
                out += _pack_h(len(raw))
                out += raw
            raw = described_group_member.client_id.encode()
            out += _pack_h(len(raw))
            out += raw
            raw = described_group_member.client_host.encode()
            out += _pack_h(len(raw))
            out += raw
            raw = described_group_member.member_metadata
            out += _pack_i(len(raw))
            out += raw
            raw = described_group_member.member_assignment
            out += _pack_i(len(raw))
            out += raw
        out += _pack_i(described_group.authorized_operations)
    return [out]


def _encode_5(message: DescribeGroupsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.throttle_time_ms)
    size = len(message.groups) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for described_group in message.groups:
        raw = described_group.group_id.encode()
        out += _pack_h(described_group.error_code)
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        raw = described_group.group_state.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        raw = described_group.protocol_type.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        raw = described_group.protocol_data.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(described_group.members) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for described_group_member in described_group.members:
            raw = described_group_member.member_id.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            if described_group_member.group_instance_id is None:
                out.append(0)
            else:
                raw = described_group_member.group_instance_id.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
            raw = described_group_member.client_id.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            raw = described_group_member.client_host.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            raw = described_group_member.member_metadata
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            raw = described_group_member.member_assignment
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            out.append(0)
        out += _pack_iB(described_group.authorized_operations, 0)
    out.append(0)
    return [out]


def _encode_6(message: DescribeGroupsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.throttle_time_ms)
    size = len(message.groups) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for described_group in message.groups:
        out += _pack_h(described_group.error_code)
        if described_group.error_message is None:
            out.append(0)
        else:
            raw = described_group.error_message.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        raw = described_group.group_id.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        raw = described_group.group_state.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        raw = described_group.protocol_type.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        raw = described_group.protocol_data.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(described_group.members) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for described_group_member in described_group.members:
            raw = described_group_member.member_id.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            if described_group_member.group_instance_id is None:
                out.append(0)
            else:
                raw = described_group_member.group_instance_id.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
            raw = described_group_member.client_id.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            raw = described_group_member.client_host.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            raw = described_group_member.member_metadata
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            raw = described_group_member.member_assignment
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            out.append(0)
        out += _pack_iB(described_group.authorized_operations, 0)
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_1, 2: _decode_1, 3: _decode_3, 4: _decode_4, 5: _decode_5, 6: _decode_6}
_ENCODERS = {0: _encode_0, 1: _encode_1, 2: _encode_1, 3: _encode_3, 4: _encode_4, 5: _encode_5, 6: _encode_6}


def decode(version: int, buffer: Buffer, position: int = 0) -> DescribeGroupsResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"DescribeGroupsResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No DescribeGroupsResponse of version {version}: {error}") from error


def encode(version: int, message: DescribeGroupsResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
