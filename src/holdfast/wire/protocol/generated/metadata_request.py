# Written by tools/generate_codecs.py from MetadataRequest.json in kafka-clients-4.1.1: do not edit.
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
class MetadataRequestTopic:
    topic_id: UUID = ZERO_UUID
    name: str | None = ''


@dataclass(slots=True)
class MetadataRequest:
    topics: list[MetadataRequestTopic] | None = field(default_factory=list)
    allow_auto_topic_creation: bool = True
    include_cluster_authorized_operations: bool = False
    include_topic_authorized_operations: bool = False


_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_t = Struct(">?").unpack_from
_unpack_ttB = Struct(">??B").unpack_from
_unpack_ttt = Struct(">???").unpack_from
_unpack_tttB = Struct(">???B").unpack_from
_unpack_uB = Struct(">16sB").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_t = Struct(">?").pack
_pack_ttB = Struct(">??B").pack
_pack_ttt = Struct(">???").pack
_pack_tttB = Struct(">???B").pack
_pack_u = Struct(">16s").pack


def _decode_0(buffer: memoryview, position: int) -> MetadataRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[MetadataRequestTopic] | None
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 2 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        metadata_request_topic_name: str | None
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("metadata_request_topic_name", stop - position)
        metadata_request_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        topics.append(MetadataRequestTopic(name=metadata_request_topic_name))
    return MetadataRequest(topics=topics)


def _decode_1(buffer: memoryview, position: int) -> MetadataRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[MetadataRequestTopic] | None
    (count,) = _unpack_i(buffer, position)
    position += 4
    if count >= 0:
        room -= count
        if not 0 <= count * 2 <= end - position or room < 0:
            raise bad_length("topics", count)
        topics = []
        for _ in range(count):
            metadata_request_topic_name: str | None
            (length,) = _unpack_h(buffer, position)
            position += 2
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("metadata_request_topic_name", stop - position)
            metadata_request_topic_name = str(buffer[position:stop], "utf-8")
            position = stop
            topics.append(MetadataRequestTopic(name=metadata_request_topic_name))
    else:
        topics = None
    return MetadataRequest(topics=topics)


def _decode_4(buffer: memoryview, position: int) -> MetadataRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[MetadataRequestTopic] | None
    (count,) = _unpack_i(buffer, position)
    position += 4
    if count >= 0:
        room -= count
        if not 0 <= count * 2 <= end - position or room < 0:
            raise bad_length("topics", count)
        topics = []
        for _ in range(count):
            metadata_request_topic_name: str | None
            (length,) = _unpack_h(buffer, position)
            position += 2
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("metadata_request_topic_name", stop - position)
            metadata_request_topic_name = str(buffer[position:stop], "utf-8")
            position = stop
            topics.append(MetadataRequestTopic(name=metadata_request_topic_name))
    else:
        topics = None
    (allow_auto_topic_creation,) = _unpack_t(buffer, position)
    position += 1
    return MetadataRequest(topics=topics, allow_auto_topic_creation=allow_auto_topic_creation)


def _decode_8(buffer: memoryview, position: int) -> MetadataRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[MetadataRequestTopic] | None
    (count,) = _unpack_i(buffer, position)
    position += 4
    if count >= 0:
        room -= count
        if not 0 <= count * 2 <= end - position or room < 0:
            raise bad_length("topics", count)
        topics = []
        for _ in range(count):
            metadata_request_topic_name: str | None
            (length,) = _unpack_h(buffer, position)
            position += 2
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("metadata_request_topic_name", stop - position)
            metadata_request_topic_name = str(buffer[position:stop], "utf-8")
            position = stop
            topics.append(MetadataRequestTopic(name=metadata_request_topic_name))
    else:
        topics = None
    allow_auto_topic_creation, include_cluster_authorized_operations, include_topic_authorized_operations = _unpack_ttt(buffer, position)
    position += 3
    return MetadataRequest(topics=topics, allow_auto_topic_creation=allow_auto_topic_creation, include_cluster_authorized_operations=include_cluster_authorized_operations, include_topic_authorized_operations=include_topic_authorized_operations)


