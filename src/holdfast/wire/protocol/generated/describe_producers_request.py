# Written by tools/generate_codecs.py from DescribeProducersRequest.json in kafka-clients-4.1.1: do not edit.
import struct
from dataclasses import dataclass, field

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
    partition_indexes: list[int] = field(default_factory=list)


@dataclass(slots=True)
class DescribeProducersRequest:
    topics: list[TopicRequest] = field(default_factory=list)


def _decode_0(buffer: memoryview, position: int) -> DescribeProducersRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[TopicRequest]
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
            raise bad_length("topic_request_name", stop - position)
        topic_request_name = str(buffer[position:stop], "utf-8")
        position = stop
        topic_request_partition_indexes: list[int]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 4 <= end - position or room < 0:
            raise bad_length("topic_request_partition_indexes", count)
        topic_request_partition_indexes = list(struct.unpack_from(f">{count}i", buffer, position))
        position += count * 4
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(TopicRequest(name=topic_request_name, partition_indexes=topic_request_partition_indexes))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return DescribeProducersRequest(topics=topics)


def _encode_0(message: DescribeProducersRequest) -> list[Buffer]:
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
        size = len(topic_request.partition_indexes) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += struct.pack(f">{len(topic_request.partition_indexes)}i", *topic_request.partition_indexes)
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0}
_ENCODERS = {0: _encode_0}


def decode(version: int, buffer: Buffer, position: int = 0) -> DescribeProducersRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"DescribeProducersRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No DescribeProducersRequest of version {version}: {error}") from error


def encode(version: int, message: DescribeProducersRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
