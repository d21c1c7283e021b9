# Written by tools/generate_codecs.py from DescribeClientQuotasRequest.json in kafka-clients-4.1.1: do not edit.
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
class ComponentData:
    entity_type: str = ''
    match_type: int = 0
    match: str | None = ''


@dataclass(slots=True)
class DescribeClientQuotasRequest:
    components: list[ComponentData] = field(default_factory=list)
    strict: bool = False


_unpack_bB = Struct(">bB").unpack_from
_unpack_bh = Struct(">bh").unpack_from
_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_t = Struct(">?").unpack_from
_unpack_tB = Struct(">?B").unpack_from
_pack_b = Struct(">b").pack
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_t = Struct(">?").pack
_pack_tB = Struct(">?B").pack


def _decode_0(buffer: memoryview, position: int) -> DescribeClientQuotasRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    components: list[ComponentData]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 5 <= end - position or room < 0:
        raise bad_length("components", count)
    components = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("component_data_entity_type", stop - position)
        component_data_entity_type = str(buffer[position:stop], "utf-8")
        position = stop
        component_data_match: str | None
        component_data_match_type, length = _unpack_bh(buffer, position)
        position += 3
        if length >= 0:
            stop = position + length
            if stop > end:
                raise bad_length("component_data_match", stop - position)
            component_data_match = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            component_data_match = None
        components.append(ComponentData(entity_type=component_data_entity_type, match_type=component_data_match_type, match=component_data_match))
    (strict,) = _unpack_t(buffer, position)
    position += 1
    return DescribeClientQuotasRequest(components=components, strict=strict)


def _decode_1(buffer: memoryview, position: int) -> DescribeClientQuotasRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    components: list[ComponentData]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 4 <= end - position or room < 0:
        raise bad_length("components", count)
    components = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("component_data_entity_type", stop - position)
        component_data_entity_type = str(buffer[position:stop], "utf-8")
        position = stop
        component_data_match: str | None
        component_data_match_type, length = _unpack_bB(buffer, position)
        position += 2
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("component_data_match", stop - position)
            component_data_match = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            component_data_match = None
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        components.append(ComponentData(entity_type=component_data_entity_type, match_type=component_data_match_type, match=component_data_match))
    strict, tags = _unpack_tB(buffer, position)
    position += 2
    if tags:
        position = skip_tags(buffer, position, tags)
    return DescribeClientQuotasRequest(components=components, strict=strict)


def _encode_0(message: DescribeClientQuotasRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(len(message.components))
    for component_data in message.components:
        raw = component_data.entity_type.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_b(component_data.match_type)
        if component_data.match is None:
            out += b"\xff\xff"
        else:
            raw = component_data.match.encode()
            out += _pack_h(len(raw))
            out += raw
    out += _pack_t(message.strict)
    return [out]


def _encode_1(message: DescribeClientQuotasRequest) -> list[Buffer]:
    out = bytearray()
    size = len(message.components) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for component_data in message.components:
        raw = component_data.entity_type.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out += _pack_b(component_data.match_type)
        if component_data.match is None:
            out.append(0)
        else:
            raw = component_data.match.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        out.append(0)
    out += _pack_tB(message.strict, 0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_1}
_ENCODERS = {0: _encode_0, 1: _encode_1}


def decode(version: int, buffer: Buffer, position: int = 0) -> DescribeClientQuotasRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"DescribeClientQuotasRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No DescribeClientQuotasRequest of version {version}: {error}") from error


def encode(version: int, message: DescribeClientQuotasRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
