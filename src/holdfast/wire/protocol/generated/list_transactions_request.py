# Written by tools/generate_codecs.py from ListTransactionsRequest.json in kafka-clients-4.1.1: do not edit.
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
class ListTransactionsRequest:
    state_filters: list[str] = field(default_factory=list)
    producer_id_filters: list[int] = field(default_factory=list)
    duration_filter: int = -1


_unpack_qB = Struct(">qB").unpack_from
_pack_qB = Struct(">qB").pack


def _decode_0(buffer: memoryview, position: int) -> ListTransactionsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    state_filters: list[str]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count <= end - position or room < 0:
        raise bad_length("state_filters", count)
    state_filters = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("item", stop - position)
        item = str(buffer[position:stop], "utf-8")
        position = stop
        state_filters.append(item)
    producer_id_filters: list[int]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 8 <= end - position or room < 0:
        raise bad_length("producer_id_filters", count)
    producer_id_filters = list(struct.unpack_from(f">{count}q", buffer, position))
    position += count * 8
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return ListTransactionsRequest(state_filters=state_filters, producer_id_filters=producer_id_filters)


def _decode_1(buffer: memoryview, position: int) -> ListTransactionsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    state_filters: list[str]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count <= end - position or room < 0:
        raise bad_length("state_filters", count)
    state_filters = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("item", stop - position)
        item = str(buffer[position:stop], "utf-8")
        position = stop
        state_filters.append(item)
    producer_id_filters: list[int]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 8 <= end - position or room < 0:
        raise bad_length("producer_id_filters", count)
    producer_id_filters = list(struct.unpack_from(f">{count}q", buffer, position))
    position += count * 8
    duration_filter, tags = _unpack_qB(buffer, position)
    position += 9
    if tags:
        position = skip_tags(buffer, position, tags)
    return ListTransactionsRequest(state_filters=state_filters, producer_id_filters=producer_id_filters, duration_filter=duration_filter)


def _encode_0(message: ListTransactionsRequest) -> list[Buffer]:
    out = bytearray()
    size = len(message.state_filters) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for item in message.state_filters:
        raw = item.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    size = len(message.producer_id_filters) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += struct.pack(f">{len(message.producer_id_filters)}q", *message.producer_id_filters)
    out.append(0)
    return [out]


def _encode_1(message: ListTransactionsRequest) -> list[Buffer]:
    out = bytearray()
    size = len(message.state_filters) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for item in message.state_filters:
        raw = item.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    size = len(message.producer_id_filters) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += struct.pack(f">{len(message.producer_id_filters)}q", *message.producer_id_filters)
    out += _pack_qB(message.duration_filter, 0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_1}
_ENCODERS = {0: _encode_0, 1: _encode_1}


def decode(version: int, buffer: Buffer, position: int = 0) -> ListTransactionsRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"ListTransactionsRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No ListTransactionsRequest of version {version}: {error}") from error


def encode(version: int, message: ListTransactionsRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
