# Written by tools/generate_codecs.py from OffsetCommitRequest.json in kafka-clients-4.1.1: do not edit.
from dataclasses import dataclass, field
from struct import Struct
from uuid import UUID

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    MOST_REQUESTED,
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
class OffsetCommitRequestPartition:
    partition_index: int = 0
    committed_offset: int = 0
    committed_leader_epoch: int = -1
    committed_metadata: str | None = ''


@dataclass(slots=True)
class OffsetCommitRequestTopic:
    name: str = ''
    topic_id: UUID = ZERO_UUID
    partitions: list[OffsetCommitRequestPartition] = field(default_factory=list)


@dataclass(slots=True)
class OffsetCommitRequest:
    group_id: str = ''
    generation_id_or_member_epoch: int = -1
    member_id: str = ''
    group_instance_id: str | None = None
    retention_time_ms: int = -1
    topics: list[OffsetCommitRequestTopic] = field(default_factory=list)


_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_unpack_iqh = Struct(">iqh").unpack_from
_unpack_iqiB = Struct(">iqiB").unpack_from
_unpack_iqih = Struct(">iqih").unpack_from
_unpack_qi = Struct(">qi").unpack_from
_unpack_uB = Struct(">16sB").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack
_pack_iq = Struct(">iq").pack
_pack_iqi = Struct(">iqi").pack
_pack_qi = Struct(">qi").pack
_pack_u = Struct(">16s").pack


def _decode_2(buffer: memoryview, position: int) -> OffsetCommitRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("group_id", stop - position)
    group_id = str(buffer[position:stop], "utf-8")
    position = stop
    generation_id_or_member_epoch, length = _unpack_ih(buffer, position)
    position += 6
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("member_id", stop - position)
    member_id = str(buffer[position:stop], "utf-8")
    position = stop
    topics: list[OffsetCommitRequestTopic]
    retention_time_ms, count = _unpack_qi(buffer, position)
    position += 12
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("offset_commit_request_topic_name", stop - position)
        offset_commit_request_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        offset_commit_request_topic_partitions: list[OffsetCommitRequestPartition]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 14 <= end - position or room < 0:
            raise bad_length("offset_commit_request_topic_partitions", count)
        offset_commit_request_topic_partitions = []
        for _ in range(count):
            offset_commit_request_partition_committed_metadata: str | None
            offset_commit_request_partition_partition_index, offset_commit_request_partition_committed_offset, length = _unpack_iqh(buffer, position)
            position += 14
            if length >= 0:
                stop = position + length
                if stop > end:
                    raise bad_length("offset_commit_request_partition_committed_metadata", stop - position)
                offset_commit_request_partition_committed_metadata = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                offset_commit_request_partition_committed_metadata = None
            offset_commit_request_topic_partitions.append(OffsetCommitRequestPartition(partition_index=offset_commit_request_partition_partition_index, committed_offset=offset_commit_request_partition_committed_offset, committed_metadata=offset_commit_request_partition_committed_metadata))
        topics.append(OffsetCommitRequestTopic(name=offset_commit_request_topic_name, partitions=offset_commit_request_topic_partitions))
    return OffsetCommitRequest(group_id=group_id, generation_id_or_member_epoch=generation_id_or_member_epoch, member_id=member_id, retention_time_ms=retention_time_ms, topics=topics)


def _decode_5(buffer: memoryview, position: int) -> OffsetCommitRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("group_id", stop - position)
    group_id = str(buffer[position:stop], "utf-8")
    position = stop
    generation_id_or_member_epoch, length = _unpack_ih(buffer, position)
    position += 6
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("member_id", stop - position)
    member_id = str(buffer[position:stop], "utf-8")
    position = stop
    topics: list[OffsetCommitRequestTopic]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("offset_commit_request_topic_name", stop - position)
        offset_commit_request_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        offset_commit_request_topic_partitions: list[OffsetCommitRequestPartition]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 14 <= end - position or room < 0:
            raise bad_length("offset_commit_request_topic_partitions", count)
        offset_commit_request_topic_partitions = []
        for _ in range(count):
            offset_commit_request_partition_committed_metadata: str | None
            offset_commit_request_partition_partition_index, offset_commit_request_partition_committed_offset, length = _unpack_iqh(buffer, position)
            position += 14
            if length >= 0:
                stop = position + length
                if stop > end:
                    raise bad_length("offset_commit_request_partition_committed_metadata", stop - position)
                offset_commit_request_partition_committed_metadata = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                offset_commit_request_partition_committed_metadata = None
            offset_commit_request_topic_partitions.append(OffsetCommitRequestPartition(partition_index=offset_commit_request_partition_partition_index, committed_offset=offset_commit_request_partition_committed_offset, committed_metadata=offset_commit_request_partition_committed_metadata))
        topics.append(OffsetCommitRequestTopic(name=offset_commit_request_topic_name, partitions=offset_commit_request_topic_partitions))
    return OffsetCommitRequest(group_id=group_id, generation_id_or_member_epoch=generation_id_or_member_epoch, member_id=member_id, topics=topics)


