# Written by tools/generate_codecs.py from AlterPartitionReassignmentsRequest.json in kafka-clients-4.1.1: do not edit.
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
class ReassignablePartition:
    partition_index: int = 0
    replicas: list[int] | None = None


@dataclass(slots=True)
class ReassignableTopic:
    name: str = ''
    partitions: list[ReassignablePartition] = field(default_factory=list)


@dataclass(slots=True)
class AlterPartitionReassignmentsRequest:
    timeout_ms: int = 60000
    allow_replication_factor_change: bool = True
    topics: list[ReassignableTopic] = field(default_factory=list)


_unpack_iB = Struct(">iB").unpack_from
_unpack_itB = Struct(">i?B").unpack_from
_pack_i = Struct(">i").pack
_pack_it = Struct(">i?").pack


def _decode_0(buffer: memoryview, position: int) -> AlterPartitionReassignmentsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[ReassignableTopic]
    timeout_ms, count = _unpack_iB(buffer, position)
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
            raise bad_length("reassignable_topic_name", stop - position)
        reassignable_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        reassignable_topic_partitions: list[ReassignablePartition]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 6 <= end - position or room < 0:
            raise bad_length("reassignable_topic_partitions", count)
        reassignable_topic_partitions = []
        for _ in range(count):
            reassignable_partition_replicas: list[int] | None
            reassignable_partition_partition_index, count = _unpack_iB(buffer, position)
            position += 5
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            if count:
                count -= 1
                room -= count
                if not 0 <= count * 4 <= end - position or room < 0:
                    raise bad_length("reassignable_partition_replicas", count)
                reassignable_partition_replicas = list(struct.unpack_from(f">{count}i", buffer, position))
                position += count * 4
            else:
                reassignable_partition_replicas = None
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            reassignable_topic_partitions.append(ReassignablePartition(partition_index=reassignable_partition_partition_index, replicas=reassignable_partition_replicas))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(ReassignableTopic(name=reassignable_topic_name, partitions=reassignable_topic_partitions))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return AlterPartitionReassignmentsRequest(timeout_ms=timeout_ms, topics=topics)


def _decode_1(buffer: memoryview, position: int) -> AlterPartitionReassignmentsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[ReassignableTopic]
    timeout_ms, allow_replication_factor_change, count = _unpack_itB(buffer, position)
    position += 6
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
            raise bad_length("reassignable_topic_name", stop - position)
        reassignable_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        reassignable_topic_partitions: list[ReassignablePartition]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 6 <= end - position or room < 0:
            raise bad_length("reassignable_topic_partitions", count)
        reassignable_topic_partitions = []
        for _ in range(count):
            reassignable_partition_replicas: list[int] | None
            reassignable_partition_partition_index, count = _unpack_iB(buffer, position)
            position += 5
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            if count:
                count -= 1
                room -= count
                if not 0 <= count * 4 <= end - position or room < 0:
                    raise bad_length("reassignable_partition_replicas", count)
                reassignable_partition_replicas = list(struct.unpack_from(f">{count}i", buffer, position))
                position += count * 4
            else:
                reassignable_partition_replicas = None
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            reassignable_topic_partitions.append(ReassignablePartition(partition_index=reassignable_partition_partition_index, replicas=reassignable_partition_replicas))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(ReassignableTopic(name=reassignable_topic_name, partitions=reassignable_topic_partitions))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return AlterPartitionReassignmentsRequest(timeout_ms=timeout_ms, allow_replication_factor_change=allow_replication_factor_change, topics=topics)


def _encode_0(message: AlterPartitionReassignmentsRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.timeout_ms)
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for reassignable_topic in message.topics:
        raw = reassignable_topic.name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(reassignable_topic.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for reassignable_partition in reassignable_topic.partitions:
            out += _pack_i(reassignable_partition.partition_index)
            if reassignable_partition.replicas is None:
                out.append(0)
            else:
                size = len(reassignable_partition.replicas) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += struct.pack(f">{len(reassignable_partition.replicas)}i", *reassignable_partition.replicas)
            out.append(0)
        out.append(0)
    out.append(0)
    return [out]


def _encode_1(message: AlterPartitionReassignmentsRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_it(message.timeout_ms, message.allow_replication_factor_change)
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for reassignable_topic in message.topics:
        raw = reassignable_topic.name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(reassignable_topic.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for reassignable_partition in reassignable_topic.partitions:
            out += _pack_i(reassignable_partition.partition_index)
            if reassignable_partition.replicas is None:
                out.append(0)
            else:
                size = len(reassignable_partition.replicas) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += struct.pack(f">{len(reassignable_partition.replicas)}i", *reassignable_partition.replicas)
            out.append(0)
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_1}
_ENCODERS = {0: _encode_0, 1: _encode_1}


def decode(version: int, buffer: Buffer, position: int = 0) -> AlterPartitionReassignmentsRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"AlterPartitionReassignmentsRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No AlterPartitionReassignmentsRequest of version {version}: {error}") from error


def encode(version: int, message: AlterPartitionReassignmentsRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
