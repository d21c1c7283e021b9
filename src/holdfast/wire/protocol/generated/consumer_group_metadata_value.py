# Written by tools/generate_codecs.py from ConsumerGroupMetadataValue.json in kafka-group-coordinator-4.1.1: do not edit.
from dataclasses import dataclass
from struct import Struct

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    MOST_TAGS,
    UNDECODABLE,
    Buffer,
    bad_length,
    read_uvarint,
    uvarint,
)


@dataclass(slots=True)
class ConsumerGroupMetadataValue:
    epoch: int = 0
    metadata_hash: int = 0


_unpack_iB = Struct(">iB").unpack_from
_unpack_q = Struct(">q").unpack_from
_pack_i = Struct(">i").pack
_pack_q = Struct(">q").pack


def _decode_0(buffer: memoryview, position: int) -> ConsumerGroupMetadataValue:
    end = len(buffer)
    metadata_hash: int = 0
    epoch, tags = _unpack_iB(buffer, position)
    position += 5
    if tags:
        if tags > MOST_TAGS:
            raise bad_length("The tagged fields of ConsumerGroupMetadataValue", tags)
        for _ in range(tags):
            tag, position = read_uvarint(buffer, position)
            size, position = read_uvarint(buffer, position)
            after_tag_of_consumer_group_metadata_value = position + size
            if after_tag_of_consumer_group_metadata_value > end:
                raise bad_length("A tagged field of ConsumerGroupMetadataValue", size)
            if tag == 0:
                (metadata_hash,) = _unpack_q(buffer, position)
                position += 8
            else:
                position = after_tag_of_consumer_group_metadata_value
            if position != after_tag_of_consumer_group_metadata_value:
                raise bad_length("A tagged field of ConsumerGroupMetadataValue", size)
    return ConsumerGroupMetadataValue(epoch=epoch, metadata_hash=metadata_hash)


def _encode_0(message: ConsumerGroupMetadataValue) -> list[Buffer]:
    out = bytearray()
    out += _pack_i(message.epoch)
    tags = (message.metadata_hash != 0)
    out.append(tags)
    if tags:
        if message.metadata_hash != 0:
            around_consumer_group_metadata_value, out = out, bytearray()
            out += _pack_q(message.metadata_hash)
            around_consumer_group_metadata_value.append(0)
            around_consumer_group_metadata_value += uvarint(len(out))
            around_consumer_group_metadata_value += out
            out = around_consumer_group_metadata_value
    return [out]


_DECODERS = {0: _decode_0}
_ENCODERS = {0: _encode_0}


def decode(version: int, buffer: Buffer, position: int = 0) -> ConsumerGroupMetadataValue:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"ConsumerGroupMetadataValue has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No ConsumerGroupMetadataValue of version {version}: {error}") from error


def encode(version: int, message: ConsumerGroupMetadataValue) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)


def pack(version: int, message: ConsumerGroupMetadataValue) -> bytes:
    """The value as it is in a record: its version in two bytes, then the message."""
    return version.to_bytes(2, "big") + b"".join(encode(version, message))


def unpack(buffer: Buffer) -> tuple[int, ConsumerGroupMetadataValue]:
    """The version and the message of a value that `pack` made, or Kafka."""
    version = int.from_bytes(buffer[:2], "big")
    return version, decode(version, buffer, 2)
