# Written by tools/generate_codecs.py from ListOffsetsRequest.json in kafka-clients-4.1.1: do not edit.
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
class ListOffsetsPartition:
    partition_index: int = 0
    current_leader_epoch: int = -1
    timestamp: int = 0


@dataclass(slots=True)
class ListOffsetsTopic:
    name: str = ''
    partitions: list[ListOffsetsPartition] = field(default_factory=list)


@dataclass(slots=True)
class ListOffsetsRequest:
    replica_id: int = 0
    isolation_level: int = 0
    topics: list[ListOffsetsTopic] = field(default_factory=list)
    timeout_ms: int = 0


_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_ibB = Struct(">ibB").unpack_from
_unpack_ibi = Struct(">ibi").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_unpack_iiq = Struct(">iiq").unpack_from
_unpack_iiqB = Struct(">iiqB").unpack_from
_unpack_iq = Struct(">iq").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_iB = Struct(">iB").pack
_pack_ib = Struct(">ib").pack
_pack_ibi = Struct(">ibi").pack
_pack_ii = Struct(">ii").pack
_pack_iiq = Struct(">iiq").pack
_pack_iiqB = Struct(">iiqB").pack
_pack_iq = Struct(">iq").pack


def _decode_1(buffer: memoryview, position: int) -> ListOffsetsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[ListOffsetsTopic]
    replica_id, count = _unpack_ii(buffer, position)
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
            raise bad_length("list_offsets_topic_name", stop - position)
        list_offsets_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        list_offsets_topic_partitions: list[ListOffsetsPartition]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 12 <= end - position or room < 0:
            raise bad_length("list_offsets_topic_partitions", count)
        list_offsets_topic_partitions = []
        for _ in range(count):
            list_offsets_partition_partition_index, list_offsets_partition_timestamp = _unpack_iq(buffer, position)
            position += 12
            list_offsets_topic_partitions.append(ListOffsetsPartition(partition_index=list_offsets_partition_partition_index, timestamp=list_offsets_partition_timestamp))
        topics.append(ListOffsetsTopic(name=list_offsets_topic_name, partitions=list_offsets_topic_partitions))
    return ListOffsetsRequest(replica_id=replica_id, topics=topics)


def _decode_2(buffer: memoryview, position: int) -> ListOffsetsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[ListOffsetsTopic]
    replica_id, isolation_level, count = _unpack_ibi(buffer, position)
    position += 9
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("list_offsets_topic_name", stop - position)
        list_offsets_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        list_offsets_topic_partitions: list[ListOffsetsPartition]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 12 <= end - position or room < 0:
            raise bad_length("list_offsets_topic_partitions", count)
        list_offsets_topic_partitions = []
        for _ in range(count):
            list_offsets_partition_partition_index, list_offsets_partition_timestamp = _unpack_iq(buffer, position)
            position += 12
            list_offsets_topic_partitions.append(ListOffsetsPartition(partition_index=list_offsets_partition_partition_index, timestamp=list_offsets_partition_timestamp))
        topics.append(ListOffsetsTopic(name=list_offsets_topic_name, partitions=list_offsets_topic_partitions))
    return ListOffsetsRequest(replica_id=replica_id, isolation_level=isolation_level, topics=topics)


def _decode_4(buffer: memoryview, position: int) -> ListOffsetsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[ListOffsetsTopic]
    replica_id, isolation_level, count = _unpack_ibi(buffer, position)
    position += 9
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("list_offsets_topic_name", stop - position)
        list_offsets_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        list_offsets_topic_partitions: list[ListOffsetsPartition]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 16 <= end - position or room < 0:
            raise bad_length("list_offsets_topic_partitions", count)
        list_offsets_topic_partitions = []
        for _ in range(count):
            list_offsets_partition_partition_index, list_offsets_partition_current_leader_epoch, list_offsets_partition_timestamp = _unpack_iiq(buffer, position)
            position += 16
            list_offsets_topic_partitions.append(ListOffsetsPartition(partition_index=list_offsets_partition_partition_index, current_leader_epoch=list_offsets_partition_current_leader_epoch, timestamp=list_offsets_partition_timestamp))
        topics.append(ListOffsetsTopic(name=list_offsets_topic_name, partitions=list_offsets_topic_partitions))
    return ListOffsetsRequest(replica_id=replica_id, isolation_level=isolation_level, topics=topics)


def _decode_6(buffer: memoryview, position: int) -> ListOffsetsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[ListOffsetsTopic]
    replica_id, isolation_level, count = _unpack_ibB(buffer, position)
    position += 6
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
            raise bad_length("list_offsets_topic_name", stop - position)
        list_offsets_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        list_offsets_topic_partitions: list[ListOffsetsPartition]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 17 <= end - position or room < 0:
            raise bad_length("list_offsets_topic_partitions", count)
        list_offsets_topic_partitions = []
        for _ in range(count):
            list_offsets_partition_partition_index, list_offsets_partition_current_leader_epoch, list_offsets_partition_timestamp, tags = _unpack_iiqB(buffer, position)
            position += 17
            if tags:
                position = skip_tags(buffer, position, tags)
            list_offsets_topic_partitions.append(ListOffsetsPartition(partition_index=list_offsets_partition_partition_index, current_leader_epoch=list_offsets_partition_current_leader_epoch, timestamp=list_offsets_partition_timestamp))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(ListOffsetsTopic(name=list_offsets_topic_name, partitions=list_offsets_topic_partitions))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return ListOffsetsRequest(replica_id=replica_id, isolation_level=isolation_level, topics=topics)


