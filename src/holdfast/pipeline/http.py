"""`/metrics` for Prometheus and `/healthz`, on a port of their own."""

import json
import logging
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from time import monotonic
from types import TracebackType
from typing import Any, Self

from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from holdfast.errors import ConfigError
from holdfast.pipeline.metrics import Metrics

log = logging.getLogger(__name__)

STUCK_S = 60.0
"""Without a turn of the pipeline's loop, which takes half a second, for so long: it hangs."""

Health = Callable[[], Mapping[str, Mapping[str, Mapping[str, str]]]]


class HttpServer:
    """Serves at `address` (`host:port`) inside its `with` block; nowhere if there is none."""

    def __init__(
        self, address: str | None, metrics: Metrics, clock: Callable[[], float] = monotonic
    ) -> None:
        self._metrics = metrics
        self._clock = clock
        self._beat_at = clock()
        self._health: Health | None = None
        self._server: ThreadingHTTPServer | None = None
        if address is not None:
            self._server = self._listen(address)

    def show(self, health: Health) -> None:
        """From now on the pipeline is up, and this is how its parts are."""
        self.beat()
        self._health = health

    def beat(self) -> None:
        """The pipeline's own loop turns."""
        self._beat_at = self._clock()

    def answer(self, path: str) -> tuple[int, str, bytes]:
        """Status, content type and body."""
        match path.partition("?")[0]:
            case "/metrics":
                return 200, CONTENT_TYPE_LATEST, generate_latest(self._metrics.registry)
            case "/healthz":
                return self._answer_health()
        return 404, "text/plain", b"There is /metrics and /healthz.\n"

    def _answer_health(self) -> tuple[int, str, bytes]:
        if self._health is None:
            return 503, "application/json", b'{"status":"starting"}\n'
        if self._clock() - self._beat_at > STUCK_S:
            return 503, "application/json", b'{"status":"stuck"}\n'
        flows = self._health()
        ill = ("waiting", "failed")
        well = all(p["state"] not in ill for parts in flows.values() for p in parts.values())
        body = {"status": "ok" if well else "degraded", "flows": flows}
        # A part that has failed is tried again by the pipeline itself: no reason to end it.
        return 200, "application/json", json.dumps(body).encode() + b"\n"

    def _listen(self, address: str) -> ThreadingHTTPServer:
        host, _, port = address.rpartition(":")
        try:
            server = ThreadingHTTPServer((host.strip("[]"), int(port)), _handler(self))
        except (OSError, ValueError, OverflowError) as error:
            raise ConfigError(f"Cannot serve HTTP at {address!r}: {error}.") from None
        server.daemon_threads = True
        return server

    def __enter__(self) -> Self:
        if self._server is not None:
            Thread(target=self._server.serve_forever, name="http", daemon=True).start()
            host, port = self._server.server_address[:2]
            log.info("Metrics at http://%s:%s/metrics", host, port)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()


def _handler(owner: HttpServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = 10

        def do_GET(self) -> None:
            status, kind, body = owner.answer(self.path)
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            return  # a scrape every few seconds is no news

    return Handler
