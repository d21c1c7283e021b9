"""The metrics of the web process, for Prometheus."""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class WebMetrics:
    """A registry of its own, so that several apps can live in one process."""

    def __init__(self, streams: Callable[[], int], ready: Callable[[], bool]) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "holdfast_web_requests",
            "Requests that were answered, by route and status",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self._seconds = Histogram(
            "holdfast_web_request_seconds",
            "Until the answer began, by route",
            ("route",),
            buckets=_BUCKETS,
            registry=self.registry,
        )
        Gauge(
            "holdfast_web_streams", "Live streams that are open", registry=self.registry
        ).set_function(streams)
        Gauge(
            "holdfast_web_ready", "1 if views are caught up and the broker answers",
            registry=self.registry,
        ).set_function(ready)  # fmt: skip

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)
