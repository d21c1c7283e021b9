"""JSON objects with a schema version, read strictly.

These records decide which events pass, so a reader never guesses: a missing, unknown or mistyped
field makes the record unreadable, and the error names the field.
"""

import json
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, Field, fields
from enum import StrEnum
from typing import Any, Literal, NamedTuple, get_args, get_origin

from holdfast.errors import InvalidArgumentError, InvalidRecordError
from holdfast.flows.keys import key_from_json

VERSION = 1

_to_text = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


def encode(fields: Mapping[str, Any]) -> bytes:
    """The object as compact JSON with its version first; fields that are None are left out."""
    present = {name: value for name, value in fields.items() if value is not None}
    return _to_text({"version": VERSION, **present}).encode()


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

    def objects(self, name: str) -> "tuple[Document, ...]":
        """A list of objects; a field that is left out is an empty one."""
        value = self._fields.pop(name, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self._unreadable(f"{name!r} must be a list of objects, not {value!r}")
        return tuple(self._part(item) for item in value)

    def _part(self, fields: dict[str, Any]) -> "Document":
        part = Document.__new__(Document)
        part._what, part._fields = self._what, fields
        return part

    def optional_object(self, name: str) -> dict[str, Any] | None:
        value = self._fields.pop(name, None)
        if value is not None and not isinstance(value, dict):
            raise self._unreadable(f"{name!r} must be an object, not {value!r}")
        return value

    def optional_key(self, name: str = "key") -> bytes | None:
        """The fields `key` or `key_base64`; or those of another name."""
        pair = {each: self.optional_text(each) for each in (name, f"{name}_base64")}
        try:
            return key_from_json(pair, name)
        except InvalidArgumentError as error:
            raise self._unreadable(str(error)) from None

    def end(self) -> None:
        """Every field must have been taken by now."""
        if self._fields:
            raise self._unreadable(f"it has unknown fields: {', '.join(sorted(self._fields))}")

    def _unreadable(self, why: str) -> InvalidRecordError:
        return InvalidRecordError(f"This {self._what} cannot be read: {why}.")


class Form(NamedTuple):
    """How fields of one type are written to an object, and read from it."""

    read: Callable[[Document, str], Any]
    write: Callable[[str, Any], dict[str, Any]] = lambda name, value: {name: value}


FORMS: dict[Any, Form] = {
    int: Form(Document.integer),
    int | None: Form(Document.optional_integer),
    float: Form(lambda document, name: document.optional_number(name) or 0.0),
    float | None: Form(Document.optional_number),
    bool: Form(Document.flag, lambda name, value: {name: value or None}),
    str | None: Form(Document.optional_text),
    tuple[str, ...]: Form(Document.texts, lambda name, value: {name: list(value) or None}),
    Mapping[str, Any]: Form(
        lambda document, name: document.optional_object(name) or {},
        lambda name, value: {name: dict(value) or None},
    ),
}
_ON_BY_DEFAULT = Form(
    lambda document, name: not document.flag(f"no_{name}"),
    lambda name, value: {f"no_{name}": not value or None},
)
_TEXT = Form(Document.text)
_OPTIONAL_TEXT = Form(
    lambda document, name: document.optional_text(name) or "",
    lambda name, value: {name: value or None},
)


def write_fields(record: Any, forms: Mapping[Any, Form] = FORMS) -> dict[str, Any]:
    """The fields of a dataclass for `encode`, by their types. Types without a form are left out."""
    written: dict[str, Any] = {}
    for field in fields(record):
        if form := _form(field, forms):
            written |= form.write(field.name, getattr(record, field.name))
    return written


def read_fields(
    kind: type[Any],
    document: Document,
    forms: Mapping[Any, Form] = FORMS,
    *,
    without: Collection[str] = (),
) -> dict[str, Any]:
    """The arguments to make a dataclass again from an object that has its fields."""
    known = ((field, _form(field, forms)) for field in fields(kind) if field.name not in without)
    return {field.name: form.read(document, field.name) for field, form in known if form}


def _form(field: Field[Any], forms: Mapping[Any, Form]) -> Form | None:
    if field.type is str:
        return _TEXT if field.default is MISSING else _OPTIONAL_TEXT
    if field.type is bool and field.default is True:
        return _ON_BY_DEFAULT
    if get_origin(field.type) is Literal:
        return Form(_choice(get_args(field.type)))
    if isinstance(field.type, type) and issubclass(field.type, StrEnum):
        read = _choice(tuple(field.type))
        return Form(lambda document, name: field.type(read(document, name)))  # type: ignore[operator]
    return forms.get(field.type)


def _choice(choices: tuple[str, ...]) -> Callable[[Document, str], str]:
    def read(document: Document, name: str) -> str:
        text = document.text(name)
        if text not in choices:
            raise InvalidArgumentError(f"there is no {name} {text!r}.")
        return text

    return read