def _decode_10(buffer: memoryview, position: int) -> ListOffsetsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[ListOffsetsTopic]
    replica_id, isolation_level, count = _unpack_ibB(buffer, position)
    position += 6
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
            raise bad_length("list_offsets_topic_name", stop - position)
        list_offsets_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        list_offsets_topic_partitions: list[ListOffsetsPartition]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 17 <= end - position or room < 0:
            raise bad_length("list_offsets_topic_partitions", count)
        list_offsets_topic_partitions = []
        for _ in range(count):
            list_offsets_partition_partition_index, list_offsets_partition_current_leader_epoch, list_offsets_partition_timestamp, tags = _unpack_iiqB(buffer, position)
            position += 17
            if tags:
                position = skip_tags(buffer, position, tags)
            list_offsets_topic_partitions.append(ListOffsetsPartition(partition_index=list_offsets_partition_partition_index, current_leader_epoch=list_offsets_partition_current_leader_epoch, timestamp=list_offsets_partition_timestamp))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(ListOffsetsTopic(name=list_offsets_topic_name, partitions=list_offsets_topic_partitions))
    timeout_ms, tags = _unpack_iB(buffer, position)
    position += 5
    if tags:
        position = skip_tags(buffer, position, tags)
    return ListOffsetsRequest(replica_id=replica_id, isolation_level=isolation_level, topics=topics, timeout_ms=timeout_ms)


def _encode_1(message: ListOffsetsRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_ii(message.replica_id, len(message.topics))
    for list_offsets_topic in message.topics:
        raw = list_offsets_topic.name.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(list_offsets_topic.partitions))
        for list_offsets_partition in list_offsets_topic.partitions:
            out += _pack_iq(list_offsets_partition.partition_index, list_offsets_partition.timestamp)
    return [out]


def _encode_2(message: ListOffsetsRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_ibi(message.replica_id, message.isolation_level, len(message.topics))
    for list_offsets_topic in message.topics:
        raw = list_offsets_topic.name.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(list_offsets_topic.partitions))
        for list_offsets_partition in list_offsets_topic.partitions:
            out += _pack_iq(list_offsets_partition.partition_index, list_offsets_partition.timestamp)
    return [out]


def _encode_4(message: ListOffsetsRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_ibi(message.replica_id, message.isolation_level, len(message.topics))
    for list_offsets_topic in message.topics:
        raw = list_offsets_topic.name.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(list_offsets_topic.partitions))
        for list_offsets_partition in list_offsets_topic.partitions:
            out += _pack_iiq(list_offsets_partition.partition_index, list_offsets_partition.current_leader_epoch, list_offsets_partition.timestamp)
    return [out]


def _encode_6(message: ListOffsetsRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_ib(message.replica_id, message.isolation_level)
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for list_offsets_topic in message.topics:
        raw = list_offsets_topic.name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(list_offsets_topic.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for list_offsets_partition in list_offsets_topic.partitions:
            out += _pack_iiqB(list_offsets_partition.partition_index, list_offsets_partition.current_leader_epoch, list_offsets_partition.timestamp, 0)
        out.append(0)
    out.append(0)
    return [out]


def _encode_10(message: ListOffsetsRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_ib(message.replica_id, message.isolation_level)
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for list_offsets_topic in message.topics:
        raw = list_offsets_topic.name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(list_offsets_topic.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for list_offsets_partition in list_offsets_topic.partitions:
            out += _pack_iiqB(list_offsets_partition.partition_index, list_offsets_partition.current_leader_epoch, list_offsets_partition.timestamp, 0)
        out.append(0)
    out += _pack_iB(message.timeout_ms, 0)
    return [out]


_DECODERS = {1: _decode_1, 2: _decode_2, 3: _decode_2, 4: _decode_4, 5: _decode_4, 6: _decode_6, 7: _decode_6, 8: _decode_6, 9: _decode_6, 10: _decode_10}
_ENCODERS = {1: _encode_1, 2: _encode_2, 3: _encode_2, 4: _encode_4, 5: _encode_4, 6: _encode_6, 7: _encode_6, 8: _encode_6, 9: _encode_6, 10: _encode_10}


def decode(version: int, buffer: Buffer, position: int = 0) -> ListOffsetsRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"ListOffsetsRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No ListOffsetsRequest of version {version}: {error}") from error


def encode(version: int, message: ListOffsetsRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
