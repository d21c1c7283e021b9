# Written by tools/generate_codecs.py from DeleteRecordsResponse.json in kafka-clients-4.1.1: do not edit.
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
class DeleteRecordsPartitionResult:
    partition_index: int = 0
    low_watermark: int = 0
    error_code: int = 0


@dataclass(slots=True)
class DeleteRecordsTopicResult:
    name: str = ''
    partitions: list[DeleteRecordsPartitionResult] = field(default_factory=list)


@dataclass(slots=True)
class DeleteRecordsResponse:
    throttle_time_ms: int = 0
    topics: list[DeleteRecordsTopicResult] = field(default_factory=list)


_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_unpack_iqh = Struct(">iqh").unpack_from
_unpack_iqhB = Struct(">iqhB").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_ii = Struct(">ii").pack
_pack_iqh = Struct(">iqh").pack
_pack_iqhB = Struct(">iqhB").pack


def _decode_0(buffer: memoryview, position: int) -> DeleteRecordsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    topics: list[DeleteRecordsTopicResult]
    throttle_time_ms, count = _unpack_ii(buffer, position)
    position += 8
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("delete_records_topic_result_name", stop - position)
        delete_records_topic_result_name = str(buffer[position:stop], "utf-8")
        position = stop
        delete_records_topic_result_partitions: list[DeleteRecordsPartitionResult]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 14 <= end - position or room < 0:
            raise bad_length("delete_records_topic_result_partitions", count)
        delete_records_topic_result_partitions = []
        for _ in range(count):
            delete_records_partition_result_partition_index, delete_records_partition_result_low_watermark, delete_records_partition_result_error_code = _unpack_iqh(buffer, position)
            position += 14
            delete_records_topic_result_partitions.append(DeleteRecordsPartitionResult(partition_index=delete_records_partition_result_partition_index, low_watermark=delete_records_partition_result_low_watermark, error_code=delete_records_partition_result_error_code))
        topics.append(DeleteRecordsTopicResult(name=delete_records_topic_result_name, partitions=delete_records_topic_result_partitions))
    return DeleteRecordsResponse(throttle_time_ms=throttle_time_ms, topics=topics)


def _decode_2(buffer: memoryview, position: int) -> DeleteRecordsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    topics: list[DeleteRecordsTopicResult]
    throttle_time_ms, count = _unpack_iB(buffer, position)
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
            raise bad_length("delete_records_topic_result_name", stop - position)
        delete_records_topic_result_name = str(buffer[position:stop], "utf-8")
        position = stop
        delete_records_topic_result_partitions: list[DeleteRecordsPartitionResult]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 15 <= end - position or room < 0:
            raise bad_length("delete_records_topic_result_partitions", count)
        delete_records_topic_result_partitions = []
        for _ in range(count):
            delete_records_partition_result_partition_index, delete_records_partition_result_low_watermark, delete_records_partition_result_error_code, tags = _unpack_iqhB(buffer, position)
            position += 15
            if tags:
                position = skip_tags(buffer, position, tags)
            delete_records_topic_result_partitions.append(DeleteRecordsPartitionResult(partition_index=delete_records_partition_result_partition_index, low_watermark=delete_records_partition_result_low_watermark, error_code=delete_records_partition_result_error_code))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(DeleteRecordsTopicResult(name=delete_records_topic_result_name, partitions=delete_records_topic_result_partitions))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return DeleteRecordsResponse(throttle_time_ms=throttle_time_ms, topics=topics)


def _encode_0(message: DeleteRecordsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ii(message.throttle_time_ms, len(message.topics))
    for delete_records_topic_result in message.topics:
        raw = delete_records_topic_result.name.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(delete_records_topic_result.partitions))
        for delete_records_partition_result in delete_records_topic_result.partitions:
            out += _pack_iqh(delete_records_partition_result.partition_index, delete_records_partition_result.low_watermark, delete_records_partition_result.error_code)
    return [out]


def _encode_2(message: DeleteRecordsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.throttle_time_ms)
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for delete_records_topic_result in message.topics:
        raw = delete_records_topic_result.name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(delete_records_topic_result.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for delete_records_partition_result in delete_records_topic_result.partitions:
            out += _pack_iqhB(delete_records_partition_result.partition_index, delete_records_partition_result.low_watermark, delete_records_partition_result.error_code, 0)
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_0, 2: _decode_2}
_ENCODERS = {0: _encode_0, 1: _encode_0, 2: _encode_2}


def decode(version: int, buffer: Buffer, position: int = 0) -> DeleteRecordsResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"DeleteRecordsResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No DeleteRecordsResponse of version {version}: {error}") from error


def encode(version: int, message: DeleteRecordsResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
