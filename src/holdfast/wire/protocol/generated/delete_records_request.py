# Written by tools/generate_codecs.py from DeleteRecordsRequest.json in kafka-clients-4.1.1: do not edit.
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
class DeleteRecordsPartition:
    partition_index: int = 0
    offset: int = 0


@dataclass(slots=True)
class DeleteRecordsTopic:
    name: str = ''
    partitions: list[DeleteRecordsPartition] = field(default_factory=list)


@dataclass(slots=True)
class DeleteRecordsRequest:
    topics: list[DeleteRecordsTopic] = field(default_factory=list)
    timeout_ms: int = 0


_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_iq = Struct(">iq").unpack_from
_unpack_iqB = Struct(">iqB").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_iB = Struct(">iB").pack
_pack_iq = Struct(">iq").pack
_pack_iqB = Struct(">iqB").pack


def _decode_0(buffer: memoryview, position: int) -> DeleteRecordsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[DeleteRecordsTopic]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("delete_records_topic_name", stop - position)
        delete_records_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        delete_records_topic_partitions: list[DeleteRecordsPartition]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 12 <= end - position or room < 0:
            raise bad_length("delete_records_topic_partitions", count)
        delete_records_topic_partitions = []
        for _ in range(count):
            delete_records_partition_partition_index, delete_records_partition_offset = _unpack_iq(buffer, position)
            position += 12
            delete_records_topic_partitions.append(DeleteRecordsPartition(partition_index=delete_records_partition_partition_index, offset=delete_records_partition_offset))
        topics.append(DeleteRecordsTopic(name=delete_records_topic_name, partitions=delete_records_topic_partitions))
    (timeout_ms,) = _unpack_i(buffer, position)
    position += 4
    return DeleteRecordsRequest(topics=topics, timeout_ms=timeout_ms)


def _decode_2(buffer: memoryview, position: int) -> DeleteRecordsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[DeleteRecordsTopic]
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
            raise bad_length("delete_records_topic_name", stop - position)
        delete_records_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        delete_records_topic_partitions: list[DeleteRecordsPartition]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 13 <= end - position or room < 0:
            raise bad_length("delete_records_topic_partitions", count)
        delete_records_topic_partitions = []
        for _ in range(count):
            delete_records_partition_partition_index, delete_records_partition_offset, tags = _unpack_iqB(buffer, position)
            position += 13
            if tags:
                position = skip_tags(buffer, position, tags)
            delete_records_topic_partitions.append(DeleteRecordsPartition(partition_index=delete_records_partition_partition_index, offset=delete_records_partition_offset))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(DeleteRecordsTopic(name=delete_records_topic_name, partitions=delete_records_topic_partitions))
    timeout_ms, tags = _unpack_iB(buffer, position)
    position += 5
    if tags:
        position = skip_tags(buffer, position, tags)
    return DeleteRecordsRequest(topics=topics, timeout_ms=timeout_ms)


def _encode_0(message: DeleteRecordsRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(len(message.topics))
    for delete_records_topic in message.topics:
        raw = delete_records_topic.name.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(delete_records_topic.partitions))
        for delete_records_partition in delete_records_topic.partitions:
            out += _pack_iq(delete_records_partition.partition_index, delete_records_partition.offset)
    out += _pack_i(message.timeout_ms)
    return [out]


def _encode_2(message: DeleteRecordsRequest) -> list[Buffer]:
    out = bytearray()
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for delete_records_topic in message.topics:
        raw = delete_records_topic.name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(delete_records_topic.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for delete_records_partition in delete_records_topic.partitions:
            out += _pack_iqB(delete_records_partition.partition_index, delete_records_partition.offset, 0)
        out.append(0)
    out += _pack_iB(message.timeout_ms, 0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_0, 2: _decode_2}
_ENCODERS = {0: _encode_0, 1: _encode_0, 2: _encode_2}


def decode(version: int, buffer: Buffer, position: int = 0) -> DeleteRecordsRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"DeleteRecordsRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No DeleteRecordsRequest of version {version}: {error}") from error


def encode(version: int, message: DeleteRecordsRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
