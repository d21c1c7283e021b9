# Written by tools/generate_codecs.py from ListPartitionReassignmentsRequest.json in kafka-clients-4.1.1: do not edit.
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
class ListPartitionReassignmentsTopics:
    name: str = ''
    partition_indexes: list[int] = field(default_factory=list)


@dataclass(slots=True)
class ListPartitionReassignmentsRequest:
    timeout_ms: int = 60000
    topics: list[ListPartitionReassignmentsTopics] | None = None


_unpack_iB = Struct(">iB").unpack_from
_pack_i = Struct(">i").pack


def _decode_0(buffer: memoryview, position: int) -> ListPartitionReassignmentsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[ListPartitionReassignmentsTopics] | None
    timeout_ms, count = _unpack_iB(buffer, position)
    position += 5
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
                raise bad_length("list_partition_reassignments_topics_name", stop - position)
            list_partition_reassignments_topics_name = str(buffer[position:stop], "utf-8")
            position = stop
            list_partition_reassignments_topics_partition_indexes: list[int]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("list_partition_reassignments_topics_partition_indexes", count)
            list_partition_reassignments_topics_partition_indexes = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            topics.append(ListPartitionReassignmentsTopics(name=list_partition_reassignments_topics_name, partition_indexes=list_partition_reassignments_topics_partition_indexes))
    else:
        topics = None
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return ListPartitionReassignmentsRequest(timeout_ms=timeout_ms, topics=topics)


def _encode_0(message: ListPartitionReassignmentsRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.timeout_ms)
    if message.topics is None:
        out.append(0)
    else:
        size = len(message.topics) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for list_partition_reassignments_topics in message.topics:
            raw = list_partition_reassignments_topics.name.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            size = len(list_partition_reassignments_topics.partition_indexes) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += struct.pack(f">{len(list_partition_reassignments_topics.partition_indexes)}i", *list_partition_reassignments_topics.partition_indexes)
            out.append(0)
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0}
_ENCODERS = {0: _encode_0}


def decode(version: int, buffer: Buffer, position: int = 0) -> ListPartitionReassignmentsRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"ListPartitionReassignmentsRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No ListPartitionReassignmentsRequest of version {version}: {error}") from error


def encode(version: int, message: ListPartitionReassignmentsRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
