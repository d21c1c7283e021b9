# Written by tools/generate_codecs.py from OffsetFetchResponse.json in kafka-clients-4.1.1: do not edit.
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
class OffsetFetchResponsePartition:
    partition_index: int = 0
    committed_offset: int = 0
    committed_leader_epoch: int = -1
    metadata: str | None = ''
    error_code: int = 0


@dataclass(slots=True)
class OffsetFetchResponseTopic:
    name: str = ''
    partitions: list[OffsetFetchResponsePartition] = field(default_factory=list)


@dataclass(slots=True)
class OffsetFetchResponsePartitions:
    partition_index: int = 0
    committed_offset: int = 0
    committed_leader_epoch: int = -1
    metadata: str | None = ''
    error_code: int = 0


@dataclass(slots=True)
class OffsetFetchResponseTopics:
    name: str = ''
    topic_id: UUID = ZERO_UUID
    partitions: list[OffsetFetchResponsePartitions] = field(default_factory=list)


@dataclass(slots=True)
class OffsetFetchResponseGroup:
    group_id: str = ''
    topics: list[OffsetFetchResponseTopics] = field(default_factory=list)
    error_code: int = 0


@dataclass(slots=True)
class OffsetFetchResponse:
    throttle_time_ms: int = 0
    topics: list[OffsetFetchResponseTopic] = field(default_factory=list)
    error_code: int = 0
    groups: list[OffsetFetchResponseGroup] = field(default_factory=list)


_unpack_h = Struct(">h").unpack_from
_unpack_hB = Struct(">hB").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_unpack_iqh = Struct(">iqh").unpack_from
_unpack_iqiB = Struct(">iqiB").unpack_from
_unpack_iqih = Struct(">iqih").unpack_from
_unpack_uB = Struct(">16sB").unpack_from
_pack_h = Struct(">h").pack
_pack_hB = Struct(">hB").pack
_pack_i = Struct(">i").pack
_pack_ii = Struct(">ii").pack
_pack_iq = Struct(">iq").pack
_pack_iqi = Struct(">iqi").pack
_pack_u = Struct(">16s").pack


def _decode_1(buffer: memoryview, position: int) -> OffsetFetchResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    topics: list[OffsetFetchResponseTopic]
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
            raise bad_length("offset_fetch_response_topic_name", stop - position)
        offset_fetch_response_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        offset_fetch_response_topic_partitions: list[OffsetFetchResponsePartition]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 16 <= end - position or room < 0:
            raise bad_length("offset_fetch_response_topic_partitions", count)
        offset_fetch_response_topic_partitions = []
        for _ in range(count):
            offset_fetch_response_partition_metadata: str | None
            offset_fetch_response_partition_partition_index, offset_fetch_response_partition_committed_offset, length = _unpack_iqh(buffer, position)
            position += 14
            if length >= 0:
                stop = position + length
                if stop > end:
                    raise bad_length("offset_fetch_response_partition_metadata", stop - position)
                offset_fetch_response_partition_metadata = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                offset_fetch_response_partition_metadata = None
            (offset_fetch_response_partition_error_code,) = _unpack_h(buffer, position)
            position += 2
            offset_fetch_response_topic_partitions.append(OffsetFetchResponsePartition(partition_index=offset_fetch_response_partition_partition_index, committed_offset=offset_fetch_response_partition_committed_offset, metadata=offset_fetch_response_partition_metadata, error_code=offset_fetch_response_partition_error_code))
        topics.append(OffsetFetchResponseTopic(name=offset_fetch_response_topic_name, partitions=offset_fetch_response_topic_partitions))
    return OffsetFetchResponse(topics=topics)


