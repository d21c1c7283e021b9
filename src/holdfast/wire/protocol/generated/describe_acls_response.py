# Written by tools/generate_codecs.py from DescribeAclsResponse.json in kafka-clients-4.1.1: do not edit.
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
class AclDescription:
    principal: str = ''
    host: str = ''
    operation: int = 0
    permission_type: int = 0


@dataclass(slots=True)
class DescribeAclsResource:
    resource_type: int = 0
    resource_name: str = ''
    pattern_type: int = 3
    acls: list[AclDescription] = field(default_factory=list)


@dataclass(slots=True)
class DescribeAclsResponse:
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ''
    resources: list[DescribeAclsResource] = field(default_factory=list)


_unpack_bB = Struct(">bB").unpack_from
_unpack_bb = Struct(">bb").unpack_from
_unpack_bbB = Struct(">bbB").unpack_from
_unpack_bh = Struct(">bh").unpack_from
_unpack_bi = Struct(">bi").unpack_from
_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ihB = Struct(">ihB").unpack_from
_unpack_ihh = Struct(">ihh").unpack_from
_pack_b = Struct(">b").pack
_pack_bb = Struct(">bb").pack
_pack_bbB = Struct(">bbB").pack
_pack_bh = Struct(">bh").pack
_pack_bi = Struct(">bi").pack
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack


def _decode_1(buffer: memoryview, position: int) -> DescribeAclsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    error_message: str | None
    throttle_time_ms, error_code, length = _unpack_ihh(buffer, position)
    position += 8
    if length >= 0:
        stop = position + length
        if stop > end:
            raise bad_length("error_message", stop - position)
        error_message = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        error_message = None
    resources: list[DescribeAclsResource]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 8 <= end - position or room < 0:
        raise bad_length("resources", count)
    resources = []
    for _ in range(count):
        describe_acls_resource_resource_type, length = _unpack_bh(buffer, position)
        position += 3
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("describe_acls_resource_resource_name", stop - position)
        describe_acls_resource_resource_name = str(buffer[position:stop], "utf-8")
        position = stop
        describe_acls_resource_acls: list[AclDescription]
        describe_acls_resource_pattern_type, count = _unpack_bi(buffer, position)
        position += 5
        room -= count
        if not 0 <= count * 6 <= end - position or room < 0:
            raise bad_length("describe_acls_resource_acls", count)
        describe_acls_resource_acls = []
        for _ in range(count):
            (length,) = _unpack_h(buffer, position)
            position += 2
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("acl_description_principal", stop - position)
            acl_description_principal = str(buffer[position:stop], "utf-8")
            position = stop
            (length,) = _unpack_h(buffer, position)
            position += 2
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("acl_description_host", stop - position)
            acl_description_host = str(buffer[position:stop], "utf-8")
            position = stop
            acl_description_operation, acl_description_permission_type = _unpack_bb(buffer, position)
            position += 2
            describe_acls_resource_acls.append(AclDescription(principal=acl_description_principal, host=acl_description_host, operation=acl_description_operation, permission_type=acl_description_permission_type))
        resources.append(DescribeAclsResource(resource_type=describe_acls_resource_resource_type, resource_name=describe_acls_resource_resource_name, pattern_type=describe_acls_resource_pattern_type, acls=describe_acls_resource_acls))
    return DescribeAclsResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, error_message=error_message, resources=resources)


def _decode_2(buffer: memoryview, position: int) -> DescribeAclsResponse:
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
    resources: list[DescribeAclsResource]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 5 <= end - position or room < 0:
        raise bad_length("resources", count)
    resources = []
    for _ in range(count):
        describe_acls_resource_resource_type, length = _unpack_bB(buffer, position)
        position += 2
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("describe_acls_resource_resource_name", stop - position)
        describe_acls_resource_resource_name = str(buffer[position:stop], "utf-8")
        position = stop
        describe_acls_resource_acls: list[AclDescription]
        describe_acls_resource_pattern_type, count = _unpack_bB(buffer, position)
        position += 2
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 5 <= end - position or room < 0:
            raise bad_length("describe_acls_resource_acls", count)
        describe_acls_resource_acls = []
        for _ in range(count):
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("acl_description_principal", stop - position)
            acl_description_principal = str(buffer[position:stop], "utf-8")
            position = stop
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("acl_description_host", stop - position)
            acl_description_host = str(buffer[position:stop], "utf-8")
            position = stop
            acl_description_operation, acl_description_permission_type, tags = _unpack_bbB(buffer, position)
            position += 3
            if tags:
                position = skip_tags(buffer, position, tags)
            describe_acls_resource_acls.append(AclDescription(principal=acl_description_principal, host=acl_description_host, operation=acl_description_operation, permission_type=acl_description_permission_type))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        resources.append(DescribeAclsResource(resource_type=describe_acls_resource_resource_type, resource_name=describe_acls_resource_resource_name, pattern_type=describe_acls_resource_pattern_type, acls=describe_acls_resource_acls))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return DescribeAclsResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, error_message=error_message, resources=resources)


def _encode_1(message: DescribeAclsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ih(message.throttle_time_ms, message.error_code)
    if message.error_message is None:
        out += b"\xff\xff"
    else:
        raw = message.error_message.encode()
        out += _pack_h(len(raw))
        out += raw
    out += _pack_i(len(message.resources))
    for describe_acls_resource in message.resources:
        raw = describe_acls_resource.resource_name.encode()
        out += _pack_bh(describe_acls_resource.resource_type, len(raw))
        out += raw
        out += _pack_bi(describe_acls_resource.pattern_type, len(describe_acls_resource.acls))
        for acl_description in describe_acls_resource.acls:
            raw = acl_description.principal.encode()
            out += _pack_h(len(raw))
            out += raw
            raw = acl_description.host.encode()
            out += _pack_h(len(raw))
            out += raw
            out += _pack_bb(acl_description.operation, acl_description.permission_type)
    return [out]


def _encode_2(message: DescribeAclsResponse) -> list[Buffer]:
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
    size = len(message.resources) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for describe_acls_resource in message.resources:
        raw = describe_acls_resource.resource_name.encode()
        out += _pack_b(describe_acls_resource.resource_type)
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out += _pack_b(describe_acls_resource.pattern_type)
        size = len(describe_acls_resource.acls) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for acl_description in describe_acls_resource.acls:
            raw = acl_description.principal.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            raw = acl_description.host.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            out += _pack_bbB(acl_description.operation, acl_description.permission_type, 0)
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {1: _decode_1, 2: _decode_2, 3: _decode_2}
_ENCODERS = {1: _encode_1, 2: _encode_2, 3: _encode_2}


def decode(version: int, buffer: Buffer, position: int = 0) -> DescribeAclsResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"DescribeAclsResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No DescribeAclsResponse of version {version}: {error}") from error


def encode(version: int, message: DescribeAclsResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
