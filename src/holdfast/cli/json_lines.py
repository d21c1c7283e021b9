"""Records as JSON, one object per line: printed by `consume -o json`, read by `produce --json`.

Bytes that are not UTF-8 are base64, in a field with another name.
"""

import binascii
import json
from base64 import b64decode, b64encode
from typing import Any

from holdfast.client.record import Record
from holdfast.errors import InvalidRecordError

FIELDS = {"key", "value", "headers", "timestamp", "partition"}
"""Fields of a record to be sent."""
_BASE64 = "_base64"
_READ_ONLY_FIELDS = {"topic", "offset"}
"""Fields that only a record that was read has."""
_ALLOWED = FIELDS | _READ_ONLY_FIELDS | {"key" + _BASE64, "value" + _BASE64}


def to_line(record: Record) -> bytes:
    fields: dict[str, Any] = {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": record.timestamp_ms,
        **_field("key", record.key),
        **_field("value", record.value),
        "headers": [{"name": name, **_field("value", value)} for name, value in record.headers],
    }
    return json.dumps(fields, ensure_ascii=False).encode() + b"\n"


def _field(name: str, value: bytes | None) -> dict[str, str | None]:
    if value is None:
        return {name: None}
    try:
        return {name: value.decode()}
    except UnicodeDecodeError:
        return {name + _BASE64: b64encode(value).decode()}


def from_line(text: bytes) -> dict[str, Any]:
    """The arguments of `Producer.send`. InvalidRecordError names the fault of the line.

    The partition of a record that was read is its source, not its target: the target topic may
    have fewer partitions.
    """
    try:
        record = json.loads(text)
    except ValueError as error:
        raise InvalidRecordError(f"this is not JSON: {error}") from None
    if not isinstance(record, dict) or not record.keys() <= _ALLOWED:
        raise InvalidRecordError(
            f"this must be an object of {', '.join(sorted(FIELDS))}, or one that `consume -o json` "
            "printed, and have nothing else"
        )
    arguments: dict[str, Any] = {
        "key": _taken(record, "key"),
        "value": _taken(record, "value"),
        "headers": _headers(record.get("headers", {})),
    }
    if not isinstance(arguments["key"], str | bytes | None):
        raise InvalidRecordError("the key must be text")
    numbers = {"timestamp"} if record.keys() & _READ_ONLY_FIELDS else {"timestamp", "partition"}
    for name in numbers & record.keys():
        number = record[name]
        if name == "timestamp" and number is None:
            continue  # of a record that has none
        if not isinstance(number, int) or isinstance(number, bool):
            raise InvalidRecordError(f"{name} must be a whole number")
        arguments[name] = number
    return arguments


def _taken(fields: dict[str, Any], name: str) -> Any:
    if name + _BASE64 not in fields:
        return fields.get(name)
    if name in fields:
        raise InvalidRecordError(f"{name} and {name}{_BASE64} are one thing: give one of them")
    try:
        return b64decode(fields[name + _BASE64], validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise InvalidRecordError(f"{name}{_BASE64} is not base64") from None


def _headers(found: Any) -> list[tuple[str, Any]]:
    """As an object; as a list if a name comes twice or a value is not text."""
    if isinstance(found, dict):
        headers = list(found.items())
    elif isinstance(found, list) and all(isinstance(each, dict) for each in found):
        headers = [(each.get("name"), _taken(each, "value")) for each in found]
    else:
        headers = [("", 0)]
    if not all(isinstance(n, str) and isinstance(v, str | bytes | None) for n, v in headers):
        raise InvalidRecordError("headers must be an object of texts, or a list of name and value")
    return headers
