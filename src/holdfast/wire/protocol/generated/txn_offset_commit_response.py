# Written by tools/generate_codecs.py from TxnOffsetCommitResponse.json in kafka-clients-4.1.1: do not edit.
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
class TxnOffsetCommitResponsePartition:
    partition_index: int = 0
    error_code: int = 0


@dataclass(slots=True)
class TxnOffsetCommitResponseTopic:
    name: str = ''
    partitions: list[TxnOffsetCommitResponsePartition] = field(default_factory=list)


@dataclass(slots=True)
class TxnOffsetCommitResponse:
    throttle_time_ms: int = 0
    topics: list[TxnOffsetCommitResponseTopic] = field(default_factory=list)


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


def _decode_0(buffer: memoryview, position: int) -> TxnOffsetCommitResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    topics: list[TxnOffsetCommitResponseTopic]
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
            raise bad_length("txn_offset_commit_response_topic_name", stop - position)
        txn_offset_commit_response_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        txn_offset_commit_response_topic_partitions: list[TxnOffsetCommitResponsePartition]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 6 <= end - position or room < 0:
            raise bad_length("txn_offset_commit_response_topic_partitions", count)
        txn_offset_commit_response_topic_partitions = []
        for _ in range(count):
            txn_offset_commit_response_partition_partition_index, txn_offset_commit_response_partition_error_code = _unpack_ih(buffer, position)
            position += 6
            txn_offset_commit_response_topic_partitions.append(TxnOffsetCommitResponsePartition(partition_index=txn_offset_commit_response_partition_partition_index, error_code=txn_offset_commit_response_partition_error_code))
        topics.append(TxnOffsetCommitResponseTopic(name=txn_offset_commit_response_topic_name, partitions=txn_offset_commit_response_topic_partitions))
    return TxnOffsetCommitResponse(throttle_time_ms=throttle_time_ms, topics=topics)


def _decode_3(buffer: memoryview, position: int) -> TxnOffsetCommitResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    topics: list[TxnOffsetCommitResponseTopic]
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
            raise bad_length("txn_offset_commit_response_topic_name", stop - position)
        txn_offset_commit_response_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        txn_offset_commit_response_topic_partitions: list[TxnOffsetCommitResponsePartition]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 7 <= end - position or room < 0:
            raise bad_length("txn_offset_commit_response_topic_partitions", count)
        txn_offset_commit_response_topic_partitions = []
        for _ in range(count):
            txn_offset_commit_response_partition_partition_index, txn_offset_commit_response_partition_error_code, tags = _unpack_ihB(buffer, position)
            position += 7
            if tags:
                position = skip_tags(buffer, position, tags)
            txn_offset_commit_response_topic_partitions.append(TxnOffsetCommitResponsePartition(partition_index=txn_offset_commit_response_partition_partition_index, error_code=txn_offset_commit_response_partition_error_code))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(TxnOffsetCommitResponseTopic(name=txn_offset_commit_response_topic_name, partitions=txn_offset_commit_response_topic_partitions))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return TxnOffsetCommitResponse(throttle_time_ms=throttle_time_ms, topics=topics)


def _encode_0(message: TxnOffsetCommitResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ii(message.throttle_time_ms, len(message.topics))
    for txn_offset_commit_response_topic in message.topics:
        raw = txn_offset_commit_response_topic.name.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(txn_offset_commit_response_topic.partitions))
        for txn_offset_commit_response_partition in txn_offset_commit_response_topic.partitions:
            out += _pack_ih(txn_offset_commit_response_partition.partition_index, txn_offset_commit_response_partition.error_code)
    return [out]


def _encode_3(message: TxnOffsetCommitResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.throttle_time_ms)
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for txn_offset_commit_response_topic in message.topics:
        raw = txn_offset_commit_response_topic.name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(txn_offset_commit_response_topic.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for txn_offset_commit_response_partition in txn_offset_commit_response_topic.partitions:
            out += _pack_ihB(txn_offset_commit_response_partition.partition_index, txn_offset_commit_response_partition.error_code, 0)
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_0, 2: _decode_0, 3: _decode_3, 4: _decode_3, 5: _decode_3}
_ENCODERS = {0: _encode_0, 1: _encode_0, 2: _encode_0, 3: _encode_3, 4: _encode_3, 5: _encode_3}


def decode(version: int, buffer: Buffer, position: int = 0) -> TxnOffsetCommitResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"TxnOffsetCommitResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No TxnOffsetCommitResponse of version {version}: {error}") from error


def encode(version: int, message: TxnOffsetCommitResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
