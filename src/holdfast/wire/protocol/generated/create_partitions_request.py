# Written by tools/generate_codecs.py from CreatePartitionsRequest.json in kafka-clients-4.1.1: do not edit.
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
class CreatePartitionsAssignment:
    broker_ids: list[int] = field(default_factory=list)


@dataclass(slots=True)
class CreatePartitionsTopic:
    name: str = ''
    count: int = 0
    assignments: list[CreatePartitionsAssignment] | None = field(default_factory=list)


@dataclass(slots=True)
class CreatePartitionsRequest:
    topics: list[CreatePartitionsTopic] = field(default_factory=list)
    timeout_ms: int = 0
    validate_only: bool = False


_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_unpack_it = Struct(">i?").unpack_from
_unpack_itB = Struct(">i?B").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_it = Struct(">i?").pack
_pack_itB = Struct(">i?B").pack


def _decode_0(buffer: memoryview, position: int) -> CreatePartitionsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[CreatePartitionsTopic]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 10 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("create_partitions_topic_name", stop - position)
        create_partitions_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        create_partitions_topic_assignments: list[CreatePartitionsAssignment] | None
        create_partitions_topic_count, count = _unpack_ii(buffer, position)
        position += 8
        if count >= 0:
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("create_partitions_topic_assignments", count)
            create_partitions_topic_assignments = []
            for _ in range(count):
                create_partitions_assignment_broker_ids: list[int]
                (count,) = _unpack_i(buffer, position)
                position += 4
                room -= count
                if not 0 <= count * 4 <= end - position or room < 0:
                    raise bad_length("create_partitions_assignment_broker_ids", count)
                create_partitions_assignment_broker_ids = list(struct.unpack_from(f">{count}i", buffer, position))
                position += count * 4
                create_partitions_topic_assignments.append(CreatePartitionsAssignment(broker_ids=create_partitions_assignment_broker_ids))
        else:
            create_partitions_topic_assignments = None
        topics.append(CreatePartitionsTopic(name=create_partitions_topic_name, count=create_partitions_topic_count, assignments=create_partitions_topic_assignments))
    timeout_ms, validate_only = _unpack_it(buffer, position)
    position += 5
    return CreatePartitionsRequest(topics=topics, timeout_ms=timeout_ms, validate_only=validate_only)


def _decode_2(buffer: memoryview, position: int) -> CreatePartitionsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[CreatePartitionsTopic]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 7 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("create_partitions_topic_name", stop - position)
        create_partitions_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        create_partitions_topic_assignments: list[CreatePartitionsAssignment] | None
        create_partitions_topic_count, count = _unpack_iB(buffer, position)
        position += 5
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        if count:
            count -= 1
            room -= count
            if not 0 <= count * 2 <= end - position or room < 0:
                raise bad_length("create_partitions_topic_assignments", count)
            create_partitions_topic_assignments = []
            for _ in range(count):
                create_partitions_assignment_broker_ids: list[int]
                count = buffer[position]
                position += 1
                if count > 127:
                    count, position = read_long_uvarint(buffer, position, count)
                count -= 1
                room -= count
                if not 0 <= count * 4 <= end - position or room < 0:
                    raise bad_length("create_partitions_assignment_broker_ids", count)
                create_partitions_assignment_broker_ids = list(struct.unpack_from(f">{count}i", buffer, position))
                position += count * 4
                tags = buffer[position]
                position += 1
                if tags:
                    position = skip_tags(buffer, position, tags)
                create_partitions_topic_assignments.append(CreatePartitionsAssignment(broker_ids=create_partitions_assignment_broker_ids))
        else:
            create_partitions_topic_assignments = None
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(CreatePartitionsTopic(name=create_partitions_topic_name, count=create_partitions_topic_count, assignments=create_partitions_topic_assignments))
    timeout_ms, validate_only, tags = _unpack_itB(buffer, position)
    position += 6
    if tags:
        position = skip_tags(buffer, position, tags)
    return CreatePartitionsRequest(topics=topics, timeout_ms=timeout_ms, validate_only=validate_only)


def _encode_0(message: CreatePartitionsRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(len(message.topics))
    for create_partitions_topic in message.topics:
        raw = create_partitions_topic.name.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(create_partitions_topic.count)
        if create_partitions_topic.assignments is None:
            out += b"\xff\xff\xff\xff"
        else:
            out += _pack_i(len(create_partitions_topic.assignments))
            for create_partitions_assignment in create_partitions_topic.assignments:
                out += _pack_i(len(create_partitions_assignment.broker_ids))
                out += struct.pack(f">{len(create_partitions_assignment.broker_ids)}i", *create_partitions_assignment.broker_ids)
    out += _pack_it(message.timeout_ms, message.validate_only)
    return [out]


def _encode_2(message: CreatePartitionsRequest) -> list[Buffer]:
    out = bytearray()
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for create_partitions_topic in message.topics:
        raw = create_partitions_topic.name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out += _pack_i(create_partitions_topic.count)
        if create_partitions_topic.assignments is None:
            out.append(0)
        else:
            size = len(create_partitions_topic.assignments) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            for create_partitions_assignment in create_partitions_topic.assignments:
                size = len(create_partitions_assignment.broker_ids) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += struct.pack(f">{len(create_partitions_assignment.broker_ids)}i", *create_partitions_assignment.broker_ids)
                out.append(0)
        out.append(0)
    out += _pack_itB(message.timeout_ms, message.validate_only, 0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_0, 2: _decode_2, 3: _decode_2}
_ENCODERS = {0: _encode_0, 1: _encode_0, 2: _encode_2, 3: _encode_2}


def decode(version: int, buffer: Buffer, position: int = 0) -> CreatePartitionsRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"CreatePartitionsRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No CreatePartitionsRequest of version {version}: {error}") from error


def encode(version: int, message: CreatePartitionsRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
