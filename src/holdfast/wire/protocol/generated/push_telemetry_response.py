# Written by tools/generate_codecs.py from PushTelemetryResponse.json in kafka-clients-4.1.1: do not edit.
from dataclasses import dataclass
from struct import Struct

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    UNDECODABLE,
    Buffer,
    skip_tags,
)


@dataclass(slots=True)
class PushTelemetryResponse:
    throttle_time_ms: int = 0
    error_code: int = 0


_unpack_ihB = Struct(">ihB").unpack_from
_pack_ihB = Struct(">ihB").pack


def _decode_0(buffer: memoryview, position: int) -> PushTelemetryResponse:
    end = len(buffer)
    throttle_time_ms, error_code, tags = _unpack_ihB(buffer, position)
    position += 7
    if tags:
        position = skip_tags(buffer, position, tags)
    return PushTelemetryResponse(throttle_time_ms=throttle_time_ms, error_code=error_code)


def _encode_0(message: PushTelemetryResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ihB(message.throttle_time_ms, message.error_code, 0)
    return [out]


_DECODERS = {0: _decode_0}
_ENCODERS = {0: _encode_0}


def decode(version: int, buffer: Buffer, position: int = 0) -> PushTelemetryResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"PushTelemetryResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No PushTelemetryResponse of version {version}: {error}") from error


def encode(version: int, message: PushTelemetryResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
