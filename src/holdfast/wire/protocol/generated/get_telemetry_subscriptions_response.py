# Written by tools/generate_codecs.py from GetTelemetrySubscriptionsResponse.json in kafka-clients-4.1.1: do not edit.
import struct
from dataclasses import dataclass, field
from struct import Struct
from uuid import UUID

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    MOST_ELEMENTS,
    UNDECODABLE,
    ZERO_UUID,
    Buffer,
    bad_length,
    read_long_string_length,
    read_long_uvarint,
    skip_tags,
    uuid_of,
    uvarint,
)


@dataclass(slots=True)
class GetTelemetrySubscriptionsResponse:
    throttle_time_ms: int = 0
    error_code: int = 0
    client_instance_id: UUID = ZERO_UUID
    subscription_id: int = 0
    accepted_compression_types: list[int] = field(default_factory=list)
    push_interval_ms: int = 0
    telemetry_max_bytes: int = 0
    delta_temporality: bool = False
    requested_metrics: list[str] = field(default_factory=list)


_unpack_ihuiB = Struct(">ih16siB").unpack_from
_unpack_iitB = Struct(">ii?B").unpack_from
_pack_ihui = Struct(">ih16si").pack
_pack_iit = Struct(">ii?").pack


def _decode_0(buffer: memoryview, position: int) -> GetTelemetrySubscriptionsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    accepted_compression_types: list[int]
    throttle_time_ms, error_code, client_instance_id, subscription_id, count = _unpack_ihuiB(buffer, position)
    position += 27
    client_instance_id = uuid_of(client_instance_id)
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count <= end - position or room < 0:
        raise bad_length("accepted_compression_types", count)
    accepted_compression_types = list(struct.unpack_from(f">{count}b", buffer, position))
    position += count * 1
    requested_metrics: list[str]
    push_interval_ms, telemetry_max_bytes, delta_temporality, count = _unpack_iitB(buffer, position)
    position += 10
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count <= end - position or room < 0:
        raise bad_length("requested_metrics", count)
    requested_metrics = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("item", stop - position)
        item = str(buffer[position:stop], "utf-8")
        position = stop
        requested_metrics.append(item)
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return GetTelemetrySubscriptionsResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, client_instance_id=client_instance_id, subscription_id=subscription_id, accepted_compression_types=accepted_compression_types, push_interval_ms=push_interval_ms, telemetry_max_bytes=telemetry_max_bytes, delta_temporality=delta_temporality, requested_metrics=requested_metrics)


def _encode_0(message: GetTelemetrySubscriptionsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ihui(message.throttle_time_ms, message.error_code, message.client_instance_id.bytes, message.subscription_id)
    size = len(message.accepted_compression_types) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += struct.pack(f">{len(message.accepted_compression_types)}b", *message.accepted_compression_types)
    out += _pack_iit(message.push_interval_ms, message.telemetry_max_bytes, message.delta_temporality)
    size = len(message.requested_metrics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for item in message.requested_metrics:
        raw = item.encode()
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


def decode(version: int, buffer: Buffer, position: int = 0) -> GetTelemetrySubscriptionsResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"GetTelemetrySubscriptionsResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No GetTelemetrySubscriptionsResponse of version {version}: {error}") from error


def encode(version: int, message: GetTelemetrySubscriptionsResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
