# Written by tools/generate_codecs.py from SaslHandshakeResponse.json in kafka-clients-4.1.1: do not edit.
from dataclasses import dataclass, field
from struct import Struct

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    MOST_ELEMENTS,
    UNDECODABLE,
    Buffer,
    bad_length,
)


@dataclass(slots=True)
class SaslHandshakeResponse:
    error_code: int = 0
    mechanisms: list[str] = field(default_factory=list)


_unpack_h = Struct(">h").unpack_from
_unpack_hi = Struct(">hi").unpack_from
_pack_h = Struct(">h").pack
_pack_hi = Struct(">hi").pack


def _decode_1(buffer: memoryview, position: int) -> SaslHandshakeResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    mechanisms: list[str]
    error_code, count = _unpack_hi(buffer, position)
    position += 6
    room -= count
    if not 0 <= count * 2 <= end - position or room < 0:
        raise bad_length("mechanisms", count)
    mechanisms = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("item", stop - position)
        item = str(buffer[position:stop], "utf-8")
        position = stop
        mechanisms.append(item)
    return SaslHandshakeResponse(error_code=error_code, mechanisms=mechanisms)


def _encode_1(message: SaslHandshakeResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_hi(message.error_code, len(message.mechanisms))
    for item in message.mechanisms:
        raw = item.encode()
        out += _pack_h(len(raw))
        out += raw
    return [out]


_DECODERS = {1: _decode_1}
_ENCODERS = {1: _encode_1}


def decode(version: int, buffer: Buffer, position: int = 0) -> SaslHandshakeResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"SaslHandshakeResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No SaslHandshakeResponse of version {version}: {error}") from error


def encode(version: int, message: SaslHandshakeResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
