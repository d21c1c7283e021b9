"""A record that was read."""

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from confluent_kafka import TIMESTAMP_NOT_AVAILABLE, Message

from holdfast.client.encoding import from_milliseconds
from holdfast.errors import InvalidRecordError


class Record:
    """One record of a topic.

    Parts are looked up when asked for, so that an unused one costs nothing; but for the value,
    which nearly everybody asks for.
    """

    __slots__ = ("_message", "value")

    _message: Message
    value: bytes | None

    @classmethod
    def of(cls, message: Message) -> "Record":
        """What confluent-kafka read, as a record: for tests of a handler, say."""
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
        return None if milliseconds is None else from_milliseconds(milliseconds)

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
    """The messages as records, each taken and made when it is asked for.

    The one place where records are made. `Record` has no `__init__`: to call one for each record
    would cost more than all the rest that is done for it here.
    """
    for messages in chunks:
        for message in messages:
            record = Record()
            record._message = message
            record.value = message.value()
            yield record
