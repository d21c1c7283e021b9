# Written by tools/generate_codecs.py from OffsetForLeaderEpochResponse.json in kafka-clients-4.1.1: do not edit.
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
class EpochEndOffset:
    error_code: int = 0
    partition: int = 0
    leader_epoch: int = -1
    end_offset: int = -1


@dataclass(slots=True)
class OffsetForLeaderTopicResult:
    topic: str = ''
    partitions: list[EpochEndOffset] = field(default_factory=list)


@dataclass(slots=True)
class OffsetForLeaderEpochResponse:
    throttle_time_ms: int = 0
    topics: list[OffsetForLeaderTopicResult] = field(default_factory=list)


_unpack_h = Struct(">h").unpack_from
_unpack_hiiq = Struct(">hiiq").unpack_from
_unpack_hiiqB = Struct(">hiiqB").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_pack_h = Struct(">h").pack
_pack_hiiq = Struct(">hiiq").pack
_pack_hiiqB = Struct(">hiiqB").pack
_pack_i = Struct(">i").pack
_pack_ii = Struct(">ii").pack


def _decode_2(buffer: memoryview, position: int) -> OffsetForLeaderEpochResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    topics: list[OffsetForLeaderTopicResult]
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
            raise bad_length("offset_for_leader_topic_result_topic", stop - position)
        offset_for_leader_topic_result_topic = str(buffer[position:stop], "utf-8")
        position = stop
        offset_for_leader_topic_result_partitions: list[EpochEndOffset]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 18 <= end - position or room < 0:
            raise bad_length("offset_for_leader_topic_result_partitions", count)
        offset_for_leader_topic_result_partitions = []
        for _ in range(count):
            epoch_end_offset_error_code, epoch_end_offset_partition, epoch_end_offset_leader_epoch, epoch_end_offset_end_offset = _unpack_hiiq(buffer, position)
            position += 18
            offset_for_leader_topic_result_partitions.append(EpochEndOffset(error_code=epoch_end_offset_error_code, partition=epoch_end_offset_partition, leader_epoch=epoch_end_offset_leader_epoch, end_offset=epoch_end_offset_end_offset))
        topics.append(OffsetForLeaderTopicResult(topic=offset_for_leader_topic_result_topic, partitions=offset_for_leader_topic_result_partitions))
    return OffsetForLeaderEpochResponse(throttle_time_ms=throttle_time_ms, topics=topics)


def _decode_4(buffer: memoryview, position: int) -> OffsetForLeaderEpochResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    topics: list[OffsetForLeaderTopicResult]
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
            raise bad_length("offset_for_leader_topic_result_topic", stop - position)
        offset_for_leader_topic_result_topic = str(buffer[position:stop], "utf-8")
        position = stop
        offset_for_leader_topic_result_partitions: list[EpochEndOffset]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 19 <= end - position or room < 0:
            raise bad_length("offset_for_leader_topic_result_partitions", count)
        offset_for_leader_topic_result_partitions = []
        for _ in range(count):
            epoch_end_offset_error_code, epoch_end_offset_partition, epoch_end_offset_leader_epoch, epoch_end_offset_end_offset, tags = _unpack_hiiqB(buffer, position)
            position += 19
            if tags:
                position = skip_tags(buffer, position, tags)
            offset_for_leader_topic_result_partitions.append(EpochEndOffset(error_code=epoch_end_offset_error_code, partition=epoch_end_offset_partition, leader_epoch=epoch_end_offset_leader_epoch, end_offset=epoch_end_offset_end_offset))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(OffsetForLeaderTopicResult(topic=offset_for_leader_topic_result_topic, partitions=offset_for_leader_topic_result_partitions))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return OffsetForLeaderEpochResponse(throttle_time_ms=throttle_time_ms, topics=topics)


def _encode_2(message: OffsetForLeaderEpochResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ii(message.throttle_time_ms, len(message.topics))
    for offset_for_leader_topic_result in message.topics:
        raw = offset_for_leader_topic_result.topic.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(offset_for_leader_topic_result.partitions))
        for epoch_end_offset in offset_for_leader_topic_result.partitions:
            out += _pack_hiiq(epoch_end_offset.error_code, epoch_end_offset.partition, epoch_end_offset.leader_epoch, epoch_end_offset.end_offset)
    return [out]


def _encode_4(message: OffsetForLeaderEpochResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.throttle_time_ms)
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for offset_for_leader_topic_result in message.topics:
        raw = offset_for_leader_topic_result.topic.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(offset_for_leader_topic_result.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for epoch_end_offset in offset_for_leader_topic_result.partitions:
            out += _pack_hiiqB(epoch_end_offset.error_code, epoch_end_offset.partition, epoch_end_offset.leader_epoch, epoch_end_offset.end_offset, 0)
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {2: _decode_2, 3: _decode_2, 4: _decode_4}
_ENCODERS = {2: _encode_2, 3: _encode_2, 4: _encode_4}


def decode(version: int, buffer: Buffer, position: int = 0) -> OffsetForLeaderEpochResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"OffsetForLeaderEpochResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No OffsetForLeaderEpochResponse of version {version}: {error}") from error


def encode(version: int, message: OffsetForLeaderEpochResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
