# Written by tools/generate_codecs.py from ListPartitionReassignmentsResponse.json in kafka-clients-4.1.1: do not edit.
import struct
from dataclasses import dataclass, field
from struct import Struct

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    MOST_ELEMENTS,
    UNDECODABLE,
    Buffer,
    bad_length,
    read_long_string_length,
    read_long_uvarint,
    skip_tags,
    uvarint,
)


@dataclass(slots=True)
class OngoingPartitionReassignment:
    partition_index: int = 0
    replicas: list[int] = field(default_factory=list)
    adding_replicas: list[int] = field(default_factory=list)
    removing_replicas: list[int] = field(default_factory=list)


@dataclass(slots=True)
class OngoingTopicReassignment:
    name: str = ''
    partitions: list[OngoingPartitionReassignment] = field(default_factory=list)


@dataclass(slots=True)
class ListPartitionReassignmentsResponse:
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ''
    topics: list[OngoingTopicReassignment] = field(default_factory=list)


_unpack_iB = Struct(">iB").unpack_from
_unpack_ihB = Struct(">ihB").unpack_from
_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack


def _decode_0(buffer: memoryview, position: int) -> ListPartitionReassignmentsResponse:
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
    topics: list[OngoingTopicReassignment]
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
            raise bad_length("ongoing_topic_reassignment_name", stop - position)
        ongoing_topic_reassignment_name = str(buffer[position:stop], "utf-8")
        position = stop
        ongoing_topic_reassignment_partitions: list[OngoingPartitionReassignment]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 8 <= end - position or room < 0:
            raise bad_length("ongoing_topic_reassignment_partitions", count)
        ongoing_topic_reassignment_partitions = []
        for _ in range(count):
            ongoing_partition_reassignment_replicas: list[int]
            ongoing_partition_reassignment_partition_index, count = _unpack_iB(buffer, position)
            position += 5
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("ongoing_partition_reassignment_replicas", count)
            ongoing_partition_reassignment_replicas = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            ongoing_partition_reassignment_adding_replicas: list[int]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("ongoing_partition_reassignment_adding_replicas", count)
            ongoing_partition_reassignment_adding_replicas = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            ongoing_partition_reassignment_removing_replicas: list[int]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("ongoing_partition_reassignment_removing_replicas", count)
            ongoing_partition_reassignment_removing_replicas = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            ongoing_topic_reassignment_partitions.append(OngoingPartitionReassignment(partition_index=ongoing_partition_reassignment_partition_index, replicas=ongoing_partition_reassignment_replicas, adding_replicas=ongoing_partition_reassignment_adding_replicas, removing_replicas=ongoing_partition_reassignment_removing_replicas))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(OngoingTopicReassignment(name=ongoing_topic_reassignment_name, partitions=ongoing_topic_reassignment_partitions))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return ListPartitionReassignmentsResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, error_message=error_message, topics=topics)


def _encode_0(message: ListPartitionReassignmentsResponse) -> list[Buffer]:
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
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for ongoing_topic_reassignment in message.topics:
        raw = ongoing_topic_reassignment.name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(ongoing_topic_reassignment.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for ongoing_partition_reassignment in ongoing_topic_reassignment.partitions:
            out += _pack_i(ongoing_partition_reassignment.partition_index)
            size = len(ongoing_partition_reassignment.replicas) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += struct.pack(f">{len(ongoing_partition_reassignment.replicas)}i", *ongoing_partition_reassignment.replicas)
            size = len(ongoing_partition_reassignment.adding_replicas) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += struct.pack(f">{len(ongoing_partition_reassignment.adding_replicas)}i", *ongoing_partition_reassignment.adding_replicas)
            size = len(ongoing_partition_reassignment.removing_replicas) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += struct.pack(f">{len(ongoing_partition_reassignment.removing_replicas)}i", *ongoing_partition_reassignment.removing_replicas)
            out.append(0)
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0}
_ENCODERS = {0: _encode_0}


def decode(version: int, buffer: Buffer, position: int = 0) -> ListPartitionReassignmentsResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"ListPartitionReassignmentsResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No ListPartitionReassignmentsResponse of version {version}: {error}") from error


def encode(version: int, message: ListPartitionReassignmentsResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
