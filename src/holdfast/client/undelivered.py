"""The end of a producer: it flushes for a limited time and reports undelivered records.

An error, Ctrl-C, `sys.exit`, the garbage collector and the end of the interpreter all lead here.
Only an explicit flush, or a `with` block that ends without an error, waits longer and raises.
"""

import logging
import os
import threading
import time
import warnings
from typing import TYPE_CHECKING

from confluent_kafka import Producer as KafkaProducer

from holdfast.errors import DeliveryError, HoldfastError, UndeliveredWarning

if TYPE_CHECKING:
    from holdfast.client.delivery import Delivery

log = logging.getLogger("holdfast.client")

QUIET_SECONDS = 10.0
"""The last flush ends after this time without an acknowledgement. It always ends: each record is
given up after the producer's `delivery_timeout`."""
FLUSH_SECONDS = 0.2
"""Python handles a signal (Ctrl-C) only between two calls of librdkafka."""


class Failures:
    """Failed deliveries whose error was not raised yet."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self._lock = threading.Lock()
        self._count = 0
        self._first: tuple[int, HoldfastError] | None = None
        self.reported = 0
        """The number of queued records that were reported: they are not waited for again."""

    def add(self, delivery: "Delivery") -> None:
        with self._lock:
            self._count += 1
            # Not the delivery itself: it leads back to the producer, which would never be freed.
            self._first = self._first or (id(delivery), delivery.error())

    def seen(self, delivery: "Delivery") -> None:
        with self._lock:
            if self._count:
                self._count -= 1
                if not self._count or (self._first and self._first[0] == id(delivery)):
                    self._first = None

    def take(self) -> tuple[int, HoldfastError | None]:
        """Returns their number and the first error, and clears both."""
        with self._lock:
            count, first = self._count, self._first
            self._count, self._first = 0, None
        return count, first[1] if first else None

    def raise_all(self) -> None:
        """Raise DeliveryError if there are any."""
        count, first = self.take()
        if not count:
            return
        why = f" The first: {first}" if first else ""
        error = DeliveryError(f"{count} records that were sent did not arrive.{why}")
        if first:
            error.transient = first.transient
        raise error


def flush_until_quiet(kafka: KafkaProducer) -> None:
    """Wait while acknowledgements come in, and QUIET_SECONDS without one."""
    left, deadline = len(kafka), time.monotonic() + QUIET_SECONDS
    while left and time.monotonic() < deadline:
        now_left = kafka.flush(FLUSH_SECONDS)
        if now_left < left:
            deadline = time.monotonic() + QUIET_SECONDS
        left = now_left


def finish(kafka: KafkaProducer, failures: Failures, error: BaseException | None = None) -> None:
    """Flush for a limited time, and report unacknowledged records.

    Raises nothing of its own: `error`, if there is one, is on its way to the user.
    """
    if failures.process != os.getpid():
        return  # a fork: the records are those of the process that sent them
    if failures.reported:
        kafka.poll(0)  # librdkafka counts waiting events, such as errors, as records
    if len(kafka) <= failures.reported:
        report(0, failures, error)
        return
    try:
        flush_until_quiet(kafka)
    finally:
        report(len(kafka), failures, error)


def report(left: int, failures: Failures, error: BaseException | None) -> None:
    """Reports the number of unacknowledged records: in the log, and as a note on the error or as a
    warning."""
    failed, first = failures.take()
    failures.reported = left
    if not left + failed:
        return
    message = (
        f"{left + failed} records that were sent had not been acknowledged when the producer "
        "ended: some of them may have arrived, and the others are lost."
    )
    if first is not None:
        message += f" The first that failed: {first}"
    log.error("%s", message)
    if error is not None:
        error.add_note(message)
    if not isinstance(error, Exception):  # else the note on the error is enough
        warnings.warn(message, UndeliveredWarning, stacklevel=2)
