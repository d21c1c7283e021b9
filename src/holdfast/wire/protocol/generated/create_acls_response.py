# Written by tools/generate_codecs.py from CreateAclsResponse.json in kafka-clients-4.1.1: do not edit.
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
class AclCreationResult:
    error_code: int = 0
    error_message: str | None = ''


@dataclass(slots=True)
class CreateAclsResponse:
    throttle_time_ms: int = 0
    results: list[AclCreationResult] = field(default_factory=list)


_unpack_hB = Struct(">hB").unpack_from
_unpack_hh = Struct(">hh").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_ii = Struct(">ii").pack


def _decode_1(buffer: memoryview, position: int) -> CreateAclsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    results: list[AclCreationResult]
    throttle_time_ms, count = _unpack_ii(buffer, position)
    position += 8
    room -= count
    if not 0 <= count * 4 <= end - position or room < 0:
        raise bad_length("results", count)
    results = []
    for _ in range(count):
        acl_creation_result_error_message: str | None
        acl_creation_result_error_code, length = _unpack_hh(buffer, position)
        position += 4
        if length >= 0:
            stop = position + length
            if stop > end:
                raise bad_length("acl_creation_result_error_message", stop - position)
            acl_creation_result_error_message = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            acl_creation_result_error_message = None
        results.append(AclCreationResult(error_code=acl_creation_result_error_code, error_message=acl_creation_result_error_message))
    return CreateAclsResponse(throttle_time_ms=throttle_time_ms, results=results)


def _decode_2(buffer: memoryview, position: int) -> CreateAclsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    results: list[AclCreationResult]
    throttle_time_ms, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 4 <= end - position or room < 0:
        raise bad_length("results", count)
    results = []
    for _ in range(count):
        acl_creation_result_error_message: str | None
        acl_creation_result_error_code, length = _unpack_hB(buffer, position)
        position += 3
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("acl_creation_result_error_message", stop - position)
            acl_creation_result_error_message = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            acl_creation_result_error_message = None
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        results.append(AclCreationResult(error_code=acl_creation_result_error_code, error_message=acl_creation_result_error_message))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return CreateAclsResponse(throttle_time_ms=throttle_time_ms, results=results)


def _encode_1(message: CreateAclsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ii(message.throttle_time_ms, len(message.results))
    for acl_creation_result in message.results:
        out += _pack_h(acl_creation_result.error_code)
        if acl_creation_result.error_message is None:
            out += b"\xff\xff"
        else:
            raw = acl_creation_result.error_message.encode()
            out += _pack_h(len(raw))
            out += raw
    return [out]


def _encode_2(message: CreateAclsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.throttle_time_ms)
    size = len(message.results) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for acl_creation_result in message.results:
        out += _pack_h(acl_creation_result.error_code)
        if acl_creation_result.error_message is None:
            out.append(0)
        else:
            raw = acl_creation_result.error_message.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {1: _decode_1, 2: _decode_2, 3: _decode_2}
_ENCODERS = {1: _encode_1, 2: _encode_2, 3: _encode_2}


def decode(version: int, buffer: Buffer, position: int = 0) -> CreateAclsResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"CreateAclsResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No CreateAclsResponse of version {version}: {error}") from error


def encode(version: int, message: CreateAclsResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
