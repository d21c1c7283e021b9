"""Every series that Prometheus can scrape: its type, its labels, and what it says."""

from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace

from prometheus_client import CollectorRegistry
from prometheus_client.registry import Collector
from tools.reference.layout import code, page, table

from holdfast.broker.http import BrokerCollector
from holdfast.broker.metrics import Metrics as BrokerMetrics
from holdfast.guard.counts import HandlerCounts
from holdfast.guard.http import WorkerCollector
from holdfast.pipeline.parts.metrics import Metrics as PipelineMetrics
from holdfast.web.metrics import WebMetrics


@dataclass(frozen=True, slots=True)
class Series:
    name: str
    """As in queries: with `_total` for a counter."""
    kind: str
    labels: tuple[str, ...]
    meaning: str


def metrics_page() -> str:
    """The page of all processes that serve `/metrics`."""
    parts = [
        "# Metrics",
        "Each process serves its own at `/metrics`, in Prometheus' text format. What to watch and "
        "when to be woken is in [operating](../guides/operating.md). Labels never hold keys.",
    ]
    for title, where, registry in processes():
        parts += [f"## {title}", where, _table(registry)]
    return page(*parts)


def processes() -> Iterator[tuple[str, str, CollectorRegistry]]:
    """Each process that can be scraped, where it says so, and what it registers."""
    yield (
        "Pipeline",
        "At the address of `--http`; `holdfast up` takes port 9600 of loopback, or a free one.",
        PipelineMetrics().registry,
    )
    yield (
        "Web",
        "At the address of the dashboard. It takes the role viewer, as everything does.",
        WebMetrics(lambda: 0, lambda: True).registry,
    )
    yield "Worker of a guard", "At the address of `--http`; nowhere unless given.", _guard()
    yield "Broker", "At the address of `--http`; nowhere unless given.", _broker()


def _broker() -> CollectorRegistry:
    registry = CollectorRegistry()
    idle = SimpleNamespace(
        metrics=BrokerMetrics(),
        topics=SimpleNamespace(partitions=list, all=list),
        groups=SimpleNamespace(committed=list),
    )
    registry.register(BrokerCollector(idle))  # type: ignore[arg-type]
    return registry


def _guard() -> CollectorRegistry:
    registry = CollectorRegistry()
    idle = SimpleNamespace(
        name="", counts=dict, handler_counts=HandlerCounts(), running=0, stuck=0, circuit_open=False
    )
    registry.register(WorkerCollector(idle))  # type: ignore[arg-type]
    return registry


def series_of(registry: CollectorRegistry) -> Iterator[Series]:
    """All registered metrics, also those without a value yet."""
    for collector in _collectors(registry):
        for family in collector.collect():
            # A family without samples does not tell its labels by any public name.
            labels = getattr(family, "_labelnames", ()) or getattr(collector, "_labelnames", ())
            counter = family.type == "counter"
            name = f"{family.name}_total" if counter else family.name
            yield Series(name, family.type, tuple(labels), family.documentation)


def _collectors(registry: CollectorRegistry) -> list[Collector]:
    return list(registry._collector_to_names)


def _table(registry: CollectorRegistry) -> str:
    rows = (
        (code(one.name), one.kind, ", ".join(map(code, one.labels)), one.meaning)
        for one in series_of(registry)
    )
    return table(("series", "type", "labels", "meaning"), rows)
