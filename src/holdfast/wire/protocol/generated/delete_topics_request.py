# Written by tools/generate_codecs.py from DeleteTopicsRequest.json in kafka-clients-4.1.1: do not edit.
from dataclasses import dataclass, field
from struct import Struct
from uuid import UUID

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    MOST_REQUESTED,
    UNDECODABLE,
    ZERO_UUID,
    Buffer,
    bad_length,
    read_long_string_length,
    read_long_uvarint,
    skip_tags,
    uuid_of,
    uvarint,
)


@dataclass(slots=True)
class DeleteTopicState:
    name: str | None = None
    topic_id: UUID = ZERO_UUID


@dataclass(slots=True)
class DeleteTopicsRequest:
    topics: list[DeleteTopicState] = field(default_factory=list)
    topic_names: list[str] = field(default_factory=list)
    timeout_ms: int = 0


_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_unpack_uB = Struct(">16sB").unpack_from
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_iB = Struct(">iB").pack
_pack_uB = Struct(">16sB").pack


def _decode_1(buffer: memoryview, position: int) -> DeleteTopicsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topic_names: list[str]
    (count,) = _unpack_i(buffer, position)
    position += 4
    room -= count
    if not 0 <= count * 2 <= end - position or room < 0:
        raise bad_length("topic_names", count)
    topic_names = []
    for _ in range(count):
        (length,) = _unpack_h(buffer, position)
        position += 2
        stop = position + length
        if not position <= stop <= end:
            raise bad_length("item", stop - position)
        item = str(buffer[position:stop], "utf-8")
        position = stop
        topic_names.append(item)
    (timeout_ms,) = _unpack_i(buffer, position)
    position += 4
    return DeleteTopicsRequest(topic_names=topic_names, timeout_ms=timeout_ms)


def _decode_4(buffer: memoryview, position: int) -> DeleteTopicsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topic_names: list[str]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count <= end - position or room < 0:
        raise bad_length("topic_names", count)
    topic_names = []
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
        topic_names.append(item)
    timeout_ms, tags = _unpack_iB(buffer, position)
    position += 5
    if tags:
        position = skip_tags(buffer, position, tags)
    return DeleteTopicsRequest(topic_names=topic_names, timeout_ms=timeout_ms)


def _decode_6(buffer: memoryview, position: int) -> DeleteTopicsRequest:
    end = len(buffer)
    room = MOST_REQUESTED
    topics: list[DeleteTopicState]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    count -= 1
    room -= count
    if not 0 <= count * 18 <= end - position or room < 0:
        raise bad_length("topics", count)
    topics = []
    for _ in range(count):
        delete_topic_state_name: str | None
        length = buffer[position]
        position += 1
        if length > 127:
            length, position = read_long_string_length(buffer, position, length)
        if length:
            stop = position + length - 1
            if stop > end:
                raise bad_length("delete_topic_state_name", stop - position)
            delete_topic_state_name = str(buffer[position:stop], "utf-8")
            position = stop
        else:
            delete_topic_state_name = None
        delete_topic_state_topic_id, tags = _unpack_uB(buffer, position)
        position += 17
        delete_topic_state_topic_id = uuid_of(delete_topic_state_topic_id)
        if tags:
            position = skip_tags(buffer, position, tags)
        topics.append(DeleteTopicState(name=delete_topic_state_name, topic_id=delete_topic_state_topic_id))
    timeout_ms, tags = _unpack_iB(buffer, position)
    position += 5
    if tags:
        position = skip_tags(buffer, position, tags)
    return DeleteTopicsRequest(topics=topics, timeout_ms=timeout_ms)


def _encode_1(message: DeleteTopicsRequest) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(len(message.topic_names))
    for item in message.topic_names:
        raw = item.encode()
        out += _pack_h(len(raw))
        out += raw
    out += _pack_i(message.timeout_ms)
    return [out]


def _encode_4(message: DeleteTopicsRequest) -> list[Buffer]:
    out = bytearray()
    size = len(message.topic_names) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for item in message.topic_names:
        raw = item.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    out += _pack_iB(message.timeout_ms, 0)
    return [out]


def _encode_6(message: DeleteTopicsRequest) -> list[Buffer]:
    out = bytearray()
    size = len(message.topics) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    for delete_topic_state in message.topics:
        if delete_topic_state.name is None:
            out.append(0)
        else:
            raw = delete_topic_state.name.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
        out += _pack_uB(delete_topic_state.topic_id.bytes, 0)
    out += _pack_iB(message.timeout_ms, 0)
    return [out]


_DECODERS = {1: _decode_1, 2: _decode_1, 3: _decode_1, 4: _decode_4, 5: _decode_4, 6: _decode_6}
_ENCODERS = {1: _encode_1, 2: _encode_1, 3: _encode_1, 4: _encode_4, 5: _encode_4, 6: _encode_6}


def decode(version: int, buffer: Buffer, position: int = 0) -> DeleteTopicsRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"DeleteTopicsRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No DeleteTopicsRequest of version {version}: {error}") from error


def encode(version: int, message: DeleteTopicsRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
