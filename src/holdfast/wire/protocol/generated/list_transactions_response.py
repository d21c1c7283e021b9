# Written by tools/generate_codecs.py from ListTransactionsResponse.json in kafka-clients-4.1.1: do not edit.
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
class TransactionState:
    transactional_id: str = ''
    producer_id: int = 0
    transaction_state: str = ''


@dataclass(slots=True)
class ListTransactionsResponse:
    throttle_time_ms: int = 0
    error_code: int = 0
    unknown_state_filters: list[str] = field(default_factory=list)
    transaction_states: list[TransactionState] = field(default_factory=list)


_unpack_ihB = Struct(">ihB").unpack_from
_unpack_qB = Struct(">qB").unpack_from
_pack_ih = Struct(">ih").pack
_pack_q = Struct(">q").pack


def _decode_0(buffer: memoryview, position: int) -> ListTransactionsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    unknown_state_filters: list[str]
    throttle_time_ms, error_code, count = _unpack_ihB(buffer, position)
    position += 7
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count <= end - position or room < 0:
        raise bad_length("unknown_state_filters", count)
    unknown_state_filters = []
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
        unknown_state_filters.append(item)
    transaction_states: list[TransactionState]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 11 <= end - position or room < 0:
        raise bad_length("transaction_states", count)
    transaction_states = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("transaction_state_transactional_id", stop - position)
        transaction_state_transactional_id = str(buffer[position:stop], "utf-8")
        position = stop
        transaction_state_producer_id, length = _unpack_qB(buffer, position)
        position += 9
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("transaction_state_transaction_state", stop - position)
        transaction_state_transaction_state = str(buffer[position:stop], "utf-8")
        position = stop
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        transaction_states.append(TransactionState(transactional_id=transaction_state_transactional_id, producer_id=transaction_state_producer_id, transaction_state=transaction_state_transaction_state))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return ListTransactionsResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, unknown_state_filters=unknown_state_filters, transaction_states=transaction_states)


def _encode_0(message: ListTransactionsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ih(message.throttle_time_ms, message.error_code)
    size = len(message.unknown_state_filters) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for item in message.unknown_state_filters:
        raw = item.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    size = len(message.transaction_states) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for transaction_state in message.transaction_states:
        raw = transaction_state.transactional_id.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        raw = transaction_state.transaction_state.encode()
        out += _pack_q(transaction_state.producer_id)
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_0}
_ENCODERS = {0: _encode_0, 1: _encode_0}


def decode(version: int, buffer: Buffer, position: int = 0) -> ListTransactionsResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"ListTransactionsResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No ListTransactionsResponse of version {version}: {error}") from error


def encode(version: int, message: ListTransactionsResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
