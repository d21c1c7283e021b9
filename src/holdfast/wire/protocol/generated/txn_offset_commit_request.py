# Written by tools/generate_codecs.py from TxnOffsetCommitRequest.json in kafka-clients-4.1.1: do not edit.
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
class TxnOffsetCommitRequestPartition:
    partition_index: int = 0
    committed_offset: int = 0
    committed_leader_epoch: int = -1
    committed_metadata: str | None = ''


@dataclass(slots=True)
class TxnOffsetCommitRequestTopic:
    name: str = ''
    partitions: list[TxnOffsetCommitRequestPartition] = field(default_factory=list)


@dataclass(slots=True)
class TxnOffsetCommitRequest:
    transactional_id: str = ''
    group_id: str = ''
    producer_id: int = 0
    producer_epoch: int = 0
    generation_id: int = -1
    member_id: str = ''
    group_instance_id: str | None = None
    topics: list[TxnOffsetCommitRequestTopic] = field(default_factory=list)


_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_iqh = Struct(">iqh").unpack_from
_unpack_iqiB = Struct(">iqiB").unpack_from
_unpack_iqih = Struct(">iqih").unpack_from
_unpack_qhi = Struct(">qhi").unpack_from
_unpack_qhiB = Struct(">qhiB").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_iq = Struct(">iq").pack
_pack_iqi = Struct(">iqi").pack
_pack_qhi = Struct(">qhi").pack


def _decode_0(buffer: memoryview, position: int) -> TxnOffsetCommitRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("transactional_id", stop - position)
    transactional_id = str(buffer[position:stop], "utf-8")
    position = stop
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("group_id", stop - position)
    group_id = str(buffer[position:stop], "utf-8")
    position = stop
    topics: list[TxnOffsetCommitRequestTopic]
    producer_id, producer_epoch, count = _unpack_qhi(buffer, position)
    position += 14
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("txn_offset_commit_request_topic_name", stop - position)
        txn_offset_commit_request_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        txn_offset_commit_request_topic_partitions: list[TxnOffsetCommitRequestPartition]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 14 <= end - position or room < 0:
            raise bad_length("txn_offset_commit_request_topic_partitions", count)
        txn_offset_commit_request_topic_partitions = []
        for _ in range(count):
            txn_offset_commit_request_partition_committed_metadata: str | None
            txn_offset_commit_request_partition_partition_index, txn_offset_commit_request_partition_committed_offset, length = _unpack_iqh(buffer, position)
            position += 14
            if length >= 0:
                stop = position + length
                if stop > end:
                    raise bad_length("txn_offset_commit_request_partition_committed_metadata", stop - position)
                txn_offset_commit_request_partition_committed_metadata = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                txn_offset_commit_request_partition_committed_metadata = None
            txn_offset_commit_request_topic_partitions.append(TxnOffsetCommitRequestPartition(partition_index=txn_offset_commit_request_partition_partition_index, committed_offset=txn_offset_commit_request_partition_committed_offset, committed_metadata=txn_offset_commit_request_partition_committed_metadata))
        topics.append(TxnOffsetCommitRequestTopic(name=txn_offset_commit_request_topic_name, partitions=txn_offset_commit_request_topic_partitions))
    return TxnOffsetCommitRequest(transactional_id=transactional_id, group_id=group_id, producer_id=producer_id, producer_epoch=producer_epoch, topics=topics)


def _decode_2(buffer: memoryview, position: int) -> TxnOffsetCommitRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("transactional_id", stop - position)
    transactional_id = str(buffer[position:stop], "utf-8")
    position = stop
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("group_id", stop - position)
    group_id = str(buffer[position:stop], "utf-8")
    position = stop
    topics: list[TxnOffsetCommitRequestTopic]
    producer_id, producer_epoch, count = _unpack_qhi(buffer, position)
    position += 14
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("txn_offset_commit_request_topic_name", stop - position)
        txn_offset_commit_request_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        txn_offset_commit_request_topic_partitions: list[TxnOffsetCommitRequestPartition]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 18 <= end - position or room < 0:
            raise bad_length("txn_offset_commit_request_topic_partitions", count)
        txn_offset_commit_request_topic_partitions = []
        for _ in range(count):
            txn_offset_commit_request_partition_committed_metadata: str | None
            txn_offset_commit_request_partition_partition_index, txn_offset_commit_request_partition_committed_offset, txn_offset_commit_request_partition_committed_leader_epoch, length = _unpack_iqih(buffer, position)
            position += 18
            if length >= 0:
                stop = position + length
                if stop > end:
                    raise bad_length("txn_offset_commit_request_partition_committed_metadata", stop - position)
                txn_offset_commit_request_partition_committed_metadata = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                txn_offset_commit_request_partition_committed_metadata = None
            txn_offset_commit_request_topic_partitions.append(TxnOffsetCommitRequestPartition(partition_index=txn_offset_commit_request_partition_partition_index, committed_offset=txn_offset_commit_request_partition_committed_offset, committed_leader_epoch=txn_offset_commit_request_partition_committed_leader_epoch, committed_metadata=txn_offset_commit_request_partition_committed_metadata))
        topics.append(TxnOffsetCommitRequestTopic(name=txn_offset_commit_request_topic_name, partitions=txn_offset_commit_request_topic_partitions))
    return TxnOffsetCommitRequest(transactional_id=transactional_id, group_id=group_id, producer_id=producer_id, producer_epoch=producer_epoch, topics=topics)


