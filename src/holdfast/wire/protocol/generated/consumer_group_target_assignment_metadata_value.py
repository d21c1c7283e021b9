# Written by tools/generate_codecs.py from ConsumerGroupTargetAssignmentMetadataValue.json in kafka-group-coordinator-4.1.1: do not edit.
from dataclasses import dataclass
from struct import Struct

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    UNDECODABLE,
    Buffer,
    skip_tags,
)


@dataclass(slots=True)
class ConsumerGroupTargetAssignmentMetadataValue:
    assignment_epoch: int = 0


_unpack_iB = Struct(">iB").unpack_from
_pack_iB = Struct(">iB").pack


def _decode_0(buffer: memoryview, position: int) -> ConsumerGroupTargetAssignmentMetadataValue:
    end = len(buffer)
    assignment_epoch, tags = _unpack_iB(buffer, position)
    position += 5
    if tags:
        position = skip_tags(buffer, position, tags)
    return ConsumerGroupTargetAssignmentMetadataValue(assignment_epoch=assignment_epoch)


def _encode_0(message: ConsumerGroupTargetAssignmentMetadataValue) -> list[Buffer]:
    out = bytearray()
    out += _pack_iB(message.assignment_epoch, 0)
    return [out]


_DECODERS = {0: _decode_0}
_ENCODERS = {0: _encode_0}


def decode(version: int, buffer: Buffer, position: int = 0) -> ConsumerGroupTargetAssignmentMetadataValue:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"ConsumerGroupTargetAssignmentMetadataValue has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No ConsumerGroupTargetAssignmentMetadataValue of version {version}: {error}") from error


def encode(version: int, message: ConsumerGroupTargetAssignmentMetadataValue) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)


def pack(version: int, message: ConsumerGroupTargetAssignmentMetadataValue) -> bytes:
    """The value as it is in a record: its version in two bytes, then the message."""
    return version.to_bytes(2, "big") + b"".join(encode(version, message))


def unpack(buffer: Buffer) -> tuple[int, ConsumerGroupTargetAssignmentMetadataValue]:
    """The version and the message of a value that `pack` made, or Kafka."""
    version = int.from_bytes(buffer[:2], "big")
    return version, decode(version, buffer, 2)
