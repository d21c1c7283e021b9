# Written by tools/generate_codecs.py from DescribeProducersResponse.json in kafka-clients-4.1.1: do not edit.
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
class ProducerState:
    producer_id: int = 0
    producer_epoch: int = 0
    last_sequence: int = -1
    last_timestamp: int = -1
    coordinator_epoch: int = 0
    current_txn_start_offset: int = -1


@dataclass(slots=True)
class PartitionResponse:
    partition_index: int = 0
    error_code: int = 0
    error_message: str | None = None
    active_producers: list[ProducerState] = field(default_factory=list)


@dataclass(slots=True)
class TopicResponse:
    name: str = ''
    partitions: list[PartitionResponse] = field(default_factory=list)


@dataclass(slots=True)
class DescribeProducersResponse:
    throttle_time_ms: int = 0
    topics: list[TopicResponse] = field(default_factory=list)


_unpack_iB = Struct(">iB").unpack_from
_unpack_ihB = Struct(">ihB").unpack_from
_unpack_qiiqiqB = Struct(">qiiqiqB").unpack_from
_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack
_pack_qiiqiqB = Struct(">qiiqiqB").pack


def _decode_0(buffer: memoryview, position: int) -> DescribeProducersResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    topics: list[TopicResponse]
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
            raise bad_length("topic_response_name", stop - position)
        topic_response_name = str(buffer[position:stop], "utf-8")
        position = stop
        topic_response_partitions: list[PartitionResponse]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 9 <= end - position or room < 0:
            raise bad_length("topic_response_partitions", count)
        topic_response_partitions = []
        for _ in range(count):
            partition_response_error_message: str | None
            partition_response_partition_index, partition_response_error_code, length = _unpack_ihB(buffer, position)
            position += 7
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            if length:
                stop = position + length - 1
                if stop > end:
                    raise bad_length("partition_response_error_message", stop - position)
                partition_response_error_message = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                partition_response_error_message = None
            partition_response_active_producers: list[ProducerState]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 37 <= end - position or room < 0:
                raise bad_length("partition_response_active_producers", count)
            partition_response_active_producers = []
            for _ in range(count):
                producer_state_producer_id, producer_state_producer_epoch, producer_state_last_sequence, producer_state_last_timestamp, producer_state_coordinator_epoch, producer_state_current_txn_start_offset, tags = _unpack_qiiqiqB(buffer, position)
                position += 37
                if tags:
                    position = skip_tags(buffer, position, tags)
                partition_response_active_producers.append(ProducerState(producer_id=producer_state_producer_id, producer_epoch=producer_state_producer_epoch, last_sequence=producer_state_last_sequence, last_timestamp=producer_state_last_timestamp, coordinator_epoch=producer_state_coordinator_epoch, current_txn_start_offset=producer_state_current_txn_start_offset))
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            topic_response_partitions.append(PartitionResponse(partition_index=partition_response_partition_index, error_code=partition_response_error_code, error_message=partition_response_error_message, active_producers=partition_response_active_producers))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(TopicResponse(name=topic_response_name, partitions=topic_response_partitions))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return DescribeProducersResponse(throttle_time_ms=throttle_time_ms, topics=topics)


def _encode_0(message: DescribeProducersResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.throttle_time_ms)
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for topic_response in message.topics:
        raw = topic_response.name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(topic_response.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for partition_response in topic_response.partitions:
            out += _pack_ih(partition_response.partition_index, partition_response.error_code)
            if partition_response.error_message is None:
                out.append(0)
            else:
                raw = partition_response.error_message.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
            size = len(partition_response.active_producers) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            for producer_state in partition_response.active_producers:
                out += _pack_qiiqiqB(producer_state.producer_id, producer_state.producer_epoch, producer_state.last_sequence, producer_state.last_timestamp, producer_state.coordinator_epoch, producer_state.current_txn_start_offset, 0)
            out.append(0)
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0}
_ENCODERS = {0: _encode_0}


def decode(version: int, buffer: Buffer, position: int = 0) -> DescribeProducersResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"DescribeProducersResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No DescribeProducersResponse of version {version}: {error}") from error


def encode(version: int, message: DescribeProducersResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
