"""A link to a broker that takes its time, and counts what is asked over it."""

import socket
import struct
import time
from collections import Counter
from queue import SimpleQueue
from threading import Thread
from types import TracebackType
from typing import Self

from holdfast.wire.protocol.apis import APIS

_NAMES = {api.key: api.name for api in APIS.values()}


class DelayedLink:
    """Passes on what comes on a port of loopback, each way after a delay. Have the broker advertise
    this address, or clients go round it."""

    def __init__(self, seconds: float) -> None:
        self.requests: Counter[str] = Counter()
        """How many were sent to the broker, by the name of their API."""
        self.target = 0
        """The broker's port."""
        self._seconds = seconds
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._sockets: list[socket.socket] = []
        Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for each in (self._listener, *self._sockets):
            each.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
                broker = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                return
            self._sockets += [client, broker]
            for each in (client, broker):
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._pass(client, broker, _Requests(self.requests))
            self._pass(broker, client, None)

    def _pass(self, source: socket.socket, sink: socket.socket, count: "_Requests | None") -> None:
        waiting: SimpleQueue[tuple[float, bytes]] = SimpleQueue()

        def read() -> None:
            data = b"?"
            while data:
                try:
                    data = source.recv(1 << 20)
                except OSError:
                    data = b""
                if count is not None:
                    count.take(data)
                waiting.put((time.monotonic() + self._seconds, data))

        def write() -> None:
            while True:
                due, data = waiting.get()
                time.sleep(max(0.0, due - time.monotonic()))
                try:
                    if data:
                        sink.sendall(data)
                        continue
                    sink.shutdown(socket.SHUT_WR)
                except OSError:
                    pass
                return

        for work in (read, write):
            Thread(target=work, daemon=True).start()


class _Requests:
    """Finds where each request of one connection begins."""

    def __init__(self, counts: Counter[str]) -> None:
        self._counts = counts
        self._head = b""
        self._body = 0

    def take(self, data: bytes) -> None:
        while data:
            if self._body:
                skipped = min(self._body, len(data))
                self._body -= skipped
                data = data[skipped:]
                continue
            needed = 6 - len(self._head)
            self._head += data[:needed]
            data = data[needed:]
            if len(self._head) == 6:
                size, api = struct.unpack(">ih", self._head)
                self._counts[_NAMES.get(api, str(api))] += 1
                self._head, self._body = b"", size - 2
