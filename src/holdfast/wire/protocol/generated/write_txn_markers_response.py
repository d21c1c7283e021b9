# Written by tools/generate_codecs.py from WriteTxnMarkersResponse.json in kafka-clients-4.1.1: do not edit.
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
class WritableTxnMarkerPartitionResult:
    partition_index: int = 0
    error_code: int = 0


@dataclass(slots=True)
class WritableTxnMarkerTopicResult:
    name: str = ''
    partitions: list[WritableTxnMarkerPartitionResult] = field(default_factory=list)


@dataclass(slots=True)
class WritableTxnMarkerResult:
    producer_id: int = 0
    topics: list[WritableTxnMarkerTopicResult] = field(default_factory=list)


@dataclass(slots=True)
class WriteTxnMarkersResponse:
    markers: list[WritableTxnMarkerResult] = field(default_factory=list)


_unpack_ihB = Struct(">ihB").unpack_from
_unpack_qB = Struct(">qB").unpack_from
_pack_ihB = Struct(">ihB").pack
_pack_q = Struct(">q").pack


def _decode_1(buffer: memoryview, position: int) -> WriteTxnMarkersResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    markers: list[WritableTxnMarkerResult]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 10 <= end - position or room < 0:
        raise bad_length("markers", count)
    markers = []
    for _ in range(count):
        writable_txn_marker_result_topics: list[WritableTxnMarkerTopicResult]
        writable_txn_marker_result_producer_id, count = _unpack_qB(buffer, position)
        position += 9
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 3 <= end - position or room < 0:
            raise bad_length("writable_txn_marker_result_topics", count)
        writable_txn_marker_result_topics = []
        for _ in range(count):
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("writable_txn_marker_topic_result_name", stop - position)
            writable_txn_marker_topic_result_name = str(buffer[position:stop], "utf-8")
            position = stop
            writable_txn_marker_topic_result_partitions: list[WritableTxnMarkerPartitionResult]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 7 <= end - position or room < 0:
                raise bad_length("writable_txn_marker_topic_result_partitions", count)
            writable_txn_marker_topic_result_partitions = []
            for _ in range(count):
                writable_txn_marker_partition_result_partition_index, writable_txn_marker_partition_result_error_code, tags = _unpack_ihB(buffer, position)
                position += 7
                if tags:
                    position = skip_tags(buffer, position, tags)
                writable_txn_marker_topic_result_partitions.append(WritableTxnMarkerPartitionResult(partition_index=writable_txn_marker_partition_result_partition_index, error_code=writable_txn_marker_partition_result_error_code))
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            writable_txn_marker_result_topics.append(WritableTxnMarkerTopicResult(name=writable_txn_marker_topic_result_name, partitions=writable_txn_marker_topic_result_partitions))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        markers.append(WritableTxnMarkerResult(producer_id=writable_txn_marker_result_producer_id, topics=writable_txn_marker_result_topics))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return WriteTxnMarkersResponse(markers=markers)


def _encode_1(message: WriteTxnMarkersResponse) -> list[Buffer]:
    out = bytearray()
    size = len(message.markers) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for writable_txn_marker_result in message.markers:
        out += _pack_q(writable_txn_marker_result.producer_id)
        size = len(writable_txn_marker_result.topics) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for writable_txn_marker_topic_result in writable_txn_marker_result.topics:
            raw = writable_txn_marker_topic_result.name.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            size = len(writable_txn_marker_topic_result.partitions) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            for writable_txn_marker_partition_result in writable_txn_marker_topic_result.partitions:
                out += _pack_ihB(writable_txn_marker_partition_result.partition_index, writable_txn_marker_partition_result.error_code, 0)
            out.append(0)
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {1: _decode_1}
_ENCODERS = {1: _encode_1}


def decode(version: int, buffer: Buffer, position: int = 0) -> WriteTxnMarkersResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"WriteTxnMarkersResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No WriteTxnMarkersResponse of version {version}: {error}") from error


def encode(version: int, message: WriteTxnMarkersResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
