# Written by tools/generate_codecs.py from ConsumerGroupHeartbeatResponse.json in kafka-clients-4.1.1: do not edit.
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
class TopicPartitions:
    topic_id: UUID = ZERO_UUID
    partitions: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Assignment:
    topic_partitions: list[TopicPartitions] = field(default_factory=list)


@dataclass(slots=True)
class ConsumerGroupHeartbeatResponse:
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = None
    member_id: str | None = None
    member_epoch: int = 0
    heartbeat_interval_ms: int = 0
    assignment: Assignment | None = None


_unpack_ihB = Struct(">ihB").unpack_from
_unpack_iib = Struct(">iib").unpack_from
_unpack_uB = Struct(">16sB").unpack_from
_pack_b = Struct(">b").pack
_pack_ih = Struct(">ih").pack
_pack_ii = Struct(">ii").pack
_pack_u = Struct(">16s").pack


def _decode_0(buffer: memoryview, position: int) -> ConsumerGroupHeartbeatResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    error_message: str | None
    throttle_time_ms, error_code, length = _unpack_ihB(buffer, position)
    position += 7
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    if length:
        stop = position + length - 1
        if stop > end:
            raise bad_length("error_message", stop - position)
        error_message = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        error_message = None
    member_id: str | None
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    if length:
        stop = position + length - 1
        if stop > end:
            raise bad_length("member_id", stop - position)
        member_id = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        member_id = None
    assignment: Assignment | None
    member_epoch, heartbeat_interval_ms, present = _unpack_iib(buffer, position)
    position += 9
    if present < 0:
        assignment = None
    else:
        assignment_topic_partitions: list[TopicPartitions]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 18 <= end - position or room < 0:
            raise bad_length("assignment_topic_partitions", count)
        assignment_topic_partitions = []
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
            assignment_topic_partitions.append(TopicPartitions(topic_id=topic_partitions_topic_id, partitions=topic_partitions_partitions))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        assignment = Assignment(topic_partitions=assignment_topic_partitions)
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return ConsumerGroupHeartbeatResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, error_message=error_message, member_id=member_id, member_epoch=member_epoch, heartbeat_interval_ms=heartbeat_interval_ms, assignment=assignment)


def _encode_0(message: ConsumerGroupHeartbeatResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ih(message.throttle_time_ms, message.error_code)
    if message.error_message is None:
        out.append(0)
    else:
        raw = message.error_message.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    if message.member_id is None:
        out.append(0)
    else:
        raw = message.member_id.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    out += _pack_ii(message.member_epoch, message.heartbeat_interval_ms)
    if message.assignment is None:
        out.append(255)
    else:
        assignment = message.assignment
        out += _pack_b(1)
        size = len(assignment.topic_partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for topic_partitions in assignment.topic_partitions:
            out += _pack_u(topic_partitions.topic_id.bytes)
            size = len(topic_partitions.partitions) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += struct.pack(f">{len(topic_partitions.partitions)}i", *topic_partitions.partitions)
            out.append(0)
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_0}
_ENCODERS = {0: _encode_0, 1: _encode_0}


def decode(version: int, buffer: Buffer, position: int = 0) -> ConsumerGroupHeartbeatResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"ConsumerGroupHeartbeatResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No ConsumerGroupHeartbeatResponse of version {version}: {error}") from error


def encode(version: int, message: ConsumerGroupHeartbeatResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