def _decode_2(buffer: memoryview, position: int) -> OffsetFetchResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    topics: list[OffsetFetchResponseTopic]
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
            raise bad_length("offset_fetch_response_topic_name", stop - position)
        offset_fetch_response_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        offset_fetch_response_topic_partitions: list[OffsetFetchResponsePartition]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 16 <= end - position or room < 0:
            raise bad_length("offset_fetch_response_topic_partitions", count)
        offset_fetch_response_topic_partitions = []
        for _ in range(count):
            offset_fetch_response_partition_metadata: str | None
            offset_fetch_response_partition_partition_index, offset_fetch_response_partition_committed_offset, length = _unpack_iqh(buffer, position)
            position += 14
            if length >= 0:
                stop = position + length
                if stop > end:
                    raise bad_length("offset_fetch_response_partition_metadata", stop - position)
                offset_fetch_response_partition_metadata = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                offset_fetch_response_partition_metadata = None
            (offset_fetch_response_partition_error_code,) = _unpack_h(buffer, position)
            position += 2
            offset_fetch_response_topic_partitions.append(OffsetFetchResponsePartition(partition_index=offset_fetch_response_partition_partition_index, committed_offset=offset_fetch_response_partition_committed_offset, metadata=offset_fetch_response_partition_metadata, error_code=offset_fetch_response_partition_error_code))
        topics.append(OffsetFetchResponseTopic(name=offset_fetch_response_topic_name, partitions=offset_fetch_response_topic_partitions))
    (error_code,) = _unpack_h(buffer, position)
    position += 2
    return OffsetFetchResponse(topics=topics, error_code=error_code)


def _decode_3(buffer: memoryview, position: int) -> OffsetFetchResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    topics: list[OffsetFetchResponseTopic]
    throttle_time_ms, count = _unpack_ii(buffer, position)
    position += 8
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("offset_fetch_response_topic_name", stop - position)
        offset_fetch_response_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        offset_fetch_response_topic_partitions: list[OffsetFetchResponsePartition]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 16 <= end - position or room < 0:
            raise bad_length("offset_fetch_response_topic_partitions", count)
        offset_fetch_response_topic_partitions = []
        for _ in range(count):
            offset_fetch_response_partition_metadata: str | None
            offset_fetch_response_partition_partition_index, offset_fetch_response_partition_committed_offset, length = _unpack_iqh(buffer, position)
            position += 14
            if length >= 0:
                stop = position + length
                if stop > end:
                    raise bad_length("offset_fetch_response_partition_metadata", stop - position)
                offset_fetch_response_partition_metadata = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                offset_fetch_response_partition_metadata = None
            (offset_fetch_response_partition_error_code,) = _unpack_h(buffer, position)
            position += 2
            offset_fetch_response_topic_partitions.append(OffsetFetchResponsePartition(partition_index=offset_fetch_response_partition_partition_index, committed_offset=offset_fetch_response_partition_committed_offset, metadata=offset_fetch_response_partition_metadata, error_code=offset_fetch_response_partition_error_code))
        topics.append(OffsetFetchResponseTopic(name=offset_fetch_response_topic_name, partitions=offset_fetch_response_topic_partitions))
    (error_code,) = _unpack_h(buffer, position)
    position += 2
    return OffsetFetchResponse(throttle_time_ms=throttle_time_ms, topics=topics, error_code=error_code)


