# Written by tools/generate_codecs.py from SaslAuthenticateResponse.json in kafka-clients-4.1.1: do not edit.
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
class SaslAuthenticateResponse:
    error_code: int = 0
    error_message: str | None = ''
    auth_bytes: bytes = b''
    session_lifetime_ms: int = 0


_unpack_hB = Struct(">hB").unpack_from
_unpack_hh = Struct(">hh").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_q = Struct(">q").unpack_from
_unpack_qB = Struct(">qB").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_q = Struct(">q").pack
_pack_qB = Struct(">qB").pack


def _decode_0(buffer: memoryview, position: int) -> SaslAuthenticateResponse:
    end = len(buffer)
    error_message: str | None
    error_code, length = _unpack_hh(buffer, position)
    position += 4
    if length >= 0:
        stop = position + length
        if stop > end:
            raise bad_length("error_message", stop - position)
        error_message = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        error_message = None
    (length,) = _unpack_i(buffer, position)
    position += 4
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("auth_bytes", stop - position)
    auth_bytes = bytes(buffer[position:stop])
    position = stop
    return SaslAuthenticateResponse(error_code=error_code, error_message=error_message, auth_bytes=auth_bytes)


def _decode_1(buffer: memoryview, position: int) -> SaslAuthenticateResponse:
    end = len(buffer)
    error_message: str | None
    error_code, length = _unpack_hh(buffer, position)
    position += 4
    if length >= 0:
        stop = position + length
        if stop > end:
            raise bad_length("error_message", stop - position)
        error_message = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        error_message = None
    (length,) = _unpack_i(buffer, position)
    position += 4
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("auth_bytes", stop - position)
    auth_bytes = bytes(buffer[position:stop])
    position = stop
    (session_lifetime_ms,) = _unpack_q(buffer, position)
    position += 8
    return SaslAuthenticateResponse(error_code=error_code, error_message=error_message, auth_bytes=auth_bytes, session_lifetime_ms=session_lifetime_ms)


def _decode_2(buffer: memoryview, position: int) -> SaslAuthenticateResponse:
    end = len(buffer)
    error_message: str | None
    error_code, length = _unpack_hB(buffer, position)
    position += 3
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    if length:
        stop = position + length - 1
        if stop > end:
            raise bad_length("error_message", stop - position)
        error_message = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        error_message = None
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_uvarint(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("auth_bytes", stop - position)
    auth_bytes = bytes(buffer[position:stop])
    position = stop
    session_lifetime_ms, tags = _unpack_qB(buffer, position)
    position += 9
    if tags:
        position = skip_tags(buffer, position, tags)
    return SaslAuthenticateResponse(error_code=error_code, error_message=error_message, auth_bytes=auth_bytes, session_lifetime_ms=session_lifetime_ms)


def _encode_0(message: SaslAuthenticateResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_h(message.error_code)
    if message.error_message is None:
        out += b"\xff\xff"
    else:
        raw = message.error_message.encode()
        out += _pack_h(len(raw))
        out += raw
    raw = message.auth_bytes
    out += _pack_i(len(raw))
    out += raw
    return [out]


def _encode_1(message: SaslAuthenticateResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_h(message.error_code)
    if message.error_message is None:
        out += b"\xff\xff"
    else:
        raw = message.error_message.encode()
        out += _pack_h(len(raw))
        out += raw
    raw = message.auth_bytes
    out += _pack_i(len(raw))
    out += raw
    out += _pack_q(message.session_lifetime_ms)
    return [out]


def _encode_2(message: SaslAuthenticateResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_h(message.error_code)
    if message.error_message is None:
        out.append(0)
    else:
        raw = message.error_message.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    raw = message.auth_bytes
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    out += _pack_qB(message.session_lifetime_ms, 0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_1, 2: _decode_2}
_ENCODERS = {0: _encode_0, 1: _encode_1, 2: _encode_2}


def decode(version: int, buffer: Buffer, position: int = 0) -> SaslAuthenticateResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"SaslAuthenticateResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No SaslAuthenticateResponse of version {version}: {error}") from error


def encode(version: int, message: SaslAuthenticateResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
