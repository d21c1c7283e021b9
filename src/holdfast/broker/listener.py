"""The listening sockets, their connections, and the shared memory of these."""

import asyncio
import contextlib
import logging
from collections import Counter
from typing import TYPE_CHECKING

from holdfast.broker.connection import Connection
from holdfast.broker.dispatch import Dispatcher
from holdfast.broker.request_memory import RequestMemory
from holdfast.broker.security.endpoints import Endpoint, Protocol
from holdfast.broker.security.tls import Certificates
from holdfast.broker.tls_connection import TlsConnection

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

log = logging.getLogger(__name__)

SILENT_FRAME_SECONDS = 30.0
"""Maximum pause of a client in the middle of a request."""
WHOLE_FRAME_SECONDS = 60.0
"""Maximum time to receive one request, without pauses of the broker. Clients use the same."""
BUSY_SECONDS = 60.0
"""Age of a request after which its connection may be closed to make room for another."""
LOGIN_SECONDS = 30.0
"""How long a client may take for TLS handshake and login."""
SWEEP_SECONDS = 1.0


class Listener:
    """Accepts connections up to the limit, and closes idle and stalled ones.

    All endpoints share the limits.
    """

    def __init__(
        self, broker: "Broker", dispatcher: Dispatcher, certificates: Certificates | None = None
    ) -> None:
        self.broker = broker
        self.settings = broker.settings
        self.request_memory = RequestMemory(broker.settings.request_memory_bytes)
        self.unsent_replies = 0
        self._dispatcher = dispatcher
        self._certificates = certificates
        self._connections: dict[Connection, None] = {}
        """In the order of arrival."""
        self._by_host: Counter[str] = Counter()
        self._servers: list[asyncio.Server] = []
        self._sweeper: asyncio.TimerHandle | None = None
        self._all_closed: asyncio.Event | None = None
        self._loop = asyncio.get_running_loop()
        self.now = self._loop.time

    async def start(self, endpoint: Endpoint) -> int:
        """Starts to listen on one more address. Returns the port (a free one for 0)."""

        def connect() -> Connection:
            return self._connection(bound)

        server = await self._loop.create_server(
            connect, endpoint.host, endpoint.port, backlog=1024, start_serving=False
        )
        self._servers.append(server)
        port: int = server.sockets[0].getsockname()[1]
        bound = endpoint._replace(port=port)
        await server.start_serving()
        if self._sweeper is None:
            self._sweep()
        return port

    def _connection(self, endpoint: Endpoint) -> Connection:
        if not endpoint.protocol.has_tls:
            return Connection(self, self._dispatcher, endpoint)
        assert self._certificates is not None, "an endpoint with TLS needs certificates"
        demands_certificate = endpoint.protocol is Protocol.SSL
        context = self._certificates.context(demands_certificate)
        return TlsConnection(self, self._dispatcher, endpoint, context)

    async def stop(self, grace_seconds: float) -> None:
        """Stops reading, finishes running requests within the grace time, and closes."""
        for server in self._servers:
            server.close()
        if self._sweeper is not None:
            self._sweeper.cancel()
        for connection in list(self._connections):
            connection.drain()
        if self._connections:
            self._all_closed = asyncio.Event()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._all_closed.wait(), grace_seconds)
        for connection in list(self._connections):
            connection.abort()

    def opened(self, connection: Connection) -> bool:
        """Returns True if the connection may stay."""
        limit, crowd = self._full(connection.host)
        if limit is not None:
            idle = self._longest_idle(crowd)
            if idle is None:
                self.broker.metrics.refused_connections += 1
                log.warning(
                    "Refusing a connection from %s: %d are in use, the limit (%s)",
                    connection.host,
                    len(crowd),
                    limit,
                )
                return False
            self._close(idle, f"idle for longest, and there are no others left ({limit})")
            self._remove(idle)
        self._connections[connection] = None
        self._by_host[connection.host] += 1
        self.broker.metrics.connections = len(self._connections)
        return True

    def _full(self, host: str) -> tuple[str | None, list[Connection]]:
        """The limit that a further connection of the host would exceed, and the connections that
        could be closed."""
        settings = self.settings
        if self._by_host[host] >= min(settings.max_connections_per_host, settings.max_connections):
            of_host = [connection for connection in self._connections if connection.host == host]
            return "max_connections_per_host", of_host
        if len(self._connections) >= settings.max_connections:
            return "max_connections", list(self._connections)
        return None, []

    def _longest_idle(self, connections: list[Connection]) -> Connection | None:
        """The connection to close: preferably one that has not logged in, then one without a
        request. A request that has waited for a minute counts too, because fetches may wait for
        weeks. Idle sockets must not lock others out.
        """
        idle = min(connections, key=lambda c: (c.is_admitted, _is_busy(c), c.last_active))
        is_recent = self.now() - idle.last_active < BUSY_SECONDS
        return None if idle.is_admitted and _is_busy(idle) and is_recent else idle

    def closed(self, connection: Connection) -> None:
        self._remove(connection)
        if self._all_closed is not None and not self._connections:
            self._all_closed.set()

    def _remove(self, connection: Connection) -> None:
        if connection not in self._connections:
            return  # it was closed to make room
        del self._connections[connection]
        self._by_host[connection.host] -= 1
        if not self._by_host[connection.host]:
            del self._by_host[connection.host]
        self.broker.metrics.connections = len(self._connections)

    def reply_room(self) -> int:
        """Bytes that fetches may still read into memory."""
        return max(0, self.settings.reply_memory_bytes - self.unsent_replies)

    def replies_grew(self) -> None:
        """Closes the connections whose clients have read nothing for longest, until the unsent
        replies of the others are within the limit. A single reply may exceed it."""
        while self.unsent_replies > self.settings.reply_memory_bytes:
            unread = [connection for connection in self._connections if connection.unsent]
            if len(unread) < 2:
                return
            deaf = min(unread, key=lambda c: (c.reads_since(), -c.unsent))
            self._close(deaf, "it does not read its replies (reply_memory_bytes)")

    def _sweep(self) -> None:
        now = self.now()
        idle_before = now - self.settings.idle_connection_seconds
        for connection in list(self._connections):
            connection.reads_since()
            owed_since = connection.frame_owed_since
            if owed_since is not None and (
                connection.last_active < now - SILENT_FRAME_SECONDS
                or owed_since < now - WHOLE_FRAME_SECONDS
            ):
                self._close(connection, "a request was left unfinished")
            elif not connection.is_admitted and connection.opened_at < now - LOGIN_SECONDS:
                self._close(connection, "it has not logged in in time")
            elif connection.last_active < idle_before and not connection.has_unanswered:
                # A connection that waits for a reply is not idle, unless it does not read replies.
                self._close(connection, "idle")
        self.replies_grew()
        self._sweeper = self._loop.call_later(SWEEP_SECONDS, self._sweep)

    def _close(self, connection: Connection, why: str) -> None:
        self.broker.metrics.idle_closed += 1
        log.info("Closing the connection from %s: %s", connection.host, why)
        connection.abort()


def _is_busy(connection: Connection) -> bool:
    return connection.waiting or connection.frame_owed_since is not None
