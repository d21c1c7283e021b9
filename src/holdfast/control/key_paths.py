"""Keys in addresses: one form that carries any bytes.

A key that is plain text of unreserved characters stands in a path as it is. Any other, be it with
slashes, spaces, quotes, emoji or bytes that are no text, stands there as `b64.` and URL-safe
base64 without padding, because proxies decode, merge and refuse percent-encoded slashes as they
like. Both forms are read; a key that itself begins with `b64.` is always written as base64.
"""

import base64
import binascii
import re

from holdfast.errors import InvalidArgumentError
from holdfast.flows.keys import key_bytes

PREFIX = "b64."
_PLAIN = re.compile(rb"[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,200}")
_UNREADABLE = "\ufffd"
"""The replacement character: servers put it in place of percent-encoded bytes that are not text,
and the original bytes are then lost."""
_BASE64 = re.compile(r"[A-Za-z0-9_-]*")


def key_to_path(key: bytes) -> str:
    """The key as one segment of a path.

    >>> key_to_path(b"customer-7"), key_to_path("a/b".encode())
    ('customer-7', 'b64.YS9i')
    """
    if _PLAIN.fullmatch(key) and not key.startswith(PREFIX.encode()):
        return key.decode("ascii")
    return PREFIX + base64.urlsafe_b64encode(key).decode("ascii").rstrip("=")


def key_from_path(segment: str) -> bytes:
    """The key that a segment of a path names, or InvalidArgumentError.

    >>> key_from_path("customer-7"), key_from_path("b64.YS9i")
    (b'customer-7', b'a/b')
    """
    if not segment.startswith(PREFIX):
        if _UNREADABLE in segment:
            raise InvalidArgumentError(
                f"{segment[:60]!r} is not a key: write non-text bytes as 'b64.' and "
                "URL-safe base64."
            )
        return key_bytes(segment)
    encoded = segment.removeprefix(PREFIX)
    try:
        if not _BASE64.fullmatch(encoded):
            raise ValueError
        return key_bytes(base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)))
    except (binascii.Error, ValueError) as error:
        if isinstance(error, InvalidArgumentError):
            raise
        raise InvalidArgumentError(
            f"{segment[:60]!r} is not a key: after 'b64.' comes URL-safe base64 without padding."
        ) from None
