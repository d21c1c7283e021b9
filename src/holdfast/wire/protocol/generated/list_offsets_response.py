# Written by tools/generate_codecs.py from ListOffsetsResponse.json in kafka-clients-4.1.1: do not edit.
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
class ListOffsetsPartitionResponse:
    partition_index: int = 0
    error_code: int = 0
    timestamp: int = -1
    offset: int = -1
    leader_epoch: int = -1


@dataclass(slots=True)
class ListOffsetsTopicResponse:
    name: str = ''
    partitions: list[ListOffsetsPartitionResponse] = field(default_factory=list)


@dataclass(slots=True)
class ListOffsetsResponse:
    throttle_time_ms: int = 0
    topics: list[ListOffsetsTopicResponse] = field(default_factory=list)


_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_ihqq = Struct(">ihqq").unpack_from
_unpack_ihqqi = Struct(">ihqqi").unpack_from
_unpack_ihqqiB = Struct(">ihqqiB").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_ihqq = Struct(">ihqq").pack
_pack_ihqqi = Struct(">ihqqi").pack
_pack_ihqqiB = Struct(">ihqqiB").pack
_pack_ii = Struct(">ii").pack


def _decode_1(buffer: memoryview, position: int) -> ListOffsetsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    topics: list[ListOffsetsTopicResponse]
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
            raise bad_length("list_offsets_topic_response_name", stop - position)
        list_offsets_topic_response_name = str(buffer[position:stop], "utf-8")
        position = stop
        list_offsets_topic_response_partitions: list[ListOffsetsPartitionResponse]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 22 <= end - position or room < 0:
            raise bad_length("list_offsets_topic_response_partitions", count)
        list_offsets_topic_response_partitions = []
        for _ in range(count):
            list_offsets_partition_response_partition_index, list_offsets_partition_response_error_code, list_offsets_partition_response_timestamp, list_offsets_partition_response_offset = _unpack_ihqq(buffer, position)
            position += 22
            list_offsets_topic_response_partitions.append(ListOffsetsPartitionResponse(partition_index=list_offsets_partition_response_partition_index, error_code=list_offsets_partition_response_error_code, timestamp=list_offsets_partition_response_timestamp, offset=list_offsets_partition_response_offset))
        topics.append(ListOffsetsTopicResponse(name=list_offsets_topic_response_name, partitions=list_offsets_topic_response_partitions))
    return ListOffsetsResponse(topics=topics)


def _decode_2(buffer: memoryview, position: int) -> ListOffsetsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    topics: list[ListOffsetsTopicResponse]
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
            raise bad_length("list_offsets_topic_response_name", stop - position)
        list_offsets_topic_response_name = str(buffer[position:stop], "utf-8")
        position = stop
        list_offsets_topic_response_partitions: list[ListOffsetsPartitionResponse]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 22 <= end - position or room < 0:
            raise bad_length("list_offsets_topic_response_partitions", count)
        list_offsets_topic_response_partitions = []
        for _ in range(count):
            list_offsets_partition_response_partition_index, list_offsets_partition_response_error_code, list_offsets_partition_response_timestamp, list_offsets_partition_response_offset = _unpack_ihqq(buffer, position)
            position += 22
            list_offsets_topic_response_partitions.append(ListOffsetsPartitionResponse(partition_index=list_offsets_partition_response_partition_index, error_code=list_offsets_partition_response_error_code, timestamp=list_offsets_partition_response_timestamp, offset=list_offsets_partition_response_offset))
        topics.append(ListOffsetsTopicResponse(name=list_offsets_topic_response_name, partitions=list_offsets_topic_response_partitions))
    return ListOffsetsResponse(throttle_time_ms=throttle_time_ms, topics=topics)


def _decode_4(buffer: memoryview, position: int) -> ListOffsetsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    topics: list[ListOffsetsTopicResponse]
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
            raise bad_length("list_offsets_topic_response_name", stop - position)
        list_offsets_topic_response_name = str(buffer[position:stop], "utf-8")
        position = stop
        list_offsets_topic_response_partitions: list[ListOffsetsPartitionResponse]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 26 <= end - position or room < 0:
            raise bad_length("list_offsets_topic_response_partitions", count)
        list_offsets_topic_response_partitions = []
        for _ in range(count):
            list_offsets_partition_response_partition_index, list_offsets_partition_response_error_code, list_offsets_partition_response_timestamp, list_offsets_partition_response_offset, list_offsets_partition_response_leader_epoch = _unpack_ihqqi(buffer, position)
            position += 26
            list_offsets_topic_response_partitions.append(ListOffsetsPartitionResponse(partition_index=list_offsets_partition_response_partition_index, error_code=list_offsets_partition_response_error_code, timestamp=list_offsets_partition_response_timestamp, offset=list_offsets_partition_response_offset, leader_epoch=list_offsets_partition_response_leader_epoch))
        topics.append(ListOffsetsTopicResponse(name=list_offsets_topic_response_name, partitions=list_offsets_topic_response_partitions))
    return ListOffsetsResponse(throttle_time_ms=throttle_time_ms, topics=topics)


