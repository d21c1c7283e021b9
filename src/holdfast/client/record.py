"""A record that was read."""

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from confluent_kafka import TIMESTAMP_NOT_AVAILABLE, Message

from holdfast.clock import from_ms
from holdfast.errors import InvalidRecordError


class Record:
    """One record of a topic.

    All parts but the value are looked up when they are used, so an unused one costs nothing.
    """

    __slots__ = ("_message", "value")

    _message: Message
    value: bytes | None

    @classmethod
    def of(cls, message: Message) -> "Record":
        """The record of a message of confluent-kafka, for example to test a handler."""
        return next(records_of([[message]]))

    @property
    def topic(self) -> str:
        return self._message.topic()  # type: ignore[return-value]  # a record has one

    @property
    def partition(self) -> int:
        return self._message.partition()  # type: ignore[return-value]

    @property
    def offset(self) -> int:
        return self._message.offset()  # type: ignore[return-value]

    @property
    def key(self) -> bytes | None:
        return self._message.key()

    @property
    def headers(self) -> list[tuple[str, bytes | None]]:
        """In the order in which they were written; a name may be there more than once."""
        return self._message.headers() or []  # type: ignore[return-value]

    @property
    def timestamp_ms(self) -> int | None:
        """Milliseconds since 1970."""
        kind, milliseconds = self._message.timestamp()
        return None if kind == TIMESTAMP_NOT_AVAILABLE else milliseconds

    @property
    def timestamp(self) -> datetime | None:
        """In UTC."""
        milliseconds = self.timestamp_ms
        return None if milliseconds is None else from_ms(milliseconds)

    def header(self, name: str) -> bytes | None:
        """The last header of that name, or None."""
        return dict(self.headers).get(name)

    def text(self) -> str:
        """The value as UTF-8 text, or InvalidRecordError."""
        try:
            return (self.value or b"").decode()
        except UnicodeDecodeError as error:
            raise InvalidRecordError(f"{self} is not UTF-8 text: {error}.") from None

    def json(self) -> Any:
        """The value as JSON, or InvalidRecordError."""
        try:
            return json.loads(self.value or b"")
        except (ValueError, RecursionError) as error:
            raise InvalidRecordError(f"{self} is not JSON: {error}.") from None

    def __repr__(self) -> str:
        return f"<Record {self.topic}[{self.partition}] at {self.offset}>"


def records_of(chunks: Iterable[Iterable[Message]]) -> Iterator[Record]:
    """The messages as records, each created when the iteration reaches it.

    All records are created here. `Record` has no `__init__`: its call would cost more than
    everything else that is done for a record.
    """
    for messages in chunks:
        for message in messages:
            record = Record()
            record._message = message
            record.value = message.value()
            yield record
