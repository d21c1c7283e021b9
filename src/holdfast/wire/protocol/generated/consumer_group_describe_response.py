# Written by tools/generate_codecs.py from ConsumerGroupDescribeResponse.json in kafka-clients-4.1.1: do not edit.
import struct
from dataclasses import dataclass, field
from struct import Struct
from uuid import UUID

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    MOST_ELEMENTS,
    UNDECODABLE,
    ZERO_UUID,
    Buffer,
    bad_length,
    read_long_string_length,
    read_long_uvarint,
    skip_tags,
    uuid_of,
    uvarint,
)


@dataclass(slots=True)
class TopicPartitions:
    topic_id: UUID = ZERO_UUID
    topic_name: str = ''
    partitions: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Assignment:
    topic_partitions: list[TopicPartitions] = field(default_factory=list)


@dataclass(slots=True)
class Member:
    member_id: str = ''
    instance_id: str | None = None
    rack_id: str | None = None
    member_epoch: int = 0
    client_id: str = ''
    client_host: str = ''
    subscribed_topic_names: list[str] = field(default_factory=list)
    subscribed_topic_regex: str | None = None
    assignment: Assignment | None = None
    target_assignment: Assignment | None = None
    member_type: int = -1


@dataclass(slots=True)
class DescribedGroup:
    error_code: int = 0
    error_message: str | None = None
    group_id: str = ''
    group_state: str = ''
    group_epoch: int = 0
    assignment_epoch: int = 0
    assignor_name: str = ''
    members: list[Member] = field(default_factory=list)
    authorized_operations: int = -2147483648


@dataclass(slots=True)
class ConsumerGroupDescribeResponse:
    throttle_time_ms: int = 0
    groups: list[DescribedGroup] = field(default_factory=list)


_unpack_bB = Struct(">bB").unpack_from
_unpack_hB = Struct(">hB").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_iiB = Struct(">iiB").unpack_from
_unpack_uB = Struct(">16sB").unpack_from
_pack_bB = Struct(">bB").pack
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_iB = Struct(">iB").pack
_pack_ii = Struct(">ii").pack
_pack_u = Struct(">16s").pack


