# Written by tools/generate_codecs.py from TransactionLogKey.json in kafka-transaction-coordinator-4.1.1: do not edit.
from dataclasses import dataclass
from struct import Struct

from holdfast.broker.protocol.errors import MalformedMessage
from holdfast.broker.protocol.primitives import (
    UNDECODABLE,
    Buffer,
    bad_length,
)


@dataclass(slots=True)
class TransactionLogKey:
    transactional_id: str = ''


_unpack_h = Struct(">h").unpack_from
_pack_h = Struct(">h").pack


def _decode_0(buffer: memoryview, position: int) -> TransactionLogKey:
    end = len(buffer)
    (length,) = _unpack_h(buffer, position)
    position += 2
    stop = position + length
    if not position <= stop <= end:
        raise bad_length("transactional_id", stop - position)
    transactional_id = str(buffer[position:stop], "utf-8")
    position = stop
    return TransactionLogKey(transactional_id=transactional_id)


def _encode_0(message: TransactionLogKey) -> list[Buffer]:
    out = bytearray()
    raw = message.transactional_id.encode()
    out += _pack_h(len(raw))
    out += raw
    return [out]


_DECODERS = {0: _decode_0}
_ENCODERS = {0: _encode_0}


def decode(version: int, buffer: Buffer, position: int = 0) -> TransactionLogKey:
    """The message at `position`; raises MalformedMessage for anything that is none."""
    decoder = _DECODERS.get(version)
    if decoder is None:
        raise MalformedMessage(f"TransactionLogKey has no version {version}")
    try:
        return decoder(memoryview(buffer), position)
    except UNDECODABLE as error:
        raise MalformedMessage(f"No TransactionLogKey of version {version}: {error}") from error


def encode(version: int, message: TransactionLogKey) -> list[Buffer]:
    """The message in chunks.

    Fields that `version` does not have are left out; None where it has no null is sent empty.
    """
    return _ENCODERS[version](message)


RECORD_TYPE = 0
"""The two bytes that a key of this kind begins with."""


def pack(message: TransactionLogKey) -> bytes:
    """The key as it is in a record: its type, then the message."""
    return RECORD_TYPE.to_bytes(2, "big") + b"".join(encode(0, message))


def unpack(buffer: Buffer) -> TransactionLogKey:
    """The message of a key that `pack` made; raises MalformedMessage for any other."""
    if int.from_bytes(buffer[:2], "big") != RECORD_TYPE:
        raise MalformedMessage("Not the key of a TransactionLogKey")
    return decode(0, buffer, 2)