def _decode_6(buffer: memoryview, position: int) -> OffsetCommitRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("group_id", stop - position)
    group_id = str(buffer[position:stop], "utf-8")
    position = stop
    generation_id_or_member_epoch, length = _unpack_ih(buffer, position)
    position += 6
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("member_id", stop - position)
    member_id = str(buffer[position:stop], "utf-8")
    position = stop
    topics: list[OffsetCommitRequestTopic]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("offset_commit_request_topic_name", stop - position)
        offset_commit_request_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        offset_commit_request_topic_partitions: list[OffsetCommitRequestPartition]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 18 <= end - position or room < 0:
            raise bad_length("offset_commit_request_topic_partitions", count)
        offset_commit_request_topic_partitions = []
        for _ in range(count):
            offset_commit_request_partition_committed_metadata: str | None
            offset_commit_request_partition_partition_index, offset_commit_request_partition_committed_offset, offset_commit_request_partition_committed_leader_epoch, length = _unpack_iqih(buffer, position)
            position += 18
            if length >= 0:
                stop = position + length
                if stop > end:
                    raise bad_length("offset_commit_request_partition_committed_metadata", stop - position)
                offset_commit_request_partition_committed_metadata = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                offset_commit_request_partition_committed_metadata = None
            offset_commit_request_topic_partitions.append(OffsetCommitRequestPartition(partition_index=offset_commit_request_partition_partition_index, committed_offset=offset_commit_request_partition_committed_offset, committed_leader_epoch=offset_commit_request_partition_committed_leader_epoch, committed_metadata=offset_commit_request_partition_committed_metadata))
        topics.append(OffsetCommitRequestTopic(name=offset_commit_request_topic_name, partitions=offset_commit_request_topic_partitions))
    return OffsetCommitRequest(group_id=group_id, generation_id_or_member_epoch=generation_id_or_member_epoch, member_id=member_id, topics=topics)


def _decode_7(buffer: memoryview, position: int) -> OffsetCommitRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("group_id", stop - position)
    group_id = str(buffer[position:stop], "utf-8")
    position = stop
    generation_id_or_member_epoch, length = _unpack_ih(buffer, position)
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
    topics: list[OffsetCommitRequestTopic]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("offset_commit_request_topic_name", stop - position)
        offset_commit_request_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        offset_commit_request_topic_partitions: list[OffsetCommitRequestPartition]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 18 <= end - position or room < 0:
            raise bad_length("offset_commit_request_topic_partitions", count)
        offset_commit_request_topic_partitions = []
        for _ in range(count):
            offset_commit_request_partition_committed_metadata: str | None
            offset_commit_request_partition_partition_index, offset_commit_request_partition_committed_offset, offset_commit_request_partition_committed_leader_epoch, length = _unpack_iqih(buffer, position)
            position += 18
            if length >= 0:
                stop = position + length
                if stop > end:
                    raise bad_length("offset_commit_request_partition_committed_metadata", stop - position)
                offset_commit_request_partition_committed_metadata = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                offset_commit_request_partition_committed_metadata = None
            offset_commit_request_topic_partitions.append(OffsetCommitRequestPartition(partition_index=offset_commit_request_partition_partition_index, committed_offset=offset_commit_request_partition_committed_offset, committed_leader_epoch=offset_commit_request_partition_committed_leader_epoch, committed_metadata=offset_commit_request_partition_committed_metadata))
        topics.append(OffsetCommitRequestTopic(name=offset_commit_request_topic_name, partitions=offset_commit_request_topic_partitions))
    return OffsetCommitRequest(group_id=group_id, generation_id_or_member_epoch=generation_id_or_member_epoch, member_id=member_id, group_instance_id=group_instance_id, topics=topics)


