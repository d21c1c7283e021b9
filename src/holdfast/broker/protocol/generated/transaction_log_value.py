# Written by tools/generate_codecs.py from TransactionLogValue.json in kafka-transaction-coordinator-4.1.1: do not edit.
import struct
from dataclasses import dataclass, field
from struct import Struct

from holdfast.broker.protocol.errors import MalformedMessage
from holdfast.broker.protocol.primitives import (
    MOST_ELEMENTS,
    MOST_TAGS,
    UNDECODABLE,
    Buffer,
    bad_length,
    read_long_string_length,
    read_long_uvarint,
    read_uvarint,
    skip_tags,
    uvarint,
)


@dataclass(slots=True)
class PartitionsSchema:
    topic: str = ''
    partition_ids: list[int] = field(default_factory=list)


@dataclass(slots=True)
class TransactionLogValue:
    producer_id: int = 0
    previous_producer_id: int = -1
    next_producer_id: int = -1
    producer_epoch: int = 0
    next_producer_epoch: int = -1
    transaction_timeout_ms: int = 0
    transaction_status: int = 0
    transaction_partitions: list[PartitionsSchema] | None = field(default_factory=list)
    transaction_last_update_timestamp_ms: int = 0
    transaction_start_timestamp_ms: int = 0
    client_transaction_version: int = 0


_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_q = Struct(">q").unpack_from
_unpack_qhibB = Struct(">qhibB").unpack_from
_unpack_qhibi = Struct(">qhibi").unpack_from
_unpack_qq = Struct(">qq").unpack_from
_unpack_qqB = Struct(">qqB").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_q = Struct(">q").pack
_pack_qhib = Struct(">qhib").pack
_pack_qq = Struct(">qq").pack


def _decode_0(buffer: memoryview, position: int) -> TransactionLogValue:
    end = len(buffer)
    room = MOST_ELEMENTS
    transaction_partitions: list[PartitionsSchema] | None
    producer_id, producer_epoch, transaction_timeout_ms, transaction_status, count = _unpack_qhibi(buffer, position)
    position += 19
    if count >= 0:
        room -= count
        if not 0 <= count * 6 <= end - position or room < 0:
            raise bad_length("transaction_partitions", count)
        transaction_partitions = []
        for _ in range(count):
            (length,) = _unpack_h(buffer, position)
            position += 2
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("partitions_schema_topic", stop - position)
            partitions_schema_topic = str(buffer[position:stop], "utf-8")
            position = stop
            partitions_schema_partition_ids: list[int]
            (count,) = _unpack_i(buffer, position)
            position += 4
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("partitions_schema_partition_ids", count)
            partitions_schema_partition_ids = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            transaction_partitions.append(PartitionsSchema(topic=partitions_schema_topic, partition_ids=partitions_schema_partition_ids))
    else:
        transaction_partitions = None
    transaction_last_update_timestamp_ms, transaction_start_timestamp_ms = _unpack_qq(buffer, position)
    position += 16
    return TransactionLogValue(producer_id=producer_id, producer_epoch=producer_epoch, transaction_timeout_ms=transaction_timeout_ms, transaction_status=transaction_status, transaction_partitions=transaction_partitions, transaction_last_update_timestamp_ms=transaction_last_update_timestamp_ms, transaction_start_timestamp_ms=transaction_start_timestamp_ms)


def _decode_1(buffer: memoryview, position: int) -> TransactionLogValue:
    end = len(buffer)
    room = MOST_ELEMENTS
    transaction_partitions: list[PartitionsSchema] | None
    producer_id, producer_epoch, transaction_timeout_ms, transaction_status, count = _unpack_qhibB(buffer, position)
    position += 16
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    if count:
        count -= 1
        room -= count
        if not 0 <= count * 3 <= end - position or room < 0:
            raise bad_length("transaction_partitions", count)
        transaction_partitions = []
        for _ in range(count):
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("partitions_schema_topic", stop - position)
            partitions_schema_topic = str(buffer[position:stop], "utf-8")
            position = stop
            partitions_schema_partition_ids: list[int]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("partitions_schema_partition_ids", count)
            partitions_schema_partition_ids = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            transaction_partitions.append(PartitionsSchema(topic=partitions_schema_topic, partition_ids=partitions_schema_partition_ids))
    else:
        transaction_partitions = None
    previous_producer_id: int = -1
    next_producer_id: int = -1
    client_transaction_version: int = 0
    next_producer_epoch: int = -1
    transaction_last_update_timestamp_ms, transaction_start_timestamp_ms, tags = _unpack_qqB(buffer, position)
    position += 17
    if tags:
        if tags > MOST_TAGS:
            raise bad_length("The tagged fields of TransactionLogValue", tags)
        for _ in range(tags):
            tag, position = read_uvarint(buffer, position)
            size, position = read_uvarint(buffer, position)
            after_tag_of_transaction_log_value = position + size
            if after_tag_of_transaction_log_value > end:
                raise bad_length("A tagged field of TransactionLogValue", size)
            if tag == 0:
                (previous_producer_id,) = _unpack_q(buffer, position)
                position += 8
            elif tag == 1:
                (next_producer_id,) = _unpack_q(buffer, position)
                position += 8
            elif tag == 2:
                (client_transaction_version,) = _unpack_h(buffer, position)
                position += 2
            elif tag == 3:
                (next_producer_epoch,) = _unpack_h(buffer, position)
                position += 2
            else:
                position = after_tag_of_transaction_log_value
            if position != after_tag_of_transaction_log_value:
                raise bad_length("A tagged field of TransactionLogValue", size)
    return TransactionLogValue(producer_id=producer_id, previous_producer_id=previous_producer_id, next_producer_id=next_producer_id, producer_epoch=producer_epoch, next_producer_epoch=next_producer_epoch, transaction_timeout_ms=transaction_timeout_ms, transaction_status=transaction_status, transaction_partitions=transaction_partitions, transaction_last_update_timestamp_ms=transaction_last_update_timestamp_ms, transaction_start_timestamp_ms=transaction_start_timestamp_ms, client_transaction_version=client_transaction_version)


