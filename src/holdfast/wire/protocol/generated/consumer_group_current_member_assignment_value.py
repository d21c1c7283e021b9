# Written by tools/generate_codecs.py from ConsumerGroupCurrentMemberAssignmentValue.json in kafka-group-coordinator-4.1.1: do not edit.
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
class TopicPartitions:
    topic_id: UUID = ZERO_UUID
    partitions: list[int] = field(default_factory=list)


@dataclass(slots=True)
class ConsumerGroupCurrentMemberAssignmentValue:
    member_epoch: int = 0
    previous_member_epoch: int = 0
    state: int = 0
    assigned_partitions: list[TopicPartitions] = field(default_factory=list)
    partitions_pending_revocation: list[TopicPartitions] = field(default_factory=list)


_unpack_iibB = Struct(">iibB").unpack_from
_unpack_uB = Struct(">16sB").unpack_from
_pack_iib = Struct(">iib").pack
_pack_u = Struct(">16s").pack


def _decode_0(buffer: memoryview, position: int) -> ConsumerGroupCurrentMemberAssignmentValue:
    end = len(buffer)
    room = MOST_ELEMENTS
    assigned_partitions: list[TopicPartitions]
    member_epoch, previous_member_epoch, state, count = _unpack_iibB(buffer, position)
    position += 10
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 18 <= end - position or room < 0:
        raise bad_length("assigned_partitions", count)
    assigned_partitions = []
    for _ in range(count):
        topic_partitions_partitions: list[int]
        topic_partitions_topic_id, count = _unpack_uB(buffer, position)
        position += 17
        topic_partitions_topic_id = uuid_of(topic_partitions_topic_id)
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 4 <= end - position or room < 0:
            raise bad_length("topic_partitions_partitions", count)
        topic_partitions_partitions = list(struct.unpack_from(f">{count}i", buffer, position))
        position += count * 4
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        assigned_partitions.append(TopicPartitions(topic_id=topic_partitions_topic_id, partitions=topic_partitions_partitions))
    partitions_pending_revocation: list[TopicPartitions]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 18 <= end - position or room < 0:
        raise bad_length("partitions_pending_revocation", count)
    partitions_pending_revocation = []
    for _ in range(count):
        topic_partitions_partitions: list[int]
        topic_partitions_topic_id, count = _unpack_uB(buffer, position)
        position += 17
        topic_partitions_topic_id = uuid_of(topic_partitions_topic_id)
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 4 <= end - position or room < 0:
            raise bad_length("topic_partitions_partitions", count)
        topic_partitions_partitions = list(struct.unpack_from(f">{count}i", buffer, position))
        position += count * 4
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        partitions_pending_revocation.append(TopicPartitions(topic_id=topic_partitions_topic_id, partitions=topic_partitions_partitions))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return ConsumerGroupCurrentMemberAssignmentValue(member_epoch=member_epoch, previous_member_epoch=previous_member_epoch, state=state, assigned_partitions=assigned_partitions, partitions_pending_revocation=partitions_pending_revocation)


def _encode_0(message: ConsumerGroupCurrentMemberAssignmentValue) -> list[Buffer]:
    out = bytearray()
    out += _pack_iib(message.member_epoch, message.previous_member_epoch, message.state)
    size = len(message.assigned_partitions) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for topic_partitions in message.assigned_partitions:
        out += _pack_u(topic_partitions.topic_id.bytes)
        size = len(topic_partitions.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += struct.pack(f">{len(topic_partitions.partitions)}i", *topic_partitions.partitions)
        out.append(0)
    size = len(message.partitions_pending_revocation) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for topic_partitions in message.partitions_pending_revocation:
        out += _pack_u(topic_partitions.topic_id.bytes)
        size = len(topic_partitions.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += struct.pack(f">{len(topic_partitions.partitions)}i", *topic_partitions.partitions)
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0}
_ENCODERS = {0: _encode_0}


def decode(version: int, buffer: Buffer, position: int = 0) -> ConsumerGroupCurrentMemberAssignmentValue:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"ConsumerGroupCurrentMemberAssignmentValue has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No ConsumerGroupCurrentMemberAssignmentValue of version {version}: {error}") from error


def encode(version: int, message: ConsumerGroupCurrentMemberAssignmentValue) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)


def pack(version: int, message: ConsumerGroupCurrentMemberAssignmentValue) -> bytes:
    """The value as it is in a record: its version in two bytes, then the message."""
    return version.to_bytes(2, "big") + b"".join(encode(version, message))


def unpack(buffer: Buffer) -> tuple[int, ConsumerGroupCurrentMemberAssignmentValue]:
    """The version and the message of a value that `pack` made, or Kafka."""
    version = int.from_bytes(buffer[:2], "big")
    return version, decode(version, buffer, 2)
