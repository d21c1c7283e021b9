# Written by tools/generate_codecs.py from CreateTopicsRequest.json in kafka-clients-4.1.1: do not edit.
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
class CreatableReplicaAssignment:
    partition_index: int = 0
    broker_ids: list[int] = field(default_factory=list)


@dataclass(slots=True)
class CreatableTopicConfig:
    name: str = ''
    value: str | None = ''


@dataclass(slots=True)
class CreatableTopic:
    name: str = ''
    num_partitions: int = 0
    replication_factor: int = 0
    assignments: list[CreatableReplicaAssignment] = field(default_factory=list)
    configs: list[CreatableTopicConfig] = field(default_factory=list)


@dataclass(slots=True)
class CreateTopicsRequest:
    topics: list[CreatableTopic] = field(default_factory=list)
    timeout_ms: int = 60000
    validate_only: bool = False


_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_ihB = Struct(">ihB").unpack_from
_unpack_ihi = Struct(">ihi").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_unpack_it = Struct(">i?").unpack_from
_unpack_itB = Struct(">i?B").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack
_pack_ihi = Struct(">ihi").pack
_pack_ii = Struct(">ii").pack
_pack_it = Struct(">i?").pack
_pack_itB = Struct(">i?B").pack


def _decode_2(buffer: memoryview, position: int) -> CreateTopicsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[CreatableTopic]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 16 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("creatable_topic_name", stop - position)
        creatable_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        creatable_topic_assignments: list[CreatableReplicaAssignment]
        creatable_topic_num_partitions, creatable_topic_replication_factor, count = _unpack_ihi(buffer, position)
        position += 10
        room -= count
        if not 0 <= count * 8 <= end - position or room < 0:
            raise bad_length("creatable_topic_assignments", count)
        creatable_topic_assignments = []
        for _ in range(count):
            creatable_replica_assignment_broker_ids: list[int]
            creatable_replica_assignment_partition_index, count = _unpack_ii(buffer, position)
            position += 8
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("creatable_replica_assignment_broker_ids", count)
            creatable_replica_assignment_broker_ids = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            creatable_topic_assignments.append(CreatableReplicaAssignment(partition_index=creatable_replica_assignment_partition_index, broker_ids=creatable_replica_assignment_broker_ids))
        creatable_topic_configs: list[CreatableTopicConfig]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 4 <= end - position or room < 0:
            raise bad_length("creatable_topic_configs", count)
        creatable_topic_configs = []
        for _ in range(count):
            (length,) = _unpack_h(buffer, position)
            position += 2
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("creatable_topic_config_name", stop - position)
            creatable_topic_config_name = str(buffer[position:stop], "utf-8")
            position = stop
            creatable_topic_config_value: str | None
            (length,) = _unpack_h(buffer, position)
            position += 2
            if length >= 0:
                stop = position + length
                if stop > end:
                    raise bad_length("creatable_topic_config_value", stop - position)
                creatable_topic_config_value = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                creatable_topic_config_value = None
            creatable_topic_configs.append(CreatableTopicConfig(name=creatable_topic_config_name, value=creatable_topic_config_value))
        topics.append(CreatableTopic(name=creatable_topic_name, num_partitions=creatable_topic_num_partitions, replication_factor=creatable_topic_replication_factor, assignments=creatable_topic_assignments, configs=creatable_topic_configs))
    timeout_ms, validate_only = _unpack_it(buffer, position)
    position += 5
    return CreateTopicsRequest(topics=topics, timeout_ms=timeout_ms, validate_only=validate_only)


