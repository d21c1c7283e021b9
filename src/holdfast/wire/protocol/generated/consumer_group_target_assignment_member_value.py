# Written by tools/generate_codecs.py from ConsumerGroupTargetAssignmentMemberValue.json in kafka-group-coordinator-4.1.1: do not edit.
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
    read_long_uvarint,
    skip_tags,
    uuid_of,
    uvarint,
)


@dataclass(slots=True)
class TopicPartition:
    topic_id: UUID = ZERO_UUID
    partitions: list[int] = field(default_factory=list)


@dataclass(slots=True)
class ConsumerGroupTargetAssignmentMemberValue:
    topic_partitions: list[TopicPartition] = field(default_factory=list)


_unpack_uB = Struct(">16sB").unpack_from
_pack_u = Struct(">16s").pack


def _decode_0(buffer: memoryview, position: int) -> ConsumerGroupTargetAssignmentMemberValue:
    end = len(buffer)
    room = MOST_ELEMENTS
    topic_partitions: list[TopicPartition]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 18 <= end - position or room < 0:
        raise bad_length("topic_partitions", count)
    topic_partitions = []
    for _ in range(count):
        topic_partition_partitions: list[int]
        topic_partition_topic_id, count = _unpack_uB(buffer, position)
        position += 17
        topic_partition_topic_id = uuid_of(topic_partition_topic_id)
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 4 <= end - position or room < 0:
            raise bad_length("topic_partition_partitions", count)
        topic_partition_partitions = list(struct.unpack_from(f">{count}i", buffer, position))
        position += count * 4
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        topic_partitions.append(TopicPartition(topic_id=topic_partition_topic_id, partitions=topic_partition_partitions))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return ConsumerGroupTargetAssignmentMemberValue(topic_partitions=topic_partitions)


def _encode_0(message: ConsumerGroupTargetAssignmentMemberValue) -> list[Buffer]:
    out = bytearray()
    size = len(message.topic_partitions) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for topic_partition in message.topic_partitions:
        out += _pack_u(topic_partition.topic_id.bytes)
        size = len(topic_partition.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += struct.pack(f">{len(topic_partition.partitions)}i", *topic_partition.partitions)
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0}
_ENCODERS = {0: _encode_0}


def decode(version: int, buffer: Buffer, position: int = 0) -> ConsumerGroupTargetAssignmentMemberValue:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"ConsumerGroupTargetAssignmentMemberValue has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No ConsumerGroupTargetAssignmentMemberValue of version {version}: {error}") from error


def encode(version: int, message: ConsumerGroupTargetAssignmentMemberValue) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)


def pack(version: int, message: ConsumerGroupTargetAssignmentMemberValue) -> bytes:
    """The value as it is in a record: its version in two bytes, then the message."""
    return version.to_bytes(2, "big") + b"".join(encode(version, message))


def unpack(buffer: Buffer) -> tuple[int, ConsumerGroupTargetAssignmentMemberValue]:
    """The version and the message of a value that `pack` made, or Kafka."""
    version = int.from_bytes(buffer[:2], "big")
    return version, decode(version, buffer, 2)
