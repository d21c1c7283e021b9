# Written by tools/generate_codecs.py from InitProducerIdRequest.json in kafka-clients-4.1.1: do not edit.
from dataclasses import dataclass
from struct import Struct

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    UNDECODABLE,
    Buffer,
    bad_length,
    read_long_string_length,
    skip_tags,
    uvarint,
)


@dataclass(slots=True)
class InitProducerIdRequest:
    transactional_id: str | None = ''
    transaction_timeout_ms: int = 0
    producer_id: int = -1
    producer_epoch: int = -1


_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_iqhB = Struct(">iqhB").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_iB = Struct(">iB").pack
_pack_iqhB = Struct(">iqhB").pack


def _decode_0(buffer: memoryview, position: int) -> InitProducerIdRequest:
    end = len(buffer)
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
    (transaction_timeout_ms,) = _unpack_i(buffer, position)
    position += 4
    return InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=transaction_timeout_ms)


def _decode_2(buffer: memoryview, position: int) -> InitProducerIdRequest:
    end = len(buffer)
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
    transaction_timeout_ms, tags = _unpack_iB(buffer, position)
    position += 5
    if tags:
        position = skip_tags(buffer, position, tags)
    return InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=transaction_timeout_ms)


def _decode_3(buffer: memoryview, position: int) -> InitProducerIdRequest:
    end = len(buffer)
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
    transaction_timeout_ms, producer_id, producer_epoch, tags = _unpack_iqhB(buffer, position)
    position += 15
    if tags:
        position = skip_tags(buffer, position, tags)
    return InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=transaction_timeout_ms, producer_id=producer_id, producer_epoch=producer_epoch)


def _encode_0(message: InitProducerIdRequest) -> list[Buffer]:
    out = bytearray()
    if message.transactional_id is None:
        out += b"\xff\xff"
    else:
        raw = message.transactional_id.encode()
        out += _pack_h(len(raw))
        out += raw
    out += _pack_i(message.transaction_timeout_ms)
    return [out]


def _encode_2(message: InitProducerIdRequest) -> list[Buffer]:
    out = bytearray()
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
    out += _pack_iB(message.transaction_timeout_ms, 0)
    return [out]


def _encode_3(message: InitProducerIdRequest) -> list[Buffer]:
    out = bytearray()
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
    out += _pack_iqhB(message.transaction_timeout_ms, message.producer_id, message.producer_epoch, 0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_0, 2: _decode_2, 3: _decode_3, 4: _decode_3, 5: _decode_3}
_ENCODERS = {0: _encode_0, 1: _encode_0, 2: _encode_2, 3: _encode_3, 4: _encode_3, 5: _encode_3}


def decode(version: int, buffer: Buffer, position: int = 0) -> InitProducerIdRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"InitProducerIdRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No InitProducerIdRequest of version {version}: {error}") from error


def encode(version: int, message: InitProducerIdRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
