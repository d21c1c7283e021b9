# Written by tools/generate_codecs.py from OffsetForLeaderEpochRequest.json in kafka-clients-4.1.1: do not edit.
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
class OffsetForLeaderPartition:
    partition: int = 0
    current_leader_epoch: int = -1
    leader_epoch: int = 0


@dataclass(slots=True)
class OffsetForLeaderTopic:
    topic: str = ''
    partitions: list[OffsetForLeaderPartition] = field(default_factory=list)


@dataclass(slots=True)
class OffsetForLeaderEpochRequest:
    replica_id: int = -2
    topics: list[OffsetForLeaderTopic] = field(default_factory=list)


_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_unpack_iii = Struct(">iii").unpack_from
_unpack_iiiB = Struct(">iiiB").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_ii = Struct(">ii").pack
_pack_iii = Struct(">iii").pack
_pack_iiiB = Struct(">iiiB").pack


def _decode_2(buffer: memoryview, position: int) -> OffsetForLeaderEpochRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[OffsetForLeaderTopic]
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
            raise bad_length("offset_for_leader_topic_topic", stop - position)
        offset_for_leader_topic_topic = str(buffer[position:stop], "utf-8")
        position = stop
        offset_for_leader_topic_partitions: list[OffsetForLeaderPartition]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 12 <= end - position or room < 0:
            raise bad_length("offset_for_leader_topic_partitions", count)
        offset_for_leader_topic_partitions = []
        for _ in range(count):
            offset_for_leader_partition_partition, offset_for_leader_partition_current_leader_epoch, offset_for_leader_partition_leader_epoch = _unpack_iii(buffer, position)
            position += 12
            offset_for_leader_topic_partitions.append(OffsetForLeaderPartition(partition=offset_for_leader_partition_partition, current_leader_epoch=offset_for_leader_partition_current_leader_epoch, leader_epoch=offset_for_leader_partition_leader_epoch))
        topics.append(OffsetForLeaderTopic(topic=offset_for_leader_topic_topic, partitions=offset_for_leader_topic_partitions))
    return OffsetForLeaderEpochRequest(topics=topics)


def _decode_3(buffer: memoryview, position: int) -> OffsetForLeaderEpochRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[OffsetForLeaderTopic]
    replica_id, count = _unpack_ii(buffer, position)
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
            raise bad_length("offset_for_leader_topic_topic", stop - position)
        offset_for_leader_topic_topic = str(buffer[position:stop], "utf-8")
        position = stop
        offset_for_leader_topic_partitions: list[OffsetForLeaderPartition]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 12 <= end - position or room < 0:
            raise bad_length("offset_for_leader_topic_partitions", count)
        offset_for_leader_topic_partitions = []
        for _ in range(count):
            offset_for_leader_partition_partition, offset_for_leader_partition_current_leader_epoch, offset_for_leader_partition_leader_epoch = _unpack_iii(buffer, position)
            position += 12
            offset_for_leader_topic_partitions.append(OffsetForLeaderPartition(partition=offset_for_leader_partition_partition, current_leader_epoch=offset_for_leader_partition_current_leader_epoch, leader_epoch=offset_for_leader_partition_leader_epoch))
        topics.append(OffsetForLeaderTopic(topic=offset_for_leader_topic_topic, partitions=offset_for_leader_topic_partitions))
    return OffsetForLeaderEpochRequest(replica_id=replica_id, topics=topics)


def _decode_4(buffer: memoryview, position: int) -> OffsetForLeaderEpochRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[OffsetForLeaderTopic]
    replica_id, count = _unpack_iB(buffer, position)
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
            raise bad_length("offset_for_leader_topic_topic", stop - position)
        offset_for_leader_topic_topic = str(buffer[position:stop], "utf-8")
        position = stop
        offset_for_leader_topic_partitions: list[OffsetForLeaderPartition]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 13 <= end - position or room < 0:
            raise bad_length("offset_for_leader_topic_partitions", count)
        offset_for_leader_topic_partitions = []
        for _ in range(count):
            offset_for_leader_partition_partition, offset_for_leader_partition_current_leader_epoch, offset_for_leader_partition_leader_epoch, tags = _unpack_iiiB(buffer, position)
            position += 13
            if tags:
                position = skip_tags(buffer, position, tags)
            offset_for_leader_topic_partitions.append(OffsetForLeaderPartition(partition=offset_for_leader_partition_partition, current_leader_epoch=offset_for_leader_partition_current_leader_epoch, leader_epoch=offset_for_leader_partition_leader_epoch))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(OffsetForLeaderTopic(topic=offset_for_leader_topic_topic, partitions=offset_for_leader_topic_partitions))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return OffsetForLeaderEpochRequest(replica_id=replica_id, topics=topics)


def _encode_2(message: OffsetForLeaderEpochRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(len(message.topics))
    for offset_for_leader_topic in message.topics:
        raw = offset_for_leader_topic.topic.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(offset_for_leader_topic.partitions))
        for offset_for_leader_partition in offset_for_leader_topic.partitions:
            out += _pack_iii(offset_for_leader_partition.partition, offset_for_leader_partition.current_leader_epoch, offset_for_leader_partition.leader_epoch)
    return [out]


def _encode_3(message: OffsetForLeaderEpochRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_ii(message.replica_id, len(message.topics))
    for offset_for_leader_topic in message.topics:
        raw = offset_for_leader_topic.topic.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(offset_for_leader_topic.partitions))
        for offset_for_leader_partition in offset_for_leader_topic.partitions:
            out += _pack_iii(offset_for_leader_partition.partition, offset_for_leader_partition.current_leader_epoch, offset_for_leader_partition.leader_epoch)
    return [out]


def _encode_4(message: OffsetForLeaderEpochRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.replica_id)
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for offset_for_leader_topic in message.topics:
        raw = offset_for_leader_topic.topic.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(offset_for_leader_topic.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for offset_for_leader_partition in offset_for_leader_topic.partitions:
            out += _pack_iiiB(offset_for_leader_partition.partition, offset_for_leader_partition.current_leader_epoch, offset_for_leader_partition.leader_epoch, 0)
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {2: _decode_2, 3: _decode_3, 4: _decode_4}
_ENCODERS = {2: _encode_2, 3: _encode_3, 4: _encode_4}


def decode(version: int, buffer: Buffer, position: int = 0) -> OffsetForLeaderEpochRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"OffsetForLeaderEpochRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No OffsetForLeaderEpochRequest of version {version}: {error}") from error


def encode(version: int, message: OffsetForLeaderEpochRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