def _encode_0(message: TransactionLogValue) -> list[Buffer]:
    out = bytearray()
    out += _pack_qhib(message.producer_id, message.producer_epoch, message.transaction_timeout_ms, message.transaction_status)
    if message.transaction_partitions is None:
        out += b"\xff\xff\xff\xff"
    else:
        out += _pack_i(len(message.transaction_partitions))
        for partitions_schema in message.transaction_partitions:
            raw = partitions_schema.topic.encode()
            out += _pack_h(len(raw))
            out += raw
            out += _pack_i(len(partitions_schema.partition_ids))
            out += struct.pack(f">{len(partitions_schema.partition_ids)}i", *partitions_schema.partition_ids)
    out += _pack_qq(message.transaction_last_update_timestamp_ms, message.transaction_start_timestamp_ms)
    return [out]


def _encode_1(message: TransactionLogValue) -> list[Buffer]:
    out = bytearray()
    out += _pack_qhib(message.producer_id, message.producer_epoch, message.transaction_timeout_ms, message.transaction_status)
    if message.transaction_partitions is None:
        out.append(0)
    else:
        size = len(message.transaction_partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for partitions_schema in message.transaction_partitions:
            raw = partitions_schema.topic.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            size = len(partitions_schema.partition_ids) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += struct.pack(f">{len(partitions_schema.partition_ids)}i", *partitions_schema.partition_ids)
            out.append(0)
    out += _pack_qq(message.transaction_last_update_timestamp_ms, message.transaction_start_timestamp_ms)
    tags = (message.previous_producer_id != -1) + (message.next_producer_id != -1) + (message.client_transaction_version != 0) + (message.next_producer_epoch != -1)
    out.append(tags)
    if tags:
        if message.previous_producer_id != -1:
            around_transaction_log_value, out = out, bytearray()
            out += _pack_q(message.previous_producer_id)
            around_transaction_log_value.append(0)
            around_transaction_log_value += uvarint(len(out))
            around_transaction_log_value += out
            out = around_transaction_log_value
        if message.next_producer_id != -1:
            around_transaction_log_value, out = out, bytearray()
            out += _pack_q(message.next_producer_id)
            around_transaction_log_value.append(1)
            around_transaction_log_value += uvarint(len(out))
            around_transaction_log_value += out
            out = around_transaction_log_value
        if message.client_transaction_version != 0:
            around_transaction_log_value, out = out, bytearray()
            out += _pack_h(message.client_transaction_version)
            around_transaction_log_value.append(2)
            around_transaction_log_value += uvarint(len(out))
            around_transaction_log_value += out
            out = around_transaction_log_value
        if message.next_producer_epoch != -1:
            around_transaction_log_value, out = out, bytearray()
            out += _pack_h(message.next_producer_epoch)
            around_transaction_log_value.append(3)
            around_transaction_log_value += uvarint(len(out))
            around_transaction_log_value += out
            out = around_transaction_log_value
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_1}
_ENCODERS = {0: _encode_0, 1: _encode_1}


def decode(version: int, buffer: Buffer, position: int = 0) -> TransactionLogValue:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"TransactionLogValue has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No TransactionLogValue of version {version}: {error}") from error


def encode(version: int, message: TransactionLogValue) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)


def pack(version: int, message: TransactionLogValue) -> bytes:
    """The value as it is in a record: its version in two bytes, then the message."""
    return version.to_bytes(2, "big") + b"".join(encode(version, message))


def unpack(buffer: Buffer) -> tuple[int, TransactionLogValue]:
    """The version and the message of a value that `pack` made, or Kafka."""
    version = int.from_bytes(buffer[:2], "big")
    return version, decode(version, buffer, 2)
