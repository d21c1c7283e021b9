# Written by tools/generate_codecs.py from DeleteAclsRequest.json in kafka-clients-4.1.1: do not edit.
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
class DeleteAclsFilter:
    resource_type_filter: int = 0
    resource_name_filter: str | None = ''
    pattern_type_filter: int = 3
    principal_filter: str | None = ''
    host_filter: str | None = ''
    operation: int = 0
    permission_type: int = 0


@dataclass(slots=True)
class DeleteAclsRequest:
    filters: list[DeleteAclsFilter] = field(default_factory=list)


_unpack_bB = Struct(">bB").unpack_from
_unpack_bb = Struct(">bb").unpack_from
_unpack_bbB = Struct(">bbB").unpack_from
_unpack_bh = Struct(">bh").unpack_from
_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_pack_b = Struct(">b").pack
_pack_bb = Struct(">bb").pack
_pack_bbB = Struct(">bbB").pack
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack


def _decode_1(buffer: memoryview, position: int) -> DeleteAclsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    filters: list[DeleteAclsFilter]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 10 <= end - position or room < 0:
        raise bad_length("filters", count)
    filters = []
    for _ in range(count):
        delete_acls_filter_resource_name_filter: str | None
        delete_acls_filter_resource_type_filter, length = _unpack_bh(buffer, position)
        position += 3
        if length >= 0:
            stop = position + length
            if stop > end:
                raise bad_length("delete_acls_filter_resource_name_filter", stop - position)
            delete_acls_filter_resource_name_filter = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            delete_acls_filter_resource_name_filter = None
        delete_acls_filter_principal_filter: str | None
        delete_acls_filter_pattern_type_filter, length = _unpack_bh(buffer, position)
        position += 3
        if length >= 0:
            stop = position + length
            if stop > end:
                raise bad_length("delete_acls_filter_principal_filter", stop - position)
            delete_acls_filter_principal_filter = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            delete_acls_filter_principal_filter = None
        delete_acls_filter_host_filter: str | None
        (length,) = _unpack_h(buffer, position)
        position += 2
        if length >= 0:
            stop = position + length
            if stop > end:
                raise bad_length("delete_acls_filter_host_filter", stop - position)
            delete_acls_filter_host_filter = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            delete_acls_filter_host_filter = None
        delete_acls_filter_operation, delete_acls_filter_permission_type = _unpack_bb(buffer, position)
        position += 2
        filters.append(DeleteAclsFilter(resource_type_filter=delete_acls_filter_resource_type_filter, resource_name_filter=delete_acls_filter_resource_name_filter, pattern_type_filter=delete_acls_filter_pattern_type_filter, principal_filter=delete_acls_filter_principal_filter, host_filter=delete_acls_filter_host_filter, operation=delete_acls_filter_operation, permission_type=delete_acls_filter_permission_type))
    return DeleteAclsRequest(filters=filters)


def _decode_2(buffer: memoryview, position: int) -> DeleteAclsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    filters: list[DeleteAclsFilter]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 8 <= end - position or room < 0:
        raise bad_length("filters", count)
    filters = []
    for _ in range(count):
        delete_acls_filter_resource_name_filter: str | None
        delete_acls_filter_resource_type_filter, length = _unpack_bB(buffer, position)
        position += 2
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("delete_acls_filter_resource_name_filter", stop - position)
            delete_acls_filter_resource_name_filter = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            delete_acls_filter_resource_name_filter = None
        delete_acls_filter_principal_filter: str | None
        delete_acls_filter_pattern_type_filter, length = _unpack_bB(buffer, position)
        position += 2
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("delete_acls_filter_principal_filter", stop - position)
            delete_acls_filter_principal_filter = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            delete_acls_filter_principal_filter = None
        delete_acls_filter_host_filter: str | None
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("delete_acls_filter_host_filter", stop - position)
            delete_acls_filter_host_filter = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            delete_acls_filter_host_filter = None
        delete_acls_filter_operation, delete_acls_filter_permission_type, tags = _unpack_bbB(buffer, position)
        position += 3
        if tags:
            position = skip_tags(buffer, position, tags)
        filters.append(DeleteAclsFilter(resource_type_filter=delete_acls_filter_resource_type_filter, resource_name_filter=delete_acls_filter_resource_name_filter, pattern_type_filter=delete_acls_filter_pattern_type_filter, principal_filter=delete_acls_filter_principal_filter, host_filter=delete_acls_filter_host_filter, operation=delete_acls_filter_operation, permission_type=delete_acls_filter_permission_type))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return DeleteAclsRequest(filters=filters)


def _encode_1(message: DeleteAclsRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(len(message.filters))
    for delete_acls_filter in message.filters:
        out += _pack_b(delete_acls_filter.resource_type_filter)
        if delete_acls_filter.resource_name_filter is None:
            out += b"\xff\xff"
        else:
            raw = delete_acls_filter.resource_name_filter.encode()
            out += _pack_h(len(raw))
            out += raw
        out += _pack_b(delete_acls_filter.pattern_type_filter)
        if delete_acls_filter.principal_filter is None:
            out += b"\xff\xff"
        else:
            raw = delete_acls_filter.principal_filter.encode()
            out += _pack_h(len(raw))
            out += raw
        if delete_acls_filter.host_filter is None:
            out += b"\xff\xff"
        else:
            raw = delete_acls_filter.host_filter.encode()
            out += _pack_h(len(raw))
            out += raw
        out += _pack_bb(delete_acls_filter.operation, delete_acls_filter.permission_type)
    return [out]


def _encode_2(message: DeleteAclsRequest) -> list[Buffer]:
    out = bytearray()
    size = len(message.filters) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for delete_acls_filter in message.filters:
        out += _pack_b(delete_acls_filter.resource_type_filter)
        if delete_acls_filter.resource_name_filter is None:
            out.append(0)
        else:
            raw = delete_acls_filter.resource_name_filter.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        out += _pack_b(delete_acls_filter.pattern_type_filter)
        if delete_acls_filter.principal_filter is None:
            out.append(0)
        else:
            raw = delete_acls_filter.principal_filter.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        if delete_acls_filter.host_filter is None:
            out.append(0)
        else:
            raw = delete_acls_filter.host_filter.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        out += _pack_bbB(delete_acls_filter.operation, delete_acls_filter.permission_type, 0)
    out.append(0)
    return [out]


_DECODERS = {1: _decode_1, 2: _decode_2, 3: _decode_2}
_ENCODERS = {1: _encode_1, 2: _encode_2, 3: _encode_2}


def decode(version: int, buffer: Buffer, position: int = 0) -> DeleteAclsRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"DeleteAclsRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No DeleteAclsRequest of version {version}: {error}") from error


def encode(version: int, message: DeleteAclsRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
