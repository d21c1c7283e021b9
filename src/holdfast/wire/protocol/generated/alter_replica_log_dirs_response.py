# Written by tools/generate_codecs.py from AlterReplicaLogDirsResponse.json in kafka-clients-4.1.1: do not edit.
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
class AlterReplicaLogDirPartitionResult:
    partition_index: int = 0
    error_code: int = 0


@dataclass(slots=True)
class AlterReplicaLogDirTopicResult:
    topic_name: str = ''
    partitions: list[AlterReplicaLogDirPartitionResult] = field(default_factory=list)


@dataclass(slots=True)
class AlterReplicaLogDirsResponse:
    throttle_time_ms: int = 0
    results: list[AlterReplicaLogDirTopicResult] = field(default_factory=list)


_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_unpack_ihB = Struct(">ihB").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack
_pack_ihB = Struct(">ihB").pack
_pack_ii = Struct(">ii").pack


def _decode_1(buffer: memoryview, position: int) -> AlterReplicaLogDirsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    results: list[AlterReplicaLogDirTopicResult]
    throttle_time_ms, count = _unpack_ii(buffer, position)
    position += 8
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("results", count)
    results = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("alter_replica_log_dir_topic_result_topic_name", stop - position)
        alter_replica_log_dir_topic_result_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        alter_replica_log_dir_topic_result_partitions: list[AlterReplicaLogDirPartitionResult]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 6 <= end - position or room < 0:
            raise bad_length("alter_replica_log_dir_topic_result_partitions", count)
        alter_replica_log_dir_topic_result_partitions = []
        for _ in range(count):
            alter_replica_log_dir_partition_result_partition_index, alter_replica_log_dir_partition_result_error_code = _unpack_ih(buffer, position)
            position += 6
            alter_replica_log_dir_topic_result_partitions.append(AlterReplicaLogDirPartitionResult(partition_index=alter_replica_log_dir_partition_result_partition_index, error_code=alter_replica_log_dir_partition_result_error_code))
        results.append(AlterReplicaLogDirTopicResult(topic_name=alter_replica_log_dir_topic_result_topic_name, partitions=alter_replica_log_dir_topic_result_partitions))
    return AlterReplicaLogDirsResponse(throttle_time_ms=throttle_time_ms, results=results)


def _decode_2(buffer: memoryview, position: int) -> AlterReplicaLogDirsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    results: list[AlterReplicaLogDirTopicResult]
    throttle_time_ms, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 3 <= end - position or room < 0:
        raise bad_length("results", count)
    results = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("alter_replica_log_dir_topic_result_topic_name", stop - position)
        alter_replica_log_dir_topic_result_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        alter_replica_log_dir_topic_result_partitions: list[AlterReplicaLogDirPartitionResult]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 7 <= end - position or room < 0:
            raise bad_length("alter_replica_log_dir_topic_result_partitions", count)
        alter_replica_log_dir_topic_result_partitions = []
        for _ in range(count):
            alter_replica_log_dir_partition_result_partition_index, alter_replica_log_dir_partition_result_error_code, tags = _unpack_ihB(buffer, position)
            position += 7
            if tags:
                position = skip_tags(buffer, position, tags)
            alter_replica_log_dir_topic_result_partitions.append(AlterReplicaLogDirPartitionResult(partition_index=alter_replica_log_dir_partition_result_partition_index, error_code=alter_replica_log_dir_partition_result_error_code))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        results.append(AlterReplicaLogDirTopicResult(topic_name=alter_replica_log_dir_topic_result_topic_name, partitions=alter_replica_log_dir_topic_result_partitions))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return AlterReplicaLogDirsResponse(throttle_time_ms=throttle_time_ms, results=results)


def _encode_1(message: AlterReplicaLogDirsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ii(message.throttle_time_ms, len(message.results))
    for alter_replica_log_dir_topic_result in message.results:
        raw = alter_replica_log_dir_topic_result.topic_name.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(alter_replica_log_dir_topic_result.partitions))
        for alter_replica_log_dir_partition_result in alter_replica_log_dir_topic_result.partitions:
            out += _pack_ih(alter_replica_log_dir_partition_result.partition_index, alter_replica_log_dir_partition_result.error_code)
    return [out]


def _encode_2(message: AlterReplicaLogDirsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.throttle_time_ms)
    size = len(message.results) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for alter_replica_log_dir_topic_result in message.results:
        raw = alter_replica_log_dir_topic_result.topic_name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(alter_replica_log_dir_topic_result.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for alter_replica_log_dir_partition_result in alter_replica_log_dir_topic_result.partitions:
            out += _pack_ihB(alter_replica_log_dir_partition_result.partition_index, alter_replica_log_dir_partition_result.error_code, 0)
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {1: _decode_1, 2: _decode_2}
_ENCODERS = {1: _encode_1, 2: _encode_2}


def decode(version: int, buffer: Buffer, position: int = 0) -> AlterReplicaLogDirsResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"AlterReplicaLogDirsResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No AlterReplicaLogDirsResponse of version {version}: {error}") from error


def encode(version: int, message: AlterReplicaLogDirsResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
