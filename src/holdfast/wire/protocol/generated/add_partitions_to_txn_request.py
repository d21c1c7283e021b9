# Written by tools/generate_codecs.py from AddPartitionsToTxnRequest.json in kafka-clients-4.1.1: do not edit.
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
class AddPartitionsToTxnTopic:
    name: str = ''
    partitions: list[int] = field(default_factory=list)


@dataclass(slots=True)
class AddPartitionsToTxnTransaction:
    transactional_id: str = ''
    producer_id: int = 0
    producer_epoch: int = 0
    verify_only: bool = False
    topics: list[AddPartitionsToTxnTopic] = field(default_factory=list)


@dataclass(slots=True)
class AddPartitionsToTxnRequest:
    transactions: list[AddPartitionsToTxnTransaction] = field(default_factory=list)
    v3_and_below_transactional_id: str = ''
    v3_and_below_producer_id: int = 0
    v3_and_below_producer_epoch: int = 0
    v3_and_below_topics: list[AddPartitionsToTxnTopic] = field(default_factory=list)


_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_qhB = Struct(">qhB").unpack_from
_unpack_qhi = Struct(">qhi").unpack_from
_unpack_qhtB = Struct(">qh?B").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_qh = Struct(">qh").pack
_pack_qhi = Struct(">qhi").pack
_pack_qht = Struct(">qh?").pack


def _decode_0(buffer: memoryview, position: int) -> AddPartitionsToTxnRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("v3_and_below_transactional_id", stop - position)
    v3_and_below_transactional_id = str(buffer[position:stop], "utf-8")
    position = stop
    v3_and_below_topics: list[AddPartitionsToTxnTopic]
    v3_and_below_producer_id, v3_and_below_producer_epoch, count = _unpack_qhi(buffer, position)
    position += 14
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("v3_and_below_topics", count)
    v3_and_below_topics = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("add_partitions_to_txn_topic_name", stop - position)
        add_partitions_to_txn_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        add_partitions_to_txn_topic_partitions: list[int]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 4 <= end - position or room < 0:
            raise bad_length("add_partitions_to_txn_topic_partitions", count)
        add_partitions_to_txn_topic_partitions = list(struct.unpack_from(f">{count}i", buffer, position))
        position += count * 4
        v3_and_below_topics.append(AddPartitionsToTxnTopic(name=add_partitions_to_txn_topic_name, partitions=add_partitions_to_txn_topic_partitions))
    return AddPartitionsToTxnRequest(v3_and_below_transactional_id=v3_and_below_transactional_id, v3_and_below_producer_id=v3_and_below_producer_id, v3_and_below_producer_epoch=v3_and_below_producer_epoch, v3_and_below_topics=v3_and_below_topics)


def _decode_3(buffer: memoryview, position: int) -> AddPartitionsToTxnRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("v3_and_below_transactional_id", stop - position)
    v3_and_below_transactional_id = str(buffer[position:stop], "utf-8")
    position = stop
    v3_and_below_topics: list[AddPartitionsToTxnTopic]
    v3_and_below_producer_id, v3_and_below_producer_epoch, count = _unpack_qhB(buffer, position)
    position += 11
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 3 <= end - position or room < 0:
        raise bad_length("v3_and_below_topics", count)
    v3_and_below_topics = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("add_partitions_to_txn_topic_name", stop - position)
        add_partitions_to_txn_topic_name = str(buffer[position:stop], "utf-8")
        position = stop
        add_partitions_to_txn_topic_partitions: list[int]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 4 <= end - position or room < 0:
            raise bad_length("add_partitions_to_txn_topic_partitions", count)
        add_partitions_to_txn_topic_partitions = list(struct.unpack_from(f">{count}i", buffer, position))
        position += count * 4
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        v3_and_below_topics.append(AddPartitionsToTxnTopic(name=add_partitions_to_txn_topic_name, partitions=add_partitions_to_txn_topic_partitions))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return AddPartitionsToTxnRequest(v3_and_below_transactional_id=v3_and_below_transactional_id, v3_and_below_producer_id=v3_and_below_producer_id, v3_and_below_producer_epoch=v3_and_below_producer_epoch, v3_and_below_topics=v3_and_below_topics)


