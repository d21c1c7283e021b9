# Written by tools/generate_codecs.py from ProduceRequest.json in kafka-clients-4.1.1: do not edit.
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
class PartitionProduceData:
    index: int = 0
    records: memoryview | None = None


@dataclass(slots=True)
class TopicProduceData:
    name: str = ''
    partition_data: list[PartitionProduceData] = field(default_factory=list)


@dataclass(slots=True)
class ProduceRequest:
    transactional_id: str | None = None
    acks: int = 0
    timeout_ms: int = 0
    topic_data: list[TopicProduceData] = field(default_factory=list)


_unpack_h = Struct(">h").unpack_from
_unpack_hiB = Struct(">hiB").unpack_from
_unpack_hii = Struct(">hii").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_pack_h = Struct(">h").pack
_pack_hi = Struct(">hi").pack
_pack_hii = Struct(">hii").pack
_pack_i = Struct(">i").pack


def _decode_3(buffer: memoryview, position: int) -> ProduceRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    transactional_id: str | None
    (length,) = _unpack_h(buffer, position)
    position += 2
    if length >= 0:
        stop = position + length
        if stop > end:
            raise bad_length("transactional_id", stop - position)
        transactional_id = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        transactional_id = None
    topic_data: list[TopicProduceData]
    acks, timeout_ms, count = _unpack_hii(buffer, position)
    position += 10
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("topic_data", count)
    topic_data = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("topic_produce_data_name", stop - position)
        topic_produce_data_name = str(buffer[position:stop], "utf-8")
        position = stop
        topic_produce_data_partition_data: list[PartitionProduceData]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 8 <= end - position or room < 0:
            raise bad_length("topic_produce_data_partition_data", count)
        topic_produce_data_partition_data = []
        for _ in range(count):
            partition_produce_data_records: memoryview | None
            partition_produce_data_index, length = _unpack_ii(buffer, position)
            position += 8
            if length >= 0:
                stop = position + length
                if stop > end:
                    raise bad_length("partition_produce_data_records", stop - position)
                partition_produce_data_records = buffer[position:stop]
                position = stop
            else:
                partition_produce_data_records = None
            topic_produce_data_partition_data.append(PartitionProduceData(index=partition_produce_data_index, records=partition_produce_data_records))
        topic_data.append(TopicProduceData(name=topic_produce_data_name, partition_data=topic_produce_data_partition_data))
    return ProduceRequest(transactional_id=transactional_id, acks=acks, timeout_ms=timeout_ms, topic_data=topic_data)


def _decode_9(buffer: memoryview, position: int) -> ProduceRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    transactional_id: str | None
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    if length:
        stop = position + length - 1
        if stop > end:
            raise bad_length("transactional_id", stop - position)
        transactional_id = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        transactional_id = None
    topic_data: list[TopicProduceData]
    acks, timeout_ms, count = _unpack_hiB(buffer, position)
    position += 7
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 3 <= end - position or room < 0:
        raise bad_length("topic_data", count)
    topic_data = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("topic_produce_data_name", stop - position)
        topic_produce_data_name = str(buffer[position:stop], "utf-8")
        position = stop
        topic_produce_data_partition_data: list[PartitionProduceData]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 6 <= end - position or room < 0:
            raise bad_length("topic_produce_data_partition_data", count)
        topic_produce_data_partition_data = []
        for _ in range(count):
            partition_produce_data_records: memoryview | None
            partition_produce_data_index, length = _unpack_iB(buffer, position)
            position += 5
            if length > 127:
                length, position = read_long_uvarint(buffer, position, length)
            if length:
                stop = position + length - 1
                if stop > end:
                    raise bad_length("partition_produce_data_records", stop - position)
                partition_produce_data_records = buffer[position:stop]
                position = stop
            else:
                partition_produce_data_records = None
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            topic_produce_data_partition_data.append(PartitionProduceData(index=partition_produce_data_index, records=partition_produce_data_records))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        topic_data.append(TopicProduceData(name=topic_produce_data_name, partition_data=topic_produce_data_partition_data))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return ProduceRequest(transactional_id=transactional_id, acks=acks, timeout_ms=timeout_ms, topic_data=topic_data)


def _encode_3(message: ProduceRequest) -> list[Buffer]:
    out = bytearray()
    chunks: list[Buffer] = []
    if message.transactional_id is None:
        out += b"\xff\xff"
    else:
        raw = message.transactional_id.encode()
        out += _pack_h(len(raw))
        out += raw
    out += _pack_hii(message.acks, message.timeout_ms, len(message.topic_data))
    for topic_produce_data in message.topic_data:
        raw = topic_produce_data.name.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(topic_produce_data.partition_data))
        for partition_produce_data in topic_produce_data.partition_data:
            out += _pack_i(partition_produce_data.index)
            if partition_produce_data.records is None:
                out += b"\xff\xff\xff\xff"
            else:
                records = partition_produce_data.records
                out += _pack_i(len(records))
                chunks += (out, records)
                out = bytearray()
    chunks.append(out)
    return chunks


def _encode_9(message: ProduceRequest) -> list[Buffer]:
    out = bytearray()
    chunks: list[Buffer] = []
    if message.transactional_id is None:
        out.append(0)
    else:
        raw = message.transactional_id.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    out += _pack_hi(message.acks, message.timeout_ms)
    size = len(message.topic_data) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for topic_produce_data in message.topic_data:
        raw = topic_produce_data.name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(topic_produce_data.partition_data) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for partition_produce_data in topic_produce_data.partition_data:
            out += _pack_i(partition_produce_data.index)
            if partition_produce_data.records is None:
                out.append(0)
            else:
                records = partition_produce_data.records
                size = len(records) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                chunks += (out, records)
                out = bytearray()
            out.append(0)
        out.append(0)
    out.append(0)
    chunks.append(out)
    return chunks


_DECODERS = {3: _decode_3, 4: _decode_3, 5: _decode_3, 6: _decode_3, 7: _decode_3, 8: _decode_3, 9: _decode_9, 10: _decode_9, 11: _decode_9, 12: _decode_9}
_ENCODERS = {3: _encode_3, 4: _encode_3, 5: _encode_3, 6: _encode_3, 7: _encode_3, 8: _encode_3, 9: _encode_9, 10: _encode_9, 11: _encode_9, 12: _encode_9}


def decode(version: int, buffer: Buffer, position: int = 0) -> ProduceRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"ProduceRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No ProduceRequest of version {version}: {error}") from error


def encode(version: int, message: ProduceRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