def _decode_3(buffer: memoryview, position: int) -> TxnOffsetCommitRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("transactional_id", stop - position)
    transactional_id = str(buffer[position:stop], "utf-8")
    position = stop
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("group_id", stop - position)
    group_id = str(buffer[position:stop], "utf-8")
    position = stop
    producer_id, producer_epoch, generation_id, length = _unpack_qhiB(buffer, position)
    position += 15
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("member_id", stop - position)
    member_id = str(buffer[position:stop], "utf-8")
    position = stop
    group_instance_id: str | None
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    if length:
        stop = position + length - 1
        if stop > end:
            raise bad_length("group_instance_id", stop - position)
        group_instance_id = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        group_instance_id = None
    topics: list[TxnOffsetCommitRequestTopic]
    count = buffer[position]
    position += 1
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
            raise bad_length("txn_offset_commit_request_topic_name", stop - position)
        txn_offset_commit_request_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        txn_offset_commit_request_topic_partitions: list[TxnOffsetCommitRequestPartition]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 18 <= end - position or room < 0:
            raise bad_length("txn_offset_commit_request_topic_partitions", count)
        txn_offset_commit_request_topic_partitions = []
        for _ in range(count):
            txn_offset_commit_request_partition_committed_metadata: str | None
            txn_offset_commit_request_partition_partition_index, txn_offset_commit_request_partition_committed_offset, txn_offset_commit_request_partition_committed_leader_epoch, length = _unpack_iqiB(buffer, position)
            position += 17
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            if length:
                stop = position + length - 1
                if stop > end:
                    raise bad_length("txn_offset_commit_request_partition_committed_metadata", stop - position)
                txn_offset_commit_request_partition_committed_metadata = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                txn_offset_commit_request_partition_committed_metadata = None
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            txn_offset_commit_request_topic_partitions.append(TxnOffsetCommitRequestPartition(partition_index=txn_offset_commit_request_partition_partition_index, committed_offset=txn_offset_commit_request_partition_committed_offset, committed_leader_epoch=txn_offset_commit_request_partition_committed_leader_epoch, committed_metadata=txn_offset_commit_request_partition_committed_metadata))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(TxnOffsetCommitRequestTopic(name=txn_offset_commit_request_topic_name, partitions=txn_offset_commit_request_topic_partitions))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return TxnOffsetCommitRequest(transactional_id=transactional_id, group_id=group_id, producer_id=producer_id, producer_epoch=producer_epoch, generation_id=generation_id, member_id=member_id, group_instance_id=group_instance_id, topics=topics)


def _encode_0(message: TxnOffsetCommitRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.transactional_id.encode()
    out += _pack_h(len(raw))
    out += raw
    raw = message.group_id.encode()
    out += _pack_h(len(raw))
    out += raw
    out += _pack_qhi(message.producer_id, message.producer_epoch, len(message.topics))
    for txn_offset_commit_request_topic in message.topics:
        raw = txn_offset_commit_request_topic.name.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(txn_offset_commit_request_topic.partitions))
        for txn_offset_commit_request_partition in txn_offset_commit_request_topic.partitions:
            out += _pack_iq(txn_offset_commit_request_partition.partition_index, txn_offset_commit_request_partition.committed_offset)
            if txn_offset_commit_request_partition.committed_metadata is None:
                out += b"\xff\xff"
            else:
                raw = txn_offset_commit_request_partition.committed_metadata.encode()
                out += _pack_h(len(raw))
                out += raw
    return [out]


def _encode_2(message: TxnOffsetCommitRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.transactional_id.encode()
    out += _pack_h(len(raw))
    out += raw
    raw = message.group_id.encode()
    out += _pack_h(len(raw))
    out += raw
    out += _pack_qhi(message.producer_id, message.producer_epoch, len(message.topics))
    for txn_offset_commit_request_topic in message.topics:
        raw = txn_offset_commit_request_topic.name.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(txn_offset_commit_request_topic.partitions))
        for txn_offset_commit_request_partition in txn_offset_commit_request_topic.partitions:
            out += _pack_iqi(txn_offset_commit_request_partition.partition_index, txn_offset_commit_request_partition.committed_offset, txn_offset_commit_request_partition.committed_leader_epoch)
            if txn_offset_commit_request_partition.committed_metadata is None:
                out += b"\xff\xff"
            else:
                raw = txn_offset_commit_request_partition.committed_metadata.encode()
                out += _pack_h(len(raw))
                out += raw
    return [out]


def _encode_3(message: TxnOffsetCommitRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.transactional_id.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    raw = message.group_id.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    raw = message.member_id.encode()
    out += _pack_qhi(message.producer_id, message.producer_epoch, message.generation_id)
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    if message.group_instance_id is None:
        out.append(0)
    else:
        raw = message.group_instance_id.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for txn_offset_commit_request_topic in message.topics:
        raw = txn_offset_commit_request_topic.name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(txn_offset_commit_request_topic.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for txn_offset_commit_request_partition in txn_offset_commit_request_topic.partitions:
            out += _pack_iqi(txn_offset_commit_request_partition.partition_index, txn_offset_commit_request_partition.committed_offset, txn_offset_commit_request_partition.committed_leader_epoch)
            if txn_offset_commit_request_partition.committed_metadata is None:
                out.append(0)
            else:
                raw = txn_offset_commit_request_partition.committed_metadata.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
            out.append(0)
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_0, 2: _decode_2, 3: _decode_3, 4: _decode_3, 5: _decode_3}
_ENCODERS = {0: _encode_0, 1: _encode_0, 2: _encode_2, 3: _encode_3, 4: _encode_3, 5: _encode_3}


def decode(version: int, buffer: Buffer, position: int = 0) -> TxnOffsetCommitRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"TxnOffsetCommitRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No TxnOffsetCommitRequest of version {version}: {error}") from error


def encode(version: int, message: TxnOffsetCommitRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
