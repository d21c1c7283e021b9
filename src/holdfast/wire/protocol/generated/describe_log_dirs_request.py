# Written by tools/generate_codecs.py from DescribeLogDirsRequest.json in kafka-clients-4.1.1: do not edit.
import struct
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
class DescribableLogDirTopic:
    topic: str = ''
    partitions: list[int] = field(default_factory=list)


@dataclass(slots=True)
class DescribeLogDirsRequest:
    topics: list[DescribableLogDirTopic] | None = field(default_factory=list)


_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack


def _decode_1(buffer: memoryview, position: int) -> DescribeLogDirsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[DescribableLogDirTopic] | None
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
                raise bad_length("describable_log_dir_topic_topic", stop - position)
            describable_log_dir_topic_topic = str(buffer[position:stop], "utf-8")
            position = stop
            describable_log_dir_topic_partitions: list[int]
            (count,) = _unpack_i(buffer, position)
            position += 4
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("describable_log_dir_topic_partitions", count)
            describable_log_dir_topic_partitions = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            topics.append(DescribableLogDirTopic(topic=describable_log_dir_topic_topic, partitions=describable_log_dir_topic_partitions))
    else:
        topics = None
    return DescribeLogDirsRequest(topics=topics)


def _decode_2(buffer: memoryview, position: int) -> DescribeLogDirsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[DescribableLogDirTopic] | None
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
                raise bad_length("describable_log_dir_topic_topic", stop - position)
            describable_log_dir_topic_topic = str(buffer[position:stop], "utf-8")
            position = stop
            describable_log_dir_topic_partitions: list[int]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("describable_log_dir_topic_partitions", count)
            describable_log_dir_topic_partitions = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            topics.append(DescribableLogDirTopic(topic=describable_log_dir_topic_topic, partitions=describable_log_dir_topic_partitions))
    else:
        topics = None
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return DescribeLogDirsRequest(topics=topics)


def _encode_1(message: DescribeLogDirsRequest) -> list[Buffer]:
    out = bytearray()
    if message.topics is None:
        out += b"\xff\xff\xff\xff"
    else:
        out += _pack_i(len(message.topics))
        for describable_log_dir_topic in message.topics:
            raw = describable_log_dir_topic.topic.encode()
            out += _pack_h(len(raw))
            out += raw
            out += _pack_i(len(describable_log_dir_topic.partitions))
            out += struct.pack(f">{len(describable_log_dir_topic.partitions)}i", *describable_log_dir_topic.partitions)
    return [out]


def _encode_2(message: DescribeLogDirsRequest) -> list[Buffer]:
    out = bytearray()
    if message.topics is None:
        out.append(0)
    else:
        size = len(message.topics) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for describable_log_dir_topic in message.topics:
            raw = describable_log_dir_topic.topic.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            size = len(describable_log_dir_topic.partitions) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += struct.pack(f">{len(describable_log_dir_topic.partitions)}i", *describable_log_dir_topic.partitions)
            out.append(0)
    out.append(0)
    return [out]


_DECODERS = {1: _decode_1, 2: _decode_2, 3: _decode_2, 4: _decode_2}
_ENCODERS = {1: _encode_1, 2: _encode_2, 3: _encode_2, 4: _encode_2}


def decode(version: int, buffer: Buffer, position: int = 0) -> DescribeLogDirsRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"DescribeLogDirsRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No DescribeLogDirsRequest of version {version}: {error}") from error


def encode(version: int, message: DescribeLogDirsRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
