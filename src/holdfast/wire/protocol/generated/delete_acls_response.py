# Written by tools/generate_codecs.py from DeleteAclsResponse.json in kafka-clients-4.1.1: do not edit.
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
class DeleteAclsMatchingAcl:
    error_code: int = 0
    error_message: str | None = ''
    resource_type: int = 0
    resource_name: str = ''
    pattern_type: int = 3
    principal: str = ''
    host: str = ''
    operation: int = 0
    permission_type: int = 0


@dataclass(slots=True)
class DeleteAclsFilterResult:
    error_code: int = 0
    error_message: str | None = ''
    matching_acls: list[DeleteAclsMatchingAcl] = field(default_factory=list)


@dataclass(slots=True)
class DeleteAclsResponse:
    throttle_time_ms: int = 0
    filter_results: list[DeleteAclsFilterResult] = field(default_factory=list)


_unpack_bB = Struct(">bB").unpack_from
_unpack_bb = Struct(">bb").unpack_from
_unpack_bbB = Struct(">bbB").unpack_from
_unpack_bh = Struct(">bh").unpack_from
_unpack_h = Struct(">h").unpack_from
_unpack_hB = Struct(">hB").unpack_from
_unpack_hh = Struct(">hh").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_pack_b = Struct(">b").pack
_pack_bb = Struct(">bb").pack
_pack_bbB = Struct(">bbB").pack
_pack_bh = Struct(">bh").pack
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_ii = Struct(">ii").pack


def _decode_1(buffer: memoryview, position: int) -> DeleteAclsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    filter_results: list[DeleteAclsFilterResult]
    throttle_time_ms, count = _unpack_ii(buffer, position)
    position += 8
    room -= count
    if not 0 <= count * 8 <= end - position or room < 0:
        raise bad_length("filter_results", count)
    filter_results = []
    for _ in range(count):
        delete_acls_filter_result_error_message: str | None
        delete_acls_filter_result_error_code, length = _unpack_hh(buffer, position)
        position += 4
        if length >= 0:
            stop = position + length
            if stop > end:
                raise bad_length("delete_acls_filter_result_error_message", stop - position)
            delete_acls_filter_result_error_message = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            delete_acls_filter_result_error_message = None
        delete_acls_filter_result_matching_acls: list[DeleteAclsMatchingAcl]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 14 <= end - position or room < 0:
            raise bad_length("delete_acls_filter_result_matching_acls", count)
        delete_acls_filter_result_matching_acls = []
        for _ in range(count):
            delete_acls_matching_acl_error_message: str | None
            delete_acls_matching_acl_error_code, length = _unpack_hh(buffer, position)
            position += 4
            if length >= 0:
                stop = position + length
                if stop > end:
                    raise bad_length("delete_acls_matching_acl_error_message", stop - position)
                delete_acls_matching_acl_error_message = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                delete_acls_matching_acl_error_message = None
            delete_acls_matching_acl_resource_type, length = _unpack_bh(buffer, position)
            position += 3
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("delete_acls_matching_acl_resource_name", stop - position)
            delete_acls_matching_acl_resource_name = str(buffer[position:stop], "utf-8")
            position = stop
            delete_acls_matching_acl_pattern_type, length = _unpack_bh(buffer, position)
            position += 3
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("delete_acls_matching_acl_principal", stop - position)
            delete_acls_matching_acl_principal = str(buffer[position:stop], "utf-8")
            position = stop
            (length,) = _unpack_h(buffer, position)
            position += 2
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("delete_acls_matching_acl_host", stop - position)
            delete_acls_matching_acl_host = str(buffer[position:stop], "utf-8")
            position = stop
            delete_acls_matching_acl_operation, delete_acls_matching_acl_permission_type = _unpack_bb(buffer, position)
            position += 2
            delete_acls_filter_result_matching_acls.append(DeleteAclsMatchingAcl(error_code=delete_acls_matching_acl_error_code, error_message=delete_acls_matching_acl_error_message, resource_type=delete_acls_matching_acl_resource_type, resource_name=delete_acls_matching_acl_resource_name, pattern_type=delete_acls_matching_acl_pattern_type, principal=delete_acls_matching_acl_principal, host=delete_acls_matching_acl_host, operation=delete_acls_matching_acl_operation, permission_type=delete_acls_matching_acl_permission_type))
        filter_results.append(DeleteAclsFilterResult(error_code=delete_acls_filter_result_error_code, error_message=delete_acls_filter_result_error_message, matching_acls=delete_acls_filter_result_matching_acls))
    return DeleteAclsResponse(throttle_time_ms=throttle_time_ms, filter_results=filter_results)


