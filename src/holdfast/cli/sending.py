"""Sends the records of a command and reports each failure as it happens."""

import logging
import sys
import threading
import warnings
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from holdfast.errors import DeliveryError

if TYPE_CHECKING:
    from confluent_kafka import KafkaError

    from holdfast.client.producer import Producer

log = logging.getLogger(__name__)

_SHOWN = 10
"""Failures that get their own line; an unreachable broker fails all records alike."""


class Sender:
    """Sends records inside a `with` block, and flushes at its end in any case.

    A thread handles the broker's answers, because the main thread may wait hours for the next line
    of input. `prefix` begins each line about a failure.
    """

    def __init__(self, producer: "Producer", topic: str, *, prefix: str) -> None:
        self._producer = producer
        self._topic = topic
        self._prefix = prefix
        self._sent = 0
        self._failed = 0
        self._transient = True
        self._ended = threading.Event()
        self._poller = threading.Thread(target=self._poll, name="delivery reports", daemon=True)

    def send(
        self,
        value: Any,
        key: Any = None,
        headers: Any = None,
        timestamp: "datetime | int | None" = None,
        partition: int = -1,
    ) -> None:
        from confluent_kafka import KafkaException

        from holdfast.client.kafka_errors import translate

        settle = partial(self._settle, self._sent + 1)
        while True:
            try:
                self._producer.enqueue(
                    self._topic, value, key, headers, timestamp, partition, settle
                )
            except BufferError:
                self._producer.poll(0.1)
            except KafkaException as error:
                raise translate(error, f"Sending record {self._sent + 1}") from None
            else:
                self._sent += 1
                return

    @property
    def count(self) -> int:
        """The number of records that were sent, acknowledged or not."""
        return self._sent

    def __enter__(self) -> Self:
        self._poller.start()
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            if error is None:
                self._producer.flush()
            else:
                self._finish(error)
        finally:
            self._ended.set()
            self._poller.join()
        if not self._failed:
            return
        failure = DeliveryError(f"{self._failed} of {self._sent} records did not arrive.")
        failure.transient = self._transient
        if error is None:
            raise failure
        self._print(failure)

    def _finish(self, error: BaseException) -> None:
        """Flushes within a time limit. Records in doubt are reported as a line for people."""
        with warnings.catch_warnings(record=True) as reports:
            warnings.simplefilter("always")
            self._producer.finish(error)
        for report in reports:
            self._print(report.message)

    def _settle(self, number: int, error: "KafkaError | None", _: object) -> None:
        if error is None:
            return
        from holdfast.client.kafka_errors import translate

        failure = translate(error, f"Delivering record {number}")
        self._failed += 1
        self._transient = self._transient and failure.transient
        if self._failed <= _SHOWN:
            self._print(failure)

    def _print(self, message: object) -> None:
        print(f"{self._prefix}{message}", file=sys.stderr, flush=True)

    def _poll(self) -> None:
        while not self._ended.is_set():
            try:
                self._producer.poll(0.1)
            except Exception:  # without this thread no delivery is reported
                log.exception("A delivery report could not be handled")
                self._ended.wait(0.1)
