"""Keys: as bytes, as UTF-8 text or base64; and their partitions."""

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
    """The bytes of a key.

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


_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
"""Characters without a width, which pasted text brings along."""


def trimmed(text: str) -> str:
    """The text without white space and characters without a width at its ends.

    >>> trimmed(" customer-7\\u200b\\t")
    'customer-7'
    """
    while (shorter := text.strip().strip(_INVISIBLE)) != text:
        text = shorter
    return text


def drawn(text: str) -> str:
    """The text with its invisible and odd characters drawn. A single blank between others stays.

    >>> drawn(" a b\\t"), drawn("a  b"), drawn("x\\u200by")
    ('␠a b⇥', 'a␠␠b', 'x⟨200B⟩y')
    """
    if text.isprintable() and "  " not in text and text == text.strip():
        return text  # most are
    last = len(text) - 1
    return "".join(
        _DRAWN.get(char)
        or ("␠" if char == " " and (i in (0, last) or " " in (text[i - 1], text[i + 1])) else "")
        or (char if char.isprintable() else f"⟨{ord(char):02X}⟩")
        for i, char in enumerate(text)
    )


_DRAWN = {"\t": "⇥", "\n": "⏎", "\r": "␍", "\u00a0": "⍽"}


def key_from_base64(text: str) -> bytes:
    """The key that was written as base64."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidArgumentError(f"{text!r} is not base64.") from None


def key_to_json(key: bytes, name: str = "key") -> dict[str, str]:
    """A key as fields of a JSON object: `key` if it is text, else `key_base64`; or another name.

    >>> key_to_json(b"customer-7"), key_to_json(bytes([0, 255]))
    ({'key': 'customer-7'}, {'key_base64': 'AP8='})
    """
    try:
        return {name: key.decode()}
    except UnicodeDecodeError:
        return {f"{name}_base64": base64.b64encode(key).decode()}


def key_from_json(fields: dict[str, Any], name: str = "key") -> bytes | None:
    """The key in the fields of `key_to_json`; None if there is neither."""
    text, encoded = fields.get(name), fields.get(f"{name}_base64")
    if text is not None and encoded is not None:
        raise InvalidArgumentError(
            f"A {name} is given as {name!r} or as '{name}_base64', not as both."
        )
    if encoded is not None:
        return key_from_base64(encoded)
    return None if text is None else key_bytes(text)


def partition_of(key: bytes, partitions: int) -> int:
    """The partition that the Java client's default partitioner chooses for a key.

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