def _decode_0(buffer: memoryview, position: int) -> ConsumerGroupDescribeResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    groups: list[DescribedGroup]
    throttle_time_ms, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 20 <= end - position or room < 0:
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
        described_group_group_epoch, described_group_assignment_epoch, length = _unpack_iiB(buffer, position)
        position += 9
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("described_group_assignor_name", stop - position)
        described_group_assignor_name = str(buffer[position:stop], "utf-8")
        position = stop
        described_group_members: list[Member]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 16 <= end - position or room < 0:
            raise bad_length("described_group_members", count)
        described_group_members = []
        for _ in range(count):
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("member_member_id", stop - position)
            member_member_id = str(buffer[position:stop], "utf-8")
            position = stop
            member_instance_id: str | None
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            if length:
                stop = position + length - 1
                if stop > end:
                    raise bad_length("member_instance_id", stop - position)
                member_instance_id = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                member_instance_id = None
            member_rack_id: str | None
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            if length:
                stop = position + length - 1
                if stop > end:
                    raise bad_length("member_rack_id", stop - position)
                member_rack_id = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                member_rack_id = None
            member_member_epoch, length = _unpack_iB(buffer, position)
            position += 5
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("member_client_id", stop - position)
            member_client_id = str(buffer[position:stop], "utf-8")
            position = stop
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("member_client_host", stop - position)
            member_client_host = str(buffer[position:stop], "utf-8")
            position = stop
            member_subscribed_topic_names: list[str]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count <= end - position or room < 0:
                raise bad_length("member_subscribed_topic_names", count)
            member_subscribed_topic_names = []
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
                member_subscribed_topic_names.append(item)
            member_subscribed_topic_regex: str | None
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            if length:
                stop = position + length - 1
                if stop > end:
                    raise bad_length("member_subscribed_topic_regex", stop - position)
                member_subscribed_topic_regex = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                member_subscribed_topic_regex = None
            assignment_topic_partitions: list[TopicPartitions]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 19 <= end - position or room < 0:
                raise bad_length("assignment_topic_partitions", count)
            assignment_topic_partitions = []
            for _ in range(count):
                topic_partitions_topic_id, length = _unpack_uB(buffer, position)
                position += 17
                topic_partitions_topic_id = uuid_of(topic_partitions_topic_id)
                if length > 127:
                    length, position = read_long_string_length(buffer, position, length)
                stop = position + length - 1
                if not position <= stop <= end:
                    raise bad_length("topic_partitions_topic_name", stop - position)
                topic_partitions_topic_name = str(buffer[position:stop], "utf-8")
                position = stop
                topic_partitions_partitions: list[int]
                count = buffer[position]
                position += 1
                if count > 127:
                    count, position = read_long_uvarint(buffer, position, count)
                count -= 1
                room -= count
                if not 0 <= count * 4 <= end - position or room < 0:
                    raise bad_length("topic_partitions_partitions", count)
                topic_partitions_partitions = list(struct.unpack_from(f">{count}i", buffer, position))
                position += count * 4
                tags = buffer[position]
                position += 1
                if tags:
                    position = skip_tags(buffer, position, tags)
                assignment_topic_partitions.append(TopicPartitions(topic_id=topic_partitions_topic_id, topic_name=topic_partitions_topic_name, partitions=topic_partitions_partitions))
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            member_assignment = Assignment(topic_partitions=assignment_topic_partitions)
            assignment_topic_partitions: list[TopicPartitions]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 19 <= end - position or room < 0:
                raise bad_length("assignment_topic_partitions", count)
            assignment_topic_partitions = []
            for _ in range(count):
                topic_partitions_topic_id, length = _unpack_uB(buffer, position)
                position += 17
                topic_partitions_topic_id = uuid_of(topic_partitions_topic_id)
                if length > 127:
                    length, position = read_long_string_length(buffer, position, length)
                stop = position + length - 1
                if not position <= stop <= end:
                    raise bad_length("topic_partitions_topic_name", stop - position)
                topic_partitions_topic_name = str(buffer[position:stop], "utf-8")
                position = stop
                topic_partitions_partitions: list[int]
                count = buffer[position]
                position += 1
                if count > 127:
                    count, position = read_long_uvarint(buffer, position, count)
                count -= 1
                room -= count
                if not 0 <= count * 4 <= end - position or room < 0:
                    raise bad_length("topic_partitions_partitions", count)
                topic_partitions_partitions = list(struct.unpack_from(f">{count}i", buffer, position))
                position += count * 4
                tags = buffer[position]
                position += 1
                if tags:
                    position = skip_tags(buffer, position, tags)
                assignment_topic_partitions.append(TopicPartitions(topic_id=topic_partitions_topic_id, topic_name=topic_partitions_topic_name, partitions=topic_partitions_partitions))
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            member_target_assignment = Assignment(topic_partitions=assignment_topic_partitions)
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            described_group_members.append(Member(member_id=member_member_id, instance_id=member_instance_id, rack_id=member_rack_id, member_epoch=member_member_epoch, client_id=member_client_id, client_host=member_client_host, subscribed_topic_names=member_subscribed_topic_names, subscribed_topic_regex=member_subscribed_topic_regex, assignment=member_assignment, target_assignment=member_target_assignment))
        described_group_authorized_operations, tags = _unpack_iB(buffer, position)
        position += 5
        if tags:
            position = skip_tags(buffer, position, tags)
        groups.append(DescribedGroup(error_code=described_group_error_code, error_message=described_group_error_message, group_id=described_group_group_id, group_state=described_group_group_state, group_epoch=described_group_group_epoch, assignment_epoch=described_group_assignment_epoch, assignor_name=described_group_assignor_name, members=described_group_members, authorized_operations=described_group_authorized_operations))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return ConsumerGroupDescribeResponse(throttle_time_ms=throttle_time_ms, groups=groups)


