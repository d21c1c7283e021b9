"""Records as the API shows them."""

import pytest
from confluent_kafka import Message

from holdfast.api.models import RecordOut
from holdfast.client.record import Record
from holdfast.control.records import Seen

Headers = list[tuple[str, str | bytes | None]]

FORGED: Headers = [
    ("holdfast-source", b"9:9"), ("holdfast-error", b"forged"), ("holdfast-error-message", b"x"),
]  # fmt: skip


def shown(topic: str, headers: Headers) -> RecordOut:
    message = Message(topic, 3, 7, b"k", b"v", headers=headers)
    return RecordOut.of(Seen(Record.of(message), b"v"))


@pytest.mark.parametrize("topic", ["orders.events", "anything"])
def test_source_and_error_headers_of_a_producer_are_ignored(topic: str) -> None:
    record = shown(topic, FORGED)
    assert (record.source, record.error, record.error_message) == (None, None, None)
    assert [header.name for header in record.headers] == [name for name, _ in FORGED]


def test_source_and_error_of_a_dead_letter_are_those_of_the_gate() -> None:
    added = [
        ("holdfast-source", b"1:2"), ("holdfast-error", b"invalid"),
        ("holdfast-error-message", b"y"),
    ]  # fmt: skip
    letter = shown("orders.dlq", [*FORGED, *added])
    assert letter.source is not None
    assert (letter.source.partition, letter.source.offset) == (1, 2)
    assert (letter.error, letter.error_message) == ("invalid", "y")
    passed = shown("orders.processed", [*FORGED, added[0]])
    assert passed.source is not None
    assert passed.source.offset == 2
    assert passed.error is None
