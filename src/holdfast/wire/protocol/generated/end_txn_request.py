# Written by tools/generate_codecs.py from EndTxnRequest.json in kafka-clients-4.1.1: do not edit.
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
class EndTxnRequest:
    transactional_id: str = ''
    producer_id: int = 0
    producer_epoch: int = 0
    committed: bool = False


_unpack_h = Struct(">h").unpack_from
_unpack_qht = Struct(">qh?").unpack_from
_unpack_qhtB = Struct(">qh?B").unpack_from
_pack_h = Struct(">h").pack
_pack_qht = Struct(">qh?").pack
_pack_qhtB = Struct(">qh?B").pack


def _decode_0(buffer: memoryview, position: int) -> EndTxnRequest:
    end = len(buffer)
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("transactional_id", stop - position)
    transactional_id = str(buffer[position:stop], "utf-8")
    position = stop
    producer_id, producer_epoch, committed = _unpack_qht(buffer, position)
    position += 11
    return EndTxnRequest(transactional_id=transactional_id, producer_id=producer_id, producer_epoch=producer_epoch, committed=committed)


def _decode_3(buffer: memoryview, position: int) -> EndTxnRequest:
    end = len(buffer)
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("transactional_id", stop - position)
    transactional_id = str(buffer[position:stop], "utf-8")
    position = stop
    producer_id, producer_epoch, committed, tags = _unpack_qhtB(buffer, position)
    position += 12
    if tags:
        position = skip_tags(buffer, position, tags)
    return EndTxnRequest(transactional_id=transactional_id, producer_id=producer_id, producer_epoch=producer_epoch, committed=committed)


def _encode_0(message: EndTxnRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.transactional_id.encode()
    out += _pack_h(len(raw))
    out += raw
    out += _pack_qht(message.producer_id, message.producer_epoch, message.committed)
    return [out]


def _encode_3(message: EndTxnRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.transactional_id.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    out += _pack_qhtB(message.producer_id, message.producer_epoch, message.committed, 0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_0, 2: _decode_0, 3: _decode_3, 4: _decode_3, 5: _decode_3}
_ENCODERS = {0: _encode_0, 1: _encode_0, 2: _encode_0, 3: _encode_3, 4: _encode_3, 5: _encode_3}


def decode(version: int, buffer: Buffer, position: int = 0) -> EndTxnRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"EndTxnRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No EndTxnRequest of version {version}: {error}") from error


def encode(version: int, message: EndTxnRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
