"""Connections to brokers: a request out, its answer in, in order, each within a deadline."""

import select
import socket
import ssl
from collections import deque
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from holdfast.errors import AccessDeniedError, TimedOutError, UnreachableError
from holdfast.pipeline.bulk.login import Security
from holdfast.wire.protocol.apis import APIS
from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import Buffer

_LARGEST_ANSWER = 1 << 30
_MOST_PARTS = 512
"""Buffers in one call; the system allows a thousand."""


@dataclass(frozen=True, slots=True)
class Call:
    """One API in the one version in which it is used."""

    key: int
    version: int
    name: str
    flexible: bool

    @classmethod
    def of(cls, name: str, version: int) -> "Call":
        (api,) = [api for api in APIS.values() if api.name == name]
        assert api.min_version <= version <= api.max_version
        return cls(api.key, version, name, version >= api.first_flexible)

    def encode(self, request: Any) -> list[Buffer]:
        parts: list[Buffer] = _codec(f"{self.name}_request").encode(self.version, request)
        return parts

    def decode(self, answer: bytearray, position: int) -> Any:
        return _codec(f"{self.name}_response").decode(self.version, answer, position)


def _codec(name: str) -> Any:
    return import_module(f"holdfast.wire.protocol.generated.{name}")


class Link:
    """One connection. Requests may follow each other before the first is answered."""

    def __init__(
        self, host: str, port: int, *, client_id: str, seconds: float, security: Security
    ) -> None:
        """`seconds`: how long connecting, and any one answer, may take."""
        self._name = f"{host}:{port}"
        self._seconds = seconds
        self._client = client_id.encode()
        self._waiting: deque[tuple[int, Call]] = deque()
        self._number = 0
        try:
            plain = socket.create_connection((host, port), seconds)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._socket = security.secure(plain, host)
        except OSError as error:
            raise self._failed("Connecting to", error) from None
        try:
            security.log_in(self.exchange)
        except AccessDeniedError:
            self.close()
            raise

    @property
    def idle(self) -> bool:
        """Whether no answer is on its way; on a connection that has failed there is none."""
        return not self._waiting or self._socket.fileno() < 0

    @property
    def ended(self) -> bool:
        """Whether the broker has closed it while nothing was asked, as it does with those that
        idle. What can be read then is the end, since no answer is on its way."""
        if not self._number or self._waiting or self._socket.fileno() < 0:
            return False
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        return bool(poll.poll(0))

    def ask(self, call: Call, request: Any) -> Any:
        """The answer to a request; there must be none on the way."""
        assert self.idle, "an answer is left that nobody has taken"
        self.send(call, request)
        return self.receive()

    def send(self, call: Call, request: Any) -> None:
        self._number += 1
        header = _header(call, self._number, self._client)
        parts: list[Buffer] = [header, *call.encode(request)]
        size = sum(map(len, parts))
        self._waiting.append((self._number, call))
        self._write([size.to_bytes(4, "big"), *parts])

    def receive(self) -> Any:
        """The answer to the first request that has none yet."""
        number, call = self._waiting.popleft()
        frame = self._read_frame()
        if int.from_bytes(frame[:4], "big") != number:
            raise self._failed("Reading from", MalformedMessage("an answer to another request"))
        try:
            return call.decode(frame, 5 if call.flexible else 4)
        except MalformedMessage as error:
            raise self._failed("Reading from", error) from None

    def exchange(self, body: bytes) -> bytearray:
        """One frame out, one frame in: for logging in, which has requests of its own."""
        self._write([len(body).to_bytes(4, "big"), body])
        return self._read_frame()

    def close(self) -> None:
        self._socket.close()

    def _write(self, parts: list[Buffer]) -> None:
        waiting = [memoryview(part).cast("B") for part in parts if len(part)]
        try:
            if isinstance(self._socket, ssl.SSLSocket):  # which takes one buffer at a time
                self._socket.sendall(b"".join(waiting))
                return
            while waiting:
                sent = self._socket.sendmsg(waiting[:_MOST_PARTS])
                while waiting and sent >= len(waiting[0]):
                    sent -= len(waiting.pop(0))
                if sent:
                    waiting[0] = waiting[0][sent:]
        except OSError as error:
            raise self._failed("Sending to", error) from None

    def _read_frame(self) -> bytearray:
        size = int.from_bytes(self._read(4), "big")
        if not 4 <= size <= _LARGEST_ANSWER:
            raise self._failed("Reading from", MalformedMessage(f"a frame of {size} bytes"))
        return self._read(size)

    def _read(self, size: int) -> bytearray:
        data = bytearray(size)
        view, got = memoryview(data), 0
        try:
            while got < size:
                received = self._socket.recv_into(view[got:])
                if not received:
                    raise ConnectionResetError("the broker has closed the connection")
                got += received
        except OSError as error:
            raise self._failed("Reading from", error) from None
        return data

    def _failed(self, doing: str, error: Exception) -> TimedOutError | UnreachableError:
        """What is on the way now answers nobody: the connection is of no more use."""
        if hasattr(self, "_socket"):
            self._socket.close()
        if isinstance(error, TimeoutError):
            return TimedOutError(f"{doing} {self._name} took more than {self._seconds:.0f} s.")
        return UnreachableError(f"{doing} {self._name} failed: {error}.")


def _header(call: Call, number: int, client: bytes) -> bytes:
    return b"".join(
        (
            call.key.to_bytes(2, "big"),
            call.version.to_bytes(2, "big"),
            number.to_bytes(4, "big"),
            len(client).to_bytes(2, "big"),
            client,
            b"\0" if call.flexible else b"",
        )
    )