def _decode_9(buffer: memoryview, position: int) -> MetadataRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[MetadataRequestTopic] | None
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    if count:
        count -= 1
        room -= count
        if not 0 <= count * 2 <= end - position or room < 0:
            raise bad_length("topics", count)
        topics = []
        for _ in range(count):
            metadata_request_topic_name: str | None
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("metadata_request_topic_name", stop - position)
            metadata_request_topic_name = str(buffer[position:stop], "utf-8")
            position = stop
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            topics.append(MetadataRequestTopic(name=metadata_request_topic_name))
    else:
        topics = None
    allow_auto_topic_creation, include_cluster_authorized_operations, include_topic_authorized_operations, tags = _unpack_tttB(buffer, position)
    position += 4
    if tags:
        position = skip_tags(buffer, position, tags)
    return MetadataRequest(topics=topics, allow_auto_topic_creation=allow_auto_topic_creation, include_cluster_authorized_operations=include_cluster_authorized_operations, include_topic_authorized_operations=include_topic_authorized_operations)


def _decode_10(buffer: memoryview, position: int) -> MetadataRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[MetadataRequestTopic] | None
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    if count:
        count -= 1
        room -= count
        if not 0 <= count * 18 <= end - position or room < 0:
            raise bad_length("topics", count)
        topics = []
        for _ in range(count):
            metadata_request_topic_name: str | None
            metadata_request_topic_topic_id, length = _unpack_uB(buffer, position)
            position += 17
            metadata_request_topic_topic_id = uuid_of(metadata_request_topic_topic_id)
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            if length:
                stop = position + length - 1
                if stop > end:
                    raise bad_length("metadata_request_topic_name", stop - position)
                metadata_request_topic_name = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                metadata_request_topic_name = None
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            topics.append(MetadataRequestTopic(topic_id=metadata_request_topic_topic_id, name=metadata_request_topic_name))
    else:
        topics = None
    allow_auto_topic_creation, include_cluster_authorized_operations, include_topic_authorized_operations, tags = _unpack_tttB(buffer, position)
    position += 4
    if tags:
        position = skip_tags(buffer, position, tags)
    return MetadataRequest(topics=topics, allow_auto_topic_creation=allow_auto_topic_creation, include_cluster_authorized_operations=include_cluster_authorized_operations, include_topic_authorized_operations=include_topic_authorized_operations)


def _decode_11(buffer: memoryview, position: int) -> MetadataRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[MetadataRequestTopic] | None
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    if count:
        count -= 1
        room -= count
        if not 0 <= count * 18 <= end - position or room < 0:
            raise bad_length("topics", count)
        topics = []
        for _ in range(count):
            metadata_request_topic_name: str | None
            metadata_request_topic_topic_id, length = _unpack_uB(buffer, position)
            position += 17
            metadata_request_topic_topic_id = uuid_of(metadata_request_topic_topic_id)
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            if length:
                stop = position + length - 1
                if stop > end:
                    raise bad_length("metadata_request_topic_name", stop - position)
                metadata_request_topic_name = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                metadata_request_topic_name = None
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            topics.append(MetadataRequestTopic(topic_id=metadata_request_topic_topic_id, name=metadata_request_topic_name))
    else:
        topics = None
    allow_auto_topic_creation, include_topic_authorized_operations, tags = _unpack_ttB(buffer, position)
    position += 3
    if tags:
        position = skip_tags(buffer, position, tags)
    return MetadataRequest(topics=topics, allow_auto_topic_creation=allow_auto_topic_creation, include_topic_authorized_operations=include_topic_authorized_operations)


