# Written by tools/generate_codecs.py from HeartbeatRequest.json in kafka-clients-4.1.1: do not edit.
from dataclasses import dataclass
from struct import Struct

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    UNDECODABLE,
    Buffer,
    bad_length,
    read_long_string_length,
    skip_tags,
    uvarint,
)


@dataclass(slots=True)
class HeartbeatRequest:
    group_id: str = ''
    generation_id: int = 0
    member_id: str = ''
    group_instance_id: str | None = None


_unpack_h = Struct(">h").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack


def _decode_0(buffer: memoryview, position: int) -> HeartbeatRequest:
    end = len(buffer)
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("group_id", stop - position)
    group_id = str(buffer[position:stop], "utf-8")
    position = stop
    generation_id, length = _unpack_ih(buffer, position)
    position += 6
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("member_id", stop - position)
    member_id = str(buffer[position:stop], "utf-8")
    position = stop
    return HeartbeatRequest(group_id=group_id, generation_id=generation_id, member_id=member_id)


def _decode_3(buffer: memoryview, position: int) -> HeartbeatRequest:
    end = len(buffer)
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("group_id", stop - position)
    group_id = str(buffer[position:stop], "utf-8")
    position = stop
    generation_id, length = _unpack_ih(buffer, position)
    position += 6
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("member_id", stop - position)
    member_id = str(buffer[position:stop], "utf-8")
    position = stop
    group_instance_id: str | None
    (length,) = _unpack_h(buffer, position)
    position += 2
    if length >= 0:
        stop = position + length
        if stop > end:
            raise bad_length("group_instance_id", stop - position)
        group_instance_id = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        group_instance_id = None
    return HeartbeatRequest(group_id=group_id, generation_id=generation_id, member_id=member_id, group_instance_id=group_instance_id)


def _decode_4(buffer: memoryview, position: int) -> HeartbeatRequest:
    end = len(buffer)
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("group_id", stop - position)
    group_id = str(buffer[position:stop], "utf-8")
    position = stop
    generation_id, length = _unpack_iB(buffer, position)
    position += 5
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("member_id", stop - position)
    member_id = str(buffer[position:stop], "utf-8")
    position = stop
    group_instance_id: str | None
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    if length:
        stop = position + length - 1
        if stop > end:
            raise bad_length("group_instance_id", stop - position)
        group_instance_id = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        group_instance_id = None
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return HeartbeatRequest(group_id=group_id, generation_id=generation_id, member_id=member_id, group_instance_id=group_instance_id)


def _encode_0(message: HeartbeatRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.group_id.encode()
    out += _pack_h(len(raw))
    out += raw
    raw = message.member_id.encode()
    out += _pack_ih(message.generation_id, len(raw))
    out += raw
    return [out]


def _encode_3(message: HeartbeatRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.group_id.encode()
    out += _pack_h(len(raw))
    out += raw
    raw = message.member_id.encode()
    out += _pack_ih(message.generation_id, len(raw))
    out += raw
    if message.group_instance_id is None:
        out += b"\xff\xff"
    else:
        raw = message.group_instance_id.encode()
        out += _pack_h(len(raw))
        out += raw
    return [out]


def _encode_4(message: HeartbeatRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.group_id.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    raw = message.member_id.encode()
    out += _pack_i(message.generation_id)
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    if message.group_instance_id is None:
        out.append(0)
    else:
        raw = message.group_instance_id.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_0, 2: _decode_0, 3: _decode_3, 4: _decode_4}
_ENCODERS = {0: _encode_0, 1: _encode_0, 2: _encode_0, 3: _encode_3, 4: _encode_4}


def decode(version: int, buffer: Buffer, position: int = 0) -> HeartbeatRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"HeartbeatRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No HeartbeatRequest of version {version}: {error}") from error


def encode(version: int, message: HeartbeatRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