def _decode_8(buffer: memoryview, position: int) -> OffsetCommitRequest:
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
    generation_id_or_member_epoch, length = _unpack_iB(buffer, position)
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
    topics: list[OffsetCommitRequestTopic]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 3 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("offset_commit_request_topic_name", stop - position)
        offset_commit_request_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        offset_commit_request_topic_partitions: list[OffsetCommitRequestPartition]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 18 <= end - position or room < 0:
            raise bad_length("offset_commit_request_topic_partitions", count)
        offset_commit_request_topic_partitions = []
        for _ in range(count):
            offset_commit_request_partition_committed_metadata: str | None
            offset_commit_request_partition_partition_index, offset_commit_request_partition_committed_offset, offset_commit_request_partition_committed_leader_epoch, length = _unpack_iqiB(buffer, position)
            position += 17
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            if length:
                stop = position + length - 1
                if stop > end:
                    raise bad_length("offset_commit_request_partition_committed_metadata", stop - position)
                offset_commit_request_partition_committed_metadata = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                offset_commit_request_partition_committed_metadata = None
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            offset_commit_request_topic_partitions.append(OffsetCommitRequestPartition(partition_index=offset_commit_request_partition_partition_index, committed_offset=offset_commit_request_partition_committed_offset, committed_leader_epoch=offset_commit_request_partition_committed_leader_epoch, committed_metadata=offset_commit_request_partition_committed_metadata))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(OffsetCommitRequestTopic(name=offset_commit_request_topic_name, partitions=offset_commit_request_topic_partitions))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return OffsetCommitRequest(group_id=group_id, generation_id_or_member_epoch=generation_id_or_member_epoch, member_id=member_id, group_instance_id=group_instance_id, topics=topics)


def _decode_10(buffer: memoryview, position: int) -> OffsetCommitRequest:
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
    generation_id_or_member_epoch, length = _unpack_iB(buffer, position)
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
    topics: list[OffsetCommitRequestTopic]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 18 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        offset_commit_request_topic_partitions: list[OffsetCommitRequestPartition]
        offset_commit_request_topic_topic_id, count = _unpack_uB(buffer, position)
        position += 17
        offset_commit_request_topic_topic_id = uuid_of(offset_commit_request_topic_topic_id)
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 18 <= end - position or room < 0:
            raise bad_length("offset_commit_request_topic_partitions", count)
        offset_commit_request_topic_partitions = []
        for _ in range(count):
            offset_commit_request_partition_committed_metadata: str | None
            offset_commit_request_partition_partition_index, offset_commit_request_partition_committed_offset, offset_commit_request_partition_committed_leader_epoch, length = _unpack_iqiB(buffer, position)
            position += 17
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            if length:
                stop = position + length - 1
                if stop > end:
                    raise bad_length("offset_commit_request_partition_committed_metadata", stop - position)
                offset_commit_request_partition_committed_metadata = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                offset_commit_request_partition_committed_metadata = None
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            offset_commit_request_topic_partitions.append(OffsetCommitRequestPartition(partition_index=offset_commit_request_partition_partition_index, committed_offset=offset_commit_request_partition_committed_offset, committed_leader_epoch=offset_commit_request_partition_committed_leader_epoch, committed_metadata=offset_commit_request_partition_committed_metadata))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(OffsetCommitRequestTopic(topic_id=offset_commit_request_topic_topic_id, partitions=offset_commit_request_topic_partitions))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return OffsetCommitRequest(group_id=group_id, generation_id_or_member_epoch=generation_id_or_member_epoch, member_id=member_id, group_instance_id=group_instance_id, topics=topics)


def _encode_2(message: OffsetCommitRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.group_id.encode()
    out += _pack_h(len(raw))
    out += raw
    raw = message.member_id.encode()
    out += _pack_ih(message.generation_id_or_member_epoch, len(raw))
    out += raw
    out += _pack_qi(message.retention_time_ms, len(message.topics))
    for offset_commit_request_topic in message.topics:
        raw = offset_commit_request_topic.name.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(offset_commit_request_topic.partitions))
        for offset_commit_request_partition in offset_commit_request_topic.partitions:
            out += _pack_iq(offset_commit_request_partition.partition_index, offset_commit_request_partition.committed_offset)
            if offset_commit_request_partition.committed_metadata is None:
                out += b"\xff\xff"
            else:
                raw = offset_commit_request_partition.committed_metadata.encode()
                out += _pack_h(len(raw))
                out += raw
    return [out]


