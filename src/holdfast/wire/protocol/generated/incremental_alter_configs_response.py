# Written by tools/generate_codecs.py from IncrementalAlterConfigsResponse.json in kafka-clients-4.1.1: do not edit.
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
class AlterConfigsResourceResponse:
    error_code: int = 0
    error_message: str | None = ''
    resource_type: int = 0
    resource_name: str = ''


@dataclass(slots=True)
class IncrementalAlterConfigsResponse:
    throttle_time_ms: int = 0
    responses: list[AlterConfigsResourceResponse] = field(default_factory=list)


_unpack_bB = Struct(">bB").unpack_from
_unpack_bh = Struct(">bh").unpack_from
_unpack_hB = Struct(">hB").unpack_from
_unpack_hh = Struct(">hh").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_pack_b = Struct(">b").pack
_pack_bh = Struct(">bh").pack
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_ii = Struct(">ii").pack


def _decode_0(buffer: memoryview, position: int) -> IncrementalAlterConfigsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    responses: list[AlterConfigsResourceResponse]
    throttle_time_ms, count = _unpack_ii(buffer, position)
    position += 8
    room -= count
    if not 0 <= count * 7 <= end - position or room < 0:
        raise bad_length("responses", count)
    responses = []
    for _ in range(count):
        alter_configs_resource_response_error_message: str | None
        alter_configs_resource_response_error_code, length = _unpack_hh(buffer, position)
        position += 4
        if length >= 0:
            stop = position + length
            if stop > end:
                raise bad_length("alter_configs_resource_response_error_message", stop - position)
            alter_configs_resource_response_error_message = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            alter_configs_resource_response_error_message = None
        alter_configs_resource_response_resource_type, length = _unpack_bh(buffer, position)
        position += 3
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("alter_configs_resource_response_resource_name", stop - position)
        alter_configs_resource_response_resource_name = str(buffer[position:stop], "utf-8")
        position = stop
        responses.append(AlterConfigsResourceResponse(error_code=alter_configs_resource_response_error_code, error_message=alter_configs_resource_response_error_message, resource_type=alter_configs_resource_response_resource_type, resource_name=alter_configs_resource_response_resource_name))
    return IncrementalAlterConfigsResponse(throttle_time_ms=throttle_time_ms, responses=responses)


def _decode_1(buffer: memoryview, position: int) -> IncrementalAlterConfigsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    responses: list[AlterConfigsResourceResponse]
    throttle_time_ms, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("responses", count)
    responses = []
    for _ in range(count):
        alter_configs_resource_response_error_message: str | None
        alter_configs_resource_response_error_code, length = _unpack_hB(buffer, position)
        position += 3
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("alter_configs_resource_response_error_message", stop - position)
            alter_configs_resource_response_error_message = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            alter_configs_resource_response_error_message = None
        alter_configs_resource_response_resource_type, length = _unpack_bB(buffer, position)
        position += 2
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("alter_configs_resource_response_resource_name", stop - position)
        alter_configs_resource_response_resource_name = str(buffer[position:stop], "utf-8")
        position = stop
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        responses.append(AlterConfigsResourceResponse(error_code=alter_configs_resource_response_error_code, error_message=alter_configs_resource_response_error_message, resource_type=alter_configs_resource_response_resource_type, resource_name=alter_configs_resource_response_resource_name))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return IncrementalAlterConfigsResponse(throttle_time_ms=throttle_time_ms, responses=responses)


def _encode_0(message: IncrementalAlterConfigsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ii(message.throttle_time_ms, len(message.responses))
    for alter_configs_resource_response in message.responses:
        out += _pack_h(alter_configs_resource_response.error_code)
        if alter_configs_resource_response.error_message is None:
            out += b"\xff\xff"
        else:
            raw = alter_configs_resource_response.error_message.encode()
            out += _pack_h(len(raw))
            out += raw
        raw = alter_configs_resource_response.resource_name.encode()
        out += _pack_bh(alter_configs_resource_response.resource_type, len(raw))
        out += raw
    return [out]


def _encode_1(message: IncrementalAlterConfigsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.throttle_time_ms)
    size = len(message.responses) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for alter_configs_resource_response in message.responses:
        out += _pack_h(alter_configs_resource_response.error_code)
        if alter_configs_resource_response.error_message is None:
            out.append(0)
        else:
            raw = alter_configs_resource_response.error_message.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        raw = alter_configs_resource_response.resource_name.encode()
        out += _pack_b(alter_configs_resource_response.resource_type)
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_1}
_ENCODERS = {0: _encode_0, 1: _encode_1}


def decode(version: int, buffer: Buffer, position: int = 0) -> IncrementalAlterConfigsResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"IncrementalAlterConfigsResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No IncrementalAlterConfigsResponse of version {version}: {error}") from error


def encode(version: int, message: IncrementalAlterConfigsResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
