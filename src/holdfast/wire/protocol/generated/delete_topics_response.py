# Written by tools/generate_codecs.py from DeleteTopicsResponse.json in kafka-clients-4.1.1: do not edit.
from dataclasses import dataclass, field
from struct import Struct
from uuid import UUID

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    MOST_ELEMENTS,
    UNDECODABLE,
    ZERO_UUID,
    Buffer,
    bad_length,
    read_long_string_length,
    read_long_uvarint,
    skip_tags,
    uuid_of,
    uvarint,
)


@dataclass(slots=True)
class DeletableTopicResult:
    name: str | None = ''
    topic_id: UUID = ZERO_UUID
    error_code: int = 0
    error_message: str | None = None


@dataclass(slots=True)
class DeleteTopicsResponse:
    throttle_time_ms: int = 0
    responses: list[DeletableTopicResult] = field(default_factory=list)


_unpack_h = Struct(">h").unpack_from
_unpack_hB = Struct(">hB").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_unpack_uhB = Struct(">16shB").unpack_from
_pack_h = Struct(">h").pack
_pack_hB = Struct(">hB").pack
_pack_i = Struct(">i").pack
_pack_ii = Struct(">ii").pack
_pack_uh = Struct(">16sh").pack


def _decode_1(buffer: memoryview, position: int) -> DeleteTopicsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    responses: list[DeletableTopicResult]
    throttle_time_ms, count = _unpack_ii(buffer, position)
    position += 8
    room -= count
    if not 0 <= count * 4 <= end - position or room < 0:
        raise bad_length("responses", count)
    responses = []
    for _ in range(count):
        deletable_topic_result_name: str | None
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("deletable_topic_result_name", stop - position)
        deletable_topic_result_name = str(buffer[position:stop], "utf-8")
        position = stop
        (deletable_topic_result_error_code,) = _unpack_h(buffer, position)
        position += 2
        responses.append(DeletableTopicResult(name=deletable_topic_result_name, error_code=deletable_topic_result_error_code))
    return DeleteTopicsResponse(throttle_time_ms=throttle_time_ms, responses=responses)


def _decode_4(buffer: memoryview, position: int) -> DeleteTopicsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    responses: list[DeletableTopicResult]
    throttle_time_ms, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 4 <= end - position or room < 0:
        raise bad_length("responses", count)
    responses = []
    for _ in range(count):
        deletable_topic_result_name: str | None
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("deletable_topic_result_name", stop - position)
        deletable_topic_result_name = str(buffer[position:stop], "utf-8")
        position = stop
        deletable_topic_result_error_code, tags = _unpack_hB(buffer, position)
        position += 3
        if tags:
            position = skip_tags(buffer, position, tags)
        responses.append(DeletableTopicResult(name=deletable_topic_result_name, error_code=deletable_topic_result_error_code))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return DeleteTopicsResponse(throttle_time_ms=throttle_time_ms, responses=responses)


def _decode_5(buffer: memoryview, position: int) -> DeleteTopicsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    responses: list[DeletableTopicResult]
    throttle_time_ms, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 5 <= end - position or room < 0:
        raise bad_length("responses", count)
    responses = []
    for _ in range(count):
        deletable_topic_result_name: str | None
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("deletable_topic_result_name", stop - position)
        deletable_topic_result_name = str(buffer[position:stop], "utf-8")
        position = stop
        deletable_topic_result_error_message: str | None
        deletable_topic_result_error_code, length = _unpack_hB(buffer, position)
        position += 3
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("deletable_topic_result_error_message", stop - position)
            deletable_topic_result_error_message = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            deletable_topic_result_error_message = None
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        responses.append(DeletableTopicResult(name=deletable_topic_result_name, error_code=deletable_topic_result_error_code, error_message=deletable_topic_result_error_message))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return DeleteTopicsResponse(throttle_time_ms=throttle_time_ms, responses=responses)


def _decode_6(buffer: memoryview, position: int) -> DeleteTopicsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    responses: list[DeletableTopicResult]
    throttle_time_ms, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 21 <= end - position or room < 0:
        raise bad_length("responses", count)
    responses = []
    for _ in range(count):
        deletable_topic_result_name: str | None
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("deletable_topic_result_name", stop - position)
            deletable_topic_result_name = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            deletable_topic_result_name = None
        deletable_topic_result_error_message: str | None
        deletable_topic_result_topic_id, deletable_topic_result_error_code, length = _unpack_uhB(buffer, position)
        position += 19
        deletable_topic_result_topic_id = uuid_of(deletable_topic_result_topic_id)
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("deletable_topic_result_error_message", stop - position)
            deletable_topic_result_error_message = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            deletable_topic_result_error_message = None
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        responses.append(DeletableTopicResult(name=deletable_topic_result_name, topic_id=deletable_topic_result_topic_id, error_code=deletable_topic_result_error_code, error_message=deletable_topic_result_error_message))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return DeleteTopicsResponse(throttle_time_ms=throttle_time_ms, responses=responses)


def _encode_1(message: DeleteTopicsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ii(message.throttle_time_ms, len(message.responses))
    for deletable_topic_result in message.responses:
        raw = (deletable_topic_result.name or "").encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_h(deletable_topic_result.error_code)
    return [out]


def _encode_4(message: DeleteTopicsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.throttle_time_ms)
    size = len(message.responses) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for deletable_topic_result in message.responses:
        raw = (deletable_topic_result.name or "").encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out += _pack_hB(deletable_topic_result.error_code, 0)
    out.append(0)
    return [out]


def _encode_5(message: DeleteTopicsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.throttle_time_ms)
    size = len(message.responses) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for deletable_topic_result in message.responses:
        raw = (deletable_topic_result.name or "").encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out += _pack_h(deletable_topic_result.error_code)
        if deletable_topic_result.error_message is None:
            out.append(0)
        else:
            raw = deletable_topic_result.error_message.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        out.append(0)
    out.append(0)
    return [out]


def _encode_6(message: DeleteTopicsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.throttle_time_ms)
    size = len(message.responses) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for deletable_topic_result in message.responses:
        if deletable_topic_result.name is None:
            out.append(0)
        else:
            raw = deletable_topic_result.name.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        out += _pack_uh(deletable_topic_result.topic_id.bytes, deletable_topic_result.error_code)
        if deletable_topic_result.error_message is None:
            out.append(0)
        else:
            raw = deletable_topic_result.error_message.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {1: _decode_1, 2: _decode_1, 3: _decode_1, 4: _decode_4, 5: _decode_5, 6: _decode_6}
_ENCODERS = {1: _encode_1, 2: _encode_1, 3: _encode_1, 4: _encode_4, 5: _encode_5, 6: _encode_6}


def decode(version: int, buffer: Buffer, position: int = 0) -> DeleteTopicsResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"DeleteTopicsResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No DeleteTopicsResponse of version {version}: {error}") from error


def encode(version: int, message: DeleteTopicsResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
