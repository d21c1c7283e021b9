# Written by tools/generate_codecs.py from DescribeLogDirsResponse.json in kafka-clients-4.1.1: do not edit.
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
class DescribeLogDirsPartition:
    partition_index: int = 0
    partition_size: int = 0
    offset_lag: int = 0
    is_future_key: bool = False


@dataclass(slots=True)
class DescribeLogDirsTopic:
    name: str = ''
    partitions: list[DescribeLogDirsPartition] = field(default_factory=list)


@dataclass(slots=True)
class DescribeLogDirsResult:
    error_code: int = 0
    log_dir: str = ''
    topics: list[DescribeLogDirsTopic] = field(default_factory=list)
    total_bytes: int = -1
    usable_bytes: int = -1


@dataclass(slots=True)
class DescribeLogDirsResponse:
    throttle_time_ms: int = 0
    error_code: int = 0
    results: list[DescribeLogDirsResult] = field(default_factory=list)


_unpack_h = Struct(">h").unpack_from
_unpack_hB = Struct(">hB").unpack_from
_unpack_hh = Struct(">hh").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_ihB = Struct(">ihB").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_unpack_iqqt = Struct(">iqq?").unpack_from
_unpack_iqqtB = Struct(">iqq?B").unpack_from
_unpack_qqB = Struct(">qqB").unpack_from
_pack_h = Struct(">h").pack
_pack_hh = Struct(">hh").pack
_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack
_pack_ii = Struct(">ii").pack
_pack_iqqt = Struct(">iqq?").pack
_pack_iqqtB = Struct(">iqq?B").pack
_pack_qqB = Struct(">qqB").pack


def _decode_1(buffer: memoryview, position: int) -> DescribeLogDirsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    results: list[DescribeLogDirsResult]
    throttle_time_ms, count = _unpack_ii(buffer, position)
    position += 8
    room -= count
    if not 0 <= count * 8 <= end - position or room < 0:
        raise bad_length("results", count)
    results = []
    for _ in range(count):
        describe_log_dirs_result_error_code, length = _unpack_hh(buffer, position)
        position += 4
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("describe_log_dirs_result_log_dir", stop - position)
        describe_log_dirs_result_log_dir = str(buffer[position:stop], "utf-8")
        position = stop
        describe_log_dirs_result_topics: list[DescribeLogDirsTopic]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 6 <= end - position or room < 0:
            raise bad_length("describe_log_dirs_result_topics", count)
        describe_log_dirs_result_topics = []
        for _ in range(count):
            (length,) = _unpack_h(buffer, position)
            position += 2
            stop = position + length
            if not position <= stop <= end:
                raise bad_length("describe_log_dirs_topic_name", stop - position)
            describe_log_dirs_topic_name = str(buffer[position:stop], "utf-8")
            position = stop
            describe_log_dirs_topic_partitions: list[DescribeLogDirsPartition]
            (count,) = _unpack_i(buffer, position)
            position += 4
            room -= count
            if not 0 <= count * 21 <= end - position or room < 0:
                raise bad_length("describe_log_dirs_topic_partitions", count)
            describe_log_dirs_topic_partitions = []
            for _ in range(count):
                describe_log_dirs_partition_partition_index, describe_log_dirs_partition_partition_size, describe_log_dirs_partition_offset_lag, describe_log_dirs_partition_is_future_key = _unpack_iqqt(buffer, position)
                position += 21
                describe_log_dirs_topic_partitions.append(DescribeLogDirsPartition(partition_index=describe_log_dirs_partition_partition_index, partition_size=describe_log_dirs_partition_partition_size, offset_lag=describe_log_dirs_partition_offset_lag, is_future_key=describe_log_dirs_partition_is_future_key))
            describe_log_dirs_result_topics.append(DescribeLogDirsTopic(name=describe_log_dirs_topic_name, partitions=describe_log_dirs_topic_partitions))
        results.append(DescribeLogDirsResult(error_code=describe_log_dirs_result_error_code, log_dir=describe_log_dirs_result_log_dir, topics=describe_log_dirs_result_topics))
    return DescribeLogDirsResponse(throttle_time_ms=throttle_time_ms, results=results)


