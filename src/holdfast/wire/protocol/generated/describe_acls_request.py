# Written by tools/generate_codecs.py from DescribeAclsRequest.json in kafka-clients-4.1.1: do not edit.
from dataclasses import dataclass
from struct import Struct

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    UNDECODABLE,
    Buffer,
    bad_length,
    read_long_string_length,
    skip_tags,
    uvarint,
)


@dataclass(slots=True)
class DescribeAclsRequest:
    resource_type_filter: int = 0
    resource_name_filter: str | None = ''
    pattern_type_filter: int = 3
    principal_filter: str | None = ''
    host_filter: str | None = ''
    operation: int = 0
    permission_type: int = 0


_unpack_bB = Struct(">bB").unpack_from
_unpack_bb = Struct(">bb").unpack_from
_unpack_bbB = Struct(">bbB").unpack_from
_unpack_bh = Struct(">bh").unpack_from
_unpack_h = Struct(">h").unpack_from
_pack_b = Struct(">b").pack
_pack_bb = Struct(">bb").pack
_pack_bbB = Struct(">bbB").pack
_pack_h = Struct(">h").pack


def _decode_1(buffer: memoryview, position: int) -> DescribeAclsRequest:
    end = len(buffer)
    resource_name_filter: str | None
    resource_type_filter, length = _unpack_bh(buffer, position)
    position += 3
    if length >= 0:
        stop = position + length
        if stop > end:
            raise bad_length("resource_name_filter", stop - position)
        resource_name_filter = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        resource_name_filter = None
    principal_filter: str | None
    pattern_type_filter, length = _unpack_bh(buffer, position)
    position += 3
    if length >= 0:
        stop = position + length
        if stop > end:
            raise bad_length("principal_filter", stop - position)
        principal_filter = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        principal_filter = None
    host_filter: str | None
    (length,) = _unpack_h(buffer, position)
    position += 2
    if length >= 0:
        stop = position + length
        if stop > end:
            raise bad_length("host_filter", stop - position)
        host_filter = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        host_filter = None
    operation, permission_type = _unpack_bb(buffer, position)
    position += 2
    return DescribeAclsRequest(resource_type_filter=resource_type_filter, resource_name_filter=resource_name_filter, pattern_type_filter=pattern_type_filter, principal_filter=principal_filter, host_filter=host_filter, operation=operation, permission_type=permission_type)


def _decode_2(buffer: memoryview, position: int) -> DescribeAclsRequest:
    end = len(buffer)
    resource_name_filter: str | None
    resource_type_filter, length = _unpack_bB(buffer, position)
    position += 2
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    if length:
        stop = position + length - 1
        if stop > end:
            raise bad_length("resource_name_filter", stop - position)
        resource_name_filter = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        resource_name_filter = None
    principal_filter: str | None
    pattern_type_filter, length = _unpack_bB(buffer, position)
    position += 2
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    if length:
        stop = position + length - 1
        if stop > end:
            raise bad_length("principal_filter", stop - position)
        principal_filter = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        principal_filter = None
    host_filter: str | None
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    if length:
        stop = position + length - 1
        if stop > end:
            raise bad_length("host_filter", stop - position)
        host_filter = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        host_filter = None
    operation, permission_type, tags = _unpack_bbB(buffer, position)
    position += 3
    if tags:
        position = skip_tags(buffer, position, tags)
    return DescribeAclsRequest(resource_type_filter=resource_type_filter, resource_name_filter=resource_name_filter, pattern_type_filter=pattern_type_filter, principal_filter=principal_filter, host_filter=host_filter, operation=operation, permission_type=permission_type)


def _encode_1(message: DescribeAclsRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_b(message.resource_type_filter)
    if message.resource_name_filter is None:
        out += b"\xff\xff"
    else:
        raw = message.resource_name_filter.encode()
        out += _pack_h(len(raw))
        out += raw
    out += _pack_b(message.pattern_type_filter)
    if message.principal_filter is None:
        out += b"\xff\xff"
    else:
        raw = message.principal_filter.encode()
        out += _pack_h(len(raw))
        out += raw
    if message.host_filter is None:
        out += b"\xff\xff"
    else:
        raw = message.host_filter.encode()
        out += _pack_h(len(raw))
        out += raw
    out += _pack_bb(message.operation, message.permission_type)
    return [out]


def _encode_2(message: DescribeAclsRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_b(message.resource_type_filter)
    if message.resource_name_filter is None:
        out.append(0)
    else:
        raw = message.resource_name_filter.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    out += _pack_b(message.pattern_type_filter)
    if message.principal_filter is None:
        out.append(0)
    else:
        raw = message.principal_filter.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    if message.host_filter is None:
        out.append(0)
    else:
        raw = message.host_filter.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    out += _pack_bbB(message.operation, message.permission_type, 0)
    return [out]


_DECODERS = {1: _decode_1, 2: _decode_2, 3: _decode_2}
_ENCODERS = {1: _encode_1, 2: _encode_2, 3: _encode_2}


def decode(version: int, buffer: Buffer, position: int = 0) -> DescribeAclsRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"DescribeAclsRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No DescribeAclsRequest of version {version}: {error}") from error


def encode(version: int, message: DescribeAclsRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
