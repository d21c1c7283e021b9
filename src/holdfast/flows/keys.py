"""Keys: bytes on the wire, UTF-8 text for people, base64 for the rest; and their partitions."""

import base64
import binascii
from typing import Any

from holdfast.errors import InvalidArgumentError

MAX_KEY_BYTES = 64 * 1024
"""A key appears in every record of its history, so it has a limit well below a record's."""

_MASK = 0xFFFFFFFF
_M = 0x5BD1E995
_SEED = 0x9747B28C


def key_bytes(key: str | bytes) -> bytes:
    """A key as it is on the wire.

    >>> key_bytes("customer-7")
    b'customer-7'
    """
    if not isinstance(key, str | bytes):
        raise InvalidArgumentError(f"A key is text or bytes, not {type(key).__name__}.")
    try:
        encoded = key.encode() if isinstance(key, str) else key
    except UnicodeEncodeError:
        raise InvalidArgumentError(
            f"{key!r} is not valid text; give such a key as bytes."
        ) from None
    if len(encoded) > MAX_KEY_BYTES:
        raise InvalidArgumentError(
            f"A key of {len(encoded)} bytes cannot be used in a command: the limit is "
            f"{MAX_KEY_BYTES}."
        )
    return encoded


def key_from_base64(text: str) -> bytes:
    """The key that was written as base64."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidArgumentError(f"{text!r} is not base64.") from None


def key_to_json(key: bytes) -> dict[str, str]:
    """A key as fields of a JSON object: `key` if it is text, else `key_base64`.

    >>> key_to_json(b"customer-7"), key_to_json(bytes([0, 255]))
    ({'key': 'customer-7'}, {'key_base64': 'AP8='})
    """
    try:
        return {"key": key.decode()}
    except UnicodeDecodeError:
        return {"key_base64": base64.b64encode(key).decode()}


def key_from_json(fields: dict[str, Any]) -> bytes | None:
    """The reverse of `key_to_json`; None if neither field is there."""
    text, encoded = fields.get("key"), fields.get("key_base64")
    if text is not None and encoded is not None:
        raise InvalidArgumentError("A key is given as 'key' or as 'key_base64', not as both.")
    if encoded is not None:
        return key_from_base64(encoded)
    return None if text is None else key_bytes(text)


def partition_of(key: bytes, partitions: int) -> int:
    """The partition that the Java client's default partitioner gives to a key.

    >>> partition_of(b"customer-7", 6)
    1
    """
    return (murmur2(key) & 0x7FFFFFFF) % partitions


def murmur2(data: bytes) -> int:
    """MurmurHash2 with the seed that Kafka uses, as an unsigned 32-bit number."""
    length = len(data)
    h = _SEED ^ length
    whole = length & ~3
    for i in range(0, whole, 4):
        k = int.from_bytes(data[i : i + 4], "little") * _M & _MASK
        k = (k ^ (k >> 24)) * _M & _MASK
        h = (h * _M & _MASK) ^ k
    if length != whole:
        h = (h ^ int.from_bytes(data[whole:], "little")) * _M & _MASK
    h = (h ^ (h >> 13)) * _M & _MASK
    return h ^ (h >> 15)
