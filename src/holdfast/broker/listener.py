"""The listening socket, the connections it took, and the memory that they share."""

import asyncio
import contextlib
import logging
from collections import deque
from typing import TYPE_CHECKING

from holdfast.broker.connection import Connection
from holdfast.broker.dispatch import Dispatcher

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

log = logging.getLogger(__name__)

UNFINISHED_FRAME_SECONDS = 30.0
"""How long a client may leave a large frame unfinished without sending any of it."""
SWEEP_SECONDS = 1.0


class RequestMemory:
    """Bytes that unfinished large requests may hold together; who finds none waits in a queue."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.taken = 0
        self._waiting: deque[Connection] = deque()

    def take(self, size: int, connection: Connection) -> bool:
        if self.taken and self.taken + size > self._limit:
            self._waiting.append(connection)
            return False
        self.taken += size
        return True

    def give_back(self, size: int) -> None:
        self.taken -= size
        waiting = len(self._waiting)
        while waiting and self.taken < self._limit:
            waiting -= 1
            self._waiting.popleft().memory_granted()

    def forget(self, connection: Connection) -> None:
        self._waiting = deque(c for c in self._waiting if c is not connection)


class Listener:
    """Accepts connections up to the limit, and closes those that are idle or owe us a frame."""

    def __init__(self, broker: "Broker", dispatcher: Dispatcher) -> None:
        self.broker = broker
        self.settings = broker.settings
        self.request_memory = RequestMemory(broker.settings.request_memory_bytes)
        self.unsent_replies = 0
        self.advertised = ("", 0)
        self._dispatcher = dispatcher
        self._connections: set[Connection] = set()
        self._server: asyncio.Server | None = None
        self._sweeper: asyncio.TimerHandle | None = None
        self._all_closed: asyncio.Event | None = None
        self._loop = asyncio.get_running_loop()
        self.now = self._loop.time

    async def start(self, host: str, port: int, advertised: tuple[str, int] | None) -> int:
        """Listen; the port that was taken (a free one for 0)."""
        self._server = await self._loop.create_server(
            lambda: Connection(self, self._dispatcher), host, port, backlog=1024
        )
        taken: int = self._server.sockets[0].getsockname()[1]
        self.advertised = advertised or (host, taken)
        self._sweep()
        return taken

    async def stop(self, grace_seconds: float) -> None:
        """Take no more; answer what was taken, for as long as the grace lasts; close."""
        if self._server is not None:
            self._server.close()
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
        """Whether the connection may stay."""
        metrics = self.broker.metrics
        if len(self._connections) >= self.settings.max_connections:
            metrics.refused_connections += 1
            log.warning(
                "Refusing a connection from %s: %d are open, which is the limit (max_connections)",
                connection.host,
                len(self._connections),
            )
            return False
        self._connections.add(connection)
        metrics.connections = len(self._connections)
        return True

    def closed(self, connection: Connection) -> None:
        self._connections.discard(connection)
        self.broker.metrics.connections = len(self._connections)
        if self._all_closed is not None and not self._connections:
            self._all_closed.set()

    def reply_room(self) -> int:
        """Bytes that a fetch may still bring into memory."""
        return max(0, self.settings.reply_memory_bytes - self.unsent_replies)

    def _sweep(self) -> None:
        now = self.now()
        idle_before = now - self.settings.idle_connection_seconds
        stuck_before = now - UNFINISHED_FRAME_SECONDS
        for connection in list(self._connections):
            if connection.in_mid_frame and connection.last_active < stuck_before:
                self._close(connection, "a request was left unfinished")
            elif connection.last_active < idle_before and not connection.has_unanswered:
                # One that waits for us is not idle; one that does not take its replies is.
                self._close(connection, "idle")
        self._sweeper = self._loop.call_later(SWEEP_SECONDS, self._sweep)

    def _close(self, connection: Connection, why: str) -> None:
        self.broker.metrics.idle_closed += 1
        log.info("Closing the connection from %s: %s", connection.host, why)
        connection.abort()
