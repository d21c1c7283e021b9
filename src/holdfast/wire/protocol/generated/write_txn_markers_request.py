# Written by tools/generate_codecs.py from WriteTxnMarkersRequest.json in kafka-clients-4.1.1: do not edit.
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
class WritableTxnMarkerTopic:
    name: str = ''
    partition_indexes: list[int] = field(default_factory=list)


@dataclass(slots=True)
class WritableTxnMarker:
    producer_id: int = 0
    producer_epoch: int = 0
    transaction_result: bool = False
    topics: list[WritableTxnMarkerTopic] = field(default_factory=list)
    coordinator_epoch: int = 0


@dataclass(slots=True)
class WriteTxnMarkersRequest:
    markers: list[WritableTxnMarker] = field(default_factory=list)


_unpack_iB = Struct(">iB").unpack_from
_unpack_qhtB = Struct(">qh?B").unpack_from
_pack_iB = Struct(">iB").pack
_pack_qht = Struct(">qh?").pack


def _decode_1(buffer: memoryview, position: int) -> WriteTxnMarkersRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    markers: list[WritableTxnMarker]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 17 <= end - position or room < 0:
        raise bad_length("markers", count)
    markers = []
    for _ in range(count):
        writable_txn_marker_topics: list[WritableTxnMarkerTopic]
        writable_txn_marker_producer_id, writable_txn_marker_producer_epoch, writable_txn_marker_transaction_result, count = _unpack_qhtB(buffer, position)
        position += 12
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 3 <= end - position or room < 0:
            raise bad_length("writable_txn_marker_topics", count)
        writable_txn_marker_topics = []
        for _ in range(count):
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("writable_txn_marker_topic_name", stop - position)
            writable_txn_marker_topic_name = str(buffer[position:stop], "utf-8")
            position = stop
            writable_txn_marker_topic_partition_indexes: list[int]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("writable_txn_marker_topic_partition_indexes", count)
            writable_txn_marker_topic_partition_indexes = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            writable_txn_marker_topics.append(WritableTxnMarkerTopic(name=writable_txn_marker_topic_name, partition_indexes=writable_txn_marker_topic_partition_indexes))
        writable_txn_marker_coordinator_epoch, tags = _unpack_iB(buffer, position)
        position += 5
        if tags:
            position = skip_tags(buffer, position, tags)
        markers.append(WritableTxnMarker(producer_id=writable_txn_marker_producer_id, producer_epoch=writable_txn_marker_producer_epoch, transaction_result=writable_txn_marker_transaction_result, topics=writable_txn_marker_topics, coordinator_epoch=writable_txn_marker_coordinator_epoch))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return WriteTxnMarkersRequest(markers=markers)


def _encode_1(message: WriteTxnMarkersRequest) -> list[Buffer]:
    out = bytearray()
    size = len(message.markers) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for writable_txn_marker in message.markers:
        out += _pack_qht(writable_txn_marker.producer_id, writable_txn_marker.producer_epoch, writable_txn_marker.transaction_result)
        size = len(writable_txn_marker.topics) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for writable_txn_marker_topic in writable_txn_marker.topics:
            raw = writable_txn_marker_topic.name.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            size = len(writable_txn_marker_topic.partition_indexes) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += struct.pack(f">{len(writable_txn_marker_topic.partition_indexes)}i", *writable_txn_marker_topic.partition_indexes)
            out.append(0)
        out += _pack_iB(writable_txn_marker.coordinator_epoch, 0)
    out.append(0)
    return [out]


_DECODERS = {1: _decode_1}
_ENCODERS = {1: _encode_1}


def decode(version: int, buffer: Buffer, position: int = 0) -> WriteTxnMarkersRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"WriteTxnMarkersRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No WriteTxnMarkersRequest of version {version}: {error}") from error


def encode(version: int, message: WriteTxnMarkersRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
