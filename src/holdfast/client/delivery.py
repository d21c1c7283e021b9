"""The delivery of a record: pending, acknowledged or failed."""

import time
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from confluent_kafka import KafkaError, Message

from holdfast.client.kafka_errors import translate
from holdfast.clock import from_ms
from holdfast.errors import HoldfastError, TimedOutError

if TYPE_CHECKING:
    from holdfast.client.producer import Producer

UNDONE = (KafkaError._PURGE_QUEUE, KafkaError._PURGE_INFLIGHT)
"""Errors of records that were discarded because their transaction was aborted."""


@dataclass(frozen=True, slots=True)
class Delivered:
    """The position of an acknowledged record."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int

    @property
    def timestamp(self) -> datetime:
        return from_ms(self.timestamp_ms)

    @classmethod
    def of(cls, message: Message) -> "Delivered":
        return cls(message.topic(), message.partition(), message.offset(), message.timestamp()[1])  # type: ignore[arg-type]


class Delivery:
    """A record that was sent. `result()` waits for its acknowledgement, or raises its error."""

    # One of these is created for every record sent. It has a single slot for its outcome, and no
    # `__init__`, whose call would double its cost: `Producer.send` fills it.
    __slots__ = ("_outcome", "_producer")

    _producer: "Producer"
    _outcome: Message | KafkaError | None

    def done(self) -> bool:
        """Returns True if the outcome is known. Does not wait."""
        if self._outcome is None:
            self._producer.poll()
        return self._outcome is not None

    def result(self, timeout: float | None = None) -> Delivered:
        """Topic, partition, offset and timestamp, once acknowledged.

        Raises the error that the delivery ended with. Without `timeout` it waits until
        the producer gives up (`delivery_timeout`).
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while self._outcome is None:
            # Another thread's poll may settle this delivery, so no poll waits long.
            self._producer.poll(0.05)
            if self._outcome is None and deadline is not None and time.monotonic() >= deadline:
                raise TimedOutError(
                    f"No acknowledgement came within {timeout} s. The record may still arrive."
                )
        if isinstance(self._outcome, KafkaError):
            self._producer.failure_seen(self)
            raise self.error()
        return Delivered.of(self._outcome)

    def error(self) -> HoldfastError:
        """The error of a failed delivery."""
        assert isinstance(self._outcome, KafkaError)
        return translate(self._outcome, "Delivering a record")

    def __call__(self, error: KafkaError | None, message: Any) -> None:
        """librdkafka's delivery report. The delivery is its own callback: a bound method would be
        one more object for each record in the queue."""
        if error is None:
            self._outcome = message
        else:
            self._outcome = error
            if error.code() not in UNDONE:
                self._producer.failed(self)
