"""Serves `/metrics` for Prometheus and `/healthz`."""

import json
from collections.abc import Callable, Mapping
from time import monotonic

from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from holdfast.metrics_server import MetricsServer
from holdfast.pipeline.parts.metrics import Metrics

STUCK_SECONDS = 60.0
"""The pipeline's loop takes half a second per turn. Without a turn for this long it is stuck."""

Health = Callable[[], Mapping[str, Mapping[str, Mapping[str, str]]]]


class HttpServer(MetricsServer):
    """Serves at `address` (`host:port`) inside its `with` block; does nothing without one."""

    def __init__(
        self, address: str | None, metrics: Metrics, clock: Callable[[], float] = monotonic
    ) -> None:
        self._metrics = metrics
        self._clock = clock
        self._beat_at = clock()
        self._health: Health | None = None
        super().__init__(address)

    def show(self, health: Health) -> None:
        """The pipeline is up: serve this health from now on."""
        self.beat()
        self._health = health

    def beat(self) -> None:
        """The pipeline's loop has taken a turn."""
        self._beat_at = self._clock()

    def answer(self, path: str) -> tuple[int, str, bytes]:
        """Status, content type and body."""
        match path.partition("?")[0]:
            case "/metrics":
                return 200, CONTENT_TYPE_LATEST, generate_latest(self._metrics.registry)
            case "/healthz":
                return self._answer_health()
        return 404, "text/plain", b"Not found. Use /metrics or /healthz.\n"

    def _answer_health(self) -> tuple[int, str, bytes]:
        if self._health is None:
            return 503, "application/json", b'{"status":"starting"}\n'
        if self._clock() - self._beat_at > STUCK_SECONDS:
            return 503, "application/json", b'{"status":"stuck"}\n'
        flows = self._health()
        bad = ("waiting", "failed")
        ok = all(p["state"] not in bad for parts in flows.values() for p in parts.values())
        body = {"status": "ok" if ok else "degraded", "flows": flows}
        # The pipeline restarts a failed part itself, so a supervisor must not kill the process.
        return 200, "application/json", json.dumps(body).encode() + b"\n"
