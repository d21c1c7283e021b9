"""Format strings for records, with the tokens of kcat.

%t topic, %p partition, %o offset, %k key, %K its length, %s value, %S its length, %R the same as 4
bytes, %T timestamp in milliseconds, %h headers, %% a percent sign; \\n \\r \\t \\\\ and \\xHH as
usual.
"""

import re
from collections.abc import Callable

from holdfast.client.record import Record

Piece = bytes | Callable[[Record, bytes], bytes]

_ESCAPES = {"n": b"\n", "r": b"\r", "t": b"\t", "\\": b"\\"}
_TOKEN = re.compile(r"%(.?)|\\x([0-9a-fA-F]{2})|\\(.?)|([^%\\]+)", re.DOTALL)

NULL = b"NULL"


def headers_text(record: Record) -> bytes:
    """All headers, as NAME=VALUE with commas between."""
    return b",".join(
        name.encode() + b"=" + (NULL if value is None else value) for name, value in record.headers
    )


def _length(value: bytes | None) -> int:
    return -1 if value is None else len(value)


FIELDS: dict[str, Callable[[Record, bytes], bytes]] = {
    "t": lambda record, null: record.topic.encode(),
    "p": lambda record, null: b"%d" % record.partition,
    "o": lambda record, null: b"%d" % record.offset,
    "k": lambda record, null: null if record.key is None else record.key,
    "K": lambda record, null: b"%d" % _length(record.key),
    "s": lambda record, null: null if record.value is None else record.value,
    "S": lambda record, null: b"%d" % _length(record.value),
    "R": lambda record, null: _length(record.value).to_bytes(4, "big", signed=True),
    "T": lambda record, null: b"%d" % (-1 if record.timestamp_ms is None else record.timestamp_ms),
    "h": lambda record, null: headers_text(record),
}


def compile_format(text: str, null: bytes = NULL) -> Callable[[Record], bytes]:
    """A function that renders a record; ValueError names the fault of the format.

    `null` stands for a key or a value that is null.
    """
    pieces: list[Piece] = [_piece(match) for match in _TOKEN.finditer(text)]

    def render(record: Record) -> bytes:
        return b"".join(p if isinstance(p, bytes) else p(record, null) for p in pieces)

    return render


def unescaped(text: str) -> bytes:
    """A delimiter as people type it: \\n, \\t and \\xHH are one byte each."""
    return b"".join(
        match[0].encode(errors="surrogateescape") if match[1] is not None else _literal(match)
        for match in _TOKEN.finditer(text)
    )


def _piece(match: "re.Match[str]") -> Piece:
    field = match[1]
    if field is None:
        return _literal(match)
    if field == "%":
        return b"%"
    if field not in FIELDS:
        raise ValueError(f"%{field} means nothing; there are %{' %'.join(FIELDS)} and %%")
    return FIELDS[field]


def _literal(match: "re.Match[str]") -> bytes:
    _, code, escape, literal = match.groups()
    if literal is not None:
        return literal.encode(errors="surrogateescape")
    if code is not None:
        return bytes([int(code, 16)])
    if escape not in _ESCAPES:
        raise ValueError(f"\\{escape} means nothing; there are \\n \\r \\t \\\\ and \\xHH")
    return _ESCAPES[escape]
