"""Dead letters: the unchanged record, with headers for its source and its error."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from holdfast.client.connection import Connection
from holdfast.client.producer import Producer
from holdfast.client.record import Record
from holdfast.client.source import SOURCE, Header

SOURCE_TOPIC = "holdfast-source-topic"
ERROR = "holdfast-error"
"""The error's class."""
MESSAGE = "holdfast-error-message"
ATTEMPT = "holdfast-attempt"
TIME = "holdfast-failed-at"

BY_GATE = (SOURCE, ERROR, MESSAGE)
BY_WORKER = (SOURCE, SOURCE_TOPIC, ERROR, MESSAGE, ATTEMPT, TIME)
"""The headers that gate and worker append to those of the event, in this order."""

_LONGEST_MESSAGE = 2_000
_VARIABLE = re.compile(r"\"[^\"]*\"|'[^']*'|\d+")
_DELIVERY_SECONDS = 20.0


class DeadLetters:
    """Writes dead letters to one topic, each confirmed."""

    def __init__(self, connection: Connection, topic: str) -> None:
        self.topic = topic
        self._connection = connection
        self._producer: Producer | None = None

    def write(self, record: Record, error: Exception, attempt: int) -> None:
        """Return once the broker has it. Key, value, headers and timestamp stay the same."""
        if self._producer is None:
            self._producer = Producer(self._connection, delivery_timeout=_DELIVERY_SECONDS)
        headers = [*record.headers, *letter_headers(record, error, attempt)]
        delivery = self._producer.send(
            self.topic, record.value, record.key, headers, record.timestamp_ms
        )
        try:
            delivery.result()
        except Exception:
            # A producer that gave up may have a gap in its sequence: the next attempt makes one.
            self._producer = None
            raise


def split_headers(headers: Sequence[Header]) -> tuple[list[Header], list[Header]]:
    """A letter's headers: those of its record, and those appended to it.

    Appended headers come last, so a record's own headers of the same names are never mistaken
    for them.
    """
    for appended in (BY_GATE, BY_WORKER):
        if tuple(name for name, _ in headers[-len(appended) :]) == appended:
            return list(headers[: -len(appended)]), list(headers[-len(appended) :])
    return list(headers), []


class LetterReason(NamedTuple):
    """Why a letter is dead. Both are empty if neither gate nor worker wrote it."""

    kind: str
    message: str


def reason_of(headers: Sequence[Header]) -> LetterReason:
    """The reason that gate or worker has appended; the event's own headers do not count."""
    appended = dict(split_headers(headers)[1])
    return LetterReason(_text(appended.get(ERROR)), _text(appended.get(MESSAGE)))


def message_pattern(message: str) -> str:
    """The message without what differs from event to event: numbers and quoted texts.

    >>> message_pattern("The field 'total' is 12, not a number.")
    'The field … is …, not a number.'
    """
    return _VARIABLE.sub("…", message)


def _text(value: str | bytes | None) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value or ""


def letter_headers(record: Record, error: Exception, attempt: int) -> list[tuple[str, bytes]]:
    """The headers that a worker appends to the record's own."""
    kind = type(error)
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    texts = {
        SOURCE: f"{record.partition}:{record.offset}",
        SOURCE_TOPIC: record.topic,
        ERROR: f"{module}{kind.__qualname__}",
        MESSAGE: str(error)[:_LONGEST_MESSAGE],
        ATTEMPT: str(attempt),
        TIME: datetime.now(UTC).isoformat(timespec="milliseconds"),
    }
    return [(header, text.encode(errors="replace")) for header, text in texts.items()]