def _decode_5(buffer: memoryview, position: int) -> OffsetFetchResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    topics: list[OffsetFetchResponseTopic]
    throttle_time_ms, count = _unpack_ii(buffer, position)
    position += 8
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("offset_fetch_response_topic_name", stop - position)
        offset_fetch_response_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        offset_fetch_response_topic_partitions: list[OffsetFetchResponsePartition]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 20 <= end - position or room < 0:
            raise bad_length("offset_fetch_response_topic_partitions", count)
        offset_fetch_response_topic_partitions = []
        for _ in range(count):
            offset_fetch_response_partition_metadata: str | None
            offset_fetch_response_partition_partition_index, offset_fetch_response_partition_committed_offset, offset_fetch_response_partition_committed_leader_epoch, length = _unpack_iqih(buffer, position)
            position += 18
            if length >= 0:
                stop = position + length
                if stop > end:
                    raise bad_length("offset_fetch_response_partition_metadata", stop - position)
                offset_fetch_response_partition_metadata = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                offset_fetch_response_partition_metadata = None
            (offset_fetch_response_partition_error_code,) = _unpack_h(buffer, position)
            position += 2
            offset_fetch_response_topic_partitions.append(OffsetFetchResponsePartition(partition_index=offset_fetch_response_partition_partition_index, committed_offset=offset_fetch_response_partition_committed_offset, committed_leader_epoch=offset_fetch_response_partition_committed_leader_epoch, metadata=offset_fetch_response_partition_metadata, error_code=offset_fetch_response_partition_error_code))
        topics.append(OffsetFetchResponseTopic(name=offset_fetch_response_topic_name, partitions=offset_fetch_response_topic_partitions))
    (error_code,) = _unpack_h(buffer, position)
    position += 2
    return OffsetFetchResponse(throttle_time_ms=throttle_time_ms, topics=topics, error_code=error_code)


def _decode_6(buffer: memoryview, position: int) -> OffsetFetchResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    topics: list[OffsetFetchResponseTopic]
    throttle_time_ms, count = _unpack_iB(buffer, position)
    position += 5
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
            raise bad_length("offset_fetch_response_topic_name", stop - position)
        offset_fetch_response_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        offset_fetch_response_topic_partitions: list[OffsetFetchResponsePartition]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 20 <= end - position or room < 0:
            raise bad_length("offset_fetch_response_topic_partitions", count)
        offset_fetch_response_topic_partitions = []
        for _ in range(count):
            offset_fetch_response_partition_metadata: str | None
            offset_fetch_response_partition_partition_index, offset_fetch_response_partition_committed_offset, offset_fetch_response_partition_committed_leader_epoch, length = _unpack_iqiB(buffer, position)
            position += 17
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            if length:
                stop = position + length - 1
                if stop > end:
                    raise bad_length("offset_fetch_response_partition_metadata", stop - position)
                offset_fetch_response_partition_metadata = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                offset_fetch_response_partition_metadata = None
            offset_fetch_response_partition_error_code, tags = _unpack_hB(buffer, position)
            position += 3
            if tags:
                position = skip_tags(buffer, position, tags)
            offset_fetch_response_topic_partitions.append(OffsetFetchResponsePartition(partition_index=offset_fetch_response_partition_partition_index, committed_offset=offset_fetch_response_partition_committed_offset, committed_leader_epoch=offset_fetch_response_partition_committed_leader_epoch, metadata=offset_fetch_response_partition_metadata, error_code=offset_fetch_response_partition_error_code))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(OffsetFetchResponseTopic(name=offset_fetch_response_topic_name, partitions=offset_fetch_response_topic_partitions))
    error_code, tags = _unpack_hB(buffer, position)
    position += 3
    if tags:
        position = skip_tags(buffer, position, tags)
    return OffsetFetchResponse(throttle_time_ms=throttle_time_ms, topics=topics, error_code=error_code)


