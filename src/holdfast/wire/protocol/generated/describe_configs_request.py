# Written by tools/generate_codecs.py from DescribeConfigsRequest.json in kafka-clients-4.1.1: do not edit.
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
class DescribeConfigsResource:
    resource_type: int = 0
    resource_name: str = ''
    configuration_keys: list[str] | None = field(default_factory=list)


@dataclass(slots=True)
class DescribeConfigsRequest:
    resources: list[DescribeConfigsResource] = field(default_factory=list)
    include_synonyms: bool = False
    include_documentation: bool = False


_unpack_bB = Struct(">bB").unpack_from
_unpack_bh = Struct(">bh").unpack_from
_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_t = Struct(">?").unpack_from
_unpack_tt = Struct(">??").unpack_from
_unpack_ttB = Struct(">??B").unpack_from
_pack_b = Struct(">b").pack
_pack_bh = Struct(">bh").pack
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_t = Struct(">?").pack
_pack_tt = Struct(">??").pack
_pack_ttB = Struct(">??B").pack


def _decode_1(buffer: memoryview, position: int) -> DescribeConfigsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    resources: list[DescribeConfigsResource]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 7 <= end - position or room < 0:
        raise bad_length("resources", count)
    resources = []
    for _ in range(count):
        describe_configs_resource_resource_type, length = _unpack_bh(buffer, position)
        position += 3
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("describe_configs_resource_resource_name", stop - position)
        describe_configs_resource_resource_name = str(buffer[position:stop], "utf-8")
        position = stop
        describe_configs_resource_configuration_keys: list[str] | None
        (count,) = _unpack_i(buffer, position)
        position += 4
        if count >= 0:
            room -= count
            if not 0 <= count * 2 <= end - position or room < 0:
                raise bad_length("describe_configs_resource_configuration_keys", count)
            describe_configs_resource_configuration_keys = []
            for _ in range(count):
                (length,) = _unpack_h(buffer, position)
                position += 2
                stop = position + length
                if not position <= stop <= end:
                    raise bad_length("item", stop - position)
                item = str(buffer[position:stop], "utf-8")
                position = stop
                describe_configs_resource_configuration_keys.append(item)
        else:
            describe_configs_resource_configuration_keys = None
        resources.append(DescribeConfigsResource(resource_type=describe_configs_resource_resource_type, resource_name=describe_configs_resource_resource_name, configuration_keys=describe_configs_resource_configuration_keys))
    (include_synonyms,) = _unpack_t(buffer, position)
    position += 1
    return DescribeConfigsRequest(resources=resources, include_synonyms=include_synonyms)


def _decode_3(buffer: memoryview, position: int) -> DescribeConfigsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    resources: list[DescribeConfigsResource]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 7 <= end - position or room < 0:
        raise bad_length("resources", count)
    resources = []
    for _ in range(count):
        describe_configs_resource_resource_type, length = _unpack_bh(buffer, position)
        position += 3
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("describe_configs_resource_resource_name", stop - position)
        describe_configs_resource_resource_name = str(buffer[position:stop], "utf-8")
        position = stop
        describe_configs_resource_configuration_keys: list[str] | None
        (count,) = _unpack_i(buffer, position)
        position += 4
        if count >= 0:
            room -= count
            if not 0 <= count * 2 <= end - position or room < 0:
                raise bad_length("describe_configs_resource_configuration_keys", count)
            describe_configs_resource_configuration_keys = []
            for _ in range(count):
                (length,) = _unpack_h(buffer, position)
                position += 2
                stop = position + length
                if not position <= stop <= end:
                    raise bad_length("item", stop - position)
                item = str(buffer[position:stop], "utf-8")
                position = stop
                describe_configs_resource_configuration_keys.append(item)
        else:
            describe_configs_resource_configuration_keys = None
        resources.append(DescribeConfigsResource(resource_type=describe_configs_resource_resource_type, resource_name=describe_configs_resource_resource_name, configuration_keys=describe_configs_resource_configuration_keys))
    include_synonyms, include_documentation = _unpack_tt(buffer, position)
    position += 2
    return DescribeConfigsRequest(resources=resources, include_synonyms=include_synonyms, include_documentation=include_documentation)


