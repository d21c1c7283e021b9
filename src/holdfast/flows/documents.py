"""JSON objects with a schema version, read strictly.

What is stored here decides whether events pass, so a reader never guesses: a missing, unknown or
mistyped field makes the record unreadable, and the error names the field.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

from holdfast.errors import InvalidArgumentError, InvalidRecordError
from holdfast.flows.keys import key_from_json

VERSION = 1

_to_text = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


def encode(fields: Mapping[str, Any]) -> bytes:
    """The object as compact JSON with its version first; fields that are None are left out."""
    given = {name: value for name, value in fields.items() if value is not None}
    return _to_text({"version": VERSION, **given}).encode()


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a field is there twice")
    return fields


class Document:
    """The fields of one stored object, taken out by name and type; `end()` refuses leftovers."""

    __slots__ = ("_fields", "_what")

    def __init__(self, value: bytes | None, what: str) -> None:
        self._what = what
        if value is None:
            raise self._unreadable("it has no value")
        try:
            fields = json.loads(value, object_pairs_hook=_without_repeats)
        except (ValueError, RecursionError) as error:
            raise self._unreadable(f"it is not JSON ({error})") from None
        if not isinstance(fields, dict):
            raise self._unreadable("it is not a JSON object")
        self._fields = fields
        version = self.integer("version")
        if version != VERSION:
            raise self._unreadable(f"its version is {version}, and only {VERSION} is known here")

    def text(self, name: str) -> str:
        value = self.optional_text(name)
        if value is None:
            raise self._unreadable(f"{name!r} is missing")
        return value

    def optional_text(self, name: str) -> str | None:
        value = self._fields.pop(name, None)
        if value is not None and not isinstance(value, str):
            raise self._unreadable(f"{name!r} must be text, not {value!r}")
        return value

    def integer(self, name: str) -> int:
        value = self.optional_integer(name)
        if value is None:
            raise self._unreadable(f"{name!r} is missing")
        return value

    def optional_integer(self, name: str) -> int | None:
        value = self._fields.pop(name, None)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
            raise self._unreadable(f"{name!r} must be a whole number, not {value!r}")
        return value

    def optional_number(self, name: str) -> float | None:
        value = self._fields.pop(name, None)
        if value is None:
            return None
        if (
            not isinstance(value, int | float)
            or isinstance(value, bool)
            or not math.isfinite(value)
        ):
            raise self._unreadable(f"{name!r} must be a number, not {value!r}")
        return float(value)

    def flag(self, name: str) -> bool:
        """True if the field is there and true; a field that is left out is False."""
        value = self._fields.pop(name, False)
        if not isinstance(value, bool):
            raise self._unreadable(f"{name!r} must be true or false, not {value!r}")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts; a field that is left out is an empty one."""
        value = self._fields.pop(name, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self._unreadable(f"{name!r} must be a list of texts, not {value!r}")
        return tuple(value)

    def optional_object(self, name: str) -> dict[str, Any] | None:
        value = self._fields.pop(name, None)
        if value is not None and not isinstance(value, dict):
            raise self._unreadable(f"{name!r} must be an object, not {value!r}")
        return value

    def optional_key(self) -> bytes | None:
        """The fields `key` or `key_base64`."""
        pair = {"key": self.optional_text("key"), "key_base64": self.optional_text("key_base64")}
        try:
            return key_from_json(pair)
        except InvalidArgumentError as error:
            raise self._unreadable(str(error)) from None

    def end(self) -> None:
        """Every field must have been taken by now."""
        if self._fields:
            raise self._unreadable(f"it has unknown fields: {', '.join(sorted(self._fields))}")

    def _unreadable(self, why: str) -> InvalidRecordError:
        return InvalidRecordError(f"This {self._what} cannot be read: {why}.")
