# Written by tools/generate_codecs.py from UpdateFeaturesResponse.json in kafka-clients-4.1.1: do not edit.
from dataclasses import dataclass, field
from struct import Struct

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    MOST_ELEMENTS,
    UNDECODABLE,
    Buffer,
    bad_length,
    read_long_string_length,
    read_long_uvarint,
    skip_tags,
    uvarint,
)


@dataclass(slots=True)
class UpdatableFeatureResult:
    feature: str = ''
    error_code: int = 0
    error_message: str | None = ''


@dataclass(slots=True)
class UpdateFeaturesResponse:
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ''
    results: list[UpdatableFeatureResult] = field(default_factory=list)


_unpack_hB = Struct(">hB").unpack_from
_unpack_ihB = Struct(">ihB").unpack_from
_pack_h = Struct(">h").pack
_pack_ih = Struct(">ih").pack


def _decode_0(buffer: memoryview, position: int) -> UpdateFeaturesResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    error_message: str | None
    throttle_time_ms, error_code, length = _unpack_ihB(buffer, position)
    position += 7
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
    results: list[UpdatableFeatureResult]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 5 <= end - position or room < 0:
        raise bad_length("results", count)
    results = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("updatable_feature_result_feature", stop - position)
        updatable_feature_result_feature = str(buffer[position:stop], "utf-8")
        position = stop
        updatable_feature_result_error_message: str | None
        updatable_feature_result_error_code, length = _unpack_hB(buffer, position)
        position += 3
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("updatable_feature_result_error_message", stop - position)
            updatable_feature_result_error_message = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            updatable_feature_result_error_message = None
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        results.append(UpdatableFeatureResult(feature=updatable_feature_result_feature, error_code=updatable_feature_result_error_code, error_message=updatable_feature_result_error_message))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return UpdateFeaturesResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, error_message=error_message, results=results)


def _decode_2(buffer: memoryview, position: int) -> UpdateFeaturesResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    error_message: str | None
    throttle_time_ms, error_code, length = _unpack_ihB(buffer, position)
    position += 7
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
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return UpdateFeaturesResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, error_message=error_message)


def _encode_0(message: UpdateFeaturesResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ih(message.throttle_time_ms, message.error_code)
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
    size = len(message.results) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for updatable_feature_result in message.results:
        raw = updatable_feature_result.feature.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out += _pack_h(updatable_feature_result.error_code)
        if updatable_feature_result.error_message is None:
            out.append(0)
        else:
            raw = updatable_feature_result.error_message.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        out.append(0)
    out.append(0)
    return [out]


def _encode_2(message: UpdateFeaturesResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ih(message.throttle_time_ms, message.error_code)
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
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_0, 2: _decode_2}
_ENCODERS = {0: _encode_0, 1: _encode_0, 2: _encode_2}


def decode(version: int, buffer: Buffer, position: int = 0) -> UpdateFeaturesResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"UpdateFeaturesResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No UpdateFeaturesResponse of version {version}: {error}") from error


def encode(version: int, message: UpdateFeaturesResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
