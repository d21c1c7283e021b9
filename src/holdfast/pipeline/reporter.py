"""Tells Kafka how each part of each flow is, for all who look at flows from elsewhere.

A gate that has stopped says why to its log and its metrics, which are on its machine alone; here
it is said where everything else is said.
"""

import logging
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from threading import Event, Thread
from time import monotonic, time

from holdfast.client.connection import Connection
from holdfast.client.planned_topics import make_table
from holdfast.client.producer import Producer
from holdfast.errors import HoldfastError
from holdfast.flows.reports import REPORT_EVERY_S, REPORTS_TOPIC, Report, encode_report
from holdfast.pipeline.metrics import Metrics
from holdfast.pipeline.runner import Health

log = logging.getLogger(__name__)

Told = Mapping[str, Mapping[str, Health]]
"""By flow and part."""

_TURN_S = 0.5
_COUNTS_S = 1.0
"""Counts that move are written so often; a state that changes is written at once."""
_DELIVERY_S = 10.0


class Reporter:
    """Writes reports, on a thread of its own. What cannot be written is only said: the gate's work
    does not depend on it."""

    def __init__(
        self, connection: Connection, metrics: Metrics, health: Callable[[], Told]
    ) -> None:
        self._connection = connection
        self._metrics = metrics
        self._health = health
        self._process = uuid.uuid4().hex[:12]
        self._written: dict[tuple[str, str], tuple[Report, float]] = {}
        self._producer: Producer | None = None
        self._away = False
        self._stopping = Event()
        self._thread = Thread(target=self._run, name="reporter", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Say of every part that it was stopped."""
        self._stopping.set()
        self._thread.join(_DELIVERY_S)

    def _run(self) -> None:
        while not self._stopping.wait(_TURN_S):
            self._try(self._tell)
        self._try(self._take_leave)

    def _try(self, tell: Callable[[], None]) -> None:
        try:
            tell()
            self._away = False
        except HoldfastError as error:
            if not self._away:
                log.warning("How the parts are cannot be written to Kafka just now: %s", error)
            self._away = True

    def _tell(self) -> None:
        for flow, parts in self._health().items():
            for part, health in parts.items():
                self._write(self._report(flow, part, health))

    def _report(self, flow: str, part: str, health: Health) -> Report:
        counts = self._metrics.counts_of(flow, part)
        return Report(
            flow=flow,
            part=part,
            state=health.state,
            reason=health.reason,
            blocked=counts.blocked and health.state == "waiting",
            at=round(time() * 1000),
            process=self._process,
            taken=counts.taken,
            passed=counts.passed,
            held=counts.held,
            dead=counts.dead,
            batches=counts.batches,
            batch_seconds=counts.batch_seconds,
            latency_seconds=counts.latency_seconds,
        )

    def _write(self, report: Report) -> None:
        known = self._written.get((report.flow, report.part))
        if known is not None and not _is_news(known[0], report, monotonic() - known[1]):
            return
        if self._producer is None:
            make_table(self._connection, REPORTS_TOPIC)
            self._producer = Producer(self._connection, delivery_timeout=_DELIVERY_S)
        key, value = encode_report(report)
        self._producer.send(REPORTS_TOPIC, value, key)
        self._producer.poll()
        self._written[report.flow, report.part] = report, monotonic()

    def _take_leave(self) -> None:
        for report, _ in list(self._written.values()):
            ended = replace(report, state="stopped", reason="", blocked=False)
            self._write(replace(ended, at=round(time() * 1000)))
        if self._producer is not None:
            self._producer.flush(_DELIVERY_S / 2)


def _is_news(before: Report, now: Report, seconds: float) -> bool:
    if (before.state, before.reason, before.blocked) != (now.state, now.reason, now.blocked):
        return True
    if seconds >= REPORT_EVERY_S:
        return True
    return seconds >= _COUNTS_S and replace(before, at=now.at) != now