def _encode_5(message: OffsetCommitRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.group_id.encode()
    out += _pack_h(len(raw))
    out += raw
    raw = message.member_id.encode()
    out += _pack_ih(message.generation_id_or_member_epoch, len(raw))
    out += raw
    out += _pack_i(len(message.topics))
    for offset_commit_request_topic in message.topics:
        raw = offset_commit_request_topic.name.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(offset_commit_request_topic.partitions))
        for offset_commit_request_partition in offset_commit_request_topic.partitions:
            out += _pack_iq(offset_commit_request_partition.partition_index, offset_commit_request_partition.committed_offset)
            if offset_commit_request_partition.committed_metadata is None:
                out += b"\xff\xff"
            else:
                raw = offset_commit_request_partition.committed_metadata.encode()
                out += _pack_h(len(raw))
                out += raw
    return [out]


def _encode_6(message: OffsetCommitRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.group_id.encode()
    out += _pack_h(len(raw))
    out += raw
    raw = message.member_id.encode()
    out += _pack_ih(message.generation_id_or_member_epoch, len(raw))
    out += raw
    out += _pack_i(len(message.topics))
    for offset_commit_request_topic in message.topics:
        raw = offset_commit_request_topic.name.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(offset_commit_request_topic.partitions))
        for offset_commit_request_partition in offset_commit_request_topic.partitions:
            out += _pack_iqi(offset_commit_request_partition.partition_index, offset_commit_request_partition.committed_offset, offset_commit_request_partition.committed_leader_epoch)
            if offset_commit_request_partition.committed_metadata is None:
                out += b"\xff\xff"
            else:
                raw = offset_commit_request_partition.committed_metadata.encode()
                out += _pack_h(len(raw))
                out += raw
    return [out]


def _encode_7(message: OffsetCommitRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.group_id.encode()
    out += _pack_h(len(raw))
    out += raw
    raw = message.member_id.encode()
    out += _pack_ih(message.generation_id_or_member_epoch, len(raw))
    out += raw
    if message.group_instance_id is None:
        out += b"\xff\xff"
    else:
        raw = message.group_instance_id.encode()
        out += _pack_h(len(raw))
        out += raw
    out += _pack_i(len(message.topics))
    for offset_commit_request_topic in message.topics:
        raw = offset_commit_request_topic.name.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(offset_commit_request_topic.partitions))
        for offset_commit_request_partition in offset_commit_request_topic.partitions:
            out += _pack_iqi(offset_commit_request_partition.partition_index, offset_commit_request_partition.committed_offset, offset_commit_request_partition.committed_leader_epoch)
            if offset_commit_request_partition.committed_metadata is None:
                out += b"\xff\xff"
            else:
                raw = offset_commit_request_partition.committed_metadata.encode()
                out += _pack_h(len(raw))
                out += raw
    return [out]


def _encode_8(message: OffsetCommitRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.group_id.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    raw = message.member_id.encode()
    out += _pack_i(message.generation_id_or_member_epoch)
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
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for offset_commit_request_topic in message.topics:
        raw = offset_commit_request_topic.name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(offset_commit_request_topic.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for offset_commit_request_partition in offset_commit_request_topic.partitions:
            out += _pack_iqi(offset_commit_request_partition.partition_index, offset_commit_request_partition.committed_offset, offset_commit_request_partition.committed_leader_epoch)
            if offset_commit_request_partition.committed_metadata is None:
                out.append(0)
            else:
                raw = offset_commit_request_partition.committed_metadata.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
            out.append(0)
        out.append(0)
    out.append(0)
    return [out]


def _encode_10(message: OffsetCommitRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.group_id.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    raw = message.member_id.encode()
    out += _pack_i(message.generation_id_or_member_epoch)
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
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for offset_commit_request_topic in message.topics:
        out += _pack_u(offset_commit_request_topic.topic_id.bytes)
        size = len(offset_commit_request_topic.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for offset_commit_request_partition in offset_commit_request_topic.partitions:
            out += _pack_iqi(offset_commit_request_partition.partition_index, offset_commit_request_partition.committed_offset, offset_commit_request_partition.committed_leader_epoch)
            if offset_commit_request_partition.committed_metadata is None:
                out.append(0)
            else:
                raw = offset_commit_request_partition.committed_metadata.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
            out.append(0)
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {2: _decode_2, 3: _decode_2, 4: _decode_2, 5: _decode_5, 6: _decode_6, 7: _decode_7, 8: _decode_8, 9: _decode_8, 10: _decode_10}
_ENCODERS = {2: _encode_2, 3: _encode_2, 4: _encode_2, 5: _encode_5, 6: _encode_6, 7: _encode_7, 8: _encode_8, 9: _encode_8, 10: _encode_10}


def decode(version: int, buffer: Buffer, position: int = 0) -> OffsetCommitRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"OffsetCommitRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No OffsetCommitRequest of version {version}: {error}") from error


def encode(version: int, message: OffsetCommitRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
