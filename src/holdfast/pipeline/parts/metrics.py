"""The pipeline's Prometheus metrics. Labels are flows and parts, never keys."""

from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

_LATENCIES = (0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.5, 3, 6, 15, 60, 300)
_DURATIONS = (0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.5, 3, 6, 15, 60)


@dataclass(frozen=True, slots=True)
class PartCounts:
    """The counts of one part of one flow since the process started."""

    taken: int = 0
    passed: int = 0
    held: int = 0
    dead: int = 0
    blocked: bool = False
    files: int = 0
    lands_within: float = 0.0
    batches: int = 0
    batch_seconds: float = 0.0
    latency_seconds: float = 0.0


class Metrics:
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
        self.raw_zone_files = self._gauge("raw_zone_files", "Files in the raw zone's table")
        self.raw_zone_bound = self._gauge(
            "raw_zone_bound_seconds", "The most seconds between two commits of the raw zone"
        )
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
        self.clock_jumps = self._counter(
            "clock_jumps", "How often the pipeline's wall clock has jumped by more than 5 seconds"
        )
        self.clock_ahead_of_broker = self._gauge(
            "clock_ahead_of_broker_seconds",
            "How far the pipeline's wall clock is ahead of the broker's; negative if behind",
        )
        self.part_up = self._gauge("part_up", "1 while the part runs", "part")
        self.part_failures = self._counter(
            "part_failures", "How often the part failed or did not start", "part"
        )

    def counts_of(self, flow: str, part: str) -> PartCounts:
        """The counts of one part. Only the gate counts events. The time that this takes does not
        depend on the number of flows."""
        if part == "gate":
            return self._of_gate(flow)
        return self._of_raw_zone(flow) if part == "raw-zone" else PartCounts()

    def _of_gate(self, flow: str) -> PartCounts:
        durations = _values(self.batch_seconds.labels(flow, "gate"))
        return PartCounts(
            taken=int(_value(self.events_in.labels(flow))),
            passed=int(_value(self.events_out.labels(flow))),
            held=int(_value(self.events_held.labels(flow))),
            dead=int(_value(self.events_dead_lettered.labels(flow))),
            blocked=_value(self.blocked.labels(flow)) > 0,
            batches=int(durations["_count"]),
            batch_seconds=durations["_sum"],
            latency_seconds=_values(self.latency_seconds.labels(flow))["_sum"],
        )

    def _of_raw_zone(self, flow: str) -> PartCounts:
        durations = _values(self.batch_seconds.labels(flow, "raw-zone"))
        return PartCounts(
            files=int(_value(self.raw_zone_files.labels(flow))),
            lands_within=_value(self.raw_zone_bound.labels(flow)),
            batches=int(durations["_count"]),
            batch_seconds=durations["_sum"],
        )

    def forget(self, flow: str) -> None:
        """Remove the series of a flow that is not registered any more."""
        for metric in vars(self).values():
            if isinstance(metric, Counter | Gauge | Histogram):
                metric.remove_by_labels({"flow": flow})

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"holdfast_{name}", text, ["flow", *labels], registry=self.registry)

    def _gauge(self, name: str, text: str, *labels: str) -> Gauge:
        return Gauge(f"holdfast_{name}", text, ["flow", *labels], registry=self.registry)


def _value(metric: Counter | Gauge) -> float:
    """The value of one series."""
    (values,) = metric.collect()
    return values.samples[0].value


def _values(metric: Histogram) -> dict[str, float]:
    """The sum and the count of one series, by `_sum` and `_count`."""
    (values,) = metric.collect()
    return {each.name.removeprefix(values.name): each.value for each in values.samples}
