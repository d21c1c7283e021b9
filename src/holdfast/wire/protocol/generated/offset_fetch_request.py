# Written by tools/generate_codecs.py from OffsetFetchRequest.json in kafka-clients-4.1.1: do not edit.
import struct
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
class OffsetFetchRequestTopic:
    name: str = ''
    partition_indexes: list[int] = field(default_factory=list)


@dataclass(slots=True)
class OffsetFetchRequestTopics:
    name: str = ''
    topic_id: UUID = ZERO_UUID
    partition_indexes: list[int] = field(default_factory=list)


@dataclass(slots=True)
class OffsetFetchRequestGroup:
    group_id: str = ''
    member_id: str | None = None
    member_epoch: int = -1
    topics: list[OffsetFetchRequestTopics] | None = field(default_factory=list)


@dataclass(slots=True)
class OffsetFetchRequest:
    group_id: str = ''
    topics: list[OffsetFetchRequestTopic] | None = field(default_factory=list)
    groups: list[OffsetFetchRequestGroup] = field(default_factory=list)
    require_stable: bool = False


_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_tB = Struct(">?B").unpack_from
_unpack_uB = Struct(">16sB").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_tB = Struct(">?B").pack
_pack_u = Struct(">16s").pack


def _decode_1(buffer: memoryview, position: int) -> OffsetFetchRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("group_id", stop - position)
    group_id = str(buffer[position:stop], "utf-8")
    position = stop
    topics: list[OffsetFetchRequestTopic] | None
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
            raise bad_length("offset_fetch_request_topic_name", stop - position)
        offset_fetch_request_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        offset_fetch_request_topic_partition_indexes: list[int]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 4 <= end - position or room < 0:
            raise bad_length("offset_fetch_request_topic_partition_indexes", count)
        offset_fetch_request_topic_partition_indexes = list(struct.unpack_from(f">{count}i", buffer, position))
        position += count * 4
        topics.append(OffsetFetchRequestTopic(name=offset_fetch_request_topic_name, partition_indexes=offset_fetch_request_topic_partition_indexes))
    return OffsetFetchRequest(group_id=group_id, topics=topics)


def _decode_2(buffer: memoryview, position: int) -> OffsetFetchRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("group_id", stop - position)
    group_id = str(buffer[position:stop], "utf-8")
    position = stop
    topics: list[OffsetFetchRequestTopic] | None
    (count,) = _unpack_i(buffer, position)
    position += 4
    if count >= 0:
        room -= count
        if not 0 <= count * 6 <= end - position or room < 0:
            raise bad_length("topics", count)
        topics = []
        for _ in range(count):
            (length,) = _unpack_h(buffer, position)
            position += 2
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("offset_fetch_request_topic_name", stop - position)
            offset_fetch_request_topic_name = str(buffer[position:stop], "utf-8")
            position = stop
            offset_fetch_request_topic_partition_indexes: list[int]
            (count,) = _unpack_i(buffer, position)
            position += 4
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("offset_fetch_request_topic_partition_indexes", count)
            offset_fetch_request_topic_partition_indexes = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            topics.append(OffsetFetchRequestTopic(name=offset_fetch_request_topic_name, partition_indexes=offset_fetch_request_topic_partition_indexes))
    else:
        topics = None
    return OffsetFetchRequest(group_id=group_id, topics=topics)


def _decode_6(buffer: memoryview, position: int) -> OffsetFetchRequest:
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
    topics: list[OffsetFetchRequestTopic] | None
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    if count:
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
                raise bad_length("offset_fetch_request_topic_name", stop - position)
            offset_fetch_request_topic_name = str(buffer[position:stop], "utf-8")
            position = stop
            offset_fetch_request_topic_partition_indexes: list[int]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("offset_fetch_request_topic_partition_indexes", count)
            offset_fetch_request_topic_partition_indexes = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            topics.append(OffsetFetchRequestTopic(name=offset_fetch_request_topic_name, partition_indexes=offset_fetch_request_topic_partition_indexes))
    else:
        topics = None
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return OffsetFetchRequest(group_id=group_id, topics=topics)