def _decode_2(buffer: memoryview, position: int) -> DescribeLogDirsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    results: list[DescribeLogDirsResult]
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
        describe_log_dirs_result_error_code, length = _unpack_hB(buffer, position)
        position += 3
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("describe_log_dirs_result_log_dir", stop - position)
        describe_log_dirs_result_log_dir = str(buffer[position:stop], "utf-8")
        position = stop
        describe_log_dirs_result_topics: list[DescribeLogDirsTopic]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 3 <= end - position or room < 0:
            raise bad_length("describe_log_dirs_result_topics", count)
        describe_log_dirs_result_topics = []
        for _ in range(count):
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("describe_log_dirs_topic_name", stop - position)
            describe_log_dirs_topic_name = str(buffer[position:stop], "utf-8")
            position = stop
            describe_log_dirs_topic_partitions: list[DescribeLogDirsPartition]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 22 <= end - position or room < 0:
                raise bad_length("describe_log_dirs_topic_partitions", count)
            describe_log_dirs_topic_partitions = []
            for _ in range(count):
                describe_log_dirs_partition_partition_index, describe_log_dirs_partition_partition_size, describe_log_dirs_partition_offset_lag, describe_log_dirs_partition_is_future_key, tags = _unpack_iqqtB(buffer, position)
                position += 22
                if tags:
                    position = skip_tags(buffer, position, tags)
                describe_log_dirs_topic_partitions.append(DescribeLogDirsPartition(partition_index=describe_log_dirs_partition_partition_index, partition_size=describe_log_dirs_partition_partition_size, offset_lag=describe_log_dirs_partition_offset_lag, is_future_key=describe_log_dirs_partition_is_future_key))
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            describe_log_dirs_result_topics.append(DescribeLogDirsTopic(name=describe_log_dirs_topic_name, partitions=describe_log_dirs_topic_partitions))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        results.append(DescribeLogDirsResult(error_code=describe_log_dirs_result_error_code, log_dir=describe_log_dirs_result_log_dir, topics=describe_log_dirs_result_topics))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return DescribeLogDirsResponse(throttle_time_ms=throttle_time_ms, results=results)


def _decode_3(buffer: memoryview, position: int) -> DescribeLogDirsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    results: list[DescribeLogDirsResult]
    throttle_time_ms, error_code, count = _unpack_ihB(buffer, position)
    position += 7
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 5 <= end - position or room < 0:
        raise bad_length("results", count)
    results = []
    for _ in range(count):
        describe_log_dirs_result_error_code, length = _unpack_hB(buffer, position)
        position += 3
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("describe_log_dirs_result_log_dir", stop - position)
        describe_log_dirs_result_log_dir = str(buffer[position:stop], "utf-8")
        position = stop
        describe_log_dirs_result_topics: list[DescribeLogDirsTopic]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 3 <= end - position or room < 0:
            raise bad_length("describe_log_dirs_result_topics", count)
        describe_log_dirs_result_topics = []
        for _ in range(count):
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("describe_log_dirs_topic_name", stop - position)
            describe_log_dirs_topic_name = str(buffer[position:stop], "utf-8")
            position = stop
            describe_log_dirs_topic_partitions: list[DescribeLogDirsPartition]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 22 <= end - position or room < 0:
                raise bad_length("describe_log_dirs_topic_partitions", count)
            describe_log_dirs_topic_partitions = []
            for _ in range(count):
                describe_log_dirs_partition_partition_index, describe_log_dirs_partition_partition_size, describe_log_dirs_partition_offset_lag, describe_log_dirs_partition_is_future_key, tags = _unpack_iqqtB(buffer, position)
                position += 22
                if tags:
                    position = skip_tags(buffer, position, tags)
                describe_log_dirs_topic_partitions.append(DescribeLogDirsPartition(partition_index=describe_log_dirs_partition_partition_index, partition_size=describe_log_dirs_partition_partition_size, offset_lag=describe_log_dirs_partition_offset_lag, is_future_key=describe_log_dirs_partition_is_future_key))
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            describe_log_dirs_result_topics.append(DescribeLogDirsTopic(name=describe_log_dirs_topic_name, partitions=describe_log_dirs_topic_partitions))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        results.append(DescribeLogDirsResult(error_code=describe_log_dirs_result_error_code, log_dir=describe_log_dirs_result_log_dir, topics=describe_log_dirs_result_topics))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return DescribeLogDirsResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, results=results)


def _decode_4(buffer: memoryview, position: int) -> DescribeLogDirsResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    results: list[DescribeLogDirsResult]
    throttle_time_ms, error_code, count = _unpack_ihB(buffer, position)
    position += 7
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 21 <= end - position or room < 0:
        raise bad_length("results", count)
    results = []
    for _ in range(count):
        describe_log_dirs_result_error_code, length = _unpack_hB(buffer, position)
        position += 3
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("describe_log_dirs_result_log_dir", stop - position)
        describe_log_dirs_result_log_dir = str(buffer[position:stop], "utf-8")
        position = stop
        describe_log_dirs_result_topics: list[DescribeLogDirsTopic]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 3 <= end - position or room < 0:
            raise bad_length("describe_log_dirs_result_topics", count)
        describe_log_dirs_result_topics = []
        for _ in range(count):
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("describe_log_dirs_topic_name", stop - position)
            describe_log_dirs_topic_name = str(buffer[position:stop], "utf-8")
            position = stop
            describe_log_dirs_topic_partitions: list[DescribeLogDirsPartition]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 22 <= end - position or room < 0:
                raise bad_length("describe_log_dirs_topic_partitions", count)
            describe_log_dirs_topic_partitions = []
            for _ in range(count):
                describe_log_dirs_partition_partition_index, describe_log_dirs_partition_partition_size, describe_log_dirs_partition_offset_lag, describe_log_dirs_partition_is_future_key, tags = _unpack_iqqtB(buffer, position)
                position += 22
                if tags:
                    position = skip_tags(buffer, position, tags)
                describe_log_dirs_topic_partitions.append(DescribeLogDirsPartition(partition_index=describe_log_dirs_partition_partition_index, partition_size=describe_log_dirs_partition_partition_size, offset_lag=describe_log_dirs_partition_offset_lag, is_future_key=describe_log_dirs_partition_is_future_key))
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            describe_log_dirs_result_topics.append(DescribeLogDirsTopic(name=describe_log_dirs_topic_name, partitions=describe_log_dirs_topic_partitions))
        describe_log_dirs_result_total_bytes, describe_log_dirs_result_usable_bytes, tags = _unpack_qqB(buffer, position)
        position += 17
        if tags:
            position = skip_tags(buffer, position, tags)
        results.append(DescribeLogDirsResult(error_code=describe_log_dirs_result_error_code, log_dir=describe_log_dirs_result_log_dir, topics=describe_log_dirs_result_topics, total_bytes=describe_log_dirs_result_total_bytes, usable_bytes=describe_log_dirs_result_usable_bytes))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return DescribeLogDirsResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, results=results)