def _decode_6(buffer: memoryview, position: int) -> ListOffsetsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    topics: list[ListOffsetsTopicResponse]
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
            raise bad_length("list_offsets_topic_response_name", stop - position)
        list_offsets_topic_response_name = str(buffer[position:stop], "utf-8")
        position = stop
        list_offsets_topic_response_partitions: list[ListOffsetsPartitionResponse]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 27 <= end - position or room < 0:
            raise bad_length("list_offsets_topic_response_partitions", count)
        list_offsets_topic_response_partitions = []
        for _ in range(count):
            list_offsets_partition_response_partition_index, list_offsets_partition_response_error_code, list_offsets_partition_response_timestamp, list_offsets_partition_response_offset, list_offsets_partition_response_leader_epoch, tags = _unpack_ihqqiB(buffer, position)
            position += 27
            if tags:
                position = skip_tags(buffer, position, tags)
            list_offsets_topic_response_partitions.append(ListOffsetsPartitionResponse(partition_index=list_offsets_partition_response_partition_index, error_code=list_offsets_partition_response_error_code, timestamp=list_offsets_partition_response_timestamp, offset=list_offsets_partition_response_offset, leader_epoch=list_offsets_partition_response_leader_epoch))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(ListOffsetsTopicResponse(name=list_offsets_topic_response_name, partitions=list_offsets_topic_response_partitions))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return ListOffsetsResponse(throttle_time_ms=throttle_time_ms, topics=topics)


def _encode_1(message: ListOffsetsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(len(message.topics))
    for list_offsets_topic_response in message.topics:
        raw = list_offsets_topic_response.name.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(list_offsets_topic_response.partitions))
        for list_offsets_partition_response in list_offsets_topic_response.partitions:
            out += _pack_ihqq(list_offsets_partition_response.partition_index, list_offsets_partition_response.error_code, list_offsets_partition_response.timestamp, list_offsets_partition_response.offset)
    return [out]


def _encode_2(message: ListOffsetsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ii(message.throttle_time_ms, len(message.topics))
    for list_offsets_topic_response in message.topics:
        raw = list_offsets_topic_response.name.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(list_offsets_topic_response.partitions))
        for list_offsets_partition_response in list_offsets_topic_response.partitions:
            out += _pack_ihqq(list_offsets_partition_response.partition_index, list_offsets_partition_response.error_code, list_offsets_partition_response.timestamp, list_offsets_partition_response.offset)
    return [out]


def _encode_4(message: ListOffsetsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ii(message.throttle_time_ms, len(message.topics))
    for list_offsets_topic_response in message.topics:
        raw = list_offsets_topic_response.name.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(list_offsets_topic_response.partitions))
        for list_offsets_partition_response in list_offsets_topic_response.partitions:
            out += _pack_ihqqi(list_offsets_partition_response.partition_index, list_offsets_partition_response.error_code, list_offsets_partition_response.timestamp, list_offsets_partition_response.offset, list_offsets_partition_response.leader_epoch)
    return [out]


def _encode_6(message: ListOffsetsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.throttle_time_ms)
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for list_offsets_topic_response in message.topics:
        raw = list_offsets_topic_response.name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(list_offsets_topic_response.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for list_offsets_partition_response in list_offsets_topic_response.partitions:
            out += _pack_ihqqiB(list_offsets_partition_response.partition_index, list_offsets_partition_response.error_code, list_offsets_partition_response.timestamp, list_offsets_partition_response.offset, list_offsets_partition_response.leader_epoch, 0)
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {1: _decode_1, 2: _decode_2, 3: _decode_2, 4: _decode_4, 5: _decode_4, 6: _decode_6, 7: _decode_6, 8: _decode_6, 9: _decode_6, 10: _decode_6}
_ENCODERS = {1: _encode_1, 2: _encode_2, 3: _encode_2, 4: _encode_4, 5: _encode_4, 6: _encode_6, 7: _encode_6, 8: _encode_6, 9: _encode_6, 10: _encode_6}


def decode(version: int, buffer: Buffer, position: int = 0) -> ListOffsetsResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"ListOffsetsResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No ListOffsetsResponse of version {version}: {error}") from error


def encode(version: int, message: ListOffsetsResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