def _decode_8(buffer: memoryview, position: int) -> OffsetFetchResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    groups: list[OffsetFetchResponseGroup]
    throttle_time_ms, count = _unpack_iB(buffer, position)
    position += 5
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
            raise bad_length("offset_fetch_response_group_group_id", stop - position)
        offset_fetch_response_group_group_id = str(buffer[position:stop], "utf-8")
        position = stop
        offset_fetch_response_group_topics: list[OffsetFetchResponseTopics]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 3 <= end - position or room < 0:
            raise bad_length("offset_fetch_response_group_topics", count)
        offset_fetch_response_group_topics = []
        for _ in range(count):
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("offset_fetch_response_topics_name", stop - position)
            offset_fetch_response_topics_name = str(buffer[position:stop], "utf-8")
            position = stop
            offset_fetch_response_topics_partitions: list[OffsetFetchResponsePartitions]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 20 <= end - position or room < 0:
                raise bad_length("offset_fetch_response_topics_partitions", count)
            offset_fetch_response_topics_partitions = []
            for _ in range(count):
                offset_fetch_response_partitions_metadata: str | None
                offset_fetch_response_partitions_partition_index, offset_fetch_response_partitions_committed_offset, offset_fetch_response_partitions_committed_leader_epoch, length = _unpack_iqiB(buffer, position)
                position += 17
                if length > 127:
                    length, position = read_long_string_length(buffer, position, length)
                if length:
                    stop = position + length - 1
                    if stop > end:
                        raise bad_length("offset_fetch_response_partitions_metadata", stop - position)
                    offset_fetch_response_partitions_metadata = str(buffer[position:stop], "utf-8")
                    position = stop
                else:
                    offset_fetch_response_partitions_metadata = None
                offset_fetch_response_partitions_error_code, tags = _unpack_hB(buffer, position)
                position += 3
                if tags:
                    position = skip_tags(buffer, position, tags)
                offset_fetch_response_topics_partitions.append(OffsetFetchResponsePartitions(partition_index=offset_fetch_response_partitions_partition_index, committed_offset=offset_fetch_response_partitions_committed_offset, committed_leader_epoch=offset_fetch_response_partitions_committed_leader_epoch, metadata=offset_fetch_response_partitions_metadata, error_code=offset_fetch_response_partitions_error_code))
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            offset_fetch_response_group_topics.append(OffsetFetchResponseTopics(name=offset_fetch_response_topics_name, partitions=offset_fetch_response_topics_partitions))
        offset_fetch_response_group_error_code, tags = _unpack_hB(buffer, position)
        position += 3
        if tags:
            position = skip_tags(buffer, position, tags)
        groups.append(OffsetFetchResponseGroup(group_id=offset_fetch_response_group_group_id, topics=offset_fetch_response_group_topics, error_code=offset_fetch_response_group_error_code))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return OffsetFetchResponse(throttle_time_ms=throttle_time_ms, groups=groups)


def _decode_10(buffer: memoryview, position: int) -> OffsetFetchResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    groups: list[OffsetFetchResponseGroup]
    throttle_time_ms, count = _unpack_iB(buffer, position)
    position += 5
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
            raise bad_length("offset_fetch_response_group_group_id", stop - position)
        offset_fetch_response_group_group_id = str(buffer[position:stop], "utf-8")
        position = stop
        offset_fetch_response_group_topics: list[OffsetFetchResponseTopics]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 18 <= end - position or room < 0:
            raise bad_length("offset_fetch_response_group_topics", count)
        offset_fetch_response_group_topics = []
        for _ in range(count):
            offset_fetch_response_topics_partitions: list[OffsetFetchResponsePartitions]
            offset_fetch_response_topics_topic_id, count = _unpack_uB(buffer, position)
            position += 17
            offset_fetch_response_topics_topic_id = uuid_of(offset_fetch_response_topics_topic_id)
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 20 <= end - position or room < 0:
                raise bad_length("offset_fetch_response_topics_partitions", count)
            offset_fetch_response_topics_partitions = []
            for _ in range(count):
                offset_fetch_response_partitions_metadata: str | None
                offset_fetch_response_partitions_partition_index, offset_fetch_response_partitions_committed_offset, offset_fetch_response_partitions_committed_leader_epoch, length = _unpack_iqiB(buffer, position)
                position += 17
                if length > 127:
                    length, position = read_long_string_length(buffer, position, length)
                if length:
                    stop = position + length - 1
                    if stop > end:
                        raise bad_length("offset_fetch_response_partitions_metadata", stop - position)
                    offset_fetch_response_partitions_metadata = str(buffer[position:stop], "utf-8")
                    position = stop
                else:
                    offset_fetch_response_partitions_metadata = None
                offset_fetch_response_partitions_error_code, tags = _unpack_hB(buffer, position)
                position += 3
                if tags:
                    position = skip_tags(buffer, position, tags)
                offset_fetch_response_topics_partitions.append(OffsetFetchResponsePartitions(partition_index=offset_fetch_response_partitions_partition_index, committed_offset=offset_fetch_response_partitions_committed_offset, committed_leader_epoch=offset_fetch_response_partitions_committed_leader_epoch, metadata=offset_fetch_response_partitions_metadata, error_code=offset_fetch_response_partitions_error_code))
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            offset_fetch_response_group_topics.append(OffsetFetchResponseTopics(topic_id=offset_fetch_response_topics_topic_id, partitions=offset_fetch_response_topics_partitions))
        offset_fetch_response_group_error_code, tags = _unpack_hB(buffer, position)
        position += 3
        if tags:
            position = skip_tags(buffer, position, tags)
        groups.append(OffsetFetchResponseGroup(group_id=offset_fetch_response_group_group_id, topics=offset_fetch_response_group_topics, error_code=offset_fetch_response_group_error_code))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return OffsetFetchResponse(throttle_time_ms=throttle_time_ms, groups=groups)


