# Written by tools/generate_codecs.py from DescribeClusterResponse.json in kafka-clients-4.1.1: do not edit.
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
class DescribeClusterBroker:
    broker_id: int = 0
    host: str = ''
    port: int = 0
    rack: str | None = None
    is_fenced: bool = False


@dataclass(slots=True)
class DescribeClusterResponse:
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = None
    endpoint_type: int = 1
    cluster_id: str = ''
    controller_id: int = -1
    brokers: list[DescribeClusterBroker] = field(default_factory=list)
    cluster_authorized_operations: int = -2147483648


_unpack_bB = Struct(">bB").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_ihB = Struct(">ihB").unpack_from
_unpack_tB = Struct(">?B").unpack_from
_pack_b = Struct(">b").pack
_pack_i = Struct(">i").pack
_pack_iB = Struct(">iB").pack
_pack_ih = Struct(">ih").pack
_pack_tB = Struct(">?B").pack


def _decode_0(buffer: memoryview, position: int) -> DescribeClusterResponse:
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
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("cluster_id", stop - position)
    cluster_id = str(buffer[position:stop], "utf-8")
    position = stop
    brokers: list[DescribeClusterBroker]
    controller_id, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 11 <= end - position or room < 0:
        raise bad_length("brokers", count)
    brokers = []
    for _ in range(count):
        describe_cluster_broker_broker_id, length = _unpack_iB(buffer, position)
        position += 5
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("describe_cluster_broker_host", stop - position)
        describe_cluster_broker_host = str(buffer[position:stop], "utf-8")
        position = stop
        describe_cluster_broker_rack: str | None
        describe_cluster_broker_port, length = _unpack_iB(buffer, position)
        position += 5
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("describe_cluster_broker_rack", stop - position)
            describe_cluster_broker_rack = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            describe_cluster_broker_rack = None
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        brokers.append(DescribeClusterBroker(broker_id=describe_cluster_broker_broker_id, host=describe_cluster_broker_host, port=describe_cluster_broker_port, rack=describe_cluster_broker_rack))
    cluster_authorized_operations, tags = _unpack_iB(buffer, position)
    position += 5
    if tags:
        position = skip_tags(buffer, position, tags)
    return DescribeClusterResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, error_message=error_message, cluster_id=cluster_id, controller_id=controller_id, brokers=brokers, cluster_authorized_operations=cluster_authorized_operations)


def _decode_1(buffer: memoryview, position: int) -> DescribeClusterResponse:
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
    endpoint_type, length = _unpack_bB(buffer, position)
    position += 2
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("cluster_id", stop - position)
    cluster_id = str(buffer[position:stop], "utf-8")
    position = stop
    brokers: list[DescribeClusterBroker]
    controller_id, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 11 <= end - position or room < 0:
        raise bad_length("brokers", count)
    brokers = []
    for _ in range(count):
        describe_cluster_broker_broker_id, length = _unpack_iB(buffer, position)
        position += 5
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("describe_cluster_broker_host", stop - position)
        describe_cluster_broker_host = str(buffer[position:stop], "utf-8")
        position = stop
        describe_cluster_broker_rack: str | None
        describe_cluster_broker_port, length = _unpack_iB(buffer, position)
        position += 5
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("describe_cluster_broker_rack", stop - position)
            describe_cluster_broker_rack = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            describe_cluster_broker_rack = None
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        brokers.append(DescribeClusterBroker(broker_id=describe_cluster_broker_broker_id, host=describe_cluster_broker_host, port=describe_cluster_broker_port, rack=describe_cluster_broker_rack))
    cluster_authorized_operations, tags = _unpack_iB(buffer, position)
    position += 5
    if tags:
        position = skip_tags(buffer, position, tags)
    return DescribeClusterResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, error_message=error_message, endpoint_type=endpoint_type, cluster_id=cluster_id, controller_id=controller_id, brokers=brokers, cluster_authorized_operations=cluster_authorized_operations)


