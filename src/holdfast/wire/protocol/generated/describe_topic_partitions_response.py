# Written by tools/generate_codecs.py from DescribeTopicPartitionsResponse.json in kafka-clients-4.1.1: do not edit.
import struct
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
class DescribeTopicPartitionsResponsePartition:
    error_code: int = 0
    partition_index: int = 0
    leader_id: int = 0
    leader_epoch: int = -1
    replica_nodes: list[int] = field(default_factory=list)
    isr_nodes: list[int] = field(default_factory=list)
    eligible_leader_replicas: list[int] | None = None
    last_known_elr: list[int] | None = None
    offline_replicas: list[int] = field(default_factory=list)


@dataclass(slots=True)
class DescribeTopicPartitionsResponseTopic:
    error_code: int = 0
    name: str | None = ''
    topic_id: UUID = ZERO_UUID
    is_internal: bool = False
    partitions: list[DescribeTopicPartitionsResponsePartition] = field(default_factory=list)
    topic_authorized_operations: int = -2147483648


@dataclass(slots=True)
class Cursor:
    topic_name: str = ''
    partition_index: int = 0


@dataclass(slots=True)
class DescribeTopicPartitionsResponse:
    throttle_time_ms: int = 0
    topics: list[DescribeTopicPartitionsResponseTopic] = field(default_factory=list)
    next_cursor: Cursor | None = None


_unpack_b = Struct(">b").unpack_from
_unpack_hB = Struct(">hB").unpack_from
_unpack_hiiiB = Struct(">hiiiB").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_utB = Struct(">16s?B").unpack_from
_pack_b = Struct(">b").pack
_pack_h = Struct(">h").pack
_pack_hiii = Struct(">hiii").pack
_pack_i = Struct(">i").pack
_pack_iB = Struct(">iB").pack
_pack_ut = Struct(">16s?").pack


def _decode_0(buffer: memoryview, position: int) -> DescribeTopicPartitionsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    topics: list[DescribeTopicPartitionsResponseTopic]
    throttle_time_ms, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 26 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        describe_topic_partitions_response_topic_name: str | None
        describe_topic_partitions_response_topic_error_code, length = _unpack_hB(buffer, position)
        position += 3
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("describe_topic_partitions_response_topic_name", stop - position)
            describe_topic_partitions_response_topic_name = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            describe_topic_partitions_response_topic_name = None
        describe_topic_partitions_response_topic_partitions: list[DescribeTopicPartitionsResponsePartition]
        describe_topic_partitions_response_topic_topic_id, describe_topic_partitions_response_topic_is_internal, count = _unpack_utB(buffer, position)
        position += 18
        describe_topic_partitions_response_topic_topic_id = uuid_of(describe_topic_partitions_response_topic_topic_id)
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 20 <= end - position or room < 0:
            raise bad_length("describe_topic_partitions_response_topic_partitions", count)
        describe_topic_partitions_response_topic_partitions = []
        for _ in range(count):
            describe_topic_partitions_response_partition_replica_nodes: list[int]
            describe_topic_partitions_response_partition_error_code, describe_topic_partitions_response_partition_partition_index, describe_topic_partitions_response_partition_leader_id, describe_topic_partitions_response_partition_leader_epoch, count = _unpack_hiiiB(buffer, position)
            position += 15
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("describe_topic_partitions_response_partition_replica_nodes", count)
            describe_topic_partitions_response_partition_replica_nodes = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            describe_topic_partitions_response_partition_isr_nodes: list[int]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("describe_topic_partitions_response_partition_isr_nodes", count)
            describe_topic_partitions_response_partition_isr_nodes = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            describe_topic_partitions_response_partition_eligible_leader_replicas: list[int] | None
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            if count:
                count -= 1
                room -= count
                if not 0 <= count * 4 <= end - position or room < 0:
                    raise bad_length("describe_topic_partitions_response_partition_eligible_leader_replicas", count)
                describe_topic_partitions_response_partition_eligible_leader_replicas = list(struct.unpack_from(f">{count}i", buffer, position))
                position += count * 4
            else:
                describe_topic_partitions_response_partition_eligible_leader_replicas = None
            describe_topic_partitions_response_partition_last_known_elr: list[int] | None
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            if count:
                count -= 1
                room -= count
                if not 0 <= count * 4 <= end - position or room < 0:
                    raise bad_length("describe_topic_partitions_response_partition_last_known_elr", count)
                describe_topic_partitions_response_partition_last_known_elr = list(struct.unpack_from(f">{count}i", buffer, position))
                position += count * 4
            else:
                describe_topic_partitions_response_partition_last_known_elr = None
            describe_topic_partitions_response_partition_offline_replicas: list[int]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("describe_topic_partitions_response_partition_offline_replicas", count)
            describe_topic_partitions_response_partition_offline_replicas = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            describe_topic_partitions_response_topic_partitions.append(DescribeTopicPartitionsResponsePartition(error_code=describe_topic_partitions_response_partition_error_code, partition_index=describe_topic_partitions_response_partition_partition_index, leader_id=describe_topic_partitions_response_partition_leader_id, leader_epoch=describe_topic_partitions_response_partition_leader_epoch, replica_nodes=describe_topic_partitions_response_partition_replica_nodes, isr_nodes=describe_topic_partitions_response_partition_isr_nodes, eligible_leader_replicas=describe_topic_partitions_response_partition_eligible_leader_replicas, last_known_elr=describe_topic_partitions_response_partition_last_known_elr, offline_replicas=describe_topic_partitions_response_partition_offline_replicas))
        describe_topic_partitions_response_topic_topic_authorized_operations, tags = _unpack_iB(buffer, position)
        position += 5
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(DescribeTopicPartitionsResponseTopic(error_code=describe_topic_partitions_response_topic_error_code, name=describe_topic_partitions_response_topic_name, topic_id=describe_topic_partitions_response_topic_topic_id, is_internal=describe_topic_partitions_response_topic_is_internal, partitions=describe_topic_partitions_response_topic_partitions, topic_authorized_operations=describe_topic_partitions_response_topic_topic_authorized_operations))
    next_cursor: Cursor | None
    (present,) = _unpack_b(buffer, position)
    position += 1
    if present < 0:
        next_cursor = None
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
        next_cursor = Cursor(topic_name=cursor_topic_name, partition_index=cursor_partition_index)
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return DescribeTopicPartitionsResponse(throttle_time_ms=throttle_time_ms, topics=topics, next_cursor=next_cursor)


