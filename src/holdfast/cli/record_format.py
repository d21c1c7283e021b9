"""Format strings for records, with the tokens of kcat.

%t topic, %p partition, %o offset, %k key, %K its length, %s value, %S its length, %T timestamp in
milliseconds, %h headers, %% a percent sign; \\n \\r \\t \\\\ and \\xHH as usual.
"""

import re
from collections.abc import Callable

from holdfast.client.record import Record

Piece = bytes | Callable[[Record], bytes]

_ESCAPES = {"n": b"\n", "r": b"\r", "t": b"\t", "\\": b"\\"}
_TOKEN = re.compile(r"%(.?)|\\x([0-9a-fA-F]{2})|\\(.?)|([^%\\]+)", re.DOTALL)

NULL = b"NULL"


def _headers(record: Record) -> bytes:
    return b",".join(name.encode() + b"=" + _or_null(value) for name, value in record.headers)


def _or_null(value: bytes | None) -> bytes:
    return NULL if value is None else value


def _length(value: bytes | None) -> bytes:
    return b"-1" if value is None else b"%d" % len(value)


FIELDS: dict[str, Callable[[Record], bytes]] = {
    "t": lambda record: record.topic.encode(),
    "p": lambda record: b"%d" % record.partition,
    "o": lambda record: b"%d" % record.offset,
    "k": lambda record: _or_null(record.key),
    "K": lambda record: _length(record.key),
    "s": lambda record: _or_null(record.value),
    "S": lambda record: _length(record.value),
    "T": lambda record: b"%d" % (-1 if record.timestamp_ms is None else record.timestamp_ms),
    "h": _headers,
}


def compile_format(text: str) -> Callable[[Record], bytes]:
    """A function that renders a record; ValueError names what is wrong with the format."""
    pieces: list[Piece] = [_piece(match) for match in _TOKEN.finditer(text)]

    def render(record: Record) -> bytes:
        return b"".join(p if isinstance(p, bytes) else p(record) for p in pieces)

    return render


def _piece(match: "re.Match[str]") -> Piece:
    field, code, escape, literal = match.groups()
    if literal is not None:
        return literal.encode(errors="surrogateescape")
    if code is not None:
        return bytes([int(code, 16)])
    if field == "%":
        return b"%"
    if field is not None:
        if field not in FIELDS:
            raise ValueError(f"%{field} means nothing; there are %{' %'.join(FIELDS)} and %%")
        return FIELDS[field]
    if escape not in _ESCAPES:
        raise ValueError(f"\\{escape} means nothing; there are \\n \\r \\t \\\\ and \\xHH")
    return _ESCAPES[escape]
