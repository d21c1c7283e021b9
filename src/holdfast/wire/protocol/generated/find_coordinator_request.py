# Written by tools/generate_codecs.py from FindCoordinatorRequest.json in kafka-clients-4.1.1: do not edit.
from dataclasses import dataclass, field
from struct import Struct

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    MOST_REQUESTED,
    UNDECODABLE,
    Buffer,
    bad_length,
    read_long_string_length,
    read_long_uvarint,
    skip_tags,
    uvarint,
)


@dataclass(slots=True)
class FindCoordinatorRequest:
    key: str = ''
    key_type: int = 0
    coordinator_keys: list[str] = field(default_factory=list)


_unpack_b = Struct(">b").unpack_from
_unpack_bB = Struct(">bB").unpack_from
_unpack_h = Struct(">h").unpack_from
_pack_b = Struct(">b").pack
_pack_bB = Struct(">bB").pack
_pack_h = Struct(">h").pack


def _decode_0(buffer: memoryview, position: int) -> FindCoordinatorRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("key", stop - position)
    key = str(buffer[position:stop], "utf-8")
    position = stop
    return FindCoordinatorRequest(key=key)


def _decode_1(buffer: memoryview, position: int) -> FindCoordinatorRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("key", stop - position)
    key = str(buffer[position:stop], "utf-8")
    position = stop
    (key_type,) = _unpack_b(buffer, position)
    position += 1
    return FindCoordinatorRequest(key=key, key_type=key_type)


def _decode_3(buffer: memoryview, position: int) -> FindCoordinatorRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("key", stop - position)
    key = str(buffer[position:stop], "utf-8")
    position = stop
    key_type, tags = _unpack_bB(buffer, position)
    position += 2
    if tags:
        position = skip_tags(buffer, position, tags)
    return FindCoordinatorRequest(key=key, key_type=key_type)


def _decode_4(buffer: memoryview, position: int) -> FindCoordinatorRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    coordinator_keys: list[str]
    key_type, count = _unpack_bB(buffer, position)
    position += 2
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count <= end - position or room < 0:
        raise bad_length("coordinator_keys", count)
    coordinator_keys = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("item", stop - position)
        item = str(buffer[position:stop], "utf-8")
        position = stop
        coordinator_keys.append(item)
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return FindCoordinatorRequest(key_type=key_type, coordinator_keys=coordinator_keys)


def _encode_0(message: FindCoordinatorRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.key.encode()
    out += _pack_h(len(raw))
    out += raw
    return [out]


def _encode_1(message: FindCoordinatorRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.key.encode()
    out += _pack_h(len(raw))
    out += raw
    out += _pack_b(message.key_type)
    return [out]


def _encode_3(message: FindCoordinatorRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.key.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    out += _pack_bB(message.key_type, 0)
    return [out]


def _encode_4(message: FindCoordinatorRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_b(message.key_type)
    size = len(message.coordinator_keys) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for item in message.coordinator_keys:
        raw = item.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_1, 2: _decode_1, 3: _decode_3, 4: _decode_4, 5: _decode_4, 6: _decode_4}
_ENCODERS = {0: _encode_0, 1: _encode_1, 2: _encode_1, 3: _encode_3, 4: _encode_4, 5: _encode_4, 6: _encode_4}


def decode(version: int, buffer: Buffer, position: int = 0) -> FindCoordinatorRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"FindCoordinatorRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No FindCoordinatorRequest of version {version}: {error}") from error


def encode(version: int, message: FindCoordinatorRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