def _encode_1(message: OffsetFetchResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(len(message.topics))
    for offset_fetch_response_topic in message.topics:
        raw = offset_fetch_response_topic.name.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(offset_fetch_response_topic.partitions))
        for offset_fetch_response_partition in offset_fetch_response_topic.partitions:
            out += _pack_iq(offset_fetch_response_partition.partition_index, offset_fetch_response_partition.committed_offset)
            if offset_fetch_response_partition.metadata is None:
                out += b"\xff\xff"
            else:
                raw = offset_fetch_response_partition.metadata.encode()
                out += _pack_h(len(raw))
                out += raw
            out += _pack_h(offset_fetch_response_partition.error_code)
    return [out]


def _encode_2(message: OffsetFetchResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(len(message.topics))
    for offset_fetch_response_topic in message.topics:
        raw = offset_fetch_response_topic.name.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(offset_fetch_response_topic.partitions))
        for offset_fetch_response_partition in offset_fetch_response_topic.partitions:
            out += _pack_iq(offset_fetch_response_partition.partition_index, offset_fetch_response_partition.committed_offset)
            if offset_fetch_response_partition.metadata is None:
                out += b"\xff\xff"
            else:
                raw = offset_fetch_response_partition.metadata.encode()
                out += _pack_h(len(raw))
                out += raw
            out += _pack_h(offset_fetch_response_partition.error_code)
    out += _pack_h(message.error_code)
    return [out]


def _encode_3(message: OffsetFetchResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ii(message.throttle_time_ms, len(message.topics))
    for offset_fetch_response_topic in message.topics:
        raw = offset_fetch_response_topic.name.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(offset_fetch_response_topic.partitions))
        for offset_fetch_response_partition in offset_fetch_response_topic.partitions:
            out += _pack_iq(offset_fetch_response_partition.partition_index, offset_fetch_response_partition.committed_offset)
            if offset_fetch_response_partition.metadata is None:
                out += b"\xff\xff"
            else:
                raw = offset_fetch_response_partition.metadata.encode()
                out += _pack_h(len(raw))
                out += raw
            out += _pack_h(offset_fetch_response_partition.error_code)
    out += _pack_h(message.error_code)
    return [out]


def _encode_5(message: OffsetFetchResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ii(message.throttle_time_ms, len(message.topics))
    for offset_fetch_response_topic in message.topics:
        raw = offset_fetch_response_topic.name.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(offset_fetch_response_topic.partitions))
        for offset_fetch_response_partition in offset_fetch_response_topic.partitions:
            out += _pack_iqi(offset_fetch_response_partition.partition_index, offset_fetch_response_partition.committed_offset, offset_fetch_response_partition.committed_leader_epoch)
            if offset_fetch_response_partition.metadata is None:
                out += b"\xff\xff"
            else:
                raw = offset_fetch_response_partition.metadata.encode()
                out += _pack_h(len(raw))
                out += raw
            out += _pack_h(offset_fetch_response_partition.error_code)
    out += _pack_h(message.error_code)
    return [out]