def _decode_7(buffer: memoryview, position: int) -> OffsetFetchRequest:
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
    topics: list[OffsetFetchRequestTopic] | None
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    if count:
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
                raise bad_length("offset_fetch_request_topic_name", stop - position)
            offset_fetch_request_topic_name = str(buffer[position:stop], "utf-8")
            position = stop
            offset_fetch_request_topic_partition_indexes: list[int]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("offset_fetch_request_topic_partition_indexes", count)
            offset_fetch_request_topic_partition_indexes = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            topics.append(OffsetFetchRequestTopic(name=offset_fetch_request_topic_name, partition_indexes=offset_fetch_request_topic_partition_indexes))
    else:
        topics = None
    require_stable, tags = _unpack_tB(buffer, position)
    position += 2
    if tags:
        position = skip_tags(buffer, position, tags)
    return OffsetFetchRequest(group_id=group_id, topics=topics, require_stable=require_stable)


def _decode_8(buffer: memoryview, position: int) -> OffsetFetchRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    groups: list[OffsetFetchRequestGroup]
    count = buffer[position]
    position += 1
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
            raise bad_length("offset_fetch_request_group_group_id", stop - position)
        offset_fetch_request_group_group_id = str(buffer[position:stop], "utf-8")
        position = stop
        offset_fetch_request_group_topics: list[OffsetFetchRequestTopics] | None
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        if count:
            count -= 1
            room -= count
            if not 0 <= count * 3 <= end - position or room < 0:
                raise bad_length("offset_fetch_request_group_topics", count)
            offset_fetch_request_group_topics = []
            for _ in range(count):
                length = buffer[position]
                position += 1
                if length > 127:
                    length, position = read_long_string_length(buffer, position, length)
                stop = position + length - 1
                if not position <= stop <= end:
                    raise bad_length("offset_fetch_request_topics_name", stop - position)
                offset_fetch_request_topics_name = str(buffer[position:stop], "utf-8")
                position = stop
                offset_fetch_request_topics_partition_indexes: list[int]
                count = buffer[position]
                position += 1
                if count > 127:
                    count, position = read_long_uvarint(buffer, position, count)
                count -= 1
                room -= count
                if not 0 <= count * 4 <= end - position or room < 0:
                    raise bad_length("offset_fetch_request_topics_partition_indexes", count)
                offset_fetch_request_topics_partition_indexes = list(struct.unpack_from(f">{count}i", buffer, position))
                position += count * 4
                tags = buffer[position]
                position += 1
                if tags:
                    position = skip_tags(buffer, position, tags)
                offset_fetch_request_group_topics.append(OffsetFetchRequestTopics(name=offset_fetch_request_topics_name, partition_indexes=offset_fetch_request_topics_partition_indexes))
        else:
            offset_fetch_request_group_topics = None
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        groups.append(OffsetFetchRequestGroup(group_id=offset_fetch_request_group_group_id, topics=offset_fetch_request_group_topics))
    require_stable, tags = _unpack_tB(buffer, position)
    position += 2
    if tags:
        position = skip_tags(buffer, position, tags)
    return OffsetFetchRequest(groups=groups, require_stable=require_stable)


def _decode_9(buffer: memoryview, position: int) -> OffsetFetchRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    groups: list[OffsetFetchRequestGroup]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 8 <= end - position or room < 0:
        raise bad_length("groups", count)
    groups = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("offset_fetch_request_group_group_id", stop - position)
        offset_fetch_request_group_group_id = str(buffer[position:stop], "utf-8")
        position = stop
        offset_fetch_request_group_member_id: str | None
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("offset_fetch_request_group_member_id", stop - position)
            offset_fetch_request_group_member_id = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            offset_fetch_request_group_member_id = None
        offset_fetch_request_group_topics: list[OffsetFetchRequestTopics] | None
        offset_fetch_request_group_member_epoch, count = _unpack_iB(buffer, position)
        position += 5
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        if count:
            count -= 1
            room -= count
            if not 0 <= count * 3 <= end - position or room < 0:
                raise bad_length("offset_fetch_request_group_topics", count)
            offset_fetch_request_group_topics = []
            for _ in range(count):
                length = buffer[position]
                position += 1
                if length > 127:
                    length, position = read_long_string_length(buffer, position, length)
                stop = position + length - 1
                if not position <= stop <= end:
                    raise bad_length("offset_fetch_request_topics_name", stop - position)
                offset_fetch_request_topics_name = str(buffer[position:stop], "utf-8")
                position = stop
                offset_fetch_request_topics_partition_indexes: list[int]
                count = buffer[position]
                position += 1
                if count > 127:
                    count, position = read_long_uvarint(buffer, position, count)
                count -= 1
                room -= count
                if not 0 <= count * 4 <= end - position or room < 0:
                    raise bad_length("offset_fetch_request_topics_partition_indexes", count)
                offset_fetch_request_topics_partition_indexes = list(struct.unpack_from(f">{count}i", buffer, position))
                position += count * 4
                tags = buffer[position]
                position += 1
                if tags:
                    position = skip_tags(buffer, position, tags)
                offset_fetch_request_group_topics.append(OffsetFetchRequestTopics(name=offset_fetch_request_topics_name, partition_indexes=offset_fetch_request_topics_partition_indexes))
        else:
            offset_fetch_request_group_topics = None
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        groups.append(OffsetFetchRequestGroup(group_id=offset_fetch_request_group_group_id, member_id=offset_fetch_request_group_member_id, member_epoch=offset_fetch_request_group_member_epoch, topics=offset_fetch_request_group_topics))
    require_stable, tags = _unpack_tB(buffer, position)
    position += 2
    if tags:
        position = skip_tags(buffer, position, tags)
    return OffsetFetchRequest(groups=groups, require_stable=require_stable)


