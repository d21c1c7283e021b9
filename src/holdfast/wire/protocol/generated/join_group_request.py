# Written by tools/generate_codecs.py from JoinGroupRequest.json in kafka-clients-4.1.1: do not edit.
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
class JoinGroupRequestProtocol:
    name: str = ''
    metadata: bytes = b''


@dataclass(slots=True)
class JoinGroupRequest:
    group_id: str = ''
    session_timeout_ms: int = 0
    rebalance_timeout_ms: int = -1
    member_id: str = ''
    group_instance_id: str | None = None
    protocol_type: str = ''
    protocols: list[JoinGroupRequestProtocol] = field(default_factory=list)
    reason: str | None = None


_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_unpack_iiB = Struct(">iiB").unpack_from
_unpack_iih = Struct(">iih").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack
_pack_ii = Struct(">ii").pack
_pack_iih = Struct(">iih").pack


def _decode_0(buffer: memoryview, position: int) -> JoinGroupRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("group_id", stop - position)
    group_id = str(buffer[position:stop], "utf-8")
    position = stop
    session_timeout_ms, length = _unpack_ih(buffer, position)
    position += 6
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("member_id", stop - position)
    member_id = str(buffer[position:stop], "utf-8")
    position = stop
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("protocol_type", stop - position)
    protocol_type = str(buffer[position:stop], "utf-8")
    position = stop
    protocols: list[JoinGroupRequestProtocol]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("protocols", count)
    protocols = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("join_group_request_protocol_name", stop - position)
        join_group_request_protocol_name = str(buffer[position:stop], "utf-8")
        position = stop
        (length,) = _unpack_i(buffer, position)
        position += 4
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("join_group_request_protocol_metadata", stop - position)
        join_group_request_protocol_metadata = bytes(buffer[position:stop])
        position = stop
        protocols.append(JoinGroupRequestProtocol(name=join_group_request_protocol_name, metadata=join_group_request_protocol_metadata))
    return JoinGroupRequest(group_id=group_id, session_timeout_ms=session_timeout_ms, member_id=member_id, protocol_type=protocol_type, protocols=protocols)


def _decode_1(buffer: memoryview, position: int) -> JoinGroupRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("group_id", stop - position)
    group_id = str(buffer[position:stop], "utf-8")
    position = stop
    session_timeout_ms, rebalance_timeout_ms, length = _unpack_iih(buffer, position)
    position += 10
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("member_id", stop - position)
    member_id = str(buffer[position:stop], "utf-8")
    position = stop
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("protocol_type", stop - position)
    protocol_type = str(buffer[position:stop], "utf-8")
    position = stop
    protocols: list[JoinGroupRequestProtocol]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("protocols", count)
    protocols = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("join_group_request_protocol_name", stop - position)
        join_group_request_protocol_name = str(buffer[position:stop], "utf-8")
        position = stop
        (length,) = _unpack_i(buffer, position)
        position += 4
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("join_group_request_protocol_metadata", stop - position)
        join_group_request_protocol_metadata = bytes(buffer[position:stop])
        position = stop
        protocols.append(JoinGroupRequestProtocol(name=join_group_request_protocol_name, metadata=join_group_request_protocol_metadata))
    return JoinGroupRequest(group_id=group_id, session_timeout_ms=session_timeout_ms, rebalance_timeout_ms=rebalance_timeout_ms, member_id=member_id, protocol_type=protocol_type, protocols=protocols)


def _decode_5(buffer: memoryview, position: int) -> JoinGroupRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("group_id", stop - position)
    group_id = str(buffer[position:stop], "utf-8")
    position = stop
    session_timeout_ms, rebalance_timeout_ms, length = _unpack_iih(buffer, position)
    position += 10
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
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("protocol_type", stop - position)
    protocol_type = str(buffer[position:stop], "utf-8")
    position = stop
    protocols: list[JoinGroupRequestProtocol]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 6 <= end - position or room < 0:
        raise bad_length("protocols", count)
    protocols = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("join_group_request_protocol_name", stop - position)
        join_group_request_protocol_name = str(buffer[position:stop], "utf-8")
        position = stop
        (length,) = _unpack_i(buffer, position)
        position += 4
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("join_group_request_protocol_metadata", stop - position)
        join_group_request_protocol_metadata = bytes(buffer[position:stop])
        position = stop
        protocols.append(JoinGroupRequestProtocol(name=join_group_request_protocol_name, metadata=join_group_request_protocol_metadata))
    return JoinGroupRequest(group_id=group_id, session_timeout_ms=session_timeout_ms, rebalance_timeout_ms=rebalance_timeout_ms, member_id=member_id, group_instance_id=group_instance_id, protocol_type=protocol_type, protocols=protocols)