def _encode_0(message: DescribeTopicPartitionsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.throttle_time_ms)
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for describe_topic_partitions_response_topic in message.topics:
        out += _pack_h(describe_topic_partitions_response_topic.error_code)
        if describe_topic_partitions_response_topic.name is None:
            out.append(0)
        else:
            raw = describe_topic_partitions_response_topic.name.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        out += _pack_ut(describe_topic_partitions_response_topic.topic_id.bytes, describe_topic_partitions_response_topic.is_internal)
        size = len(describe_topic_partitions_response_topic.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for describe_topic_partitions_response_partition in describe_topic_partitions_response_topic.partitions:
            out += _pack_hiii(describe_topic_partitions_response_partition.error_code, describe_topic_partitions_response_partition.partition_index, describe_topic_partitions_response_partition.leader_id, describe_topic_partitions_response_partition.leader_epoch)
            size = len(describe_topic_partitions_response_partition.replica_nodes) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += struct.pack(f">{len(describe_topic_partitions_response_partition.replica_nodes)}i", *describe_topic_partitions_response_partition.replica_nodes)
            size = len(describe_topic_partitions_response_partition.isr_nodes) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += struct.pack(f">{len(describe_topic_partitions_response_partition.isr_nodes)}i", *describe_topic_partitions_response_partition.isr_nodes)
            if describe_topic_partitions_response_partition.eligible_leader_replicas is None:
                out.append(0)
            else:
                size = len(describe_topic_partitions_response_partition.eligible_leader_replicas) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += struct.pack(f">{len(describe_topic_partitions_response_partition.eligible_leader_replicas)}i", *describe_topic_partitions_response_partition.eligible_leader_replicas)
            if describe_topic_partitions_response_partition.last_known_elr is None:
                out.append(0)
            else:
                size = len(describe_topic_partitions_response_partition.last_known_elr) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += struct.pack(f">{len(describe_topic_partitions_response_partition.last_known_elr)}i", *describe_topic_partitions_response_partition.last_known_elr)
            size = len(describe_topic_partitions_response_partition.offline_replicas) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += struct.pack(f">{len(describe_topic_partitions_response_partition.offline_replicas)}i", *describe_topic_partitions_response_partition.offline_replicas)
            out.append(0)
        out += _pack_iB(describe_topic_partitions_response_topic.topic_authorized_operations, 0)
    if message.next_cursor is None:
        out.append(255)
    else:
        cursor = message.next_cursor
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


def decode(version: int, buffer: Buffer, position: int = 0) -> DescribeTopicPartitionsResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"DescribeTopicPartitionsResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No DescribeTopicPartitionsResponse of version {version}: {error}") from error


def encode(version: int, message: DescribeTopicPartitionsResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