def _encode_0(message: MetadataRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(len((message.topics or [])))
    for metadata_request_topic in (message.topics or []):
        raw = (metadata_request_topic.name or "").encode()
        out += _pack_h(len(raw))
        out += raw
    return [out]


def _encode_1(message: MetadataRequest) -> list[Buffer]:
    out = bytearray()
    if message.topics is None:
        out += b"\xff\xff\xff\xff"
    else:
        out += _pack_i(len(message.topics))
        for metadata_request_topic in message.topics:
            raw = (metadata_request_topic.name or "").encode()
            out += _pack_h(len(raw))
            out += raw
    return [out]


def _encode_4(message: MetadataRequest) -> list[Buffer]:
    out = bytearray()
    if message.topics is None:
        out += b"\xff\xff\xff\xff"
    else:
        out += _pack_i(len(message.topics))
        for metadata_request_topic in message.topics:
            raw = (metadata_request_topic.name or "").encode()
            out += _pack_h(len(raw))
            out += raw
    out += _pack_t(message.allow_auto_topic_creation)
    return [out]


def _encode_8(message: MetadataRequest) -> list[Buffer]:
    out = bytearray()
    if message.topics is None:
        out += b"\xff\xff\xff\xff"
    else:
        out += _pack_i(len(message.topics))
        for metadata_request_topic in message.topics:
            raw = (metadata_request_topic.name or "").encode()
            out += _pack_h(len(raw))
            out += raw
    out += _pack_ttt(message.allow_auto_topic_creation, message.include_cluster_authorized_operations, message.include_topic_authorized_operations)
    return [out]


def _encode_9(message: MetadataRequest) -> list[Buffer]:
    out = bytearray()
    if message.topics is None:
        out.append(0)
    else:
        size = len(message.topics) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for metadata_request_topic in message.topics:
            raw = (metadata_request_topic.name or "").encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            out.append(0)
    out += _pack_tttB(message.allow_auto_topic_creation, message.include_cluster_authorized_operations, message.include_topic_authorized_operations, 0)
    return [out]


def _encode_10(message: MetadataRequest) -> list[Buffer]:
    out = bytearray()
    if message.topics is None:
        out.append(0)
    else:
        size = len(message.topics) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for metadata_request_topic in message.topics:
            out += _pack_u(metadata_request_topic.topic_id.bytes)
            if metadata_request_topic.name is None:
                out.append(0)
            else:
                raw = metadata_request_topic.name.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
            out.append(0)
    out += _pack_tttB(message.allow_auto_topic_creation, message.include_cluster_authorized_operations, message.include_topic_authorized_operations, 0)
    return [out]


def _encode_11(message: MetadataRequest) -> list[Buffer]:
    out = bytearray()
    if message.topics is None:
        out.append(0)
    else:
        size = len(message.topics) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for metadata_request_topic in message.topics:
            out += _pack_u(metadata_request_topic.topic_id.bytes)
            if metadata_request_topic.name is None:
                out.append(0)
            else:
                raw = metadata_request_topic.name.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
            out.append(0)
    out += _pack_ttB(message.allow_auto_topic_creation, message.include_topic_authorized_operations, 0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_1, 2: _decode_1, 3: _decode_1, 4: _decode_4, 5: _decode_4, 6: _decode_4, 7: _decode_4, 8: _decode_8, 9: _decode_9, 10: _decode_10, 11: _decode_11, 12: _decode_11, 13: _decode_11}
_ENCODERS = {0: _encode_0, 1: _encode_1, 2: _encode_1, 3: _encode_1, 4: _encode_4, 5: _encode_4, 6: _encode_4, 7: _encode_4, 8: _encode_8, 9: _encode_9, 10: _encode_10, 11: _encode_11, 12: _encode_11, 13: _encode_11}


def decode(version: int, buffer: Buffer, position: int = 0) -> MetadataRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"MetadataRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No MetadataRequest of version {version}: {error}") from error


def encode(version: int, message: MetadataRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
