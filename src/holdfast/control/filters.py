"""Filters on records: by text, or by a JSON path in the value.

Pages, API and command line call the parts of a filter by the same names.
"""

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from holdfast.errors import InvalidArgumentError

if TYPE_CHECKING:
    from jsonpath_ng import JSONPath

_PARSED_BYTES = 256 * 1024
"""Larger values are not searched by path."""
_LONGEST_PATH = 500


class FilterError(InvalidArgumentError):
    """A part of a filter that cannot be used; `field` is its name."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions on a record. They see values as the actor may see them."""

    key: bytes | None = None
    text: str = ""
    """Contained in the value or the key, in any case."""
    path: str = ""
    """Finds something in the value; `$.total`, or `$[?(@.total > 100)]` to compare."""
    value: str = ""
    """If given, the text that the path must find."""
    header: str = ""
    """A header, as `name` or `name=value`."""

    def __post_init__(self) -> None:
        if self.path:
            _path(self.path)
        elif self.value:
            raise FilterError("value", "'value' needs a 'path' to find it with.")

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
        return not self.path or _finds(self.path, self.value, value)


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
        # JSON path conditions apply to members of a list, so the document becomes a list of one.
        subject = [document] if path.startswith("$[?") else document
        values = [match.value for match in _path(path).find(subject)]
    except Exception:  # not JSON, or any error of the path's evaluation
        return False
    return bool(values) if not wanted else any(_as_text(item) == wanted for item in values)


def _as_text(item: Any) -> str:
    return item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)


@lru_cache(maxsize=200)
def _path(path: str) -> "JSONPath":
    from jsonpath_ng.ext.parser import parse  # not part of the core

    if len(path) > _LONGEST_PATH:
        raise FilterError("path", f"A JSON path has at most {_LONGEST_PATH} characters.")
    if "=~" in path or "`" in path:
        # A pattern that backtracks would keep a thread busy for ever.
        raise FilterError("path", "A JSON path here has no patterns and no functions.")
    try:
        parsed: JSONPath = parse(path)
    except Exception as error:  # the parser raises many types
        raise FilterError(
            "path",
            f"{path!r} is not a JSON path ({error}): write it as in $.order.total, or "
            "$[?(@.order.total > 100)] to compare.",
        ) from None
    return parsed
