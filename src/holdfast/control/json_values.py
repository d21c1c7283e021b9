"""Bytes of records in JSON: as text if they are text, otherwise as base64."""

import base64
from dataclasses import dataclass

SHOWN_BYTES = 16 * 1024
"""The limit of a value in a list; a single record is shown in full."""


@dataclass(frozen=True, slots=True)
class Content:
    """A value or a header: exactly one of `text` and `base64` is set, or none for a null."""

    text: str | None = None
    base64: str | None = None
    size: int = 0
    """The size of the whole value, in bytes."""
    truncated: bool = False


def content_of(value: bytes | None, limit: int | None = SHOWN_BYTES) -> Content:
    """The value, cut off after `limit` bytes.

    >>> content_of(b"a"), content_of(bytes([255]))
    (Content(text='a', base64=None, size=1, truncated=False), \
Content(text=None, base64='/w==', size=1, truncated=False))
    """
    if value is None:
        return Content()
    shown = value if limit is None else value[:limit]
    truncated = len(shown) < len(value)
    try:
        return Content(text=_text(shown, truncated), size=len(value), truncated=truncated)
    except UnicodeDecodeError:
        encoded = base64.b64encode(shown).decode()
        return Content(base64=encoded, size=len(value), truncated=truncated)


def _text(shown: bytes, truncated: bool) -> str:
    try:
        return shown.decode()
    except UnicodeDecodeError as error:
        # Cut in the middle of a character, at most three bytes before the end.
        if truncated and error.start >= len(shown) - 3:
            return shown[: error.start].decode()
        raise
