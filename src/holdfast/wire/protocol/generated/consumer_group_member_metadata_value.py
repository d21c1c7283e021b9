# Written by tools/generate_codecs.py from ConsumerGroupMemberMetadataValue.json in kafka-group-coordinator-4.1.1: do not edit.
from dataclasses import dataclass, field
from struct import Struct

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    MOST_ELEMENTS,
    MOST_TAGS,
    UNDECODABLE,
    Buffer,
    bad_length,
    read_long_string_length,
    read_long_uvarint,
    read_uvarint,
    skip_tags,
    uvarint,
)


@dataclass(slots=True)
class ClassicProtocol:
    name: str = ''
    metadata: bytes = b''


@dataclass(slots=True)
class ClassicMemberMetadata:
    session_timeout_ms: int = 0
    supported_protocols: list[ClassicProtocol] = field(default_factory=list)


@dataclass(slots=True)
class ConsumerGroupMemberMetadataValue:
    instance_id: str | None = ''
    rack_id: str | None = ''
    client_id: str = ''
    client_host: str = ''
    subscribed_topic_names: list[str] = field(default_factory=list)
    subscribed_topic_regex: str | None = ''
    rebalance_timeout_ms: int = -1
    server_assignor: str | None = ''
    classic_member_metadata: ClassicMemberMetadata | None = None


_unpack_b = Struct(">b").unpack_from
_unpack_iB = Struct(">iB").unpack_from
_pack_bi = Struct(">bi").pack
_pack_i = Struct(">i").pack


def _decode_0(buffer: memoryview, position: int) -> ConsumerGroupMemberMetadataValue:
    end = len(buffer)
    room = MOST_ELEMENTS
    instance_id: str | None
    length = buffer[position]
    position += 1
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
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("client_id", stop - position)
    client_id = str(buffer[position:stop], "utf-8")
    position = stop
    length = buffer[position]
    position += 1
    if length > 127:
        length, position = read_long_string_length(buffer, position, length)
    stop = position + length - 1
    if not position <= stop <= end:
        raise bad_length("client_host", stop - position)
    client_host = str(buffer[position:stop], "utf-8")
    position = stop
    subscribed_topic_names: list[str]
    count = buffer[position]
    position += 1
    if count > 127:
        count, position = read_long_uvarint(buffer, position, count)
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
    rebalance_timeout_ms, length = _unpack_iB(buffer, position)
    position += 5
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
    classic_member_metadata: ClassicMemberMetadata | None = None
    tags = buffer[position]
    position += 1
    if tags:
        if tags > MOST_TAGS:
            raise bad_length("The tagged fields of ConsumerGroupMemberMetadataValue", tags)
        for _ in range(tags):
            tag, position = read_uvarint(buffer, position)
            size, position = read_uvarint(buffer, position)
            after_tag_of_consumer_group_member_metadata_value = position + size
            if after_tag_of_consumer_group_member_metadata_value > end:
                raise bad_length("A tagged field of ConsumerGroupMemberMetadataValue", size)
            if tag == 0:
                (present,) = _unpack_b(buffer, position)
                position += 1
                if present < 0:
                    classic_member_metadata = None
                else:
                    classic_member_metadata_supported_protocols: list[ClassicProtocol]
                    classic_member_metadata_session_timeout_ms, count = _unpack_iB(buffer, position)
                    position += 5
                    if count > 127:
                        count, position = read_long_uvarint(buffer, position, count)
                    count -= 1
                    room -= count
                    if not 0 <= count * 3 <= end - position or room < 0:
                        raise bad_length("classic_member_metadata_supported_protocols", count)
                    classic_member_metadata_supported_protocols = []
                    for _ in range(count):
                        length = buffer[position]
                        position += 1
                        if length > 127:
                            length, position = read_long_string_length(buffer, position, length)
                        stop = position + length - 1
                        if not position <= stop <= end:
                            raise bad_length("classic_protocol_name", stop - position)
                        classic_protocol_name = str(buffer[position:stop], "utf-8")
                        position = stop
                        length = buffer[position]
                        position += 1
                        if length > 127:
                            length, position = read_long_uvarint(buffer, position, length)
                        stop = position + length - 1
                        if not position <= stop <= end:
                            raise bad_length("classic_protocol_metadata", stop - position)
                        classic_protocol_metadata = bytes(buffer[position:stop])
                        position = stop
                        tags = buffer[position]
                        position += 1
                        if tags:
                            position = skip_tags(buffer, position, tags)
                        classic_member_metadata_supported_protocols.append(ClassicProtocol(name=classic_protocol_name, metadata=classic_protocol_metadata))
                    tags = buffer[position]
                    position += 1
                    if tags:
                        position = skip_tags(buffer, position, tags)
                    classic_member_metadata = ClassicMemberMetadata(session_timeout_ms=classic_member_metadata_session_timeout_ms, supported_protocols=classic_member_metadata_supported_protocols)
            else:
                position = after_tag_of_consumer_group_member_metadata_value
            if position != after_tag_of_consumer_group_member_metadata_value:
                raise bad_length("A tagged field of ConsumerGroupMemberMetadataValue", size)
    return ConsumerGroupMemberMetadataValue(instance_id=instance_id, rack_id=rack_id, client_id=client_id, client_host=client_host, subscribed_topic_names=subscribed_topic_names, subscribed_topic_regex=subscribed_topic_regex, rebalance_timeout_ms=rebalance_timeout_ms, server_assignor=server_assignor, classic_member_metadata=classic_member_metadata)