def _encode_6(message: OffsetFetchResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.throttle_time_ms)
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for offset_fetch_response_topic in message.topics:
        raw = offset_fetch_response_topic.name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(offset_fetch_response_topic.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for offset_fetch_response_partition in offset_fetch_response_topic.partitions:
            out += _pack_iqi(offset_fetch_response_partition.partition_index, offset_fetch_response_partition.committed_offset, offset_fetch_response_partition.committed_leader_epoch)
            if offset_fetch_response_partition.metadata is None:
                out.append(0)
            else:
                raw = offset_fetch_response_partition.metadata.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
            out += _pack_hB(offset_fetch_response_partition.error_code, 0)
        out.append(0)
    out += _pack_hB(message.error_code, 0)
    return [out]


def _encode_8(message: OffsetFetchResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.throttle_time_ms)
    size = len(message.groups) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for offset_fetch_response_group in message.groups:
        raw = offset_fetch_response_group.group_id.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(offset_fetch_response_group.topics) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for offset_fetch_response_topics in offset_fetch_response_group.topics:
            raw = offset_fetch_response_topics.name.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            size = len(offset_fetch_response_topics.partitions) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            for offset_fetch_response_partitions in offset_fetch_response_topics.partitions:
                out += _pack_iqi(offset_fetch_response_partitions.partition_index, offset_fetch_response_partitions.committed_offset, offset_fetch_response_partitions.committed_leader_epoch)
                if offset_fetch_response_partitions.metadata is None:
                    out.append(0)
                else:
                    raw = offset_fetch_response_partitions.metadata.encode()
                    size = len(raw) + 1
                    if size < 128:
                        out.append(size)
                    else:
                        out += uvarint(size)
                    out += raw
                out += _pack_hB(offset_fetch_response_partitions.error_code, 0)
            out.append(0)
        out += _pack_hB(offset_fetch_response_group.error_code, 0)
    out.append(0)
    return [out]


def _encode_10(message: OffsetFetchResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.throttle_time_ms)
    size = len(message.groups) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for offset_fetch_response_group in message.groups:
        raw = offset_fetch_response_group.group_id.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(offset_fetch_response_group.topics) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for offset_fetch_response_topics in offset_fetch_response_group.topics:
            out += _pack_u(offset_fetch_response_topics.topic_id.bytes)
            size = len(offset_fetch_response_topics.partitions) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            for offset_fetch_response_partitions in offset_fetch_response_topics.partitions:
                out += _pack_iqi(offset_fetch_response_partitions.partition_index, offset_fetch_response_partitions.committed_offset, offset_fetch_response_partitions.committed_leader_epoch)
                if offset_fetch_response_partitions.metadata is None:
                    out.append(0)
                else:
                    raw = offset_fetch_response_partitions.metadata.encode()
                    size = len(raw) + 1
                    if size < 128:
                        out.append(size)
                    else:
                        out += uvarint(size)
                    out += raw
                out += _pack_hB(offset_fetch_response_partitions.error_code, 0)
            out.append(0)
        out += _pack_hB(offset_fetch_response_group.error_code, 0)
    out.append(0)
    return [out]


_DECODERS = {1: _decode_1, 2: _decode_2, 3: _decode_3, 4: _decode_3, 5: _decode_5, 6: _decode_6, 7: _decode_6, 8: _decode_8, 9: _decode_8, 10: _decode_10}
_ENCODERS = {1: _encode_1, 2: _encode_2, 3: _encode_3, 4: _encode_3, 5: _encode_5, 6: _encode_6, 7: _encode_6, 8: _encode_8, 9: _encode_8, 10: _encode_10}


def decode(version: int, buffer: Buffer, position: int = 0) -> OffsetFetchResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"OffsetFetchResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No OffsetFetchResponse of version {version}: {error}") from error


def encode(version: int, message: OffsetFetchResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
