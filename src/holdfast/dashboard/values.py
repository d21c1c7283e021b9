"""Values as they are shown: JSON laid out and coloured, text as it is, bytes as base64."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.control.json_values import SHOWN_BYTES, content_of
from holdfast.dashboard.key_name import KeyName

_LABELS = ("type", "status", "state", "event", "kind", "name")
"""Fields that usually name the kind of an event."""
_LABEL_LENGTH = 60
_TOKEN = re.compile(
    r'(?P<key>"(?:[^"\\]|\\.)*")(?=:)|(?P<string>"(?:[^"\\]|\\.)*")'
    r"|(?P<mark>[{}\[\],:])|(?P<word>[^\s{}\[\],:\"]+)|(?P<space>\s+)"
)
_STYLES = {"key": "k", "string": "s", "mark": "p", "word": "m", "space": ""}


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of laid-out JSON, with the style of its kind."""

    style: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EventView:
    """One record, ready to be shown."""

    partition: int
    offset: int
    at: int
    key: KeyName | None
    label: str
    """A label of the event, in a word or two."""
    size: int
    tokens: tuple[Token, ...]
    note: str
    """A note about the value: null, binary, truncated; empty for complete text."""
    headers: tuple[tuple[str, str], ...]

    @property
    def coordinate(self) -> str:
        return f"{self.partition}:{self.offset}"


def event_view(
    *,
    partition: int,
    offset: int,
    at: int,
    key: bytes | None,
    value: bytes | None,
    headers: Sequence[tuple[str, str | bytes | None]],
) -> EventView:
    """The record as it is shown. `value` is the part that the actor may see."""
    content = content_of(value, SHOWN_BYTES)
    text = content.text if content.text is not None else content.base64 or ""
    notes = []
    if value is None:
        notes.append("null")
    if content.base64 is not None:
        notes.append("not text, shown as base64")
    if content.truncated:
        notes.append(f"the first {SHOWN_BYTES // 1024} KiB of it")
    return EventView(
        partition=partition,
        offset=offset,
        at=at,
        key=None if key is None else KeyName(key),
        label=label_of(value),
        size=content.size,
        tokens=tuple(_laid_out(text)),
        note=", ".join(notes),
        headers=tuple((name, _header_text(header)) for name, header in headers),
    )


def label_of(value: bytes | None) -> str:
    """A label of an event: a field that usually names its kind, or its beginning.

    >>> label_of(b'{"order": 7, "status": "paid"}'), label_of(b"plain text"), label_of(None)
    ('paid', 'plain text', 'null')
    """
    if value is None:
        return "null"
    document = _parsed(value)
    if isinstance(document, dict):
        for field in _LABELS:
            if isinstance(document.get(field), str):
                return _shortened(document[field])
    return _shortened(value[:200].decode(errors="replace"))


def _shortened(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LABEL_LENGTH else flat[: _LABEL_LENGTH - 1] + "…"


def _parsed(value: bytes) -> Any:
    if len(value) > SHOWN_BYTES:
        return None
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def _laid_out(text: str) -> Iterator[Token]:
    document = _parsed(text.encode())
    if not isinstance(document, dict | list):
        yield Token("", text)
        return
    pretty = json.dumps(document, indent=2, ensure_ascii=False)
    for match in _TOKEN.finditer(pretty):
        yield Token(_STYLES[match.lastgroup or "space"], match.group())


def _header_text(value: str | bytes | None) -> str:
    if value is None:
        return "null"
    return value if isinstance(value, str) else value.decode(errors="backslashreplace")
