# Written by tools/generate_codecs.py from AddPartitionsToTxnResponse.json in kafka-clients-4.1.1: do not edit.
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
class AddPartitionsToTxnPartitionResult:
    partition_index: int = 0
    partition_error_code: int = 0


@dataclass(slots=True)
class AddPartitionsToTxnTopicResult:
    name: str = ''
    results_by_partition: list[AddPartitionsToTxnPartitionResult] = field(default_factory=list)


@dataclass(slots=True)
class AddPartitionsToTxnResult:
    transactional_id: str = ''
    topic_results: list[AddPartitionsToTxnTopicResult] = field(default_factory=list)


@dataclass(slots=True)
class AddPartitionsToTxnResponse:
    throttle_time_ms: int = 0
    error_code: int = 0
    results_by_transaction: list[AddPartitionsToTxnResult] = field(default_factory=list)
    results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = field(default_factory=list)


_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_unpack_ihB = Struct(">ihB").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack
_pack_ihB = Struct(">ihB").pack
_pack_ii = Struct(">ii").pack


def _decode_0(buffer: memoryview, position: int) -> AddPartitionsToTxnResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult]
    throttle_time_ms, count = _unpack_ii(buffer, position)
    position += 8
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("results_by_topic_v3_and_below", count)
    results_by_topic_v3_and_below = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("add_partitions_to_txn_topic_result_name", stop - position)
        add_partitions_to_txn_topic_result_name = str(buffer[position:stop], "utf-8")
        position = stop
        add_partitions_to_txn_topic_result_results_by_partition: list[AddPartitionsToTxnPartitionResult]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 6 <= end - position or room < 0:
            raise bad_length("add_partitions_to_txn_topic_result_results_by_partition", count)
        add_partitions_to_txn_topic_result_results_by_partition = []
        for _ in range(count):
            add_partitions_to_txn_partition_result_partition_index, add_partitions_to_txn_partition_result_partition_error_code = _unpack_ih(buffer, position)
            position += 6
            add_partitions_to_txn_topic_result_results_by_partition.append(AddPartitionsToTxnPartitionResult(partition_index=add_partitions_to_txn_partition_result_partition_index, partition_error_code=add_partitions_to_txn_partition_result_partition_error_code))
        results_by_topic_v3_and_below.append(AddPartitionsToTxnTopicResult(name=add_partitions_to_txn_topic_result_name, results_by_partition=add_partitions_to_txn_topic_result_results_by_partition))
    return AddPartitionsToTxnResponse(throttle_time_ms=throttle_time_ms, results_by_topic_v3_and_below=results_by_topic_v3_and_below)


def _decode_3(buffer: memoryview, position: int) -> AddPartitionsToTxnResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult]
    throttle_time_ms, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 3 <= end - position or room < 0:
        raise bad_length("results_by_topic_v3_and_below", count)
    results_by_topic_v3_and_below = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("add_partitions_to_txn_topic_result_name", stop - position)
        add_partitions_to_txn_topic_result_name = str(buffer[position:stop], "utf-8")
        position = stop
        add_partitions_to_txn_topic_result_results_by_partition: list[AddPartitionsToTxnPartitionResult]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 7 <= end - position or room < 0:
            raise bad_length("add_partitions_to_txn_topic_result_results_by_partition", count)
        add_partitions_to_txn_topic_result_results_by_partition = []
        for _ in range(count):
            add_partitions_to_txn_partition_result_partition_index, add_partitions_to_txn_partition_result_partition_error_code, tags = _unpack_ihB(buffer, position)
            position += 7
            if tags:
                position = skip_tags(buffer, position, tags)
            add_partitions_to_txn_topic_result_results_by_partition.append(AddPartitionsToTxnPartitionResult(partition_index=add_partitions_to_txn_partition_result_partition_index, partition_error_code=add_partitions_to_txn_partition_result_partition_error_code))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        results_by_topic_v3_and_below.append(AddPartitionsToTxnTopicResult(name=add_partitions_to_txn_topic_result_name, results_by_partition=add_partitions_to_txn_topic_result_results_by_partition))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return AddPartitionsToTxnResponse(throttle_time_ms=throttle_time_ms, results_by_topic_v3_and_below=results_by_topic_v3_and_below)


