# Written by tools/generate_codecs.py from CreatePartitionsResponse.json in kafka-clients-4.1.1: do not edit.
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
class CreatePartitionsTopicResult:
    name: str = ''
    error_code: int = 0
    error_message: str | None = None


@dataclass(slots=True)
class CreatePartitionsResponse:
    throttle_time_ms: int = 0
    results: list[CreatePartitionsTopicResult] = field(default_factory=list)


_unpack_h = Struct(">h").unpack_from
_unpack_hB = Struct(">hB").unpack_from
_unpack_hh = Struct(">hh").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_ii = Struct(">ii").pack


def _decode_0(buffer: memoryview, position: int) -> CreatePartitionsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    results: list[CreatePartitionsTopicResult]
    throttle_time_ms, count = _unpack_ii(buffer, position)
    position += 8
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("results", count)
    results = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("create_partitions_topic_result_name", stop - position)
        create_partitions_topic_result_name = str(buffer[position:stop], "utf-8")
        position = stop
        create_partitions_topic_result_error_message: str | None
        create_partitions_topic_result_error_code, length = _unpack_hh(buffer, position)
        position += 4
        if length >= 0:
            stop = position + length
            if stop > end:
                raise bad_length("create_partitions_topic_result_error_message", stop - position)
            create_partitions_topic_result_error_message = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            create_partitions_topic_result_error_message = None
        results.append(CreatePartitionsTopicResult(name=create_partitions_topic_result_name, error_code=create_partitions_topic_result_error_code, error_message=create_partitions_topic_result_error_message))
    return CreatePartitionsResponse(throttle_time_ms=throttle_time_ms, results=results)


def _decode_2(buffer: memoryview, position: int) -> CreatePartitionsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    results: list[CreatePartitionsTopicResult]
    throttle_time_ms, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 5 <= end - position or room < 0:
        raise bad_length("results", count)
    results = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("create_partitions_topic_result_name", stop - position)
        create_partitions_topic_result_name = str(buffer[position:stop], "utf-8")
        position = stop
        create_partitions_topic_result_error_message: str | None
        create_partitions_topic_result_error_code, length = _unpack_hB(buffer, position)
        position += 3
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("create_partitions_topic_result_error_message", stop - position)
            create_partitions_topic_result_error_message = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            create_partitions_topic_result_error_message = None
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        results.append(CreatePartitionsTopicResult(name=create_partitions_topic_result_name, error_code=create_partitions_topic_result_error_code, error_message=create_partitions_topic_result_error_message))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return CreatePartitionsResponse(throttle_time_ms=throttle_time_ms, results=results)


def _encode_0(message: CreatePartitionsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ii(message.throttle_time_ms, len(message.results))
    for create_partitions_topic_result in message.results:
        raw = create_partitions_topic_result.name.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_h(create_partitions_topic_result.error_code)
        if create_partitions_topic_result.error_message is None:
            out += b"\xff\xff"
        else:
            raw = create_partitions_topic_result.error_message.encode()
            out += _pack_h(len(raw))
            out += raw
    return [out]


def _encode_2(message: CreatePartitionsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.throttle_time_ms)
    size = len(message.results) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for create_partitions_topic_result in message.results:
        raw = create_partitions_topic_result.name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out += _pack_h(create_partitions_topic_result.error_code)
        if create_partitions_topic_result.error_message is None:
            out.append(0)
        else:
            raw = create_partitions_topic_result.error_message.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_0, 2: _decode_2, 3: _decode_2}
_ENCODERS = {0: _encode_0, 1: _encode_0, 2: _encode_2, 3: _encode_2}


def decode(version: int, buffer: Buffer, position: int = 0) -> CreatePartitionsResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"CreatePartitionsResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No CreatePartitionsResponse of version {version}: {error}") from error


def encode(version: int, message: CreatePartitionsResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
