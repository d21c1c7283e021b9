# Written by tools/generate_codecs.py from OffsetDeleteRequest.json in kafka-clients-4.1.1: do not edit.
from dataclasses import dataclass, field
from struct import Struct

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    MOST_REQUESTED,
    UNDECODABLE,
    Buffer,
    bad_length,
)


@dataclass(slots=True)
class OffsetDeleteRequestPartition:
    partition_index: int = 0


@dataclass(slots=True)
class OffsetDeleteRequestTopic:
    name: str = ''
    partitions: list[OffsetDeleteRequestPartition] = field(default_factory=list)


@dataclass(slots=True)
class OffsetDeleteRequest:
    group_id: str = ''
    topics: list[OffsetDeleteRequestTopic] = field(default_factory=list)


_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack


def _decode_0(buffer: memoryview, position: int) -> OffsetDeleteRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("group_id", stop - position)
    group_id = str(buffer[position:stop], "utf-8")
    position = stop
    topics: list[OffsetDeleteRequestTopic]
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
            raise bad_length("offset_delete_request_topic_name", stop - position)
        offset_delete_request_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        offset_delete_request_topic_partitions: list[OffsetDeleteRequestPartition]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 4 <= end - position or room < 0:
            raise bad_length("offset_delete_request_topic_partitions", count)
        offset_delete_request_topic_partitions = []
        for _ in range(count):
            (offset_delete_request_partition_partition_index,) = _unpack_i(buffer, position)
            position += 4
            offset_delete_request_topic_partitions.append(OffsetDeleteRequestPartition(partition_index=offset_delete_request_partition_partition_index))
        topics.append(OffsetDeleteRequestTopic(name=offset_delete_request_topic_name, partitions=offset_delete_request_topic_partitions))
    return OffsetDeleteRequest(group_id=group_id, topics=topics)


def _encode_0(message: OffsetDeleteRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.group_id.encode()
    out += _pack_h(len(raw))
    out += raw
    out += _pack_i(len(message.topics))
    for offset_delete_request_topic in message.topics:
        raw = offset_delete_request_topic.name.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(offset_delete_request_topic.partitions))
        for offset_delete_request_partition in offset_delete_request_topic.partitions:
            out += _pack_i(offset_delete_request_partition.partition_index)
    return [out]


_DECODERS = {0: _decode_0}
_ENCODERS = {0: _encode_0}


def decode(version: int, buffer: Buffer, position: int = 0) -> OffsetDeleteRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"OffsetDeleteRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No OffsetDeleteRequest of version {version}: {error}") from error


def encode(version: int, message: OffsetDeleteRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
