# Written by tools/generate_codecs.py from ElectLeadersRequest.json in kafka-clients-4.1.1: do not edit.
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
class TopicPartitions:
    topic: str = ''
    partitions: list[int] = field(default_factory=list)


@dataclass(slots=True)
class ElectLeadersRequest:
    election_type: int = 0
    topic_partitions: list[TopicPartitions] | None = field(default_factory=list)
    timeout_ms: int = 60000


_unpack_bB = Struct(">bB").unpack_from
_unpack_bi = Struct(">bi").unpack_from
_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_pack_b = Struct(">b").pack
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_iB = Struct(">iB").pack


def _decode_0(buffer: memoryview, position: int) -> ElectLeadersRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topic_partitions: list[TopicPartitions] | None
    (count,) = _unpack_i(buffer, position)
    position += 4
    if count >= 0:
        room -= count
        if not 0 <= count * 6 <= end - position or room < 0:
            raise bad_length("topic_partitions", count)
        topic_partitions = []
        for _ in range(count):
            (length,) = _unpack_h(buffer, position)
            position += 2
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("topic_partitions_topic", stop - position)
            topic_partitions_topic = str(buffer[position:stop], "utf-8")
            position = stop
            topic_partitions_partitions: list[int]
            (count,) = _unpack_i(buffer, position)
            position += 4
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("topic_partitions_partitions", count)
            topic_partitions_partitions = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            topic_partitions.append(TopicPartitions(topic=topic_partitions_topic, partitions=topic_partitions_partitions))
    else:
        topic_partitions = None
    (timeout_ms,) = _unpack_i(buffer, position)
    position += 4
    return ElectLeadersRequest(topic_partitions=topic_partitions, timeout_ms=timeout_ms)


def _decode_1(buffer: memoryview, position: int) -> ElectLeadersRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topic_partitions: list[TopicPartitions] | None
    election_type, count = _unpack_bi(buffer, position)
    position += 5
    if count >= 0:
        room -= count
        if not 0 <= count * 6 <= end - position or room < 0:
            raise bad_length("topic_partitions", count)
        topic_partitions = []
        for _ in range(count):
            (length,) = _unpack_h(buffer, position)
            position += 2
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("topic_partitions_topic", stop - position)
            topic_partitions_topic = str(buffer[position:stop], "utf-8")
            position = stop
            topic_partitions_partitions: list[int]
            (count,) = _unpack_i(buffer, position)
            position += 4
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("topic_partitions_partitions", count)
            topic_partitions_partitions = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            topic_partitions.append(TopicPartitions(topic=topic_partitions_topic, partitions=topic_partitions_partitions))
    else:
        topic_partitions = None
    (timeout_ms,) = _unpack_i(buffer, position)
    position += 4
    return ElectLeadersRequest(election_type=election_type, topic_partitions=topic_partitions, timeout_ms=timeout_ms)


def _decode_2(buffer: memoryview, position: int) -> ElectLeadersRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topic_partitions: list[TopicPartitions] | None
    election_type, count = _unpack_bB(buffer, position)
    position += 2
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    if count:
        count -= 1
        room -= count
        if not 0 <= count * 3 <= end - position or room < 0:
            raise bad_length("topic_partitions", count)
        topic_partitions = []
        for _ in range(count):
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("topic_partitions_topic", stop - position)
            topic_partitions_topic = str(buffer[position:stop], "utf-8")
            position = stop
            topic_partitions_partitions: list[int]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("topic_partitions_partitions", count)
            topic_partitions_partitions = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            topic_partitions.append(TopicPartitions(topic=topic_partitions_topic, partitions=topic_partitions_partitions))
    else:
        topic_partitions = None
    timeout_ms, tags = _unpack_iB(buffer, position)
    position += 5
    if tags:
        position = skip_tags(buffer, position, tags)
    return ElectLeadersRequest(election_type=election_type, topic_partitions=topic_partitions, timeout_ms=timeout_ms)


def _encode_0(message: ElectLeadersRequest) -> list[Buffer]:
    out = bytearray()
    if message.topic_partitions is None:
        out += b"\xff\xff\xff\xff"
    else:
        out += _pack_i(len(message.topic_partitions))
        for topic_partitions in message.topic_partitions:
            raw = topic_partitions.topic.encode()
            out += _pack_h(len(raw))
            out += raw
            out += _pack_i(len(topic_partitions.partitions))
            out += struct.pack(f">{len(topic_partitions.partitions)}i", *topic_partitions.partitions)
    out += _pack_i(message.timeout_ms)
    return [out]


def _encode_1(message: ElectLeadersRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_b(message.election_type)
    if message.topic_partitions is None:
        out += b"\xff\xff\xff\xff"
    else:
        out += _pack_i(len(message.topic_partitions))
        for topic_partitions in message.topic_partitions:
            raw = topic_partitions.topic.encode()
            out += _pack_h(len(raw))
            out += raw
            out += _pack_i(len(topic_partitions.partitions))
            out += struct.pack(f">{len(topic_partitions.partitions)}i", *topic_partitions.partitions)
    out += _pack_i(message.timeout_ms)
    return [out]


def _encode_2(message: ElectLeadersRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_b(message.election_type)
    if message.topic_partitions is None:
        out.append(0)
    else:
        size = len(message.topic_partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for topic_partitions in message.topic_partitions:
            raw = topic_partitions.topic.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            size = len(topic_partitions.partitions) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += struct.pack(f">{len(topic_partitions.partitions)}i", *topic_partitions.partitions)
            out.append(0)
    out += _pack_iB(message.timeout_ms, 0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_1, 2: _decode_2}
_ENCODERS = {0: _encode_0, 1: _encode_1, 2: _encode_2}


def decode(version: int, buffer: Buffer, position: int = 0) -> ElectLeadersRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"ElectLeadersRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No ElectLeadersRequest of version {version}: {error}") from error


def encode(version: int, message: ElectLeadersRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
