"""Values, keys, headers and times in the form that librdkafka takes."""

import dataclasses
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from holdfast.errors import InvalidArgumentError

Value = Any
"""bytes and str as they are; dict, list, numbers and dataclasses as JSON; None is a null."""
Key = str | bytes | None
Headers = Mapping[str, str | bytes | None] | Iterable[tuple[str, str | bytes | None]]


def encode_value(value: Value) -> bytes | None:
    """The bytes of a value.

    >>> encode_value({"id": 7}), encode_value("text"), encode_value(None)
    (b'{"id":7}', b'text', None)
    """
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return _utf8(value)
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    try:
        return json.dumps(
            value, separators=(",", ":"), ensure_ascii=False, allow_nan=False
        ).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArgumentError(
            f"A value of type {type(value).__name__} cannot be sent as JSON: {error}."
        ) from None


def encode_key(key: Key) -> bytes | None:
    """The bytes of a key."""
    if key is None or isinstance(key, bytes):
        return key
    if isinstance(key, str):
        return _utf8(key)
    raise InvalidArgumentError(
        f"A key is text or bytes, not {type(key).__name__}, so that it is always the same bytes."
    )


def encode_headers(headers: Headers) -> list[tuple[str, bytes | None]]:
    """Headers in their order, text as UTF-8."""
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    return [(name, _utf8(v) if isinstance(v, str) else v) for name, v in pairs]


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(f"{text!r} is not valid text: {error}.") from None


def to_milliseconds(time: datetime | int) -> int:
    """A time as milliseconds since 1970; a datetime without a zone is local time."""
    return time if isinstance(time, int) else round(time.timestamp() * 1000)
