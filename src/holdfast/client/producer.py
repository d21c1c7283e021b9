"""Sending records."""

import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from types import TracebackType
from typing import Any, Self

from confluent_kafka import KafkaError, KafkaException, Message
from confluent_kafka import Producer as KafkaProducer

from holdfast.client.connection import Connection
from holdfast.client.delivery import Delivery
from holdfast.client.encoding import (
    Headers,
    Key,
    Value,
    encode_headers,
    encode_key,
    encode_value,
    to_milliseconds,
)
from holdfast.client.kafka_errors import translate
from holdfast.client.transaction import Transaction
from holdfast.errors import DeliveryError, TimedOutError

POLL_EVERY = 64
"""Delivery reports are taken in once in so many records: each poll lets go of the GIL."""

TRANSACTION_TIMEOUT_MS = 60_000

_new = object.__new__


class Producer:
    """Sends records. Acknowledged means on all replicas; a retry never writes a record twice.

    >>> with client.producer() as producer:
    ...     delivery = producer.send(topic, {"id": 7, "paid": True}, key="customer-7")
    ...     delivery.result().offset
    0

    Leaving the `with` block waits for all acknowledgements, and raises DeliveryError if a record
    did not arrive and nobody has asked for its result. Safe to use from several threads.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        delivery_timeout: float = 120.0,
        transactional_id: str | None = None,
        kafka: Mapping[str, Any] | None = None,
    ) -> None:
        config: dict[str, Any] = {
            "acks": "all",
            "enable.idempotence": True,
            "partitioner": "murmur2_random",
            "message.timeout.ms": round(delivery_timeout * 1000),
        }
        if transactional_id is not None:
            # The broker aborts a transaction that is open for longer, so no record may try longer.
            longest = min(round(delivery_timeout * 1000), TRANSACTION_TIMEOUT_MS)
            config |= {
                "transactional.id": transactional_id,
                "transaction.timeout.ms": TRANSACTION_TIMEOUT_MS,
                "message.timeout.ms": longest,
            }
        self._kafka = connection.make(KafkaProducer, {**config, **(kafka or {})})
        self._produce = self._kafka.produce
        self._poll_in = POLL_EVERY
        self._lock = threading.Lock()
        self._failures = 0
        self._first_failure: Delivery | None = None
        self._transactional = transactional_id is not None
        if self._transactional:
            Transaction.prepare(self._kafka, connection)

    def send(
        self,
        topic: str,
        value: Value = None,
        key: Key = None,
        headers: Headers | None = None,
        timestamp: datetime | int | None = None,
        partition: int = -1,
    ) -> Delivery:
        """Hand over one record, and return at once; the delivery tells what becomes of it.

        dicts and dataclasses go as JSON, bytes and str as they are, None as a null. Records of
        one key go to one partition, the one that Java clients pick. When the local queue is full
        this waits for room.
        """
        delivery = _new(Delivery)
        delivery._producer = self
        delivery._outcome = None
        plain = value.__class__ is bytes and headers is None and timestamp is None
        while True:
            try:
                if plain and key.__class__ is bytes:
                    self._produce(topic, value, key, partition, delivery)
                else:
                    self.enqueue(topic, value, key, headers, timestamp, partition, delivery)
                break
            except BufferError:
                # The queue is full. Every record in it ends within the delivery timeout, so
                # there will be room.
                self._kafka.poll(0.1)
            except KafkaException as error:
                raise translate(error, f"Sending to {topic!r}") from None
        self._poll_in -= 1
        if self._poll_in <= 0:
            self._poll_in = POLL_EVERY
            self._kafka.poll(0)
        return delivery

    def enqueue(
        self,
        topic: str,
        value: Value,
        key: Key,
        headers: Headers | None,
        timestamp: datetime | int | None,
        partition: int,
        settle: Callable[[KafkaError | None, Message], None],
    ) -> None:
        """Put a record into librdkafka's queue; BufferError if that is full."""
        more: dict[str, Any] = {}
        if headers is not None:
            more["headers"] = encode_headers(headers)
        if timestamp is not None:
            more["timestamp"] = to_milliseconds(timestamp)
        self._produce(topic, encode_value(value), encode_key(key), partition, settle, **more)

    def flush(self, timeout: float | None = None) -> None:
        """Return once every record sent so far is acknowledged.

        Raises DeliveryError if some were not, and TimedOutError if that is not known in time.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        # In slices, because a signal (Ctrl-C) is only seen between two calls of librdkafka.
        while self._kafka.flush(0.2):
            if deadline is not None and time.monotonic() >= deadline:
                raise TimedOutError(f"{len(self._kafka)} records were not acknowledged in time.")
        self._raise_failures()

    def transaction(self) -> Transaction:
        """Records sent inside the `with` block appear all together, or not at all.

        >>> with client.producer(transactional_id=topic) as producer:
        ...     with producer.transaction():
        ...         _ = producer.send(topic, "debit", key="a")
        ...         _ = producer.send(topic, "credit", key="b")

        An error inside the block aborts it. Needs `client.producer(transactional_id=…)`.
        """
        return Transaction(self._kafka, transactional=self._transactional)

    def close(self) -> None:
        """Flush."""
        self.flush()

    def poll(self, timeout: float = 0) -> None:
        """Take in delivery reports; `Delivery.result` and `flush` do this by themselves."""
        self._kafka.poll(timeout)

    def failed(self, delivery: Delivery) -> None:
        """A delivery ended with an error that nobody has seen yet."""
        with self._lock:
            self._failures += 1
            self._first_failure = self._first_failure or delivery

    def failure_seen(self, delivery: Delivery) -> None:
        """Somebody has seen the error of that delivery, so `flush` need not raise it."""
        with self._lock:
            if self._failures:
                self._failures -= 1
                if delivery is self._first_failure or not self._failures:
                    self._first_failure = None

    def _raise_failures(self) -> None:
        with self._lock:
            count, first = self._failures, self._first_failure
            self._failures, self._first_failure = 0, None
        if not count:
            return
        why = f" The first: {first.error()}" if first else ""
        error = DeliveryError(f"{count} records that were sent did not arrive.{why}")
        if first:
            error.transient = first.error().transient
        raise error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self._kafka.flush(1.0)  # what was sent goes out; the error at hand matters more
