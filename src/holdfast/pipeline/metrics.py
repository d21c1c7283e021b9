"""What the pipeline counts, for Prometheus. Labels name flows and parts, never keys."""

from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

_LATENCIES = (0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.5, 3, 6, 15, 60, 300)
_DURATIONS = (0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.5, 3, 6, 15, 60)


@dataclass(frozen=True, slots=True)
class PartCounts:
    """What one part of one flow has counted since the process began."""

    taken: int = 0
    passed: int = 0
    held: int = 0
    dead: int = 0
    blocked: bool = False
    batches: int = 0
    batch_seconds: float = 0.0
    latency_seconds: float = 0.0


class Metrics:
    """One set of series for a whole pipeline."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.events_in = self._counter("events_in", "Events that the gate has taken")
        self.events_out = self._counter("events_out", "Events that have come out to processed")
        self.events_held = self._counter("events_held", "Events that were put on hold")
        self.events_drained = self._counter(
            "events_drained", "Events that have come out of held, after a release or an expiry"
        )
        self.events_dead_lettered = self._counter(
            "events_dead_lettered", "Events that went to the dead letters"
        )
        self.events_landed = self._counter("events_landed", "Events added to the raw zone")
        self.batch_seconds = Histogram(
            "holdfast_batch_duration_seconds",
            "How long a batch took",
            ["flow", "part"],
            buckets=_DURATIONS,
            registry=self.registry,
        )
        self.latency_seconds = Histogram(
            "holdfast_end_to_end_latency_seconds",
            "From the timestamp of a batch's newest event to its commit",
            ["flow"],
            buckets=_LATENCIES,
            registry=self.registry,
        )
        self.lag_records = self._gauge(
            "lag_records", "Events that the part has yet to take", "part"
        )
        self.lag_seconds = self._gauge("lag_seconds", "How long the first has been there", "part")
        self.held_keys = self._gauge("held_keys", "Keys that are held or draining")
        self.held_events = self._gauge("held_events", "Events in held that are yet to come out")
        self.held_bytes = self._gauge("held_bytes", "Bytes of their keys and values")
        self.blocked = self._gauge("blocked", "1 while the flow waits for room in held")
        self.part_up = self._gauge("part_up", "1 while the part runs", "part")
        self.part_failures = self._counter(
            "part_failures", "How often the part failed or did not start", "part"
        )

    def counts_of(self, flow: str, part: str) -> PartCounts:
        """Events are counted by the gate alone."""
        batches = self._value("holdfast_batch_duration_seconds_count", flow=flow, part=part)
        seconds = self._value("holdfast_batch_duration_seconds_sum", flow=flow, part=part)
        if part != "gate":
            return PartCounts(batches=int(batches), batch_seconds=seconds)
        return PartCounts(
            taken=int(self._value("holdfast_events_in_total", flow=flow)),
            passed=int(self._value("holdfast_events_out_total", flow=flow)),
            held=int(self._value("holdfast_events_held_total", flow=flow)),
            dead=int(self._value("holdfast_events_dead_lettered_total", flow=flow)),
            blocked=self._value("holdfast_blocked", flow=flow) > 0,
            batches=int(batches),
            batch_seconds=seconds,
            latency_seconds=self._value("holdfast_end_to_end_latency_seconds_sum", flow=flow),
        )

    def _value(self, name: str, **labels: str) -> float:
        return self.registry.get_sample_value(name, labels) or 0.0

    def forget(self, flow: str) -> None:
        """The flow is not registered any more: its series end."""
        for metric in vars(self).values():
            if isinstance(metric, Counter | Gauge | Histogram):
                metric.remove_by_labels({"flow": flow})

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"holdfast_{name}", text, ["flow", *labels], registry=self.registry)

    def _gauge(self, name: str, text: str, *labels: str) -> Gauge:
        return Gauge(f"holdfast_{name}", text, ["flow", *labels], registry=self.registry)
