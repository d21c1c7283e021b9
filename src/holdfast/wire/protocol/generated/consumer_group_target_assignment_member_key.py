# Written by tools/generate_codecs.py from ConsumerGroupTargetAssignmentMemberKey.json in kafka-group-coordinator-4.1.1: do not edit.
from dataclasses import dataclass
from struct import Struct

from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import (
    UNDECODABLE,
    Buffer,
    bad_length,
)


@dataclass(slots=True)
class ConsumerGroupTargetAssignmentMemberKey:
    group_id: str = ''
    member_id: str = ''


_unpack_h = Struct(">h").unpack_from
_pack_h = Struct(">h").pack


def _decode_0(buffer: memoryview, position: int) -> ConsumerGroupTargetAssignmentMemberKey:
    end = len(buffer)
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("group_id", stop - position)
    group_id = str(buffer[position:stop], "utf-8")
    position = stop
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("member_id", stop - position)
    member_id = str(buffer[position:stop], "utf-8")
    position = stop
    return ConsumerGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id)


def _encode_0(message: ConsumerGroupTargetAssignmentMemberKey) -> list[Buffer]:
    out = bytearray()
    raw = message.group_id.encode()
    out += _pack_h(len(raw))
    out += raw
    raw = message.member_id.encode()
    out += _pack_h(len(raw))
    out += raw
    return [out]


_DECODERS = {0: _decode_0}
_ENCODERS = {0: _encode_0}


def decode(version: int, buffer: Buffer, position: int = 0) -> ConsumerGroupTargetAssignmentMemberKey:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"ConsumerGroupTargetAssignmentMemberKey has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No ConsumerGroupTargetAssignmentMemberKey of version {version}: {error}") from error


def encode(version: int, message: ConsumerGroupTargetAssignmentMemberKey) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)


RECORD_TYPE = 7
"""The two bytes that a key of this kind begins with."""


def pack(message: ConsumerGroupTargetAssignmentMemberKey) -> bytes:
    """The key as it is in a record: its type, then the message."""
    return RECORD_TYPE.to_bytes(2, "big") + b"".join(encode(0, message))


def unpack(buffer: Buffer) -> ConsumerGroupTargetAssignmentMemberKey:
    """The message of a key that `pack` made; raises MalformedMessage for any other."""
    if int.from_bytes(buffer[:2], "big") != RECORD_TYPE:
        raise MalformedMessage("Not the key of a ConsumerGroupTargetAssignmentMemberKey")
    return decode(0, buffer, 2)
