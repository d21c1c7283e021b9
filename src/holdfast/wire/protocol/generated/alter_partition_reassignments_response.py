# Written by tools/generate_codecs.py from AlterPartitionReassignmentsResponse.json in kafka-clients-4.1.1: do not edit.
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
class ReassignablePartitionResponse:
    partition_index: int = 0
    error_code: int = 0
    error_message: str | None = ''


@dataclass(slots=True)
class ReassignableTopicResponse:
    name: str = ''
    partitions: list[ReassignablePartitionResponse] = field(default_factory=list)


@dataclass(slots=True)
class AlterPartitionReassignmentsResponse:
    throttle_time_ms: int = 0
    allow_replication_factor_change: bool = True
    error_code: int = 0
    error_message: str | None = ''
    responses: list[ReassignableTopicResponse] = field(default_factory=list)


_unpack_ihB = Struct(">ihB").unpack_from
_unpack_ithB = Struct(">i?hB").unpack_from
_pack_ih = Struct(">ih").pack
_pack_ith = Struct(">i?h").pack


def _decode_0(buffer: memoryview, position: int) -> AlterPartitionReassignmentsResponse:
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
    responses: list[ReassignableTopicResponse]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 3 <= end - position or room < 0:
        raise bad_length("responses", count)
    responses = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("reassignable_topic_response_name", stop - position)
        reassignable_topic_response_name = str(buffer[position:stop], "utf-8")
        position = stop
        reassignable_topic_response_partitions: list[ReassignablePartitionResponse]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 8 <= end - position or room < 0:
            raise bad_length("reassignable_topic_response_partitions", count)
        reassignable_topic_response_partitions = []
        for _ in range(count):
            reassignable_partition_response_error_message: str | None
            reassignable_partition_response_partition_index, reassignable_partition_response_error_code, length = _unpack_ihB(buffer, position)
            position += 7
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            if length:
                stop = position + length - 1
                if stop > end:
                    raise bad_length("reassignable_partition_response_error_message", stop - position)
                reassignable_partition_response_error_message = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                reassignable_partition_response_error_message = None
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            reassignable_topic_response_partitions.append(ReassignablePartitionResponse(partition_index=reassignable_partition_response_partition_index, error_code=reassignable_partition_response_error_code, error_message=reassignable_partition_response_error_message))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        responses.append(ReassignableTopicResponse(name=reassignable_topic_response_name, partitions=reassignable_topic_response_partitions))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return AlterPartitionReassignmentsResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, error_message=error_message, responses=responses)


def _decode_1(buffer: memoryview, position: int) -> AlterPartitionReassignmentsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    error_message: str | None
    throttle_time_ms, allow_replication_factor_change, error_code, length = _unpack_ithB(buffer, position)
    position += 8
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
    responses: list[ReassignableTopicResponse]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 3 <= end - position or room < 0:
        raise bad_length("responses", count)
    responses = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("reassignable_topic_response_name", stop - position)
        reassignable_topic_response_name = str(buffer[position:stop], "utf-8")
        position = stop
        reassignable_topic_response_partitions: list[ReassignablePartitionResponse]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 8 <= end - position or room < 0:
            raise bad_length("reassignable_topic_response_partitions", count)
        reassignable_topic_response_partitions = []
        for _ in range(count):
            reassignable_partition_response_error_message: str | None
            reassignable_partition_response_partition_index, reassignable_partition_response_error_code, length = _unpack_ihB(buffer, position)
            position += 7
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            if length:
                stop = position + length - 1
                if stop > end:
                    raise bad_length("reassignable_partition_response_error_message", stop - position)
                reassignable_partition_response_error_message = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                reassignable_partition_response_error_message = None
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            reassignable_topic_response_partitions.append(ReassignablePartitionResponse(partition_index=reassignable_partition_response_partition_index, error_code=reassignable_partition_response_error_code, error_message=reassignable_partition_response_error_message))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        responses.append(ReassignableTopicResponse(name=reassignable_topic_response_name, partitions=reassignable_topic_response_partitions))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return AlterPartitionReassignmentsResponse(throttle_time_ms=throttle_time_ms, allow_replication_factor_change=allow_replication_factor_change, error_code=error_code, error_message=error_message, responses=responses)


def _encode_0(message: AlterPartitionReassignmentsResponse) -> list[Buffer]:
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
    size = len(message.responses) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for reassignable_topic_response in message.responses:
        raw = reassignable_topic_response.name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(reassignable_topic_response.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for reassignable_partition_response in reassignable_topic_response.partitions:
            out += _pack_ih(reassignable_partition_response.partition_index, reassignable_partition_response.error_code)
            if reassignable_partition_response.error_message is None:
                out.append(0)
            else:
                raw = reassignable_partition_response.error_message.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
            out.append(0)
        out.append(0)
    out.append(0)
    return [out]


def _encode_1(message: AlterPartitionReassignmentsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ith(message.throttle_time_ms, message.allow_replication_factor_change, message.error_code)
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
    size = len(message.responses) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for reassignable_topic_response in message.responses:
        raw = reassignable_topic_response.name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(reassignable_topic_response.partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for reassignable_partition_response in reassignable_topic_response.partitions:
            out += _pack_ih(reassignable_partition_response.partition_index, reassignable_partition_response.error_code)
            if reassignable_partition_response.error_message is None:
                out.append(0)
            else:
                raw = reassignable_partition_response.error_message.encode()
                size = len(raw) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                out += raw
            out.append(0)
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_1}
_ENCODERS = {0: _encode_0, 1: _encode_1}


def decode(version: int, buffer: Buffer, position: int = 0) -> AlterPartitionReassignmentsResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"AlterPartitionReassignmentsResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No AlterPartitionReassignmentsResponse of version {version}: {error}") from error


def encode(version: int, message: AlterPartitionReassignmentsResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
