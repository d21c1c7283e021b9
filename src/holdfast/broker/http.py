"""`/metrics` for Prometheus and `/healthz`, on a port of their own."""

import asyncio
import contextlib
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from holdfast.broker.broker import Broker
from holdfast.broker.topic_metrics import group_metrics, topic_metrics
from holdfast.wire.protocol.apis import APIS

REQUEST_SECONDS = 10.0
MAX_CONNECTIONS = 16
"""Maximum connections. Further ones are closed at once."""
MAX_HEAD_BYTES = 16 * 1024

_COUNTERS = {
    "refused_connections": "Connections refused because of the limit",
    "failed_handshakes": "TLS handshakes that failed",
    "logins": "Logins that succeeded",
    "failed_logins": "Logins that failed",
    "denied_requests": "Requests that access control denied, wholly or in part",
    "throttled_requests": "Requests whose client was over a quota",
    "throttled_seconds": "Time for which clients over a quota had to wait",
    "idle_closed": "Connections closed because they were idle or owed the rest of a request",
    "bad_frames": "Requests that could not be understood",
    "handler_failures": "Requests that failed by a fault of the broker",
    "appended_bytes": "Bytes of record batches appended",
    "appended_batches": "Record batches appended",
    "rejected_batches": "Record batches refused",
    "fetched_bytes": "Bytes of record batches read by fetches",
    "corrupt_reads": "Reads that met damaged records",
    "storage_failures": "Writes and syncs that the disk refused",
    "flushes": "Syncs of partitions",
    "flush_seconds": "Time spent in syncs",
}


class BrokerCollector(Collector):
    """The broker's counters, read at each request."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    def collect(self) -> Iterator[Metric]:
        broker, metrics = self._broker, self._broker.metrics
        requests = CounterMetricFamily(
            "holdfast_broker_requests", "Requests answered", labels=["api"]
        )
        seconds = CounterMetricFamily(
            "holdfast_broker_request_seconds", "Time from request to answer", labels=["api"]
        )
        for key, request in sorted(metrics.requests.items()):
            requests.add_metric([APIS[key].name], request.count)
            seconds.add_metric([APIS[key].name], request.seconds)
        yield requests
        yield seconds
        for name, text in _COUNTERS.items():
            yield CounterMetricFamily(f"holdfast_broker_{name}", text, getattr(metrics, name))
        yield _gauge(
            "longest_turn_seconds",
            "Longest time for which one request kept all others waiting, of the last two minutes",
            metrics.longest_turn.seconds,
        )
        yield _gauge("connections", "Open connections", metrics.connections)
        partitions = broker.topics.partitions()
        yield _gauge("partitions", "Partitions", len(partitions))
        yield _gauge("log_bytes", "Bytes on disk", sum(p.log.size_bytes for p in partitions))
        yield from topic_metrics(broker)
        yield from group_metrics(broker)


def _gauge(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"holdfast_broker_{name}", text, value)


async def serve_http(broker: Broker, host: str, port: int) -> asyncio.Server:
    """Starts the server. The caller closes it."""
    registry = CollectorRegistry()
    registry.register(BrokerCollector(broker))

    def answer(target: str) -> tuple[str, str, bytes]:
        if target == "/healthz":
            return "200 OK", "text/plain; charset=utf-8", b"ok\n"
        if target == "/metrics":
            return "200 OK", CONTENT_TYPE_LATEST, generate_latest(registry)
        return "404 Not Found", "text/plain; charset=utf-8", b"/metrics and /healthz are here\n"

    connections: set[asyncio.StreamWriter] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(connections) < MAX_CONNECTIONS:
            connections.add(writer)
            await respond(reader, writer)
            connections.discard(writer)
        writer.close()

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(
            asyncio.TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError
        ):
            async with asyncio.timeout(REQUEST_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
                method, target = _request_line(head)
                if method in ("GET", "HEAD"):
                    status, kind, body = answer(target.partition("?")[0])
                else:
                    status, kind, body = "405 Method Not Allowed", "text/plain", b"GET only\n"
                writer.write(
                    f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n"
                    f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
                )
                if method != "HEAD":
                    writer.write(body)
                await writer.drain()

    return await asyncio.start_server(serve, host, port, limit=MAX_HEAD_BYTES)


def _request_line(head: bytes) -> tuple[str, str]:
    words = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
    return (words[0], words[1]) if len(words) == 3 else ("", "")
