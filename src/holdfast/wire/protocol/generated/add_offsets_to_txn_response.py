# Written by tools/generate_codecs.py from AddOffsetsToTxnResponse.json in kafka-clients-4.1.1: do not edit.
from dataclasses import dataclass
from struct import Struct

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    UNDECODABLE,
    Buffer,
    skip_tags,
)


@dataclass(slots=True)
class AddOffsetsToTxnResponse:
    throttle_time_ms: int = 0
    error_code: int = 0


_unpack_ih = Struct(">ih").unpack_from
_unpack_ihB = Struct(">ihB").unpack_from
_pack_ih = Struct(">ih").pack
_pack_ihB = Struct(">ihB").pack


def _decode_0(buffer: memoryview, position: int) -> AddOffsetsToTxnResponse:
    end = len(buffer)
    throttle_time_ms, error_code = _unpack_ih(buffer, position)
    position += 6
    return AddOffsetsToTxnResponse(throttle_time_ms=throttle_time_ms, error_code=error_code)


def _decode_3(buffer: memoryview, position: int) -> AddOffsetsToTxnResponse:
    end = len(buffer)
    throttle_time_ms, error_code, tags = _unpack_ihB(buffer, position)
    position += 7
    if tags:
        position = skip_tags(buffer, position, tags)
    return AddOffsetsToTxnResponse(throttle_time_ms=throttle_time_ms, error_code=error_code)


def _encode_0(message: AddOffsetsToTxnResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ih(message.throttle_time_ms, message.error_code)
    return [out]


def _encode_3(message: AddOffsetsToTxnResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ihB(message.throttle_time_ms, message.error_code, 0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_0, 2: _decode_0, 3: _decode_3, 4: _decode_3}
_ENCODERS = {0: _encode_0, 1: _encode_0, 2: _encode_0, 3: _encode_3, 4: _encode_3}


def decode(version: int, buffer: Buffer, position: int = 0) -> AddOffsetsToTxnResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"AddOffsetsToTxnResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No AddOffsetsToTxnResponse of version {version}: {error}") from error


def encode(version: int, message: AddOffsetsToTxnResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