def _decode_4(buffer: memoryview, position: int) -> AddPartitionsToTxnRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    transactions: list[AddPartitionsToTxnTransaction]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 14 <= end - position or room < 0:
        raise bad_length("transactions", count)
    transactions = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("add_partitions_to_txn_transaction_transactional_id", stop - position)
        add_partitions_to_txn_transaction_transactional_id = str(buffer[position:stop], "utf-8")
        position = stop
        add_partitions_to_txn_transaction_topics: list[AddPartitionsToTxnTopic]
        add_partitions_to_txn_transaction_producer_id, add_partitions_to_txn_transaction_producer_epoch, add_partitions_to_txn_transaction_verify_only, count = _unpack_qhtB(buffer, position)
        position += 12
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 3 <= end - position or room < 0:
            raise bad_length("add_partitions_to_txn_transaction_topics", count)
        add_partitions_to_txn_transaction_topics = []
        for _ in range(count):
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("add_partitions_to_txn_topic_name", stop - position)
            add_partitions_to_txn_topic_name = str(buffer[position:stop], "utf-8")
            position = stop
            add_partitions_to_txn_topic_partitions: list[int]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("add_partitions_to_txn_topic_partitions", count)
            add_partitions_to_txn_topic_partitions = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            add_partitions_to_txn_transaction_topics.append(AddPartitionsToTxnTopic(name=add_partitions_to_txn_topic_name, partitions=add_partitions_to_txn_topic_partitions))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        transactions.append(AddPartitionsToTxnTransaction(transactional_id=add_partitions_to_txn_transaction_transactional_id, producer_id=add_partitions_to_txn_transaction_producer_id, producer_epoch=add_partitions_to_txn_transaction_producer_epoch, verify_only=add_partitions_to_txn_transaction_verify_only, topics=add_partitions_to_txn_transaction_topics))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return AddPartitionsToTxnRequest(transactions=transactions)


def _encode_0(message: AddPartitionsToTxnRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.v3_and_below_transactional_id.encode()
    out += _pack_h(len(raw))
    out += raw
    out += _pack_qhi(message.v3_and_below_producer_id, message.v3_and_below_producer_epoch, len(message.v3_and_below_topics))
    for add_partitions_to_txn_topic in message.v3_and_below_topics:
        raw = add_partitions_to_txn_topic.name.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(add_partitions_to_txn_topic.partitions))
        out += struct.pack(f">{len(add_partitions_to_txn_topic.partitions)}i", *add_partitions_to_txn_topic.partitions)
    return [out]


def _encode_3(message: AddPartitionsToTxnRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.v3_and_below_transactional_id.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    out += _pack_qh(message.v3_and_below_producer_id, message.v3_and_below_producer_epoch)
    size = len(message.v3_and_below_topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for add_partitions_to_txn_topic in message.v3_and_below_topics:
        raw = add_partitions_to_txn_topic.name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(add_partitions_to_txn_topic.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += struct.pack(f">{len(add_partitions_to_txn_topic.partitions)}i", *add_partitions_to_txn_topic.partitions)
        out.append(0)
    out.append(0)
    return [out]


def _encode_4(message: AddPartitionsToTxnRequest) -> list[Buffer]:
    out = bytearray()
    size = len(message.transactions) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for add_partitions_to_txn_transaction in message.transactions:
        raw = add_partitions_to_txn_transaction.transactional_id.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out += _pack_qht(add_partitions_to_txn_transaction.producer_id, add_partitions_to_txn_transaction.producer_epoch, add_partitions_to_txn_transaction.verify_only)
        size = len(add_partitions_to_txn_transaction.topics) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for add_partitions_to_txn_topic in add_partitions_to_txn_transaction.topics:
            raw = add_partitions_to_txn_topic.name.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            size = len(add_partitions_to_txn_topic.partitions) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += struct.pack(f">{len(add_partitions_to_txn_topic.partitions)}i", *add_partitions_to_txn_topic.partitions)
            out.append(0)
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_0, 2: _decode_0, 3: _decode_3, 4: _decode_4, 5: _decode_4}
_ENCODERS = {0: _encode_0, 1: _encode_0, 2: _encode_0, 3: _encode_3, 4: _encode_4, 5: _encode_4}


def decode(version: int, buffer: Buffer, position: int = 0) -> AddPartitionsToTxnRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"AddPartitionsToTxnRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No AddPartitionsToTxnRequest of version {version}: {error}") from error


def encode(version: int, message: AddPartitionsToTxnRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
