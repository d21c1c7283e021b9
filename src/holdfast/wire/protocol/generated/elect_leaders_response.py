# Written by tools/generate_codecs.py from ElectLeadersResponse.json in kafka-clients-4.1.1: do not edit.
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
class PartitionResult:
    partition_id: int = 0
    error_code: int = 0
    error_message: str | None = ''


@dataclass(slots=True)
class ReplicaElectionResult:
    topic: str = ''
    partition_result: list[PartitionResult] = field(default_factory=list)


@dataclass(slots=True)
class ElectLeadersResponse:
    throttle_time_ms: int = 0
    error_code: int = 0
    replica_election_results: list[ReplicaElectionResult] = field(default_factory=list)


_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ihB = Struct(">ihB").unpack_from
_unpack_ihh = Struct(">ihh").unpack_from
_unpack_ihi = Struct(">ihi").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack
_pack_ihi = Struct(">ihi").pack
_pack_ii = Struct(">ii").pack


def _decode_0(buffer: memoryview, position: int) -> ElectLeadersResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    replica_election_results: list[ReplicaElectionResult]
    throttle_time_ms, count = _unpack_ii(buffer, position)
    position += 8
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("replica_election_results", count)
    replica_election_results = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("replica_election_result_topic", stop - position)
        replica_election_result_topic = str(buffer[position:stop], "utf-8")
        position = stop
        replica_election_result_partition_result: list[PartitionResult]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 8 <= end - position or room < 0:
            raise bad_length("replica_election_result_partition_result", count)
        replica_election_result_partition_result = []
        for _ in range(count):
            partition_result_error_message: str | None
            partition_result_partition_id, partition_result_error_code, length = _unpack_ihh(buffer, position)
            position += 8
            if length >= 0:
                stop = position + length
                if stop > end:
                    raise bad_length("partition_result_error_message", stop - position)
                partition_result_error_message = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                partition_result_error_message = None
            replica_election_result_partition_result.append(PartitionResult(partition_id=partition_result_partition_id, error_code=partition_result_error_code, error_message=partition_result_error_message))
        replica_election_results.append(ReplicaElectionResult(topic=replica_election_result_topic, partition_result=replica_election_result_partition_result))
    return ElectLeadersResponse(throttle_time_ms=throttle_time_ms, replica_election_results=replica_election_results)


def _decode_1(buffer: memoryview, position: int) -> ElectLeadersResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    replica_election_results: list[ReplicaElectionResult]
    throttle_time_ms, error_code, count = _unpack_ihi(buffer, position)
    position += 10
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("replica_election_results", count)
    replica_election_results = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("replica_election_result_topic", stop - position)
        replica_election_result_topic = str(buffer[position:stop], "utf-8")
        position = stop
        replica_election_result_partition_result: list[PartitionResult]
        (count,) = _unpack_i(buffer, position)
        position += 4
        room -= count
        if not 0 <= count * 8 <= end - position or room < 0:
            raise bad_length("replica_election_result_partition_result", count)
        replica_election_result_partition_result = []
        for _ in range(count):
            partition_result_error_message: str | None
            partition_result_partition_id, partition_result_error_code, length = _unpack_ihh(buffer, position)
            position += 8
            if length >= 0:
                stop = position + length
                if stop > end:
                    raise bad_length("partition_result_error_message", stop - position)
                partition_result_error_message = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                partition_result_error_message = None
            replica_election_result_partition_result.append(PartitionResult(partition_id=partition_result_partition_id, error_code=partition_result_error_code, error_message=partition_result_error_message))
        replica_election_results.append(ReplicaElectionResult(topic=replica_election_result_topic, partition_result=replica_election_result_partition_result))
    return ElectLeadersResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, replica_election_results=replica_election_results)


def _decode_2(buffer: memoryview, position: int) -> ElectLeadersResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    replica_election_results: list[ReplicaElectionResult]
    throttle_time_ms, error_code, count = _unpack_ihB(buffer, position)
    position += 7
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 3 <= end - position or room < 0:
        raise bad_length("replica_election_results", count)
    replica_election_results = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("replica_election_result_topic", stop - position)
        replica_election_result_topic = str(buffer[position:stop], "utf-8")
        position = stop
        replica_election_result_partition_result: list[PartitionResult]
        count = buffer[position]
        position += 1
        if count > 127:
            count, position = read_long_uvarint(buffer, position, count)
        count -= 1
        room -= count
        if not 0 <= count * 8 <= end - position or room < 0:
            raise bad_length("replica_election_result_partition_result", count)
        replica_election_result_partition_result = []
        for _ in range(count):
            partition_result_error_message: str | None
            partition_result_partition_id, partition_result_error_code, length = _unpack_ihB(buffer, position)
            position += 7
            if length > 127:
                length, position = read_long_string_length(buffer, position, length)
            if length:
                stop = position + length - 1
                if stop > end:
                    raise bad_length("partition_result_error_message", stop - position)
                partition_result_error_message = str(buffer[position:stop], "utf-8")
                position = stop
            else:
                partition_result_error_message = None
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            replica_election_result_partition_result.append(PartitionResult(partition_id=partition_result_partition_id, error_code=partition_result_error_code, error_message=partition_result_error_message))
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        replica_election_results.append(ReplicaElectionResult(topic=replica_election_result_topic, partition_result=replica_election_result_partition_result))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return ElectLeadersResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, replica_election_results=replica_election_results)


def _encode_0(message: ElectLeadersResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ii(message.throttle_time_ms, len(message.replica_election_results))
    for replica_election_result in message.replica_election_results:
        raw = replica_election_result.topic.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(replica_election_result.partition_result))
        for partition_result in replica_election_result.partition_result:
            out += _pack_ih(partition_result.partition_id, partition_result.error_code)
            if partition_result.error_message is None:
                out += b"\xff\xff"
            else:
                raw = partition_result.error_message.encode()
                out += _pack_h(len(raw))
                out += raw
    return [out]


def _encode_1(message: ElectLeadersResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ihi(message.throttle_time_ms, message.error_code, len(message.replica_election_results))
    for replica_election_result in message.replica_election_results:
        raw = replica_election_result.topic.encode()
        out += _pack_h(len(raw))
        out += raw
        out += _pack_i(len(replica_election_result.partition_result))
        for partition_result in replica_election_result.partition_result:
            out += _pack_ih(partition_result.partition_id, partition_result.error_code)
            if partition_result.error_message is None:
                out += b"\xff\xff"
            else:
                raw = partition_result.error_message.encode()
                out += _pack_h(len(raw))
                out += raw
    return [out]


def _encode_2(message: ElectLeadersResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ih(message.throttle_time_ms, message.error_code)
    size = len(message.replica_election_results) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for replica_election_result in message.replica_election_results:
        raw = replica_election_result.topic.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        size = len(replica_election_result.partition_result) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for partition_result in replica_election_result.partition_result:
            out += _pack_ih(partition_result.partition_id, partition_result.error_code)
            if partition_result.error_message is None:
                out.append(0)
            else:
                raw = partition_result.error_message.encode()
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


_DECODERS = {0: _decode_0, 1: _decode_1, 2: _decode_2}
_ENCODERS = {0: _encode_0, 1: _encode_1, 2: _encode_2}


def decode(version: int, buffer: Buffer, position: int = 0) -> ElectLeadersResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"ElectLeadersResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No ElectLeadersResponse of version {version}: {error}") from error


def encode(version: int, message: ElectLeadersResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
