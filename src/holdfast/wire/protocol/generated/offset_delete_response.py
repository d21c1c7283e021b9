# Written by tools/generate_codecs.py from OffsetDeleteResponse.json in kafka-clients-4.1.1: do not edit.
from dataclasses import dataclass, field
from struct import Struct

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    MOST_ELEMENTS,
    UNDECODABLE,
    Buffer,
    bad_length,
)


@dataclass(slots=True)
class OffsetDeleteResponsePartition:
    partition_index: int = 0
    error_code: int = 0


@dataclass(slots=True)
class OffsetDeleteResponseTopic:
    name: str = ''
    partitions: list[OffsetDeleteResponsePartition] = field(default_factory=list)


@dataclass(slots=True)
class OffsetDeleteResponse:
    error_code: int = 0
    throttle_time_ms: int = 0
    topics: list[OffsetDeleteResponseTopic] = field(default_factory=list)


_unpack_h = Struct(">h").unpack_from
_unpack_hii = Struct(">hii").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_pack_h = Struct(">h").pack
_pack_hii = Struct(">hii").pack
_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack


def _decode_0(buffer: memoryview, position: int) -> OffsetDeleteResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    topics: list[OffsetDeleteResponseTopic]
    error_code, throttle_time_ms, count = _unpack_hii(buffer, position)
    position += 10
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("offset_delete_response_topic_name", stop - position)
        offset_delete_response_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        offset_delete_response_topic_partitions: list[OffsetDeleteResponsePartition]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 6 <= end - position or room < 0:
            raise bad_length("offset_delete_response_topic_partitions", count)
        offset_delete_response_topic_partitions = []
        for _ in range(count):
            offset_delete_response_partition_partition_index, offset_delete_response_partition_error_code = _unpack_ih(buffer, position)
            position += 6
            offset_delete_response_topic_partitions.append(OffsetDeleteResponsePartition(partition_index=offset_delete_response_partition_partition_index, error_code=offset_delete_response_partition_error_code))
        topics.append(OffsetDeleteResponseTopic(name=offset_delete_response_topic_name, partitions=offset_delete_response_topic_partitions))
    return OffsetDeleteResponse(error_code=error_code, throttle_time_ms=throttle_time_ms, topics=topics)


def _encode_0(message: OffsetDeleteResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_hii(message.error_code, message.throttle_time_ms, len(message.topics))
    for offset_delete_response_topic in message.topics:
        raw = offset_delete_response_topic.name.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(offset_delete_response_topic.partitions))
        for offset_delete_response_partition in offset_delete_response_topic.partitions:
            out += _pack_ih(offset_delete_response_partition.partition_index, offset_delete_response_partition.error_code)
    return [out]


_DECODERS = {0: _decode_0}
_ENCODERS = {0: _encode_0}


def decode(version: int, buffer: Buffer, position: int = 0) -> OffsetDeleteResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"OffsetDeleteResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No OffsetDeleteResponse of version {version}: {error}") from error


def encode(version: int, message: OffsetDeleteResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
