# Written by tools/generate_codecs.py from AlterConfigsRequest.json in kafka-clients-4.1.1: do not edit.
from dataclasses import dataclass, field
from struct import Struct

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    MOST_REQUESTED,
    UNDECODABLE,
    Buffer,
    bad_length,
    read_long_string_length,
    read_long_uvarint,
    skip_tags,
    uvarint,
)


@dataclass(slots=True)
class AlterableConfig:
    name: str = ''
    value: str | None = ''


@dataclass(slots=True)
class AlterConfigsResource:
    resource_type: int = 0
    resource_name: str = ''
    configs: list[AlterableConfig] = field(default_factory=list)


@dataclass(slots=True)
class AlterConfigsRequest:
    resources: list[AlterConfigsResource] = field(default_factory=list)
    validate_only: bool = False


_unpack_bB = Struct(">bB").unpack_from
_unpack_bh = Struct(">bh").unpack_from
_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_t = Struct(">?").unpack_from
_unpack_tB = Struct(">?B").unpack_from
_pack_b = Struct(">b").pack
_pack_bh = Struct(">bh").pack
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_t = Struct(">?").pack
_pack_tB = Struct(">?B").pack


def _decode_0(buffer: memoryview, position: int) -> AlterConfigsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    resources: list[AlterConfigsResource]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 7 <= end - position or room < 0:
        raise bad_length("resources", count)
    resources = []
    for _ in range(count):
        alter_configs_resource_resource_type, length = _unpack_bh(buffer, position)
        position += 3
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("alter_configs_resource_resource_name", stop - position)
        alter_configs_resource_resource_name = str(buffer[position:stop], "utf-8")
        position = stop
        alter_configs_resource_configs: list[AlterableConfig]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 4 <= end - position or room < 0:
            raise bad_length("alter_configs_resource_configs", count)
        alter_configs_resource_configs = []
        for _ in range(count):
            (length,) = _unpack_h(buffer, position)
            position += 2
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("alterable_config_name", stop - position)
            alterable_config_name = str(buffer[position:stop], "utf-8")
            position = stop
            alterable_config_value: str | None
            (length,) = _unpack_h(buffer, position)
            position += 2
            if length >= 0:
                stop = position + length
                if stop > end:
                    raise bad_length("alterable_config_value", stop - position)
                alterable_config_value = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                alterable_config_value = None
            alter_configs_resource_configs.append(AlterableConfig(name=alterable_config_name, value=alterable_config_value))
        resources.append(AlterConfigsResource(resource_type=alter_configs_resource_resource_type, resource_name=alter_configs_resource_resource_name, configs=alter_configs_resource_configs))
    (validate_only,) = _unpack_t(buffer, position)
    position += 1
    return AlterConfigsRequest(resources=resources, validate_only=validate_only)


def _decode_2(buffer: memoryview, position: int) -> AlterConfigsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    resources: list[AlterConfigsResource]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 4 <= end - position or room < 0:
        raise bad_length("resources", count)
    resources = []
    for _ in range(count):
        alter_configs_resource_resource_type, length = _unpack_bB(buffer, position)
        position += 2
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("alter_configs_resource_resource_name", stop - position)
        alter_configs_resource_resource_name = str(buffer[position:stop], "utf-8")
        position = stop
        alter_configs_resource_configs: list[AlterableConfig]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 3 <= end - position or room < 0:
            raise bad_length("alter_configs_resource_configs", count)
        alter_configs_resource_configs = []
        for _ in range(count):
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("alterable_config_name", stop - position)
            alterable_config_name = str(buffer[position:stop], "utf-8")
            position = stop
            alterable_config_value: str | None
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            if length:
                stop = position + length - 1
                if stop > end:
                    raise bad_length("alterable_config_value", stop - position)
                alterable_config_value = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                alterable_config_value = None
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            alter_configs_resource_configs.append(AlterableConfig(name=alterable_config_name, value=alterable_config_value))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        resources.append(AlterConfigsResource(resource_type=alter_configs_resource_resource_type, resource_name=alter_configs_resource_resource_name, configs=alter_configs_resource_configs))
    validate_only, tags = _unpack_tB(buffer, position)
    position += 2
    if tags:
        position = skip_tags(buffer, position, tags)
    return AlterConfigsRequest(resources=resources, validate_only=validate_only)


def _encode_0(message: AlterConfigsRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(len(message.resources))
    for alter_configs_resource in message.resources:
        raw = alter_configs_resource.resource_name.encode()
        out += _pack_bh(alter_configs_resource.resource_type, len(raw))
        out += raw
        out += _pack_i(len(alter_configs_resource.configs))
        for alterable_config in alter_configs_resource.configs:
            raw = alterable_config.name.encode()
            out += _pack_h(len(raw))
            out += raw
            if alterable_config.value is None:
                out += b"\xff\xff"
            else:
                raw = alterable_config.value.encode()
                out += _pack_h(len(raw))
                out += raw
    out += _pack_t(message.validate_only)
    return [out]


def _encode_2(message: AlterConfigsRequest) -> list[Buffer]:
    out = bytearray()
    size = len(message.resources) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for alter_configs_resource in message.resources:
        raw = alter_configs_resource.resource_name.encode()
        out += _pack_b(alter_configs_resource.resource_type)
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(alter_configs_resource.configs) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for alterable_config in alter_configs_resource.configs:
            raw = alterable_config.name.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            if alterable_config.value is None:
                out.append(0)
            else:
                raw = alterable_config.value.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
            out.append(0)
        out.append(0)
    out += _pack_tB(message.validate_only, 0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_0, 2: _decode_2}
_ENCODERS = {0: _encode_0, 1: _encode_0, 2: _encode_2}


def decode(version: int, buffer: Buffer, position: int = 0) -> AlterConfigsRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"AlterConfigsRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No AlterConfigsRequest of version {version}: {error}") from error


def encode(version: int, message: AlterConfigsRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
