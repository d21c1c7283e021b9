# Written by tools/generate_codecs.py from SyncGroupResponse.json in kafka-clients-4.1.1: do not edit.
from dataclasses import dataclass
from struct import Struct

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    UNDECODABLE,
    Buffer,
    bad_length,
    read_long_string_length,
    read_long_uvarint,
    skip_tags,
    uvarint,
)


@dataclass(slots=True)
class SyncGroupResponse:
    throttle_time_ms: int = 0
    error_code: int = 0
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: bytes = b''


_unpack_hi = Struct(">hi").unpack_from
_unpack_ihB = Struct(">ihB").unpack_from
_unpack_ihi = Struct(">ihi").unpack_from
_pack_hi = Struct(">hi").pack
_pack_ih = Struct(">ih").pack
_pack_ihi = Struct(">ihi").pack


def _decode_0(buffer: memoryview, position: int) -> SyncGroupResponse:
    end = len(buffer)
    error_code, length = _unpack_hi(buffer, position)
    position += 6
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("assignment", stop - position)
    assignment = bytes(buffer[position:stop])
    position = stop
    return SyncGroupResponse(error_code=error_code, assignment=assignment)


def _decode_1(buffer: memoryview, position: int) -> SyncGroupResponse:
    end = len(buffer)
    throttle_time_ms, error_code, length = _unpack_ihi(buffer, position)
    position += 10
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("assignment", stop - position)
    assignment = bytes(buffer[position:stop])
    position = stop
    return SyncGroupResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, assignment=assignment)


def _decode_4(buffer: memoryview, position: int) -> SyncGroupResponse:
    end = len(buffer)
    throttle_time_ms, error_code, length = _unpack_ihB(buffer, position)
    position += 7
    if length > 127:
        length, position = read_long_uvarint(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("assignment", stop - position)
    assignment = bytes(buffer[position:stop])
    position = stop
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return SyncGroupResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, assignment=assignment)


def _decode_5(buffer: memoryview, position: int) -> SyncGroupResponse:
    end = len(buffer)
    protocol_type: str | None
    throttle_time_ms, error_code, length = _unpack_ihB(buffer, position)
    position += 7
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    if length:
        stop = position + length - 1
        if stop > end:
            raise bad_length("protocol_type", stop - position)
        protocol_type = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        protocol_type = None
    protocol_name: str | None
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    if length:
        stop = position + length - 1
        if stop > end:
            raise bad_length("protocol_name", stop - position)
        protocol_name = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        protocol_name = None
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_uvarint(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("assignment", stop - position)
    assignment = bytes(buffer[position:stop])
    position = stop
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return SyncGroupResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, protocol_type=protocol_type, protocol_name=protocol_name, assignment=assignment)


def _encode_0(message: SyncGroupResponse) -> list[Buffer]:
    out = bytearray()
    raw = message.assignment
    out += _pack_hi(message.error_code, len(raw))
    out += raw
    return [out]


def _encode_1(message: SyncGroupResponse) -> list[Buffer]:
    out = bytearray()
    raw = message.assignment
    out += _pack_ihi(message.throttle_time_ms, message.error_code, len(raw))
    out += raw
    return [out]


def _encode_4(message: SyncGroupResponse) -> list[Buffer]:
    out = bytearray()
    raw = message.assignment
    out += _pack_ih(message.throttle_time_ms, message.error_code)
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    out.append(0)
    return [out]


def _encode_5(message: SyncGroupResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ih(message.throttle_time_ms, message.error_code)
    if message.protocol_type is None:
        out.append(0)
    else:
        raw = message.protocol_type.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    if message.protocol_name is None:
        out.append(0)
    else:
        raw = message.protocol_name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    raw = message.assignment
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_1, 2: _decode_1, 3: _decode_1, 4: _decode_4, 5: _decode_5}
_ENCODERS = {0: _encode_0, 1: _encode_1, 2: _encode_1, 3: _encode_1, 4: _encode_4, 5: _encode_5}


def decode(version: int, buffer: Buffer, position: int = 0) -> SyncGroupResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"SyncGroupResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No SyncGroupResponse of version {version}: {error}") from error


def encode(version: int, message: SyncGroupResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
