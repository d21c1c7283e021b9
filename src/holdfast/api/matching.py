"""Filters on records: by text, or by a JSON path in the value."""

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from jsonpath_ng import JSONPath
from jsonpath_ng.ext.parser import parse

from holdfast.errors import InvalidArgumentError

_PARSED_BYTES = 256 * 1024
"""A larger value is not looked into by path."""
_LONGEST_PATH = 500


@dataclass(frozen=True, slots=True)
class Filter:
    """What a record must have. It looks at values as the asker may see them."""

    key: bytes | None = None
    text: str = ""
    """Contained in the value or the key, whatever its case."""
    json_path: str = ""
    """Finds something in the value; `$.total`, or `$[?(@.total > 100)]` to compare."""
    json_value: str = ""
    """If given, what the path finds is this, as text."""
    header: str = ""
    """`name` or `name=value`: a header that it has."""

    def __post_init__(self) -> None:
        if self.json_path:
            _path(self.json_path)
        elif self.json_value:
            raise InvalidArgumentError("'json_value' needs a 'json_path' to find it with.")

    @property
    def empty(self) -> bool:
        return self == NO_FILTER

    def matches(
        self, key: bytes | None, value: bytes | None, headers: list[tuple[str, bytes | None]]
    ) -> bool:
        if self.key is not None and key != self.key:
            return False
        if self.header and not _has_header(headers, self.header):
            return False
        if self.text and not _has_text(self.text, key, value):
            return False
        return not self.json_path or _finds(self.json_path, self.json_value, value)


NO_FILTER = Filter()


def _has_text(text: str, key: bytes | None, value: bytes | None) -> bool:
    wanted = text.casefold()
    return any(
        wanted in part.decode(errors="replace").casefold()
        for part in (value, key)
        if part is not None
    )


def _has_header(headers: list[tuple[str, bytes | None]], wanted: str) -> bool:
    name, equals, value = wanted.partition("=")
    return any(
        found == name and (not equals or (content or b"").decode(errors="replace") == value)
        for found, content in headers
    )


def _finds(path: str, wanted: str, value: bytes | None) -> bool:
    if value is None or len(value) > _PARSED_BYTES:
        return False
    try:
        document = json.loads(value)
        # A condition is put on the members of a list: the document is the only one of its list.
        subject = [document] if path.startswith("$[?") else document
        found = [match.value for match in _path(path).find(subject)]
    except Exception:  # not JSON, or whatever the path's evaluation happens to raise
        return False
    return bool(found) if not wanted else any(_as_text(item) == wanted for item in found)


def _as_text(item: Any) -> str:
    return item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)


@lru_cache(maxsize=200)
def _path(path: str) -> JSONPath:
    if len(path) > _LONGEST_PATH:
        raise InvalidArgumentError(f"A JSON path has at most {_LONGEST_PATH} characters.")
    if "=~" in path or "`" in path:
        # A pattern that backtracks would keep a thread busy for ever.
        raise InvalidArgumentError("A JSON path here has no patterns and no functions.")
    try:
        parsed: JSONPath = parse(path)
    except Exception as error:  # the parser raises what it happens to raise
        raise InvalidArgumentError(
            f"{path!r} is not a JSON path ({error}): write it as in $.order.total, or "
            "$[?(@.order.total > 100)] to compare."
        ) from None
    return parsed