def _decode_1(buffer: memoryview, position: int) -> ConsumerGroupDescribeResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    groups: list[DescribedGroup]
    throttle_time_ms, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 20 <= end - position or room < 0:
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
        described_group_group_epoch, described_group_assignment_epoch, length = _unpack_iiB(buffer, position)
        position += 9
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("described_group_assignor_name", stop - position)
        described_group_assignor_name = str(buffer[position:stop], "utf-8")
        position = stop
        described_group_members: list[Member]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 17 <= end - position or room < 0:
            raise bad_length("described_group_members", count)
        described_group_members = []
        for _ in range(count):
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("member_member_id", stop - position)
            member_member_id = str(buffer[position:stop], "utf-8")
            position = stop
            member_instance_id: str | None
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            if length:
                stop = position + length - 1
                if stop > end:
                    raise bad_length("member_instance_id", stop - position)
                member_instance_id = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                member_instance_id = None
            member_rack_id: str | None
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            if length:
                stop = position + length - 1
                if stop > end:
                    raise bad_length("member_rack_id", stop - position)
                member_rack_id = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                member_rack_id = None
            member_member_epoch, length = _unpack_iB(buffer, position)
            position += 5
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("member_client_id", stop - position)
            member_client_id = str(buffer[position:stop], "utf-8")
            position = stop
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("member_client_host", stop - position)
            member_client_host = str(buffer[position:stop], "utf-8")
            position = stop
            member_subscribed_topic_names: list[str]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count <= end - position or room < 0:
                raise bad_length("member_subscribed_topic_names", count)
            member_subscribed_topic_names = []
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
                member_subscribed_topic_names.append(item)
            member_subscribed_topic_regex: str | None
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            if length:
                stop = position + length - 1
                if stop > end:
                    raise bad_length("member_subscribed_topic_regex", stop - position)
                member_subscribed_topic_regex = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                member_subscribed_topic_regex = None
            assignment_topic_partitions: list[TopicPartitions]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 19 <= end - position or room < 0:
                raise bad_length("assignment_topic_partitions", count)
            assignment_topic_partitions = []
            for _ in range(count):
                topic_partitions_topic_id, length = _unpack_uB(buffer, position)
                position += 17
                topic_partitions_topic_id = uuid_of(topic_partitions_topic_id)
                if length > 127:
                    length, position = read_long_string_length(buffer, position, length)
                stop = position + length - 1
                if not position <= stop <= end:
                    raise bad_length("topic_partitions_topic_name", stop - position)
                topic_partitions_topic_name = str(buffer[position:stop], "utf-8")
                position = stop
                topic_partitions_partitions: list[int]
                count = buffer[position]
                position += 1
                if count > 127:
                    count, position = read_long_uvarint(buffer, position, count)
                count -= 1
                room -= count
                if not 0 <= count * 4 <= end - position or room < 0:
                    raise bad_length("topic_partitions_partitions", count)
                topic_partitions_partitions = list(struct.unpack_from(f">{count}i", buffer, position))
                position += count * 4
                tags = buffer[position]
                position += 1
                if tags:
                    position = skip_tags(buffer, position, tags)
                assignment_topic_partitions.append(TopicPartitions(topic_id=topic_partitions_topic_id, topic_name=topic_partitions_topic_name, partitions=topic_partitions_partitions))
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            member_assignment = Assignment(topic_partitions=assignment_topic_partitions)
            assignment_topic_partitions: list[TopicPartitions]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 19 <= end - position or room < 0:
                raise bad_length("assignment_topic_partitions", count)
            assignment_topic_partitions = []
            for _ in range(count):
                topic_partitions_topic_id, length = _unpack_uB(buffer, position)
                position += 17
                topic_partitions_topic_id = uuid_of(topic_partitions_topic_id)
                if length > 127:
                    length, position = read_long_string_length(buffer, position, length)
                stop = position + length - 1
                if not position <= stop <= end:
                    raise bad_length("topic_partitions_topic_name", stop - position)
                topic_partitions_topic_name = str(buffer[position:stop], "utf-8")
                position = stop
                topic_partitions_partitions: list[int]
                count = buffer[position]
                position += 1
                if count > 127:
                    count, position = read_long_uvarint(buffer, position, count)
                count -= 1
                room -= count
                if not 0 <= count * 4 <= end - position or room < 0:
                    raise bad_length("topic_partitions_partitions", count)
                topic_partitions_partitions = list(struct.unpack_from(f">{count}i", buffer, position))
                position += count * 4
                tags = buffer[position]
                position += 1
                if tags:
                    position = skip_tags(buffer, position, tags)
                assignment_topic_partitions.append(TopicPartitions(topic_id=topic_partitions_topic_id, topic_name=topic_partitions_topic_name, partitions=topic_partitions_partitions))
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            member_target_assignment = Assignment(topic_partitions=assignment_topic_partitions)
            member_member_type, tags = _unpack_bB(buffer, position)
            position += 2
            if tags:
                position = skip_tags(buffer, position, tags)
            described_group_members.append(Member(member_id=member_member_id, instance_id=member_instance_id, rack_id=member_rack_id, member_epoch=member_member_epoch, client_id=member_client_id, client_host=member_client_host, subscribed_topic_names=member_subscribed_topic_names, subscribed_topic_regex=member_subscribed_topic_regex, assignment=member_assignment, target_assignment=member_target_assignment, member_type=member_member_type))
        described_group_authorized_operations, tags = _unpack_iB(buffer, position)
        position += 5
        if tags:
            position = skip_tags(buffer, position, tags)
        groups.append(DescribedGroup(error_code=described_group_error_code, error_message=described_group_error_message, group_id=described_group_group_id, group_state=described_group_group_state, group_epoch=described_group_group_epoch, assignment_epoch=described_group_assignment_epoch, assignor_name=described_group_assignor_name, members=described_group_members, authorized_operations=described_group_authorized_operations))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return ConsumerGroupDescribeResponse(throttle_time_ms=throttle_time_ms, groups=groups)