def _encode_1(message: DescribeLogDirsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ii(message.throttle_time_ms, len(message.results))
    for describe_log_dirs_result in message.results:
        raw = describe_log_dirs_result.log_dir.encode()
        out += _pack_hh(describe_log_dirs_result.error_code, len(raw))
        out += raw
        out += _pack_i(len(describe_log_dirs_result.topics))
        for describe_log_dirs_topic in describe_log_dirs_result.topics:
            raw = describe_log_dirs_topic.name.encode()
            out += _pack_h(len(raw))
            out += raw
            out += _pack_i(len(describe_log_dirs_topic.partitions))
            for describe_log_dirs_partition in describe_log_dirs_topic.partitions:
                out += _pack_iqqt(describe_log_dirs_partition.partition_index, describe_log_dirs_partition.partition_size, describe_log_dirs_partition.offset_lag, describe_log_dirs_partition.is_future_key)
    return [out]


def _encode_2(message: DescribeLogDirsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.throttle_time_ms)
    size = len(message.results) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for describe_log_dirs_result in message.results:
        raw = describe_log_dirs_result.log_dir.encode()
        out += _pack_h(describe_log_dirs_result.error_code)
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(describe_log_dirs_result.topics) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for describe_log_dirs_topic in describe_log_dirs_result.topics:
            raw = describe_log_dirs_topic.name.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            size = len(describe_log_dirs_topic.partitions) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            for describe_log_dirs_partition in describe_log_dirs_topic.partitions:
                out += _pack_iqqtB(describe_log_dirs_partition.partition_index, describe_log_dirs_partition.partition_size, describe_log_dirs_partition.offset_lag, describe_log_dirs_partition.is_future_key, 0)
            out.append(0)
        out.append(0)
    out.append(0)
    return [out]


def _encode_3(message: DescribeLogDirsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ih(message.throttle_time_ms, message.error_code)
    size = len(message.results) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for describe_log_dirs_result in message.results:
        raw = describe_log_dirs_result.log_dir.encode()
        out += _pack_h(describe_log_dirs_result.error_code)
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(describe_log_dirs_result.topics) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for describe_log_dirs_topic in describe_log_dirs_result.topics:
            raw = describe_log_dirs_topic.name.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            size = len(describe_log_dirs_topic.partitions) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            for describe_log_dirs_partition in describe_log_dirs_topic.partitions:
                out += _pack_iqqtB(describe_log_dirs_partition.partition_index, describe_log_dirs_partition.partition_size, describe_log_dirs_partition.offset_lag, describe_log_dirs_partition.is_future_key, 0)
            out.append(0)
        out.append(0)
    out.append(0)
    return [out]


def _encode_4(message: DescribeLogDirsResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ih(message.throttle_time_ms, message.error_code)
    size = len(message.results) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for describe_log_dirs_result in message.results:
        raw = describe_log_dirs_result.log_dir.encode()
        out += _pack_h(describe_log_dirs_result.error_code)
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(describe_log_dirs_result.topics) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for describe_log_dirs_topic in describe_log_dirs_result.topics:
            raw = describe_log_dirs_topic.name.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            size = len(describe_log_dirs_topic.partitions) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            for describe_log_dirs_partition in describe_log_dirs_topic.partitions:
                out += _pack_iqqtB(describe_log_dirs_partition.partition_index, describe_log_dirs_partition.partition_size, describe_log_dirs_partition.offset_lag, describe_log_dirs_partition.is_future_key, 0)
            out.append(0)
        out += _pack_qqB(describe_log_dirs_result.total_bytes, describe_log_dirs_result.usable_bytes, 0)
    out.append(0)
    return [out]


_DECODERS = {1: _decode_1, 2: _decode_2, 3: _decode_3, 4: _decode_4}
_ENCODERS = {1: _encode_1, 2: _encode_2, 3: _encode_3, 4: _encode_4}


def decode(version: int, buffer: Buffer, position: int = 0) -> DescribeLogDirsResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"DescribeLogDirsResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No DescribeLogDirsResponse of version {version}: {error}") from error


def encode(version: int, message: DescribeLogDirsResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