def _decode_2(buffer: memoryview, position: int) -> DeleteAclsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    filter_results: list[DeleteAclsFilterResult]
    throttle_time_ms, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 5 <= end - position or room < 0:
        raise bad_length("filter_results", count)
    filter_results = []
    for _ in range(count):
        delete_acls_filter_result_error_message: str | None
        delete_acls_filter_result_error_code, length = _unpack_hB(buffer, position)
        position += 3
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("delete_acls_filter_result_error_message", stop - position)
            delete_acls_filter_result_error_message = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            delete_acls_filter_result_error_message = None
        delete_acls_filter_result_matching_acls: list[DeleteAclsMatchingAcl]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 11 <= end - position or room < 0:
            raise bad_length("delete_acls_filter_result_matching_acls", count)
        delete_acls_filter_result_matching_acls = []
        for _ in range(count):
            delete_acls_matching_acl_error_message: str | None
            delete_acls_matching_acl_error_code, length = _unpack_hB(buffer, position)
            position += 3
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            if length:
                stop = position + length - 1
                if stop > end:
                    raise bad_length("delete_acls_matching_acl_error_message", stop - position)
                delete_acls_matching_acl_error_message = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                delete_acls_matching_acl_error_message = None
            delete_acls_matching_acl_resource_type, length = _unpack_bB(buffer, position)
            position += 2
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("delete_acls_matching_acl_resource_name", stop - position)
            delete_acls_matching_acl_resource_name = str(buffer[position:stop], "utf-8")
            position = stop
            delete_acls_matching_acl_pattern_type, length = _unpack_bB(buffer, position)
            position += 2
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("delete_acls_matching_acl_principal", stop - position)
            delete_acls_matching_acl_principal = str(buffer[position:stop], "utf-8")
            position = stop
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("delete_acls_matching_acl_host", stop - position)
            delete_acls_matching_acl_host = str(buffer[position:stop], "utf-8")
            position = stop
            delete_acls_matching_acl_operation, delete_acls_matching_acl_permission_type, tags = _unpack_bbB(buffer, position)
            position += 3
            if tags:
                position = skip_tags(buffer, position, tags)
            delete_acls_filter_result_matching_acls.append(DeleteAclsMatchingAcl(error_code=delete_acls_matching_acl_error_code, error_message=delete_acls_matching_acl_error_message, resource_type=delete_acls_matching_acl_resource_type, resource_name=delete_acls_matching_acl_resource_name, pattern_type=delete_acls_matching_acl_pattern_type, principal=delete_acls_matching_acl_principal, host=delete_acls_matching_acl_host, operation=delete_acls_matching_acl_operation, permission_type=delete_acls_matching_acl_permission_type))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        filter_results.append(DeleteAclsFilterResult(error_code=delete_acls_filter_result_error_code, error_message=delete_acls_filter_result_error_message, matching_acls=delete_acls_filter_result_matching_acls))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return DeleteAclsResponse(throttle_time_ms=throttle_time_ms, filter_results=filter_results)


def _encode_1(message: DeleteAclsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ii(message.throttle_time_ms, len(message.filter_results))
    for delete_acls_filter_result in message.filter_results:
        out += _pack_h(delete_acls_filter_result.error_code)
        if delete_acls_filter_result.error_message is None:
            out += b"\xff\xff"
        else:
            raw = delete_acls_filter_result.error_message.encode()
            out += _pack_h(len(raw))
            out += raw
        out += _pack_i(len(delete_acls_filter_result.matching_acls))
        for delete_acls_matching_acl in delete_acls_filter_result.matching_acls:
            out += _pack_h(delete_acls_matching_acl.error_code)
            if delete_acls_matching_acl.error_message is None:
                out += b"\xff\xff"
            else:
                raw = delete_acls_matching_acl.error_message.encode()
                out += _pack_h(len(raw))
                out += raw
            raw = delete_acls_matching_acl.resource_name.encode()
            out += _pack_bh(delete_acls_matching_acl.resource_type, len(raw))
            out += raw
            raw = delete_acls_matching_acl.principal.encode()
            out += _pack_bh(delete_acls_matching_acl.pattern_type, len(raw))
            out += raw
            raw = delete_acls_matching_acl.host.encode()
            out += _pack_h(len(raw))
            out += raw
            out += _pack_bb(delete_acls_matching_acl.operation, delete_acls_matching_acl.permission_type)
    return [out]


def _encode_2(message: DeleteAclsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.throttle_time_ms)
    size = len(message.filter_results) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for delete_acls_filter_result in message.filter_results:
        out += _pack_h(delete_acls_filter_result.error_code)
        if delete_acls_filter_result.error_message is None:
            out.append(0)
        else:
            raw = delete_acls_filter_result.error_message.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        size = len(delete_acls_filter_result.matching_acls) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for delete_acls_matching_acl in delete_acls_filter_result.matching_acls:
            out += _pack_h(delete_acls_matching_acl.error_code)
            if delete_acls_matching_acl.error_message is None:
                out.append(0)
            else:
                raw = delete_acls_matching_acl.error_message.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
            raw = delete_acls_matching_acl.resource_name.encode()
            out += _pack_b(delete_acls_matching_acl.resource_type)
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            raw = delete_acls_matching_acl.principal.encode()
            out += _pack_b(delete_acls_matching_acl.pattern_type)
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            raw = delete_acls_matching_acl.host.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            out += _pack_bbB(delete_acls_matching_acl.operation, delete_acls_matching_acl.permission_type, 0)
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {1: _decode_1, 2: _decode_2, 3: _decode_2}
_ENCODERS = {1: _encode_1, 2: _encode_2, 3: _encode_2}


def decode(version: int, buffer: Buffer, position: int = 0) -> DeleteAclsResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"DeleteAclsResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No DeleteAclsResponse of version {version}: {error}") from error


def encode(version: int, message: DeleteAclsResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
