"""A small HTTP server on a thread, for `/metrics` and `/healthz` of a process."""

import logging
import socket
from abc import ABC, abstractmethod
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Self

from holdfast.errors import ConfigError

log = logging.getLogger(__name__)


class _Ipv6Server(ThreadingHTTPServer):
    address_family = socket.AF_INET6


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


class MetricsServer(ABC):
    """Serves at `address` (`host:port`) inside its `with` block; does nothing without one."""

    def __init__(self, address: str | None) -> None:
        self._server = None if address is None else self._listen(address)

    @abstractmethod
    def answer(self, path: str) -> tuple[int, str, bytes]:
        """Status, content type and body."""

    def _listen(self, address: str) -> ThreadingHTTPServer:
        host, _, port = address.rpartition(":")
        try:
            kind = _Ipv6Server if ":" in host else ThreadingHTTPServer
            server = kind((host.strip("[]"), int(port)), _handler(self))
        except (OSError, ValueError, OverflowError) as error:
            raise ConfigError(f"Cannot serve HTTP at {address!r}: {error}.") from None
        server.daemon_threads = True
        return server

    def __enter__(self) -> Self:
        if self._server is not None:
            Thread(target=self._server.serve_forever, name="http", daemon=True).start()
            host, port = self._server.server_address[:2]
            log.info("Metrics at http://%s:%s/metrics", _in_url(str(host)), port)
        return self

    def __exit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()


def _handler(owner: MetricsServer) -> type[BaseHTTPRequestHandler]:
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
            return  # do not log every scrape

    return Handler
