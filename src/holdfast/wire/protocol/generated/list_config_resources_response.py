# Written by tools/generate_codecs.py from ListConfigResourcesResponse.json in kafka-clients-4.1.1: do not edit.
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
class ConfigResource:
    resource_name: str = ''
    resource_type: int = 16


@dataclass(slots=True)
class ListConfigResourcesResponse:
    throttle_time_ms: int = 0
    error_code: int = 0
    config_resources: list[ConfigResource] = field(default_factory=list)


_unpack_bB = Struct(">bB").unpack_from
_unpack_ihB = Struct(">ihB").unpack_from
_pack_bB = Struct(">bB").pack
_pack_ih = Struct(">ih").pack


def _decode_0(buffer: memoryview, position: int) -> ListConfigResourcesResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    config_resources: list[ConfigResource]
    throttle_time_ms, error_code, count = _unpack_ihB(buffer, position)
    position += 7
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 2 <= end - position or room < 0:
        raise bad_length("config_resources", count)
    config_resources = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("config_resource_resource_name", stop - position)
        config_resource_resource_name = str(buffer[position:stop], "utf-8")
        position = stop
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        config_resources.append(ConfigResource(resource_name=config_resource_resource_name))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return ListConfigResourcesResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, config_resources=config_resources)


def _decode_1(buffer: memoryview, position: int) -> ListConfigResourcesResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    config_resources: list[ConfigResource]
    throttle_time_ms, error_code, count = _unpack_ihB(buffer, position)
    position += 7
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 3 <= end - position or room < 0:
        raise bad_length("config_resources", count)
    config_resources = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("config_resource_resource_name", stop - position)
        config_resource_resource_name = str(buffer[position:stop], "utf-8")
        position = stop
        config_resource_resource_type, tags = _unpack_bB(buffer, position)
        position += 2
        if tags:
            position = skip_tags(buffer, position, tags)
        config_resources.append(ConfigResource(resource_name=config_resource_resource_name, resource_type=config_resource_resource_type))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return ListConfigResourcesResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, config_resources=config_resources)


def _encode_0(message: ListConfigResourcesResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ih(message.throttle_time_ms, message.error_code)
    size = len(message.config_resources) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for config_resource in message.config_resources:
        raw = config_resource.resource_name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out.append(0)
    out.append(0)
    return [out]


def _encode_1(message: ListConfigResourcesResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ih(message.throttle_time_ms, message.error_code)
    size = len(message.config_resources) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for config_resource in message.config_resources:
        raw = config_resource.resource_name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out += _pack_bB(config_resource.resource_type, 0)
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_1}
_ENCODERS = {0: _encode_0, 1: _encode_1}


def decode(version: int, buffer: Buffer, position: int = 0) -> ListConfigResourcesResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"ListConfigResourcesResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No ListConfigResourcesResponse of version {version}: {error}") from error


def encode(version: int, message: ListConfigResourcesResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
