# Written by tools/generate_codecs.py from OffsetCommitValue.json in kafka-group-coordinator-4.1.1: do not edit.
from dataclasses import dataclass
from struct import Struct
from uuid import UUID

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    MOST_TAGS,
    UNDECODABLE,
    ZERO_UUID,
    Buffer,
    bad_length,
    read_long_string_length,
    read_uvarint,
    uuid_of,
    uvarint,
)


@dataclass(slots=True)
class OffsetCommitValue:
    offset: int = 0
    leader_epoch: int = -1
    metadata: str = ''
    commit_timestamp: int = 0
    expire_timestamp: int = -1
    topic_id: UUID = ZERO_UUID


_unpack_q = Struct(">q").unpack_from
_unpack_qB = Struct(">qB").unpack_from
_unpack_qh = Struct(">qh").unpack_from
_unpack_qiB = Struct(">qiB").unpack_from
_unpack_qih = Struct(">qih").unpack_from
_unpack_qq = Struct(">qq").unpack_from
_unpack_u = Struct(">16s").unpack_from
_pack_q = Struct(">q").pack
_pack_qh = Struct(">qh").pack
_pack_qi = Struct(">qi").pack
_pack_qih = Struct(">qih").pack
_pack_qq = Struct(">qq").pack
_pack_u = Struct(">16s").pack


def _decode_0(buffer: memoryview, position: int) -> OffsetCommitValue:
    end = len(buffer)
    offset, length = _unpack_qh(buffer, position)
    position += 10
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("metadata", stop - position)
    metadata = str(buffer[position:stop], "utf-8")
    position = stop
    (commit_timestamp,) = _unpack_q(buffer, position)
    position += 8
    return OffsetCommitValue(offset=offset, metadata=metadata, commit_timestamp=commit_timestamp)


def _decode_1(buffer: memoryview, position: int) -> OffsetCommitValue:
    end = len(buffer)
    offset, length = _unpack_qh(buffer, position)
    position += 10
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("metadata", stop - position)
    metadata = str(buffer[position:stop], "utf-8")
    position = stop
    commit_timestamp, expire_timestamp = _unpack_qq(buffer, position)
    position += 16
    return OffsetCommitValue(offset=offset, metadata=metadata, commit_timestamp=commit_timestamp, expire_timestamp=expire_timestamp)


def _decode_3(buffer: memoryview, position: int) -> OffsetCommitValue:
    end = len(buffer)
    offset, leader_epoch, length = _unpack_qih(buffer, position)
    position += 14
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("metadata", stop - position)
    metadata = str(buffer[position:stop], "utf-8")
    position = stop
    (commit_timestamp,) = _unpack_q(buffer, position)
    position += 8
    return OffsetCommitValue(offset=offset, leader_epoch=leader_epoch, metadata=metadata, commit_timestamp=commit_timestamp)


def _decode_4(buffer: memoryview, position: int) -> OffsetCommitValue:
    end = len(buffer)
    offset, leader_epoch, length = _unpack_qiB(buffer, position)
    position += 13
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("metadata", stop - position)
    metadata = str(buffer[position:stop], "utf-8")
    position = stop
    topic_id: UUID = ZERO_UUID
    commit_timestamp, tags = _unpack_qB(buffer, position)
    position += 9
    if tags:
        if tags > MOST_TAGS:
            raise bad_length("The tagged fields of OffsetCommitValue", tags)
        for _ in range(tags):
            tag, position = read_uvarint(buffer, position)
            size, position = read_uvarint(buffer, position)
            after_tag_of_offset_commit_value = position + size
            if after_tag_of_offset_commit_value > end:
                raise bad_length("A tagged field of OffsetCommitValue", size)
            if tag == 0:
                (topic_id,) = _unpack_u(buffer, position)
                position += 16
                topic_id = uuid_of(topic_id)
            else:
                position = after_tag_of_offset_commit_value
            if position != after_tag_of_offset_commit_value:
                raise bad_length("A tagged field of OffsetCommitValue", size)
    return OffsetCommitValue(offset=offset, leader_epoch=leader_epoch, metadata=metadata, commit_timestamp=commit_timestamp, topic_id=topic_id)


def _encode_0(message: OffsetCommitValue) -> list[Buffer]:
    out = bytearray()
    raw = message.metadata.encode()
    out += _pack_qh(message.offset, len(raw))
    out += raw
    out += _pack_q(message.commit_timestamp)
    return [out]


def _encode_1(message: OffsetCommitValue) -> list[Buffer]:
    out = bytearray()
    raw = message.metadata.encode()
    out += _pack_qh(message.offset, len(raw))
    out += raw
    out += _pack_qq(message.commit_timestamp, message.expire_timestamp)
    return [out]


def _encode_3(message: OffsetCommitValue) -> list[Buffer]:
    out = bytearray()
    raw = message.metadata.encode()
    out += _pack_qih(message.offset, message.leader_epoch, len(raw))
    out += raw
    out += _pack_q(message.commit_timestamp)
    return [out]


def _encode_4(message: OffsetCommitValue) -> list[Buffer]:
    out = bytearray()
    raw = message.metadata.encode()
    out += _pack_qi(message.offset, message.leader_epoch)
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    out += _pack_q(message.commit_timestamp)
    tags = (message.topic_id != ZERO_UUID)
    out.append(tags)
    if tags:
        if message.topic_id != ZERO_UUID:
            around_offset_commit_value, out = out, bytearray()
            out += _pack_u(message.topic_id.bytes)
            around_offset_commit_value.append(0)
            around_offset_commit_value += uvarint(len(out))
            around_offset_commit_value += out
            out = around_offset_commit_value
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_1, 2: _decode_0, 3: _decode_3, 4: _decode_4}
_ENCODERS = {0: _encode_0, 1: _encode_1, 2: _encode_0, 3: _encode_3, 4: _encode_4}


def decode(version: int, buffer: Buffer, position: int = 0) -> OffsetCommitValue:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"OffsetCommitValue has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No OffsetCommitValue of version {version}: {error}") from error


def encode(version: int, message: OffsetCommitValue) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)


def pack(version: int, message: OffsetCommitValue) -> bytes:
    """The value as it is in a record: its version in two bytes, then the message."""
    return version.to_bytes(2, "big") + b"".join(encode(version, message))


def unpack(buffer: Buffer) -> tuple[int, OffsetCommitValue]:
    """The version and the message of a value that `pack` made, or Kafka."""
    version = int.from_bytes(buffer[:2], "big")
    return version, decode(version, buffer, 2)
