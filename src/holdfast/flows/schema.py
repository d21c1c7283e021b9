"""A flow's schema, Spark DDL over JSON values, as far as it can be checked without Spark.

The gate checks every event with Spark. This is for people who write an event by hand: it names the
first field that cannot be right. What it does not understand it lets pass.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_TOKEN = re.compile(r"\s*(`[^`]*`|'[^']*'|[A-Za-z_][\w]*|\d+|[<>(),:])")
_WHOLE = {
    "BIGINT": 64, "LONG": 64, "INT": 32, "INTEGER": 32, "SMALLINT": 16, "SHORT": 16,
    "TINYINT": 8, "BYTE": 8,
}  # fmt: skip
_NUMBERS = ("DOUBLE", "FLOAT", "REAL", "DECIMAL", "DEC", "NUMERIC")
_TEXTS = ("DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ", "BINARY")


@dataclass(frozen=True, slots=True)
class _Type:
    name: str
    fields: tuple["_Field", ...] = ()
    element: "_Type | None" = None


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    type: _Type
    required: bool


class _Unknown(Exception):
    """The schema has a form that is not understood here."""


def flaw_of(schema: str, value: bytes | None) -> str:
    """Why the schema refuses a value, in a sentence; empty if nothing is wrong with it.

    >>> flaw_of("id BIGINT NOT NULL, total DOUBLE", b'{"id": 7, "total": 9.5}')
    ''
    >>> flaw_of("id BIGINT NOT NULL", b'{"id": "7"}')
    'id must be a whole number (BIGINT), not "7".'
    """
    if value is None:
        return ""
    try:
        root = _Type("STRUCT", tuple(_fields(_Tokens(schema), end=None)))
    except _Unknown:
        return ""
    try:
        document = json.loads(value)
    except ValueError as error:
        return f"The value is not JSON: {error}."
    if not isinstance(document, dict):
        return "The value must be a JSON object."
    return next(_flaws(root, document, ""), "")


class _Tokens:
    def __init__(self, text: str) -> None:
        self._tokens = list(_scan(text))

    def peek(self) -> str:
        return self._tokens[0] if self._tokens else ""

    def next(self) -> str:
        if not self._tokens:
            raise _Unknown
        return self._tokens.pop(0)

    def take(self, *words: str) -> bool:
        """Returns True if these words come next, and takes them."""
        if [token.upper() for token in self._tokens[: len(words)]] != list(words):
            return False
        del self._tokens[: len(words)]
        return True


def _scan(text: str) -> Iterator[str]:
    at = 0
    while at < len(text.rstrip()):
        found = _TOKEN.match(text, at)
        if found is None:
            raise _Unknown
        yield found[1]
        at = found.end()


def _fields(tokens: _Tokens, end: str | None) -> Iterator[_Field]:
    while True:
        name = tokens.next().strip("`")
        tokens.take(":")
        kind = _type(tokens)
        required = tokens.take("NOT", "NULL")
        if tokens.take("COMMENT"):
            tokens.next()
        yield _Field(name, kind, required)
        if tokens.take(","):
            continue
        if end is not None and not tokens.take(end):
            raise _Unknown
        if end is None and tokens.peek():
            raise _Unknown
        return


def _type(tokens: _Tokens) -> _Type:
    name = tokens.next().upper()
    if name == "STRUCT" and tokens.take("<"):
        return _Type(name, tuple(_fields(tokens, ">")))
    if name == "ARRAY" and tokens.take("<"):
        element = _type(tokens)
    elif name == "MAP" and tokens.take("<"):
        _type(tokens)
        if not tokens.take(","):
            raise _Unknown
        element = _type(tokens)
    else:
        if tokens.take("("):
            while not tokens.take(")"):
                tokens.next()
        return _Type(name)
    if not tokens.take(">"):
        raise _Unknown
    return _Type(name, element=element)


def _flaws(kind: _Type, value: Any, path: str) -> Iterator[str]:
    if value is None:
        return
    wanted = _wanted(kind, value)
    if wanted:
        given = json.dumps(value)[:100]
        yield f"{path or 'The value'} must be {wanted} ({kind.name}), not {given}."
        return
    if kind.fields:
        for field in kind.fields:
            at = f"{path}.{field.name}" if path else field.name
            if value.get(field.name) is None and field.required:
                yield f"{at} is missing: it is NOT NULL."
            yield from _flaws(field.type, value.get(field.name), at)
    elif kind.element is not None:
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for name, each in pairs:
            yield from _flaws(kind.element, each, f"{path}[{name}]")


def _wanted(kind: _Type, value: Any) -> str:
    """The form that a value should have; empty if it has that form, or if that is not known."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind.name in _WHOLE:
        limit = 1 << (_WHOLE[kind.name] - 1)
        fits = number and isinstance(value, int) and -limit <= value < limit
        return "" if fits else "a whole number"
    if kind.name in _NUMBERS:
        return "" if number or isinstance(value, str) else "a number"
    if kind.name == "BOOLEAN":
        return "" if isinstance(value, bool) else "true or false"
    if kind.name in _TEXTS:
        return "" if isinstance(value, str | int) else "text"
    if kind.name in ("STRUCT", "MAP"):
        return "" if isinstance(value, dict) else "an object"
    if kind.name == "ARRAY":
        return "" if isinstance(value, list) else "a list"
    return ""