def _encode_0(message: ConsumerGroupMemberMetadataValue) -> list[Buffer]:
    out = bytearray()
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
    raw = message.client_id.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
    raw = message.client_host.encode()
    size = len(raw) + 1
    if size < 128:
        out.append(size)
    else:
        out += uvarint(size)
    out += raw
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
    out += _pack_i(message.rebalance_timeout_ms)
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
    tags = (message.classic_member_metadata is not None)
    out.append(tags)
    if tags:
        if message.classic_member_metadata is not None:
            around_consumer_group_member_metadata_value, out = out, bytearray()
            if message.classic_member_metadata is None:
                out.append(255)
            else:
                classic_member_metadata = message.classic_member_metadata
                out += _pack_bi(1, classic_member_metadata.session_timeout_ms)
                size = len(classic_member_metadata.supported_protocols) + 1
                if size < 128:
                    out.append(size)
                else:
                    out += uvarint(size)
                for classic_protocol in classic_member_metadata.supported_protocols:
                    raw = classic_protocol.name.encode()
                    size = len(raw) + 1
                    if size < 128:
                        out.append(size)
                    else:
                        out += uvarint(size)
                    out += raw
                    raw = classic_protocol.metadata
                    size = len(raw) + 1
                    if size < 128:
                        out.append(size)
                    else:
                        out += uvarint(size)
                    out += raw
                    out.append(0)
                out.append(0)
            around_consumer_group_member_metadata_value.append(0)
            around_consumer_group_member_metadata_value += uvarint(len(out))
            around_consumer_group_member_metadata_value += out
            out = around_consumer_group_member_metadata_value
    return [out]


_DECODERS = {0: _decode_0}
_ENCODERS = {0: _encode_0}


def decode(version: int, buffer: Buffer, position: int = 0) -> ConsumerGroupMemberMetadataValue:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"ConsumerGroupMemberMetadataValue has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No ConsumerGroupMemberMetadataValue of version {version}: {error}") from error


def encode(version: int, message: ConsumerGroupMemberMetadataValue) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)


def pack(version: int, message: ConsumerGroupMemberMetadataValue) -> bytes:
    """The value as it is in a record: its version in two bytes, then the message."""
    return version.to_bytes(2, "big") + b"".join(encode(version, message))


def unpack(buffer: Buffer) -> tuple[int, ConsumerGroupMemberMetadataValue]:
    """The version and the message of a value that `pack` made, or Kafka."""
    version = int.from_bytes(buffer[:2], "big")
    return version, decode(version, buffer, 2)
