# Written by tools/generate_codecs.py from FindCoordinatorResponse.json in kafka-clients-4.1.1: do not edit.
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
class Coordinator:
    key: str = ''
    node_id: int = 0
    host: str = ''
    port: int = 0
    error_code: int = 0
    error_message: str | None = ''


@dataclass(slots=True)
class FindCoordinatorResponse:
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ''
    node_id: int = 0
    host: str = ''
    port: int = 0
    coordinators: list[Coordinator] = field(default_factory=list)


_unpack_hih = Struct(">hih").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_unpack_ihB = Struct(">ihB").unpack_from
_unpack_ihh = Struct(">ihh").unpack_from
_pack_h = Struct(">h").pack
_pack_hih = Struct(">hih").pack
_pack_i = Struct(">i").pack
_pack_iB = Struct(">iB").pack
_pack_ih = Struct(">ih").pack


def _decode_0(buffer: memoryview, position: int) -> FindCoordinatorResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    error_code, node_id, length = _unpack_hih(buffer, position)
    position += 8
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("host", stop - position)
    host = str(buffer[position:stop], "utf-8")
    position = stop
    (port,) = _unpack_i(buffer, position)
    position += 4
    return FindCoordinatorResponse(error_code=error_code, node_id=node_id, host=host, port=port)


def _decode_1(buffer: memoryview, position: int) -> FindCoordinatorResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    error_message: str | None
    throttle_time_ms, error_code, length = _unpack_ihh(buffer, position)
    position += 8
    if length >= 0:
        stop = position + length
        if stop > end:
            raise bad_length("error_message", stop - position)
        error_message = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        error_message = None
    node_id, length = _unpack_ih(buffer, position)
    position += 6
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("host", stop - position)
    host = str(buffer[position:stop], "utf-8")
    position = stop
    (port,) = _unpack_i(buffer, position)
    position += 4
    return FindCoordinatorResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, error_message=error_message, node_id=node_id, host=host, port=port)


def _decode_3(buffer: memoryview, position: int) -> FindCoordinatorResponse:
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
    node_id, length = _unpack_iB(buffer, position)
    position += 5
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("host", stop - position)
    host = str(buffer[position:stop], "utf-8")
    position = stop
    port, tags = _unpack_iB(buffer, position)
    position += 5
    if tags:
        position = skip_tags(buffer, position, tags)
    return FindCoordinatorResponse(throttle_time_ms=throttle_time_ms, error_code=error_code, error_message=error_message, node_id=node_id, host=host, port=port)


def _decode_4(buffer: memoryview, position: int) -> FindCoordinatorResponse:
    end = len(buffer)
    room = MOST_ELEMENTS
    coordinators: list[Coordinator]
    throttle_time_ms, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 14 <= end - position or room < 0:
        raise bad_length("coordinators", count)
    coordinators = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("coordinator_key", stop - position)
        coordinator_key = str(buffer[position:stop], "utf-8")
        position = stop
        coordinator_node_id, length = _unpack_iB(buffer, position)
        position += 5
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("coordinator_host", stop - position)
        coordinator_host = str(buffer[position:stop], "utf-8")
        position = stop
        coordinator_error_message: str | None
        coordinator_port, coordinator_error_code, length = _unpack_ihB(buffer, position)
        position += 7
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("coordinator_error_message", stop - position)
            coordinator_error_message = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            coordinator_error_message = None
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        coordinators.append(Coordinator(key=coordinator_key, node_id=coordinator_node_id, host=coordinator_host, port=coordinator_port, error_code=coordinator_error_code, error_message=coordinator_error_message))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return FindCoordinatorResponse(throttle_time_ms=throttle_time_ms, coordinators=coordinators)


def _encode_0(message: FindCoordinatorResponse) -> list[Buffer]:
    out = bytearray()
    raw = message.host.encode()
    out += _pack_hih(message.error_code, message.node_id, len(raw))
    out += raw
    out += _pack_i(message.port)
    return [out]


def _encode_1(message: FindCoordinatorResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_ih(message.throttle_time_ms, message.error_code)
    if message.error_message is None:
        out += b"\xff\xff"
    else:
        raw = message.error_message.encode()
        out += _pack_h(len(raw))
        out += raw
    raw = message.host.encode()
    out += _pack_ih(message.node_id, len(raw))
    out += raw
    out += _pack_i(message.port)
    return [out]


def _encode_3(message: FindCoordinatorResponse) -> list[Buffer]:
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
    raw = message.host.encode()
    out += _pack_i(message.node_id)
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    out += _pack_iB(message.port, 0)
    return [out]


def _encode_4(message: FindCoordinatorResponse) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.throttle_time_ms)
    size = len(message.coordinators) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for coordinator in message.coordinators:
        raw = coordinator.key.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        raw = coordinator.host.encode()
        out += _pack_i(coordinator.node_id)
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out += _pack_ih(coordinator.port, coordinator.error_code)
        if coordinator.error_message is None:
            out.append(0)
        else:
            raw = coordinator.error_message.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        out.append(0)
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_1, 2: _decode_1, 3: _decode_3, 4: _decode_4, 5: _decode_4, 6: _decode_4}
_ENCODERS = {0: _encode_0, 1: _encode_1, 2: _encode_1, 3: _encode_3, 4: _encode_4, 5: _encode_4, 6: _encode_4}


def decode(version: int, buffer: Buffer, position: int = 0) -> FindCoordinatorResponse:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"FindCoordinatorResponse has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No FindCoordinatorResponse of version {version}: {error}") from error


def encode(version: int, message: FindCoordinatorResponse) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
