# Written by tools/generate_codecs.py from GetTelemetrySubscriptionsRequest.json in kafka-clients-4.1.1: do not edit.
from dataclasses import dataclass
from struct import Struct
from uuid import UUID

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    UNDECODABLE,
    ZERO_UUID,
    Buffer,
    skip_tags,
    uuid_of,
)


@dataclass(slots=True)
class GetTelemetrySubscriptionsRequest:
    client_instance_id: UUID = ZERO_UUID


_unpack_uB = Struct(">16sB").unpack_from
_pack_uB = Struct(">16sB").pack


def _decode_0(buffer: memoryview, position: int) -> GetTelemetrySubscriptionsRequest:
    end = len(buffer)
    client_instance_id, tags = _unpack_uB(buffer, position)
    position += 17
    client_instance_id = uuid_of(client_instance_id)
    if tags:
        position = skip_tags(buffer, position, tags)
    return GetTelemetrySubscriptionsRequest(client_instance_id=client_instance_id)


def _encode_0(message: GetTelemetrySubscriptionsRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_uB(message.client_instance_id.bytes, 0)
    return [out]


_DECODERS = {0: _decode_0}
_ENCODERS = {0: _encode_0}


def decode(version: int, buffer: Buffer, position: int = 0) -> GetTelemetrySubscriptionsRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"GetTelemetrySubscriptionsRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No GetTelemetrySubscriptionsRequest of version {version}: {error}") from error


def encode(version: int, message: GetTelemetrySubscriptionsRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
