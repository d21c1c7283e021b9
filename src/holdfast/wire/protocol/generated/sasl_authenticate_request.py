# Written by tools/generate_codecs.py from SaslAuthenticateRequest.json in kafka-clients-4.1.1: do not edit.
from dataclasses import dataclass
from struct import Struct

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    UNDECODABLE,
    Buffer,
    bad_length,
    read_long_uvarint,
    skip_tags,
    uvarint,
)


@dataclass(slots=True)
class SaslAuthenticateRequest:
    auth_bytes: bytes = b''


_unpack_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack


def _decode_0(buffer: memoryview, position: int) -> SaslAuthenticateRequest:
    end = len(buffer)
    (length,) = _unpack_i(buffer, position)
    position += 4
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("auth_bytes", stop - position)
    auth_bytes = bytes(buffer[position:stop])
    position = stop
    return SaslAuthenticateRequest(auth_bytes=auth_bytes)


def _decode_2(buffer: memoryview, position: int) -> SaslAuthenticateRequest:
    end = len(buffer)
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_uvarint(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("auth_bytes", stop - position)
    auth_bytes = bytes(buffer[position:stop])
    position = stop
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return SaslAuthenticateRequest(auth_bytes=auth_bytes)


def _encode_0(message: SaslAuthenticateRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.auth_bytes
    out += _pack_i(len(raw))
    out += raw
    return [out]


def _encode_2(message: SaslAuthenticateRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.auth_bytes
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_0, 2: _decode_2}
_ENCODERS = {0: _encode_0, 1: _encode_0, 2: _encode_2}


def decode(version: int, buffer: Buffer, position: int = 0) -> SaslAuthenticateRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"SaslAuthenticateRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No SaslAuthenticateRequest of version {version}: {error}") from error


def encode(version: int, message: SaslAuthenticateRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