def _decode_10(buffer: memoryview, position: int) -> OffsetFetchRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    groups: list[OffsetFetchRequestGroup]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 8 <= end - position or room < 0:
        raise bad_length("groups", count)
    groups = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("offset_fetch_request_group_group_id", stop - position)
        offset_fetch_request_group_group_id = str(buffer[position:stop], "utf-8")
        position = stop
        offset_fetch_request_group_member_id: str | None
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("offset_fetch_request_group_member_id", stop - position)
            offset_fetch_request_group_member_id = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            offset_fetch_request_group_member_id = None
        offset_fetch_request_group_topics: list[OffsetFetchRequestTopics] | None
        offset_fetch_request_group_member_epoch, count = _unpack_iB(buffer, position)
        position += 5
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        if count:
            count -= 1
            room -= count
            if not 0 <= count * 18 <= end - position or room < 0:
                raise bad_length("offset_fetch_request_group_topics", count)
            offset_fetch_request_group_topics = []
            for _ in range(count):
                offset_fetch_request_topics_partition_indexes: list[int]
                offset_fetch_request_topics_topic_id, count = _unpack_uB(buffer, position)
                position += 17
                offset_fetch_request_topics_topic_id = uuid_of(offset_fetch_request_topics_topic_id)
                if count > 127:
                    count, position = read_long_uvarint(buffer, position, count)
                count -= 1
                room -= count
                if not 0 <= count * 4 <= end - position or room < 0:
                    raise bad_length("offset_fetch_request_topics_partition_indexes", count)
                offset_fetch_request_topics_partition_indexes = list(struct.unpack_from(f">{count}i", buffer, position))
                position += count * 4
                tags = buffer[position]
                position += 1
                if tags:
                    position = skip_tags(buffer, position, tags)
                offset_fetch_request_group_topics.append(OffsetFetchRequestTopics(topic_id=offset_fetch_request_topics_topic_id, partition_indexes=offset_fetch_request_topics_partition_indexes))
        else:
            offset_fetch_request_group_topics = None
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        groups.append(OffsetFetchRequestGroup(group_id=offset_fetch_request_group_group_id, member_id=offset_fetch_request_group_member_id, member_epoch=offset_fetch_request_group_member_epoch, topics=offset_fetch_request_group_topics))
    require_stable, tags = _unpack_tB(buffer, position)
    position += 2
    if tags:
        position = skip_tags(buffer, position, tags)
    return OffsetFetchRequest(groups=groups, require_stable=require_stable)


def _encode_1(message: OffsetFetchRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.group_id.encode()
    out += _pack_h(len(raw))
    out += raw
    out += _pack_i(len((message.topics or [])))
    for offset_fetch_request_topic in (message.topics or []):
        raw = offset_fetch_request_topic.name.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(offset_fetch_request_topic.partition_indexes))
        out += struct.pack(f">{len(offset_fetch_request_topic.partition_indexes)}i", *offset_fetch_request_topic.partition_indexes)
    return [out]