def _decode_2(buffer: memoryview, position: int) -> DescribeClusterResponse:
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
    endpoint_type, length = _unpack_bB(buffer, position)
    position += 2
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("cluster_id", stop - position)
    cluster_id = str(buffer[position:stop], "utf-8")
    position = stop
    brokers: list[DescribeClusterBroker]
    controller_id, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 12 <= end - position or room < 0:
        raise bad_length("brokers", count)
    brokers = []
    for _ in range(count):
        describe_cluster_broker_broker_id, length = _unpack_iB(buffer, position)
        position += 5
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("describe_cluster_broker_host", stop - position)
        describe_cluster_broker_host = str(buffer[position:stop], "utf-8")
        position = stop
        describe_cluster_broker_rack: str | None
        describe_cluster_broker_port, length = _unpack_iB(buffer, position)
        position += 5
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("describe_cluster_broker_rack", stop - position)
            describe_cluster_broker_rack = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            describe_cluster_broker_rack = None
        describe_cluster_broker_is_fenced, tags = _unpack_tB(buffer, position)
        position += 2
        if tags:
            position = skip_tags(buffer, position, tags)
        brokers.append(DescribeClusterBroker(broker_id=describe_cluster_broker_broker_id, host=describe_cluster_broker_host, port=describe_cluster_broker_port, rack=describe_cluster_broker_rack, is_fenced=describe_cluster_broker_is_fenced))
    cluster_authorized_operations, tags = _unpack_iB(buffer, position)
    position += 5
    if tags:
        position = skip_tags(buffer, position, tags)
    return DescribeClusterResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, error_message=error_message, endpoint_type=endpoint_type, cluster_id=cluster_id, controller_id=controller_id, brokers=brokers, cluster_authorized_operations=cluster_authorized_operations)


def _encode_0(message: DescribeClusterResponse) -> list[Buffer]:
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
    raw = message.cluster_id.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    out += _pack_i(message.controller_id)
    size = len(message.brokers) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for describe_cluster_broker in message.brokers:
        raw = describe_cluster_broker.host.encode()
        out += _pack_i(describe_cluster_broker.broker_id)
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out += _pack_i(describe_cluster_broker.port)
        if describe_cluster_broker.rack is None:
            out.append(0)
        else:
            raw = describe_cluster_broker.rack.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        out.append(0)
    out += _pack_iB(message.cluster_authorized_operations, 0)
    return [out]


def _encode_1(message: DescribeClusterResponse) -> list[Buffer]:
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
    raw = message.cluster_id.encode()
    out += _pack_b(message.endpoint_type)
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    out += _pack_i(message.controller_id)
    size = len(message.brokers) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for describe_cluster_broker in message.brokers:
        raw = describe_cluster_broker.host.encode()
        out += _pack_i(describe_cluster_broker.broker_id)
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out += _pack_i(describe_cluster_broker.port)
        if describe_cluster_broker.rack is None:
            out.append(0)
        else:
            raw = describe_cluster_broker.rack.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        out.append(0)
    out += _pack_iB(message.cluster_authorized_operations, 0)
    return [out]


def _encode_2(message: DescribeClusterResponse) -> list[Buffer]:
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
    raw = message.cluster_id.encode()
    out += _pack_b(message.endpoint_type)
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    out += _pack_i(message.controller_id)
    size = len(message.brokers) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for describe_cluster_broker in message.brokers:
        raw = describe_cluster_broker.host.encode()
        out += _pack_i(describe_cluster_broker.broker_id)
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out += _pack_i(describe_cluster_broker.port)
        if describe_cluster_broker.rack is None:
            out.append(0)
        else:
            raw = describe_cluster_broker.rack.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        out += _pack_tB(describe_cluster_broker.is_fenced, 0)
    out += _pack_iB(message.cluster_authorized_operations, 0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_1, 2: _decode_2}
_ENCODERS = {0: _encode_0, 1: _encode_1, 2: _encode_2}


def decode(version: int, buffer: Buffer, position: int = 0) -> DescribeClusterResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"DescribeClusterResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No DescribeClusterResponse of version {version}: {error}") from error


def encode(version: int, message: DescribeClusterResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