def _encode_0(message: ConsumerGroupDescribeResponse) -> list[Buffer]:
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
        raw = described_group.assignor_name.encode()
        out += _pack_ii(described_group.group_epoch, described_group.assignment_epoch)
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
        for member in described_group.members:
            raw = member.member_id.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            if member.instance_id is None:
                out.append(0)
            else:
                raw = member.instance_id.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
            if member.rack_id is None:
                out.append(0)
            else:
                raw = member.rack_id.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
            raw = member.client_id.encode()
            out += _pack_i(member.member_epoch)
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            raw = member.client_host.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            size = len(member.subscribed_topic_names) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            for item in member.subscribed_topic_names:
                raw = item.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
            if member.subscribed_topic_regex is None:
                out.append(0)
            else:
                raw = member.subscribed_topic_regex.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
            assignment = member.assignment
            size = len(assignment.topic_partitions) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            for topic_partitions in assignment.topic_partitions:
                raw = topic_partitions.topic_name.encode()
                out += _pack_u(topic_partitions.topic_id.bytes)
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
                size = len(topic_partitions.partitions) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += struct.pack(f">{len(topic_partitions.partitions)}i", *topic_partitions.partitions)
                out.append(0)
            out.append(0)
            assignment = member.target_assignment
            size = len(assignment.topic_partitions) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            for topic_partitions in assignment.topic_partitions:
                raw = topic_partitions.topic_name.encode()
                out += _pack_u(topic_partitions.topic_id.bytes)
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
                size = len(topic_partitions.partitions) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += struct.pack(f">{len(topic_partitions.partitions)}i", *topic_partitions.partitions)
                out.append(0)
            out.append(0)
            out.append(0)
        out += _pack_iB(described_group.authorized_operations, 0)
    out.append(0)
    return [out]


def _encode_1(message: ConsumerGroupDescribeResponse) -> list[Buffer]:
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
        raw = described_group.assignor_name.encode()
        out += _pack_ii(described_group.group_epoch, described_group.assignment_epoch)
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
        for member in described_group.members:
            raw = member.member_id.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            if member.instance_id is None:
                out.append(0)
            else:
                raw = member.instance_id.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
            if member.rack_id is None:
                out.append(0)
            else:
                raw = member.rack_id.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
            raw = member.client_id.encode()
            out += _pack_i(member.member_epoch)
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            raw = member.client_host.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            size = len(member.subscribed_topic_names) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            for item in member.subscribed_topic_names:
                raw = item.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
            if member.subscribed_topic_regex is None:
                out.append(0)
            else:
                raw = member.subscribed_topic_regex.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
            assignment = member.assignment
            size = len(assignment.topic_partitions) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            for topic_partitions in assignment.topic_partitions:
                raw = topic_partitions.topic_name.encode()
                out += _pack_u(topic_partitions.topic_id.bytes)
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
                size = len(topic_partitions.partitions) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += struct.pack(f">{len(topic_partitions.partitions)}i", *topic_partitions.partitions)
                out.append(0)
            out.append(0)
            assignment = member.target_assignment
            size = len(assignment.topic_partitions) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            for topic_partitions in assignment.topic_partitions:
                raw = topic_partitions.topic_name.encode()
                out += _pack_u(topic_partitions.topic_id.bytes)
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
                size = len(topic_partitions.partitions) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += struct.pack(f">{len(topic_partitions.partitions)}i", *topic_partitions.partitions)
                out.append(0)
            out.append(0)
            out += _pack_bB(member.member_type, 0)
        out += _pack_iB(described_group.authorized_operations, 0)
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_1}
_ENCODERS = {0: _encode_0, 1: _encode_1}


def decode(version: int, buffer: Buffer, position: int = 0) -> ConsumerGroupDescribeResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"ConsumerGroupDescribeResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No ConsumerGroupDescribeResponse of version {version}: {error}") from error


def encode(version: int, message: ConsumerGroupDescribeResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