def _decode_6(buffer: memoryview, position: int) -> JoinGroupRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("group_id", stop - position)
    group_id = str(buffer[position:stop], "utf-8")
    position = stop
    session_timeout_ms, rebalance_timeout_ms, length = _unpack_iiB(buffer, position)
    position += 9
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
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("protocol_type", stop - position)
    protocol_type = str(buffer[position:stop], "utf-8")
    position = stop
    protocols: list[JoinGroupRequestProtocol]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 3 <= end - position or room < 0:
        raise bad_length("protocols", count)
    protocols = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("join_group_request_protocol_name", stop - position)
        join_group_request_protocol_name = str(buffer[position:stop], "utf-8")
        position = stop
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_uvarint(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("join_group_request_protocol_metadata", stop - position)
        join_group_request_protocol_metadata = bytes(buffer[position:stop])
        position = stop
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        protocols.append(JoinGroupRequestProtocol(name=join_group_request_protocol_name, metadata=join_group_request_protocol_metadata))
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return JoinGroupRequest(group_id=group_id, session_timeout_ms=session_timeout_ms, rebalance_timeout_ms=rebalance_timeout_ms, member_id=member_id, group_instance_id=group_instance_id, protocol_type=protocol_type, protocols=protocols)


def _decode_8(buffer: memoryview, position: int) -> JoinGroupRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("group_id", stop - position)
    group_id = str(buffer[position:stop], "utf-8")
    position = stop
    session_timeout_ms, rebalance_timeout_ms, length = _unpack_iiB(buffer, position)
    position += 9
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
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("protocol_type", stop - position)
    protocol_type = str(buffer[position:stop], "utf-8")
    position = stop
    protocols: list[JoinGroupRequestProtocol]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 3 <= end - position or room < 0:
        raise bad_length("protocols", count)
    protocols = []
    for _ in range(count):
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("join_group_request_protocol_name", stop - position)
        join_group_request_protocol_name = str(buffer[position:stop], "utf-8")
        position = stop
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_uvarint(buffer, position, length)
        stop = position + length - 1
        if not position <= stop <= end:
            raise bad_length("join_group_request_protocol_metadata", stop - position)
        join_group_request_protocol_metadata = bytes(buffer[position:stop])
        position = stop
        tags = buffer[position]
        position += 1
        if tags:
            position = skip_tags(buffer, position, tags)
        protocols.append(JoinGroupRequestProtocol(name=join_group_request_protocol_name, metadata=join_group_request_protocol_metadata))
    reason: str | None
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    if length:
        stop = position + length - 1
        if stop > end:
            raise bad_length("reason", stop - position)
        reason = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        reason = None
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return JoinGroupRequest(group_id=group_id, session_timeout_ms=session_timeout_ms, rebalance_timeout_ms=rebalance_timeout_ms, member_id=member_id, group_instance_id=group_instance_id, protocol_type=protocol_type, protocols=protocols, reason=reason)


def _encode_0(message: JoinGroupRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.group_id.encode()
    out += _pack_h(len(raw))
    out += raw
    raw = message.member_id.encode()
    out += _pack_ih(message.session_timeout_ms, len(raw))
    out += raw
    raw = message.protocol_type.encode()
    out += _pack_h(len(raw))
    out += raw
    out += _pack_i(len(message.protocols))
    for join_group_request_protocol in message.protocols:
        raw = join_group_request_protocol.name.encode()
        out += _pack_h(len(raw))
        out += raw
        raw = join_group_request_protocol.metadata
        out += _pack_i(len(raw))
        out += raw
    return [out]


def _encode_1(message: JoinGroupRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.group_id.encode()
    out += _pack_h(len(raw))
    out += raw
    raw = message.member_id.encode()
    out += _pack_iih(message.session_timeout_ms, message.rebalance_timeout_ms, len(raw))
    out += raw
    raw = message.protocol_type.encode()
    out += _pack_h(len(raw))
    out += raw
    out += _pack_i(len(message.protocols))
    for join_group_request_protocol in message.protocols:
        raw = join_group_request_protocol.name.encode()
        out += _pack_h(len(raw))
        out += raw
        raw = join_group_request_protocol.metadata
        out += _pack_i(len(raw))
        out += raw
    return [out]


def _encode_5(message: JoinGroupRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.group_id.encode()
    out += _pack_h(len(raw))
    out += raw
    raw = message.member_id.encode()
    out += _pack_iih(message.session_timeout_ms, message.rebalance_timeout_ms, len(raw))
    out += raw
    if message.group_instance_id is None:
        out += b"\xff\xff"
    else:
        raw = message.group_instance_id.encode()
        out += _pack_h(len(raw))
        out += raw
    raw = message.protocol_type.encode()
    out += _pack_h(len(raw))
    out += raw
    out += _pack_i(len(message.protocols))
    for join_group_request_protocol in message.protocols:
        raw = join_group_request_protocol.name.encode()
        out += _pack_h(len(raw))
        out += raw
        raw = join_group_request_protocol.metadata
        out += _pack_i(len(raw))
        out += raw
    return [out]


def _encode_6(message: JoinGroupRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.group_id.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    raw = message.member_id.encode()
    out += _pack_ii(message.session_timeout_ms, message.rebalance_timeout_ms)
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
    raw = message.protocol_type.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    size = len(message.protocols) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for join_group_request_protocol in message.protocols:
        raw = join_group_request_protocol.name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        raw = join_group_request_protocol.metadata
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out.append(0)
    out.append(0)
    return [out]


def _encode_8(message: JoinGroupRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.group_id.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    raw = message.member_id.encode()
    out += _pack_ii(message.session_timeout_ms, message.rebalance_timeout_ms)
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
    raw = message.protocol_type.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    size = len(message.protocols) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for join_group_request_protocol in message.protocols:
        raw = join_group_request_protocol.name.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        raw = join_group_request_protocol.metadata
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
        out.append(0)
    if message.reason is None:
        out.append(0)
    else:
        raw = message.reason.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_1, 2: _decode_1, 3: _decode_1, 4: _decode_1, 5: _decode_5, 6: _decode_6, 7: _decode_6, 8: _decode_8, 9: _decode_8}
_ENCODERS = {0: _encode_0, 1: _encode_1, 2: _encode_1, 3: _encode_1, 4: _encode_1, 5: _encode_5, 6: _encode_6, 7: _encode_6, 8: _encode_8, 9: _encode_8}


def decode(version: int, buffer: Buffer, position: int = 0) -> JoinGroupRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"JoinGroupRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No JoinGroupRequest of version {version}: {error}") from error


def encode(version: int, message: JoinGroupRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
