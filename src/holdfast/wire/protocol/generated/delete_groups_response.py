# Written by tools/generate_codecs.py from DeleteGroupsResponse.json in kafka-clients-4.1.1: do not edit.
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
class DeletableGroupResult:
    group_id: str = ''
    error_code: int = 0


@dataclass(slots=True)
class DeleteGroupsResponse:
    throttle_time_ms: int = 0
    results: list[DeletableGroupResult] = field(default_factory=list)


_unpack_h = Struct(">h").unpack_from
_unpack_hB = Struct(">hB").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_pack_h = Struct(">h").pack
_pack_hB = Struct(">hB").pack
_pack_i = Struct(">i").pack
_pack_ii = Struct(">ii").pack


def _decode_0(buffer: memoryview, position: int) -> DeleteGroupsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    results: list[DeletableGroupResult]
    throttle_time_ms, count = _unpack_ii(buffer, position)
    position += 8
    room -= count
    if not 0 <= count * 4 <= end - position or room < 0:
        raise bad_length("results", count)
    results = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("deletable_group_result_group_id", stop - position)
        deletable_group_result_group_id = str(buffer[position:stop], "utf-8")
        position = stop
        (deletable_group_result_error_code,) = _unpack_h(buffer, position)
        position += 2
        results.append(DeletableGroupResult(group_id=deletable_group_result_group_id, error_code=deletable_group_result_error_code))
    return DeleteGroupsResponse(throttle_time_ms=throttle_time_ms, results=results)


def _decode_2(buffer: memoryview, position: int) -> DeleteGroupsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    results: list[DeletableGroupResult]
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
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("deletable_group_result_group_id", stop - position)
        deletable_group_result_group_id = str(buffer[position:stop], "utf-8")
        position = stop
        deletable_group_result_error_code, tags = _unpack_hB(buffer, position)
        position += 3
        if tags:
            position = skip_tags(buffer, position, tags)
        results.append(DeletableGroupResult(group_id=deletable_group_result_group_id, error_code=deletable_group_result_error_code))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return DeleteGroupsResponse(throttle_time_ms=throttle_time_ms, results=results)


def _encode_0(message: DeleteGroupsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ii(message.throttle_time_ms, len(message.results))
    for deletable_group_result in message.results:
        raw = deletable_group_result.group_id.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_h(deletable_group_result.error_code)
    return [out]


def _encode_2(message: DeleteGroupsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.throttle_time_ms)
    size = len(message.results) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for deletable_group_result in message.results:
        raw = deletable_group_result.group_id.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out += _pack_hB(deletable_group_result.error_code, 0)
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_0, 2: _decode_2}
_ENCODERS = {0: _encode_0, 1: _encode_0, 2: _encode_2}


def decode(version: int, buffer: Buffer, position: int = 0) -> DeleteGroupsResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"DeleteGroupsResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No DeleteGroupsResponse of version {version}: {error}") from error


def encode(version: int, message: DeleteGroupsResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
