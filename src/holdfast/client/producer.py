"""Sending records."""

import os
import time
import weakref
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Self, TypedDict

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
from holdfast.client.forks import guard
from holdfast.client.kafka_errors import translate
from holdfast.client.transaction import Transaction
from holdfast.client.undelivered import FLUSH_SECONDS, Failures, finish, report
from holdfast.errors import TimedOutError

POLL_EVERY = 64
"""Delivery reports are polled once for this number of records: each poll releases the GIL."""

TRANSACTION_TIMEOUT_MS = 60_000

_new = object.__new__


class ProducerOptions(TypedDict, total=False):
    """Options of a `Producer`."""

    delivery_timeout: float
    transactional_id: str | None
    kafka: Mapping[str, Any] | None


class Producer:
    """Sends records. Acknowledged means on all replicas; a retry never writes a record twice, until
    a record is given up after `delivery_timeout` seconds: librdkafka then takes a new epoch and
    sends the other unacknowledged records again, even those that have arrived.

    >>> with client.producer() as producer:
    ...     delivery = producer.send(topic, {"id": 7, "paid": True}, key="customer-7")
    ...     delivery.result().offset
    0

    Leaving the `with` block waits for all acknowledgements, and raises DeliveryError if a record
    failed and its `result` was not called. Any other end (an error, Ctrl-C, the garbage collector,
    the end of the interpreter) waits while acknowledgements arrive, and reports the number of
    records without one. Safe to use from several threads.
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
            # The broker aborts a transaction after this time, so no record may be retried longer.
            longest = min(round(delivery_timeout * 1000), TRANSACTION_TIMEOUT_MS)
            config |= {
                "transactional.id": transactional_id,
                "transaction.timeout.ms": TRANSACTION_TIMEOUT_MS,
                "message.timeout.ms": longest,
            }
        self._kafka = connection.make(KafkaProducer, {**config, **(kafka or {})})
        self._produce = self._kafka.produce
        self._poll_in = POLL_EVERY
        self._failures = Failures()
        self._timeout = connection.settings.request_timeout
        self._transactional = transactional_id is not None
        guard(self, "_kafka", "_produce")
        weakref.finalize(self, finish, self._kafka, self._failures)
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
        """Send one record. Returns at once; the delivery has the result.

        dicts and dataclasses become JSON, bytes and str stay as they are, None is a null. Records
        of one key go to one partition, the one that Java clients choose. When the local queue is
        full, this waits.
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
                # The queue is full. Every record leaves it within the delivery timeout.
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
        """Add a record to librdkafka's queue; BufferError if it is full."""
        more: dict[str, Any] = {}
        if headers is not None:
            more["headers"] = encode_headers(headers)
        if timestamp is not None:
            more["timestamp"] = to_milliseconds(timestamp)
        self._produce(topic, encode_value(value), encode_key(key), partition, settle, **more)

    def flush(self, timeout: float | None = None) -> None:
        """Return once every record sent so far is acknowledged.

        Raises DeliveryError if some failed, and TimedOutError after `timeout` seconds.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while self._kafka.flush(FLUSH_SECONDS):
            if deadline is not None and time.monotonic() >= deadline:
                raise TimedOutError(f"{len(self._kafka)} records were not acknowledged in time.")
        self._failures.raise_all()

    def transaction(self) -> Transaction:
        """Records sent inside the `with` block become visible together, or not at all.

        >>> with client.producer(transactional_id=topic) as producer:
        ...     with producer.transaction():
        ...         _ = producer.send(topic, "debit", key="a")
        ...         _ = producer.send(topic, "credit", key="b")

        An error inside the block aborts it. Needs `client.producer(transactional_id=…)`.
        """
        return Transaction(self._kafka, transactional=self._transactional, timeout=self._timeout)

    def close(self) -> None:
        """Flush. Does nothing in a fork: the records belong to the process that sent them."""
        if self._failures.process == os.getpid():
            self.flush()

    def finish(self, error: BaseException | None = None) -> None:
        """Flush for a limited time, and report the number of unacknowledged records: in the log,
        and as a note on `error` or as a warning. For an end that `error` has caused."""
        finish(self._kafka, self._failures, error)

    def report(self, error: BaseException | None) -> None:
        """The second half of `finish`, for a caller that has already waited."""
        report(len(self._kafka), self._failures, error)

    def poll(self, timeout: float = 0) -> None:
        """Process delivery reports. `Delivery.result` and `flush` do so themselves."""
        self._kafka.poll(timeout)

    def failed(self, delivery: Delivery) -> None:
        """Count a failed delivery whose error was not raised yet."""
        self._failures.add(delivery)

    def failure_seen(self, delivery: Delivery) -> None:
        """The error of this delivery was raised, so `flush` need not raise it."""
        self._failures.seen(delivery)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            self.close()
        else:
            self.finish(error)
