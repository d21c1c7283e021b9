# Written by tools/generate_codecs.py from AddOffsetsToTxnRequest.json in kafka-clients-4.1.1: do not edit.
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
class AddOffsetsToTxnRequest:
    transactional_id: str = ''
    producer_id: int = 0
    producer_epoch: int = 0
    group_id: str = ''


_unpack_h = Struct(">h").unpack_from
_unpack_qhB = Struct(">qhB").unpack_from
_unpack_qhh = Struct(">qhh").unpack_from
_pack_h = Struct(">h").pack
_pack_qh = Struct(">qh").pack
_pack_qhh = Struct(">qhh").pack


def _decode_0(buffer: memoryview, position: int) -> AddOffsetsToTxnRequest:
    end = len(buffer)
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("transactional_id", stop - position)
    transactional_id = str(buffer[position:stop], "utf-8")
    position = stop
    producer_id, producer_epoch, length = _unpack_qhh(buffer, position)
    position += 12
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("group_id", stop - position)
    group_id = str(buffer[position:stop], "utf-8")
    position = stop
    return AddOffsetsToTxnRequest(transactional_id=transactional_id, producer_id=producer_id, producer_epoch=producer_epoch, group_id=group_id)


def _decode_3(buffer: memoryview, position: int) -> AddOffsetsToTxnRequest:
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
    producer_id, producer_epoch, length = _unpack_qhB(buffer, position)
    position += 11
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("group_id", stop - position)
    group_id = str(buffer[position:stop], "utf-8")
    position = stop
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return AddOffsetsToTxnRequest(transactional_id=transactional_id, producer_id=producer_id, producer_epoch=producer_epoch, group_id=group_id)


def _encode_0(message: AddOffsetsToTxnRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.transactional_id.encode()
    out += _pack_h(len(raw))
    out += raw
    raw = message.group_id.encode()
    out += _pack_qhh(message.producer_id, message.producer_epoch, len(raw))
    out += raw
    return [out]


def _encode_3(message: AddOffsetsToTxnRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.transactional_id.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    raw = message.group_id.encode()
    out += _pack_qh(message.producer_id, message.producer_epoch)
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_0, 2: _decode_0, 3: _decode_3, 4: _decode_3}
_ENCODERS = {0: _encode_0, 1: _encode_0, 2: _encode_0, 3: _encode_3, 4: _encode_3}


def decode(version: int, buffer: Buffer, position: int = 0) -> AddOffsetsToTxnRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"AddOffsetsToTxnRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No AddOffsetsToTxnRequest of version {version}: {error}") from error


def encode(version: int, message: AddOffsetsToTxnRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
