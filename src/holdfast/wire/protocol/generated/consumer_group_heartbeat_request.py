# Written by tools/generate_codecs.py from ConsumerGroupHeartbeatRequest.json in kafka-clients-4.1.1: do not edit.
import struct
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
class TopicPartitions:
    topic_id: UUID = ZERO_UUID
    partitions: list[int] = field(default_factory=list)


@dataclass(slots=True)
class ConsumerGroupHeartbeatRequest:
    group_id: str = ''
    member_id: str = ''
    member_epoch: int = 0
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    subscribed_topic_names: list[str] | None = None
    subscribed_topic_regex: str | None = None
    server_assignor: str | None = None
    topic_partitions: list[TopicPartitions] | None = None


_unpack_iB = Struct(">iB").unpack_from
_unpack_uB = Struct(">16sB").unpack_from
_pack_i = Struct(">i").pack
_pack_u = Struct(">16s").pack


def _decode_0(buffer: memoryview, position: int) -> ConsumerGroupHeartbeatRequest:
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
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("member_id", stop - position)
    member_id = str(buffer[position:stop], "utf-8")
    position = stop
    instance_id: str | None
    member_epoch, length = _unpack_iB(buffer, position)
    position += 5
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    if length:
        stop = position + length - 1
        if stop > end:
            raise bad_length("instance_id", stop - position)
        instance_id = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        instance_id = None
    rack_id: str | None
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    if length:
        stop = position + length - 1
        if stop > end:
            raise bad_length("rack_id", stop - position)
        rack_id = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        rack_id = None
    subscribed_topic_names: list[str] | None
    rebalance_timeout_ms, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    if count:
        count -= 1
        room -= count
        if not 0 <= count <= end - position or room < 0:
            raise bad_length("subscribed_topic_names", count)
        subscribed_topic_names = []
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
            subscribed_topic_names.append(item)
    else:
        subscribed_topic_names = None
    server_assignor: str | None
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    if length:
        stop = position + length - 1
        if stop > end:
            raise bad_length("server_assignor", stop - position)
        server_assignor = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        server_assignor = None
    topic_partitions: list[TopicPartitions] | None
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    if count:
        count -= 1
        room -= count
        if not 0 <= count * 18 <= end - position or room < 0:
            raise bad_length("topic_partitions", count)
        topic_partitions = []
        for _ in range(count):
            topic_partitions_partitions: list[int]
            topic_partitions_topic_id, count = _unpack_uB(buffer, position)
            position += 17
            topic_partitions_topic_id = uuid_of(topic_partitions_topic_id)
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("topic_partitions_partitions", count)
            topic_partitions_partitions = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            topic_partitions.append(TopicPartitions(topic_id=topic_partitions_topic_id, partitions=topic_partitions_partitions))
    else:
        topic_partitions = None
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return ConsumerGroupHeartbeatRequest(group_id=group_id, member_id=member_id, member_epoch=member_epoch, instance_id=instance_id, rack_id=rack_id, rebalance_timeout_ms=rebalance_timeout_ms, subscribed_topic_names=subscribed_topic_names, server_assignor=server_assignor, topic_partitions=topic_partitions)


