# Written by tools/generate_codecs.py from DescribeQuorumRequest.json in kafka-clients-4.1.1: do not edit.
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
class PartitionData:
    partition_index: int = 0


@dataclass(slots=True)
class TopicData:
    topic_name: str = ''
    partitions: list[PartitionData] = field(default_factory=list)


@dataclass(slots=True)
class DescribeQuorumRequest:
    topics: list[TopicData] = field(default_factory=list)


_unpack_iB = Struct(">iB").unpack_from
_pack_iB = Struct(">iB").pack


def _decode_0(buffer: memoryview, position: int) -> DescribeQuorumRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[TopicData]
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
            raise bad_length("topic_data_topic_name", stop - position)
        topic_data_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        topic_data_partitions: list[PartitionData]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 5 <= end - position or room < 0:
            raise bad_length("topic_data_partitions", count)
        topic_data_partitions = []
        for _ in range(count):
            partition_data_partition_index, tags = _unpack_iB(buffer, position)
            position += 5
            if tags:
                position = skip_tags(buffer, position, tags)
            topic_data_partitions.append(PartitionData(partition_index=partition_data_partition_index))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(TopicData(topic_name=topic_data_topic_name, partitions=topic_data_partitions))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return DescribeQuorumRequest(topics=topics)


def _encode_0(message: DescribeQuorumRequest) -> list[Buffer]:
    out = bytearray()
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for topic_data in message.topics:
        raw = topic_data.topic_name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(topic_data.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for partition_data in topic_data.partitions:
            out += _pack_iB(partition_data.partition_index, 0)
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_0, 2: _decode_0}
_ENCODERS = {0: _encode_0, 1: _encode_0, 2: _encode_0}


def decode(version: int, buffer: Buffer, position: int = 0) -> DescribeQuorumRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"DescribeQuorumRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No DescribeQuorumRequest of version {version}: {error}") from error


def encode(version: int, message: DescribeQuorumRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
