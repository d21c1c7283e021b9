"""Writes the state of each part of each flow to Kafka, for views in other processes.

A stopped gate logs its reason, and exports it as a metric, only on its own machine. A report in
Kafka is visible everywhere.
"""

import logging
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from time import monotonic

from holdfast.background import Background
from holdfast.client.connection import Connection
from holdfast.client.delivery import Delivery
from holdfast.client.planned_topics import make_table
from holdfast.client.producer import Producer
from holdfast.clock import now_ms
from holdfast.errors import HoldfastError, TimedOutError
from holdfast.flows.reports import COUNTS_SECONDS, REPORTS_TOPIC, Report, encode_report, is_due
from holdfast.pipeline.parts.clock import PipelineClock
from holdfast.pipeline.parts.metrics import Metrics, PartCounts
from holdfast.pipeline.process.runner import Health

log = logging.getLogger(__name__)

HealthByPart = Mapping[str, Mapping[str, Health]]
"""By flow and part."""

_TURN_SECONDS = 0.5
_DELIVERY_SECONDS = 10.0
_COMPARE_SECONDS = 1.0
"""At most one report per this time is used to compare clocks, because that one is waited for, and
there may be hundreds."""
_ACKNOWLEDGED_SECONDS = 0.5


class Reporter:
    """Writes reports, on its own thread. A failed write is only logged: the gate does not depend
    on reports."""

    def __init__(
        self,
        connection: Connection,
        metrics: Metrics,
        health: Callable[[], HealthByPart],
        clock: PipelineClock,
    ) -> None:
        self._connection = connection
        self._metrics = metrics
        self._health = health
        self._clock = clock
        self._process = uuid.uuid4().hex[:12]
        self._written: dict[tuple[str, str], tuple[Report, float]] = {}
        self._producer: Producer | None = None
        self._compare_at = 0.0
        self._count_at = 0.0
        self._counts: dict[tuple[str, str], PartCounts] = {}
        """The counts of each part, as of the last time that they were read."""
        self._failing = False
        self._thread = Background(
            "reporter", self._turn, close=lambda: self._try(self._publish_stopped)
        )

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Report all parts as stopped, and end the thread."""
        self._thread.stop(_DELIVERY_SECONDS)

    def _turn(self) -> None:
        if not self._thread.stopping.wait(_TURN_SECONDS):
            self._try(self._publish)

    def _try(self, publish: Callable[[], None]) -> None:
        try:
            publish()
            self._failing = False
        except HoldfastError as error:
            if not self._failing:
                log.warning("Reports about the parts cannot be written to Kafka now: %s", error)
            self._failing = True

    def _publish(self) -> None:
        parts = {
            (flow, part): health
            for flow, each in self._health().items()
            for part, health in each.items()
        }
        if monotonic() >= self._count_at:
            self._count_at = monotonic() + COUNTS_SECONDS
            self._counts = {key: self._metrics.counts_of(*key) for key in parts}
        for (flow, part), health in parts.items():
            self._write(self._report(flow, part, health))

    def _report(self, flow: str, part: str, health: Health) -> Report:
        counts = self._counts.get((flow, part), PartCounts())
        return Report(
            flow=flow,
            part=part,
            state=health.state,
            reason=health.reason,
            blocked=counts.blocked and health.state == "waiting",
            at=now_ms(),
            process=self._process,
            taken=counts.taken,
            passed=counts.passed,
            held=counts.held,
            dead=counts.dead,
            batches=counts.batches,
            batch_seconds=counts.batch_seconds,
            latency_seconds=counts.latency_seconds,
            files=counts.files,
            lands_within=counts.lands_within,
        )

    def _write(self, report: Report) -> None:
        last = self._written.get((report.flow, report.part))
        if last is not None and not is_due(last[0], report, monotonic() - last[1]):
            return
        if self._producer is None:
            make_table(self._connection, REPORTS_TOPIC)
            self._producer = Producer(self._connection, delivery_timeout=_DELIVERY_SECONDS)
        key, value = encode_report(report)
        sent = now_ms()
        delivery = self._producer.send(REPORTS_TOPIC, value, key)
        self._producer.poll()
        if monotonic() >= self._compare_at:
            self._compare_at = monotonic() + _COMPARE_SECONDS
            self._compare_clocks(delivery, sent)
        self._written[report.flow, report.part] = report, monotonic()

    def _compare_clocks(self, delivery: Delivery, sent: int) -> None:
        """Compare this machine's clock with the time that the broker put on a report."""
        with suppress(TimedOutError):  # a later report will do
            appended = delivery.result(_ACKNOWLEDGED_SECONDS).timestamp_ms
            self._clock.appended(appended, sent=sent, acknowledged=now_ms())

    def _publish_stopped(self) -> None:
        for report, _ in list(self._written.values()):
            ended = replace(report, state="stopped", reason="", blocked=False)
            self._write(replace(ended, at=now_ms()))
        if self._producer is not None:
            self._producer.flush(_DELIVERY_SECONDS / 2)