def _decode_4(buffer: memoryview, position: int) -> DescribeConfigsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    resources: list[DescribeConfigsResource]
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
        describe_configs_resource_resource_type, length = _unpack_bB(buffer, position)
        position += 2
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("describe_configs_resource_resource_name", stop - position)
        describe_configs_resource_resource_name = str(buffer[position:stop], "utf-8")
        position = stop
        describe_configs_resource_configuration_keys: list[str] | None
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        if count:
            count -= 1
            room -= count
            if not 0 <= count <= end - position or room < 0:
                raise bad_length("describe_configs_resource_configuration_keys", count)
            describe_configs_resource_configuration_keys = []
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
                describe_configs_resource_configuration_keys.append(item)
        else:
            describe_configs_resource_configuration_keys = None
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        resources.append(DescribeConfigsResource(resource_type=describe_configs_resource_resource_type, resource_name=describe_configs_resource_resource_name, configuration_keys=describe_configs_resource_configuration_keys))
    include_synonyms, include_documentation, tags = _unpack_ttB(buffer, position)
    position += 3
    if tags:
        position = skip_tags(buffer, position, tags)
    return DescribeConfigsRequest(resources=resources, include_synonyms=include_synonyms, include_documentation=include_documentation)


def _encode_1(message: DescribeConfigsRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(len(message.resources))
    for describe_configs_resource in message.resources:
        raw = describe_configs_resource.resource_name.encode()
        out += _pack_bh(describe_configs_resource.resource_type, len(raw))
        out += raw
        if describe_configs_resource.configuration_keys is None:
            out += b"\xff\xff\xff\xff"
        else:
            out += _pack_i(len(describe_configs_resource.configuration_keys))
            for item in describe_configs_resource.configuration_keys:
                raw = item.encode()
                out += _pack_h(len(raw))
                out += raw
    out += _pack_t(message.include_synonyms)
    return [out]


def _encode_3(message: DescribeConfigsRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(len(message.resources))
    for describe_configs_resource in message.resources:
        raw = describe_configs_resource.resource_name.encode()
        out += _pack_bh(describe_configs_resource.resource_type, len(raw))
        out += raw
        if describe_configs_resource.configuration_keys is None:
            out += b"\xff\xff\xff\xff"
        else:
            out += _pack_i(len(describe_configs_resource.configuration_keys))
            for item in describe_configs_resource.configuration_keys:
                raw = item.encode()
                out += _pack_h(len(raw))
                out += raw
    out += _pack_tt(message.include_synonyms, message.include_documentation)
    return [out]


def _encode_4(message: DescribeConfigsRequest) -> list[Buffer]:
    out = bytearray()
    size = len(message.resources) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for describe_configs_resource in message.resources:
        raw = describe_configs_resource.resource_name.encode()
        out += _pack_b(describe_configs_resource.resource_type)
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        if describe_configs_resource.configuration_keys is None:
            out.append(0)
        else:
            size = len(describe_configs_resource.configuration_keys) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            for item in describe_configs_resource.configuration_keys:
                raw = item.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
        out.append(0)
    out += _pack_ttB(message.include_synonyms, message.include_documentation, 0)
    return [out]


_DECODERS = {1: _decode_1, 2: _decode_1, 3: _decode_3, 4: _decode_4}
_ENCODERS = {1: _encode_1, 2: _encode_1, 3: _encode_3, 4: _encode_4}


def decode(version: int, buffer: Buffer, position: int = 0) -> DescribeConfigsRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"DescribeConfigsRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No DescribeConfigsRequest of version {version}: {error}") from error


def encode(version: int, message: DescribeConfigsRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
