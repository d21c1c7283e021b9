# Written by tools/generate_codecs.py from DescribeTransactionsResponse.json in kafka-clients-4.1.1: do not edit.
import struct
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
class TopicData:
    topic: str = ''
    partitions: list[int] = field(default_factory=list)


@dataclass(slots=True)
class TransactionState:
    error_code: int = 0
    transactional_id: str = ''
    transaction_state: str = ''
    transaction_timeout_ms: int = 0
    transaction_start_time_ms: int = 0
    producer_id: int = 0
    producer_epoch: int = 0
    topics: list[TopicData] = field(default_factory=list)


@dataclass(slots=True)
class DescribeTransactionsResponse:
    throttle_time_ms: int = 0
    transaction_states: list[TransactionState] = field(default_factory=list)


_unpack_hB = Struct(">hB").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_iqqhB = Struct(">iqqhB").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_iqqh = Struct(">iqqh").pack


def _decode_0(buffer: memoryview, position: int) -> DescribeTransactionsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    transaction_states: list[TransactionState]
    throttle_time_ms, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 28 <= end - position or room < 0:
        raise bad_length("transaction_states", count)
    transaction_states = []
    for _ in range(count):
        transaction_state_error_code, length = _unpack_hB(buffer, position)
        position += 3
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("transaction_state_transactional_id", stop - position)
        transaction_state_transactional_id = str(buffer[position:stop], "utf-8")
        position = stop
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("transaction_state_transaction_state", stop - position)
        transaction_state_transaction_state = str(buffer[position:stop], "utf-8")
        position = stop
        transaction_state_topics: list[TopicData]
        transaction_state_transaction_timeout_ms, transaction_state_transaction_start_time_ms, transaction_state_producer_id, transaction_state_producer_epoch, count = _unpack_iqqhB(buffer, position)
        position += 23
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 3 <= end - position or room < 0:
            raise bad_length("transaction_state_topics", count)
        transaction_state_topics = []
        for _ in range(count):
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("topic_data_topic", stop - position)
            topic_data_topic = str(buffer[position:stop], "utf-8")
            position = stop
            topic_data_partitions: list[int]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("topic_data_partitions", count)
            topic_data_partitions = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            transaction_state_topics.append(TopicData(topic=topic_data_topic, partitions=topic_data_partitions))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        transaction_states.append(TransactionState(error_code=transaction_state_error_code, transactional_id=transaction_state_transactional_id, transaction_state=transaction_state_transaction_state, transaction_timeout_ms=transaction_state_transaction_timeout_ms, transaction_start_time_ms=transaction_state_transaction_start_time_ms, producer_id=transaction_state_producer_id, producer_epoch=transaction_state_producer_epoch, topics=transaction_state_topics))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return DescribeTransactionsResponse(throttle_time_ms=throttle_time_ms, transaction_states=transaction_states)


def _encode_0(message: DescribeTransactionsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.throttle_time_ms)
    size = len(message.transaction_states) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for transaction_state in message.transaction_states:
        raw = transaction_state.transactional_id.encode()
        out += _pack_h(transaction_state.error_code)
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        raw = transaction_state.transaction_state.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out += _pack_iqqh(transaction_state.transaction_timeout_ms, transaction_state.transaction_start_time_ms, transaction_state.producer_id, transaction_state.producer_epoch)
        size = len(transaction_state.topics) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for topic_data in transaction_state.topics:
            raw = topic_data.topic.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            size = len(topic_data.partitions) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += struct.pack(f">{len(topic_data.partitions)}i", *topic_data.partitions)
            out.append(0)
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0}
_ENCODERS = {0: _encode_0}


def decode(version: int, buffer: Buffer, position: int = 0) -> DescribeTransactionsResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"DescribeTransactionsResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No DescribeTransactionsResponse of version {version}: {error}") from error


def encode(version: int, message: DescribeTransactionsResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
