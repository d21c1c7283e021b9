# Written by tools/generate_codecs.py from PushTelemetryRequest.json in kafka-clients-4.1.1: do not edit.
from dataclasses import dataclass
from struct import Struct
from uuid import UUID

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    UNDECODABLE,
    ZERO_UUID,
    Buffer,
    bad_length,
    read_long_uvarint,
    skip_tags,
    uuid_of,
    uvarint,
)


@dataclass(slots=True)
class PushTelemetryRequest:
    client_instance_id: UUID = ZERO_UUID
    subscription_id: int = 0
    terminating: bool = False
    compression_type: int = 0
    metrics: bytes = b''


_unpack_uitbB = Struct(">16si?bB").unpack_from
_pack_uitb = Struct(">16si?b").pack


def _decode_0(buffer: memoryview, position: int) -> PushTelemetryRequest:
    end = len(buffer)
    client_instance_id, subscription_id, terminating, compression_type, length = _unpack_uitbB(buffer, position)
    position += 23
    client_instance_id = uuid_of(client_instance_id)
    if length > 127:
        length, position = read_long_uvarint(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("metrics", stop - position)
    metrics = bytes(buffer[position:stop])
    position = stop
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return PushTelemetryRequest(client_instance_id=client_instance_id, subscription_id=subscription_id, terminating=terminating, compression_type=compression_type, metrics=metrics)


def _encode_0(message: PushTelemetryRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.metrics
    out += _pack_uitb(message.client_instance_id.bytes, message.subscription_id, message.terminating, message.compression_type)
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0}
_ENCODERS = {0: _encode_0}


def decode(version: int, buffer: Buffer, position: int = 0) -> PushTelemetryRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"PushTelemetryRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No PushTelemetryRequest of version {version}: {error}") from error


def encode(version: int, message: PushTelemetryRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
