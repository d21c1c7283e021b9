"""Values, keys and headers as bytes."""

from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from confluent_kafka import Message

from holdfast.client.encoding import (
    encode_headers,
    encode_key,
    encode_value,
    to_milliseconds,
)
from holdfast.client.record import Record
from holdfast.clock import from_ms
from holdfast.errors import InvalidArgumentError, InvalidRecordError


@dataclass
class Order:
    id: int
    customer: str


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (None, None),
        (b"raw\x00", b"raw\x00"),
        (bytearray(b"raw"), b"raw"),
        ("größe", "größe".encode()),
        ({"id": 7, "name": "ä"}, '{"id":7,"name":"ä"}'.encode()),
        ([1, 2], b"[1,2]"),
        (7, b"7"),
        (Order(7, "ana"), b'{"id":7,"customer":"ana"}'),
    ],
)
def test_values_go_as_json_or_as_they_are(value: object, encoded: bytes | None) -> None:
    assert encode_value(value) == encoded


@pytest.mark.parametrize(
    "value", [object(), {"x": {1, 2}}, float("nan"), {"a": "\ud800"}, "\ud800"]
)
def test_a_value_that_cannot_be_sent_is_refused(value: object) -> None:
    with pytest.raises(InvalidArgumentError):
        encode_value(value)


def test_a_key_is_text_or_bytes_and_nothing_else() -> None:
    assert [encode_key(k) for k in (None, "a", b"\xff")] == [None, b"a", b"\xff"]
    with pytest.raises(InvalidArgumentError, match="not int"):
        encode_key(7)  # type: ignore[arg-type]


def test_headers_keep_their_order_and_repetitions() -> None:
    pairs = [("a", "1"), ("b", None), ("a", b"\xff")]
    assert encode_headers(pairs) == [("a", b"1"), ("b", None), ("a", b"\xff")]
    assert encode_headers({"x": "y"}) == [("x", b"y")]


def test_times_are_milliseconds() -> None:
    moment = datetime(2026, 1, 31, 12, 0, 0, 250_000, UTC)
    assert to_milliseconds(moment) == 1769860800250
    assert from_ms(1769860800250) == moment
    assert to_milliseconds(5) == 5


def test_error_for_a_record_that_is_not_json_names_its_offset() -> None:
    record = Record.of(Message("t", 1, 42, None, b'{"half":'))
    with pytest.raises(InvalidRecordError, match=r"t\[1\] at 42.*not JSON"):
        record.json()
    with pytest.raises(InvalidRecordError, match="not UTF-8"):
        Record.of(Message("t", 1, 42, None, b"\xff")).text()
    assert record.header("missing") is None
