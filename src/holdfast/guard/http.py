"""`/metrics` of a worker for Prometheus, and `/healthz`. Labels are guards and partitions, never
keys."""

import json
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from holdfast.guard.counts import BUCKETS, HandlerCounts, PartitionCounts
from holdfast.metrics_server import MetricsServer

if TYPE_CHECKING:
    from holdfast.guard.worker import Worker

_GAUGES: dict[str, tuple[str, Callable[[PartitionCounts], int]]] = {
    "failing_keys": ("Keys whose first event has failed", lambda c: c.failing_keys),
    "waiting_keys": ("Keys with an entry: held, draining or failing", lambda c: c.waiting_keys),
    "lag_records": ("Events that the worker has yet to take", lambda c: c.lag),
}
_RESULTS: dict[str, Callable[[PartitionCounts], int]] = {
    "handled": lambda c: c.handled,
    "held": lambda c: c.held,
    "dead": lambda c: c.dead,
}


class WorkerCollector(Collector):
    """The counts of a worker, read at each request."""

    def __init__(self, worker: "Worker") -> None:
        self._worker = worker

    def collect(self) -> Iterator[Metric]:
        worker, flow = self._worker, self._worker.name
        counts = worker.counts()
        for name, (text, read) in _GAUGES.items():
            gauge = GaugeMetricFamily(f"holdfast_guard_{name}", text, labels=["flow", "partition"])
            for partition, each in sorted(counts.items()):
                gauge.add_metric([flow, str(partition)], read(each))
            yield gauge
        events = CounterMetricFamily(
            "holdfast_guard_events",
            "Events that were handled, held, or became dead letters, as committed",
            labels=["flow", "partition", "result"],
        )
        for partition, each in sorted(counts.items()):
            for result, read in _RESULTS.items():
                events.add_metric([flow, str(partition), result], read(each))
        yield events
        yield from _of_handler(flow, worker.handler_counts)
        for name, text, value in (
            ("running", "Calls of the handler that run now", worker.running),
            ("stuck", "Calls of the handler that run for too long", worker.stuck),
            ("circuit_open", "1 during an outage behind the handler", int(worker.circuit_open)),
            ("partitions", "Partitions that this worker owns", len(counts)),
        ):
            one = GaugeMetricFamily(f"holdfast_guard_{name}", text, labels=["flow"])
            one.add_metric([flow], value)
            yield one


def _of_handler(flow: str, handler: HandlerCounts) -> Iterator[Metric]:
    tries = CounterMetricFamily(
        "holdfast_guard_tries", "Calls of the handler that have ended", labels=["flow", "result"]
    )
    tries.add_metric([flow, "succeeded"], handler.succeeded)
    tries.add_metric([flow, "failed"], handler.failed)
    yield tries
    times = HistogramMetricFamily(
        "holdfast_guard_handler_seconds", "How long the handler took", labels=["flow"]
    )
    bounds = [*map(str, BUCKETS), "+Inf"]
    counts = list(accumulate(handler.buckets))
    times.add_metric([flow], list(zip(bounds, counts, strict=True)), handler.seconds)
    yield times


class GuardHttp(MetricsServer):
    """Serves while a worker runs."""

    def __init__(self, address: str | None, worker: "Worker") -> None:
        self._worker = worker
        self._registry = CollectorRegistry()
        self._registry.register(WorkerCollector(worker))
        super().__init__(address)

    def answer(self, path: str) -> tuple[int, str, bytes]:
        match path.partition("?")[0]:
            case "/metrics":
                return 200, CONTENT_TYPE_LATEST, generate_latest(self._registry)
            case "/healthz":
                return self._answer_health()
        return 404, "text/plain", b"Not found. Use /metrics or /healthz.\n"

    def _answer_health(self) -> tuple[int, str, bytes]:
        worker = self._worker
        status = 200 if worker.polls else 503
        # A stuck handler or an outage behind it does not end by a restart.
        well = worker.polls and not worker.stuck and not worker.circuit_open
        body = {
            "status": "ok" if well else "degraded" if worker.polls else "stuck",
            "partitions": sorted(worker.counts()),
            "circuit": "open" if worker.circuit_open else "closed",
            "stuck": worker.stuck,
        }
        return status, "application/json", json.dumps(body).encode() + b"\n"
