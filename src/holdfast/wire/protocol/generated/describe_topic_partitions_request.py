# Written by tools/generate_codecs.py from DescribeTopicPartitionsRequest.json in kafka-clients-4.1.1: do not edit.
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
class TopicRequest:
    name: str = ''


@dataclass(slots=True)
class Cursor:
    topic_name: str = ''
    partition_index: int = 0


@dataclass(slots=True)
class DescribeTopicPartitionsRequest:
    topics: list[TopicRequest] = field(default_factory=list)
    response_partition_limit: int = 2000
    cursor: Cursor | None = None


_unpack_iB = Struct(">iB").unpack_from
_unpack_ib = Struct(">ib").unpack_from
_pack_b = Struct(">b").pack
_pack_i = Struct(">i").pack
_pack_iB = Struct(">iB").pack


def _decode_0(buffer: memoryview, position: int) -> DescribeTopicPartitionsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[TopicRequest]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 2 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("topic_request_name", stop - position)
        topic_request_name = str(buffer[position:stop], "utf-8")
        position = stop
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(TopicRequest(name=topic_request_name))
    cursor: Cursor | None
    response_partition_limit, present = _unpack_ib(buffer, position)
    position += 5
    if present < 0:
        cursor = None
    else:
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("cursor_topic_name", stop - position)
        cursor_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        cursor_partition_index, tags = _unpack_iB(buffer, position)
        position += 5
        if tags:
            position = skip_tags(buffer, position, tags)
        cursor = Cursor(topic_name=cursor_topic_name, partition_index=cursor_partition_index)
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return DescribeTopicPartitionsRequest(topics=topics, response_partition_limit=response_partition_limit, cursor=cursor)


def _encode_0(message: DescribeTopicPartitionsRequest) -> list[Buffer]:
    out = bytearray()
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for topic_request in message.topics:
        raw = topic_request.name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out.append(0)
    out += _pack_i(message.response_partition_limit)
    if message.cursor is None:
        out.append(255)
    else:
        cursor = message.cursor
        raw = cursor.topic_name.encode()
        out += _pack_b(1)
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out += _pack_iB(cursor.partition_index, 0)
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0}
_ENCODERS = {0: _encode_0}


def decode(version: int, buffer: Buffer, position: int = 0) -> DescribeTopicPartitionsRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"DescribeTopicPartitionsRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No DescribeTopicPartitionsRequest of version {version}: {error}") from error


def encode(version: int, message: DescribeTopicPartitionsRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
