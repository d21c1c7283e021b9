"""Writes the state of each owned partition to Kafka, for the dashboard and `holdfast top`.

A partition is reported by its owner alone, so the topic has one record per partition, however many
workers come and go. Reports of a worker that was killed end, and views notice that.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from time import monotonic

from holdfast.background import Background
from holdfast.client.connection import Connection
from holdfast.client.delivery import Delivery
from holdfast.client.planned_topics import make_table
from holdfast.client.producer import Producer
from holdfast.client.topics import Topics
from holdfast.errors import HoldfastError, NotFoundError
from holdfast.flows.reports import REPORTS_TOPIC, Report, encode_report, is_due

log = logging.getLogger(__name__)

_TURN_SECONDS = 1.0
_DELIVERY_SECONDS = 10.0
_LAST_SECONDS = 3.0
"""A partition is not kept for longer, only to report that it is given up."""


class Reporter:
    """Writes reports on its own thread. A failed write is only logged: a guard does not depend on
    reports."""

    def __init__(self, connection: Connection, reports: Callable[[], Mapping[int, Report]]) -> None:
        """`reports`: the owned partitions as they are now."""
        self._connection = connection
        self._reports = reports
        self._written: dict[int, tuple[Report, float]] = {}
        self._producer: Producer | None = None
        self._sent: list[Delivery] = []
        """Reports whose outcome was not taken yet."""
        self._failing = False
        """A failure was logged, and no report has arrived since."""
        self._lock = Lock()
        self._ended: set[int] = set()
        """Owned partitions whose last report is written."""
        self._thread = Background("reporter", self._turn)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._thread.stop(_DELIVERY_SECONDS)
        if self._producer is not None:
            self._try(self._producer.close)

    def end(self, reports: Mapping[int, Report]) -> None:
        """The worker stops or has failed: these are the last reports of its partitions. Call this
        before another worker can own them, or its report would be overwritten."""
        with self._lock:
            self._ended |= reports.keys()
            if reports:
                self._try(lambda: self._write(reports))
                self._try(self._flush)

    def forget(self, partitions: Iterable[int]) -> None:
        """The worker does not own these partitions any more."""
        with self._lock:
            for number in partitions:
                self._written.pop(number, None)
                self._ended.discard(number)

    def _turn(self) -> None:
        if self._thread.stopping.wait(_TURN_SECONDS):
            return
        with self._lock:  # a partition that ends meanwhile must not be reported as running
            reports = {n: r for n, r in self._reports().items() if n not in self._ended}
            self._settle()
            self._try(lambda: self._write(reports))

    def _settle(self) -> None:
        """Takes the outcomes of sent reports: a refusal comes some time after the sending."""
        settled, unsettled = list[Delivery](), list[Delivery]()
        for delivery in self._sent:
            (settled if delivery.done() else unsettled).append(delivery)
        self._sent = unsettled
        arrived = [self._try(delivery.result) for delivery in settled]
        if arrived and all(arrived):
            self._failing = False

    def _try(self, write: Callable[[], object]) -> bool:
        try:
            write()
        except HoldfastError as error:
            if not self._failing:
                log.warning("Reports about this worker cannot be written to Kafka now: %s", error)
            self._failing = True
            return False
        return True

    def _write(self, reports: Mapping[int, Report]) -> None:
        now = monotonic()
        for number, report in reports.items():
            last = self._written.get(number)
            if last is not None and not is_due(last[0], report, now - last[1]):
                continue
            if self._producer is None:
                self._ensure_topic()
                self._producer = Producer(self._connection, delivery_timeout=_DELIVERY_SECONDS)
            key, value = encode_report(report)
            self._sent.append(self._producer.send(REPORTS_TOPIC, value, key))
            self._written[number] = report, now

    def _ensure_topic(self) -> None:
        """A worker may have the right to write to the topic, and none to configure it."""
        try:
            Topics(self._connection).describe(REPORTS_TOPIC)
        except NotFoundError:
            make_table(self._connection, REPORTS_TOPIC)

    def _flush(self) -> None:
        if self._producer is not None:
            self._producer.flush(_LAST_SECONDS)