def _encode_2(message: OffsetFetchRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.group_id.encode()
    out += _pack_h(len(raw))
    out += raw
    if message.topics is None:
        out += b"\xff\xff\xff\xff"
    else:
        out += _pack_i(len(message.topics))
        for offset_fetch_request_topic in message.topics:
            raw = offset_fetch_request_topic.name.encode()
            out += _pack_h(len(raw))
            out += raw
            out += _pack_i(len(offset_fetch_request_topic.partition_indexes))
            out += struct.pack(f">{len(offset_fetch_request_topic.partition_indexes)}i", *offset_fetch_request_topic.partition_indexes)
    return [out]


def _encode_6(message: OffsetFetchRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.group_id.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    if message.topics is None:
        out.append(0)
    else:
        size = len(message.topics) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for offset_fetch_request_topic in message.topics:
            raw = offset_fetch_request_topic.name.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            size = len(offset_fetch_request_topic.partition_indexes) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += struct.pack(f">{len(offset_fetch_request_topic.partition_indexes)}i", *offset_fetch_request_topic.partition_indexes)
            out.append(0)
    out.append(0)
    return [out]


def _encode_7(message: OffsetFetchRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.group_id.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    if message.topics is None:
        out.append(0)
    else:
        size = len(message.topics) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for offset_fetch_request_topic in message.topics:
            raw = offset_fetch_request_topic.name.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            size = len(offset_fetch_request_topic.partition_indexes) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += struct.pack(f">{len(offset_fetch_request_topic.partition_indexes)}i", *offset_fetch_request_topic.partition_indexes)
            out.append(0)
    out += _pack_tB(message.require_stable, 0)
    return [out]


def _encode_8(message: OffsetFetchRequest) -> list[Buffer]:
    out = bytearray()
    size = len(message.groups) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for offset_fetch_request_group in message.groups:
        raw = offset_fetch_request_group.group_id.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        if offset_fetch_request_group.topics is None:
            out.append(0)
        else:
            size = len(offset_fetch_request_group.topics) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            for offset_fetch_request_topics in offset_fetch_request_group.topics:
                raw = offset_fetch_request_topics.name.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
                size = len(offset_fetch_request_topics.partition_indexes) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += struct.pack(f">{len(offset_fetch_request_topics.partition_indexes)}i", *offset_fetch_request_topics.partition_indexes)
                out.append(0)
        out.append(0)
    out += _pack_tB(message.require_stable, 0)
    return [out]


def _encode_9(message: OffsetFetchRequest) -> list[Buffer]:
    out = bytearray()
    size = len(message.groups) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for offset_fetch_request_group in message.groups:
        raw = offset_fetch_request_group.group_id.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        if offset_fetch_request_group.member_id is None:
            out.append(0)
        else:
            raw = offset_fetch_request_group.member_id.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        out += _pack_i(offset_fetch_request_group.member_epoch)
        if offset_fetch_request_group.topics is None:
            out.append(0)
        else:
            size = len(offset_fetch_request_group.topics) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            for offset_fetch_request_topics in offset_fetch_request_group.topics:
                raw = offset_fetch_request_topics.name.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
                size = len(offset_fetch_request_topics.partition_indexes) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += struct.pack(f">{len(offset_fetch_request_topics.partition_indexes)}i", *offset_fetch_request_topics.partition_indexes)
                out.append(0)
        out.append(0)
    out += _pack_tB(message.require_stable, 0)
    return [out]


def _encode_10(message: OffsetFetchRequest) -> list[Buffer]:
    out = bytearray()
    size = len(message.groups) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for offset_fetch_request_group in message.groups:
        raw = offset_fetch_request_group.group_id.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        if offset_fetch_request_group.member_id is None:
            out.append(0)
        else:
            raw = offset_fetch_request_group.member_id.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        out += _pack_i(offset_fetch_request_group.member_epoch)
        if offset_fetch_request_group.topics is None:
            out.append(0)
        else:
            size = len(offset_fetch_request_group.topics) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            for offset_fetch_request_topics in offset_fetch_request_group.topics:
                out += _pack_u(offset_fetch_request_topics.topic_id.bytes)
                size = len(offset_fetch_request_topics.partition_indexes) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += struct.pack(f">{len(offset_fetch_request_topics.partition_indexes)}i", *offset_fetch_request_topics.partition_indexes)
                out.append(0)
        out.append(0)
    out += _pack_tB(message.require_stable, 0)
    return [out]


_DECODERS = {1: _decode_1, 2: _decode_2, 3: _decode_2, 4: _decode_2, 5: _decode_2, 6: _decode_6, 7: _decode_7, 8: _decode_8, 9: _decode_9, 10: _decode_10}
_ENCODERS = {1: _encode_1, 2: _encode_2, 3: _encode_2, 4: _encode_2, 5: _encode_2, 6: _encode_6, 7: _encode_7, 8: _encode_8, 9: _encode_9, 10: _encode_10}


def decode(version: int, buffer: Buffer, position: int = 0) -> OffsetFetchRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"OffsetFetchRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No OffsetFetchRequest of version {version}: {error}") from error


def encode(version: int, message: OffsetFetchRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