def _decode_4(buffer: memoryview, position: int) -> AddPartitionsToTxnResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    results_by_transaction: list[AddPartitionsToTxnResult]
    throttle_time_ms, error_code, count = _unpack_ihB(buffer, position)
    position += 7
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 3 <= end - position or room < 0:
        raise bad_length("results_by_transaction", count)
    results_by_transaction = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("add_partitions_to_txn_result_transactional_id", stop - position)
        add_partitions_to_txn_result_transactional_id = str(buffer[position:stop], "utf-8")
        position = stop
        add_partitions_to_txn_result_topic_results: list[AddPartitionsToTxnTopicResult]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 3 <= end - position or room < 0:
            raise bad_length("add_partitions_to_txn_result_topic_results", count)
        add_partitions_to_txn_result_topic_results = []
        for _ in range(count):
            length = buffer[position]
            position += 1
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            stop = position + length - 1
            if not position <= stop <= end:
                raise bad_length("add_partitions_to_txn_topic_result_name", stop - position)
            add_partitions_to_txn_topic_result_name = str(buffer[position:stop], "utf-8")
            position = stop
            add_partitions_to_txn_topic_result_results_by_partition: list[AddPartitionsToTxnPartitionResult]
            count = buffer[position]
            position += 1
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 7 <= end - position or room < 0:
                raise bad_length("add_partitions_to_txn_topic_result_results_by_partition", count)
            add_partitions_to_txn_topic_result_results_by_partition = []
            for _ in range(count):
                add_partitions_to_txn_partition_result_partition_index, add_partitions_to_txn_partition_result_partition_error_code, tags = _unpack_ihB(buffer, position)
                position += 7
                if tags:
                    position = skip_tags(buffer, position, tags)
                add_partitions_to_txn_topic_result_results_by_partition.append(AddPartitionsToTxnPartitionResult(partition_index=add_partitions_to_txn_partition_result_partition_index, partition_error_code=add_partitions_to_txn_partition_result_partition_error_code))
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            add_partitions_to_txn_result_topic_results.append(AddPartitionsToTxnTopicResult(name=add_partitions_to_txn_topic_result_name, results_by_partition=add_partitions_to_txn_topic_result_results_by_partition))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        results_by_transaction.append(AddPartitionsToTxnResult(transactional_id=add_partitions_to_txn_result_transactional_id, topic_results=add_partitions_to_txn_result_topic_results))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return AddPartitionsToTxnResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, results_by_transaction=results_by_transaction)


def _encode_0(message: AddPartitionsToTxnResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ii(message.throttle_time_ms, len(message.results_by_topic_v3_and_below))
    for add_partitions_to_txn_topic_result in message.results_by_topic_v3_and_below:
        raw = add_partitions_to_txn_topic_result.name.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(add_partitions_to_txn_topic_result.results_by_partition))
        for add_partitions_to_txn_partition_result in add_partitions_to_txn_topic_result.results_by_partition:
            out += _pack_ih(add_partitions_to_txn_partition_result.partition_index, add_partitions_to_txn_partition_result.partition_error_code)
    return [out]


def _encode_3(message: AddPartitionsToTxnResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.throttle_time_ms)
    size = len(message.results_by_topic_v3_and_below) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for add_partitions_to_txn_topic_result in message.results_by_topic_v3_and_below:
        raw = add_partitions_to_txn_topic_result.name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(add_partitions_to_txn_topic_result.results_by_partition) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for add_partitions_to_txn_partition_result in add_partitions_to_txn_topic_result.results_by_partition:
            out += _pack_ihB(add_partitions_to_txn_partition_result.partition_index, add_partitions_to_txn_partition_result.partition_error_code, 0)
        out.append(0)
    out.append(0)
    return [out]


def _encode_4(message: AddPartitionsToTxnResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ih(message.throttle_time_ms, message.error_code)
    size = len(message.results_by_transaction) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for add_partitions_to_txn_result in message.results_by_transaction:
        raw = add_partitions_to_txn_result.transactional_id.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(add_partitions_to_txn_result.topic_results) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for add_partitions_to_txn_topic_result in add_partitions_to_txn_result.topic_results:
            raw = add_partitions_to_txn_topic_result.name.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
            size = len(add_partitions_to_txn_topic_result.results_by_partition) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            for add_partitions_to_txn_partition_result in add_partitions_to_txn_topic_result.results_by_partition:
                out += _pack_ihB(add_partitions_to_txn_partition_result.partition_index, add_partitions_to_txn_partition_result.partition_error_code, 0)
            out.append(0)
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_0, 2: _decode_0, 3: _decode_3, 4: _decode_4, 5: _decode_4}
_ENCODERS = {0: _encode_0, 1: _encode_0, 2: _encode_0, 3: _encode_3, 4: _encode_4, 5: _encode_4}


def decode(version: int, buffer: Buffer, position: int = 0) -> AddPartitionsToTxnResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"AddPartitionsToTxnResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No AddPartitionsToTxnResponse of version {version}: {error}") from error


def encode(version: int, message: AddPartitionsToTxnResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