def _decode_1(buffer: memoryview, position: int) -> ConsumerGroupHeartbeatRequest:
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
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("member_id", stop - position)
    member_id = str(buffer[position:stop], "utf-8")
    position = stop
    instance_id: str | None
    member_epoch, length = _unpack_iB(buffer, position)
    position += 5
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    if length:
        stop = position + length - 1
        if stop > end:
            raise bad_length("instance_id", stop - position)
        instance_id = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        instance_id = None
    rack_id: str | None
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    if length:
        stop = position + length - 1
        if stop > end:
            raise bad_length("rack_id", stop - position)
        rack_id = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        rack_id = None
    subscribed_topic_names: list[str] | None
    rebalance_timeout_ms, count = _unpack_iB(buffer, position)
    position += 5
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    if count:
        count -= 1
        room -= count
        if not 0 <= count <= end - position or room < 0:
            raise bad_length("subscribed_topic_names", count)
        subscribed_topic_names = []
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
            subscribed_topic_names.append(item)
    else:
        subscribed_topic_names = None
    subscribed_topic_regex: str | None
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    if length:
        stop = position + length - 1
        if stop > end:
            raise bad_length("subscribed_topic_regex", stop - position)
        subscribed_topic_regex = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        subscribed_topic_regex = None
    server_assignor: str | None
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    if length:
        stop = position + length - 1
        if stop > end:
            raise bad_length("server_assignor", stop - position)
        server_assignor = str(buffer[position:stop], "utf-8")
        position = stop
    else:
        server_assignor = None
    topic_partitions: list[TopicPartitions] | None
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
    if count:
        count -= 1
        room -= count
        if not 0 <= count * 18 <= end - position or room < 0:
            raise bad_length("topic_partitions", count)
        topic_partitions = []
        for _ in range(count):
            topic_partitions_partitions: list[int]
            topic_partitions_topic_id, count = _unpack_uB(buffer, position)
            position += 17
            topic_partitions_topic_id = uuid_of(topic_partitions_topic_id)
            if count > 127:
                count, position = read_long_uvarint(buffer, position, count)
            count -= 1
            room -= count
            if not 0 <= count * 4 <= end - position or room < 0:
                raise bad_length("topic_partitions_partitions", count)
            topic_partitions_partitions = list(struct.unpack_from(f">{count}i", buffer, position))
            position += count * 4
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, tags)
            topic_partitions.append(TopicPartitions(topic_id=topic_partitions_topic_id, partitions=topic_partitions_partitions))
    else:
        topic_partitions = None
    tags = buffer[position]
    position += 1
    if tags:
        position = skip_tags(buffer, position, tags)
    return ConsumerGroupHeartbeatRequest(group_id=group_id, member_id=member_id, member_epoch=member_epoch, instance_id=instance_id, rack_id=rack_id, rebalance_timeout_ms=rebalance_timeout_ms, subscribed_topic_names=subscribed_topic_names, subscribed_topic_regex=subscribed_topic_regex, server_assignor=server_assignor, topic_partitions=topic_partitions)


def _encode_0(message: ConsumerGroupHeartbeatRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.group_id.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    raw = message.member_id.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    out += _pack_i(message.member_epoch)
    if message.instance_id is None:
        out.append(0)
    else:
        raw = message.instance_id.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    if message.rack_id is None:
        out.append(0)
    else:
        raw = message.rack_id.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    out += _pack_i(message.rebalance_timeout_ms)
    if message.subscribed_topic_names is None:
        out.append(0)
    else:
        size = len(message.subscribed_topic_names) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for item in message.subscribed_topic_names:
            raw = item.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
    if message.server_assignor is None:
        out.append(0)
    else:
        raw = message.server_assignor.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    if message.topic_partitions is None:
        out.append(0)
    else:
        size = len(message.topic_partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for topic_partitions in message.topic_partitions:
            out += _pack_u(topic_partitions.topic_id.bytes)
            size = len(topic_partitions.partitions) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += struct.pack(f">{len(topic_partitions.partitions)}i", *topic_partitions.partitions)
            out.append(0)
    out.append(0)
    return [out]


def _encode_1(message: ConsumerGroupHeartbeatRequest) -> list[Buffer]:
    out = bytearray()
    raw = message.group_id.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    raw = message.member_id.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    out += _pack_i(message.member_epoch)
    if message.instance_id is None:
        out.append(0)
    else:
        raw = message.instance_id.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    if message.rack_id is None:
        out.append(0)
    else:
        raw = message.rack_id.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    out += _pack_i(message.rebalance_timeout_ms)
    if message.subscribed_topic_names is None:
        out.append(0)
    else:
        size = len(message.subscribed_topic_names) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for item in message.subscribed_topic_names:
            raw = item.encode()
            size = len(raw) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += raw
    if message.subscribed_topic_regex is None:
        out.append(0)
    else:
        raw = message.subscribed_topic_regex.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    if message.server_assignor is None:
        out.append(0)
    else:
        raw = message.server_assignor.encode()
        size = len(raw) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        out += raw
    if message.topic_partitions is None:
        out.append(0)
    else:
        size = len(message.topic_partitions) + 1
        if size < 128:
            out.append(size)
        else:
            out += uvarint(size)
        for topic_partitions in message.topic_partitions:
            out += _pack_u(topic_partitions.topic_id.bytes)
            size = len(topic_partitions.partitions) + 1
            if size < 128:
                out.append(size)
            else:
                out += uvarint(size)
            out += struct.pack(f">{len(topic_partitions.partitions)}i", *topic_partitions.partitions)
            out.append(0)
    out.append(0)
    return [out]


_DECODERS = {0: _decode_0, 1: _decode_1}
_ENCODERS = {0: _encode_0, 1: _encode_1}


def decode(version: int, buffer: Buffer, position: int = 0) -> ConsumerGroupHeartbeatRequest:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"ConsumerGroupHeartbeatRequest has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No ConsumerGroupHeartbeatRequest of version {version}: {error}") from error


def encode(version: int, message: ConsumerGroupHeartbeatRequest) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)
