# Written by tools/generate_codecs.py from SaslHandshakeRequest.json in kafka-clients-4.1.1: do not edit.
from dataclasses import dataclass
from struct import Struct

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    UNDECODABLE,
    Buffer,
    bad_length,
)


@dataclass(slots=True)
class SaslHandshakeRequest:
    mechanism: str = ''


_unpack_h = Struct(">h").unpack_from
_pack_h = Struct(">h").pack


def _decode_1(buffer: memoryview, position: int) -> SaslHandshakeRequest:
    end = len(buffer)
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("mechanism", stop - position)
    mechanism = str(buffer[position:stop], "utf-8")
    position = stop
    return SaslHandshakeRequest(mechanism=mechanism)


def _encode_1(message: SaslHandshakeRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.mechanism.encode()
    out += _pack_h(len(raw))
    out += raw
    return [out]


_DECODERS = {1: _decode_1}
_ENCODERS = {1: _encode_1}


def decode(version: int, buffer: Buffer, position: int = 0) -> SaslHandshakeRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"SaslHandshakeRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No SaslHandshakeRequest of version {version}: {error}") from error


def encode(version: int, message: SaslHandshakeRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