def _decode_5(buffer: memoryview, position: int) -> CreateTopicsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[CreatableTopic]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 10 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("creatable_topic_name", stop - position)
        creatable_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        creatable_topic_assignments: list[CreatableReplicaAssignment]
        creatable_topic_num_partitions, creatable_topic_replication_factor, count = _unpack_ihB(buffer, position)
        position += 7
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 6 <= end - position or room < 0:
            raise bad_length("creatable_topic_assignments", count)
        creatable_topic_assignments = []
        for _ in range(count):
            creatable_replica_assignment_broker_ids: list[int]
            creatable_replica_assignment_partition_index, count = _unpack_iB(buffer, position)
            position += 5
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("creatable_replica_assignment_broker_ids", count)
            creatable_replica_assignment_broker_ids = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            creatable_topic_assignments.append(CreatableReplicaAssignment(partition_index=creatable_replica_assignment_partition_index, broker_ids=creatable_replica_assignment_broker_ids))
        creatable_topic_configs: list[CreatableTopicConfig]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 3 <= end - position or room < 0:
            raise bad_length("creatable_topic_configs", count)
        creatable_topic_configs = []
        for _ in range(count):
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("creatable_topic_config_name", stop - position)
            creatable_topic_config_name = str(buffer[position:stop], "utf-8")
            position = stop
            creatable_topic_config_value: str | None
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            if length:
                stop = position + length - 1
                if stop > end:
                    raise bad_length("creatable_topic_config_value", stop - position)
                creatable_topic_config_value = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                creatable_topic_config_value = None
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            creatable_topic_configs.append(CreatableTopicConfig(name=creatable_topic_config_name, value=creatable_topic_config_value))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(CreatableTopic(name=creatable_topic_name, num_partitions=creatable_topic_num_partitions, replication_factor=creatable_topic_replication_factor, assignments=creatable_topic_assignments, configs=creatable_topic_configs))
    timeout_ms, validate_only, tags = _unpack_itB(buffer, position)
    position += 6
    if tags:
        position = skip_tags(buffer, position, tags)
    return CreateTopicsRequest(topics=topics, timeout_ms=timeout_ms, validate_only=validate_only)


def _encode_2(message: CreateTopicsRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(len(message.topics))
    for creatable_topic in message.topics:
        raw = creatable_topic.name.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_ihi(creatable_topic.num_partitions, creatable_topic.replication_factor, len(creatable_topic.assignments))
        for creatable_replica_assignment in creatable_topic.assignments:
            out += _pack_ii(creatable_replica_assignment.partition_index, len(creatable_replica_assignment.broker_ids))
            out += struct.pack(f">{len(creatable_replica_assignment.broker_ids)}i", *creatable_replica_assignment.broker_ids)
        out += _pack_i(len(creatable_topic.configs))
        for creatable_topic_config in creatable_topic.configs:
            raw = creatable_topic_config.name.encode()
            out += _pack_h(len(raw))
            out += raw
            if creatable_topic_config.value is None:
                out += b"\xff\xff"
            else:
                raw = creatable_topic_config.value.encode()
                out += _pack_h(len(raw))
                out += raw
    out += _pack_it(message.timeout_ms, message.validate_only)
    return [out]


def _encode_5(message: CreateTopicsRequest) -> list[Buffer]:
    out = bytearray()
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for creatable_topic in message.topics:
        raw = creatable_topic.name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out += _pack_ih(creatable_topic.num_partitions, creatable_topic.replication_factor)
        size = len(creatable_topic.assignments) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for creatable_replica_assignment in creatable_topic.assignments:
            out += _pack_i(creatable_replica_assignment.partition_index)
            size = len(creatable_replica_assignment.broker_ids) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += struct.pack(f">{len(creatable_replica_assignment.broker_ids)}i", *creatable_replica_assignment.broker_ids)
            out.append(0)
        size = len(creatable_topic.configs) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for creatable_topic_config in creatable_topic.configs:
            raw = creatable_topic_config.name.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            if creatable_topic_config.value is None:
                out.append(0)
            else:
                raw = creatable_topic_config.value.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
            out.append(0)
        out.append(0)
    out += _pack_itB(message.timeout_ms, message.validate_only, 0)
    return [out]


_DECODERS = {2: _decode_2, 3: _decode_2, 4: _decode_2, 5: _decode_5, 6: _decode_5, 7: _decode_5}
_ENCODERS = {2: _encode_2, 3: _encode_2, 4: _encode_2, 5: _encode_5, 6: _encode_5, 7: _encode_5}


def decode(version: int, buffer: Buffer, position: int = 0) -> CreateTopicsRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"CreateTopicsRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No CreateTopicsRequest of version {version}: {error}") from error


def encode(version: int, message: CreateTopicsRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
