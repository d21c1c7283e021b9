"""The event that a handler gets, and the exceptions by which it decides for itself."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from confluent_kafka import Message

from holdfast.client.encoding import (
    Headers,
    Key,
    Value,
    encode_headers,
    encode_key,
    encode_value,
)
from holdfast.client.source import Header, headers_of
from holdfast.errors import InvalidRecordError, TerminalError


class Hold(TerminalError):
    """Raised by a handler: park the key at once, until a person decides. No further attempts."""


class Skip(TerminalError):
    """Raised by a handler: send this event to the dead letters at once, and go on with the next one
    of its key."""


class Sent(NamedTuple):
    """A record that a handler has sent. It is written in the transaction of its event's step."""

    topic: str
    value: bytes | None
    key: bytes | None
    headers: Sequence[tuple[str, bytes | None]]
    partition: int


class Outputs(Protocol):
    """The topics that handlers send to."""

    def check(self, record: Sent) -> None:
        """Raise if the topic does not exist, or does not take a record of this size."""


class Event:
    """One event of the topic that a guard reads."""

    __slots__ = ("_message", "_outputs", "_row", "attempt", "offset", "sent", "topic")

    def __init__(
        self,
        message: Message,
        topic: str,
        offset: int,
        attempt: int,
        outputs: Outputs,
        *,
        row: bool = False,
    ) -> None:
        """`row`: the message is a row of held, whose last header is the event's coordinate."""
        self._message = message
        self._outputs = outputs
        self._row = row
        self.topic = topic
        self.offset = offset
        """The event's offset in `topic`."""
        self.attempt = attempt
        """1 for the first attempt. After a crash an attempt may be repeated."""
        self.sent: list[Sent] = []

    @property
    def partition(self) -> int:
        return self._message.partition() or 0

    @property
    def id(self) -> str:
        """Topic, partition and offset: the same in every attempt, so it makes a handler
        idempotent."""
        return f"{self.topic}:{self.partition}:{self.offset}"

    @property
    def key(self) -> bytes | None:
        return self._message.key()

    @property
    def value(self) -> bytes | None:
        return self._message.value()

    @property
    def headers(self) -> list[Header]:
        """In the order in which they were written; a name may be there more than once."""
        headers = headers_of(self._message)
        return headers[:-1] if self._row else headers

    @property
    def timestamp(self) -> int:
        """Milliseconds since 1970."""
        return max(0, self._message.timestamp()[1])

    def json(self) -> Any:
        """The value as JSON. InvalidRecordError if it is none."""
        try:
            return json.loads(self.value or b"null")
        except ValueError as error:
            raise InvalidRecordError(f"The value of {self.id} is not JSON: {error}.") from None

    def send(
        self,
        topic: str,
        value: Value = None,
        key: Key = None,
        headers: Headers = (),
        partition: int = -1,
    ) -> None:
        """Send a record in the same Kafka transaction as the progress: exactly once, and only if
        the handler returns. NotFoundError if there is no such topic, RecordTooLargeError if it does
        not take a record of this size."""
        record = Sent(
            topic, encode_value(value), encode_key(key), encode_headers(headers), partition
        )
        self._outputs.check(record)
        self.sent.append(record)

    def __repr__(self) -> str:
        return f"<Event {self.id}, attempt {self.attempt}>"
