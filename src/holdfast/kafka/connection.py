"""Connections to brokers: requests and their replies, in order, each within a deadline."""

import select
import socket
import ssl
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from time import monotonic
from typing import Any

from holdfast.errors import AccessDeniedError, HoldfastError, TimedOutError, UnreachableError
from holdfast.kafka.security import Security
from holdfast.wire.protocol.apis import APIS
from holdfast.wire.protocol.errors import MalformedMessage
from holdfast.wire.protocol.primitives import Buffer

_LARGEST_ANSWER = 1 << 30
_MOST_PARTS = 512
"""Buffers in one call; the system allows a thousand."""
_SILENCE = 1.0
"""Seconds without a byte after which the cluster is asked if it still has the broker."""


@dataclass(frozen=True, slots=True)
class ApiCall:
    """One API in the one version in which it is used."""

    key: int
    version: int
    name: str
    flexible: bool
    answer_header_bytes: int
    """ApiVersions keeps the short header: its client does not know the broker's versions yet."""

    @classmethod
    def of(cls, name: str, version: int) -> "ApiCall":
        (api,) = [api for api in APIS.values() if api.name == name]
        assert api.min_version <= version <= api.max_version
        flexible = version >= api.first_flexible
        long_header = flexible and name != "api_versions"
        return cls(api.key, version, name, flexible, 5 if long_header else 4)

    def encode(self, request: Any) -> list[Buffer]:
        parts: list[Buffer] = _codec(f"{self.name}_request").encode(self.version, request)
        return parts

    def decode(self, answer: bytearray) -> Any:
        codec = _codec(f"{self.name}_response")
        return codec.decode(self.version, answer, self.answer_header_bytes)


def _codec(name: str) -> Any:
    return import_module(f"holdfast.wire.protocol.generated.{name}")


class BrokerConnection:
    """One connection. Several requests may be in flight."""

    def __init__(
        self,
        host: str,
        port: int,
        *,
        client_id: str,
        seconds: float,
        security: Security,
        connect_seconds: float | None = None,
        while_silent: Callable[[], None] | None = None,
    ) -> None:
        """`seconds`: how long any one answer may take, and connecting unless that is given too.
        `while_silent` is called every second in which nothing arrives, and raises if the broker
        is not to be waited for."""
        self._name = f"{host}:{port}"
        self._seconds = seconds if connect_seconds is None else connect_seconds
        self._client = client_id.encode()
        self._while_silent: Callable[[], None] | None = None
        self._waiting: deque[tuple[int, ApiCall]] = deque()
        self._number = 0
        try:
            self._socket = socket.create_connection((host, port), self._seconds)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._socket = security.secure(self._socket, host)
        except OSError as error:
            raise self._failed("Connecting to", error) from None
        try:
            security.log_in(self.exchange)
        except AccessDeniedError:
            self.close()
            raise
        self._seconds = seconds
        self._while_silent = while_silent

    @property
    def idle(self) -> bool:
        """Returns True if no reply is on its way; on a failed connection there is none."""
        return not self._waiting or self._socket.fileno() < 0

    def fileno(self) -> int:
        """For `select`: readable once a reply arrives."""
        return self._socket.fileno()

    @property
    def ended(self) -> bool:
        """Returns True if the broker has closed the idle connection. No reply is on its way, so all
        that can be read is the end."""
        if not self._number or self._waiting or self._socket.fileno() < 0:
            return False
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        return bool(poll.poll(0))

    def ask(self, call: ApiCall, request: Any, seconds: float | None = None) -> Any:
        """The reply to a request, within `seconds` if given. No other may be in flight."""
        assert self.idle, "a reply was left unread"
        usual = self._seconds
        try:
            self._seconds = usual if seconds is None else seconds
            self.send(call, request)
            return self.receive()
        finally:
            self._seconds = usual

    def send(self, call: ApiCall, request: Any) -> None:
        self._number += 1
        header = _header(call, self._number, self._client)
        parts: list[Buffer] = [header, *call.encode(request)]
        size = sum(map(len, parts))
        self._waiting.append((self._number, call))
        self._write([size.to_bytes(4, "big"), *parts])

    def receive(self) -> Any:
        """The reply to the first request in flight."""
        number, call = self._waiting.popleft()
        frame = self._read_frame()
        if int.from_bytes(frame[:4], "big") != number:
            raise self._failed("Reading from", MalformedMessage("an answer to another request"))
        try:
            return call.decode(frame)
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
        encrypted = isinstance(self._socket, ssl.SSLSocket)
        if encrypted:  # which takes one buffer at a time
            waiting = [memoryview(b"".join(waiting))]
        while waiting:
            sent = self._patiently(
                "Sending to",
                lambda: (
                    self._socket.send(waiting[0])
                    if encrypted
                    else self._socket.sendmsg(waiting[:_MOST_PARTS])
                ),
            )
            while waiting and sent >= len(waiting[0]):
                sent -= len(waiting.pop(0))
            if sent:
                waiting[0] = waiting[0][sent:]

    def _read_frame(self) -> bytearray:
        size = int.from_bytes(self._read(4), "big")
        if not 4 <= size <= _LARGEST_ANSWER:
            raise self._failed("Reading from", MalformedMessage(f"a frame of {size} bytes"))
        return self._read(size)

    def _read(self, size: int) -> bytearray:
        data = bytearray(size)
        view, got = memoryview(data), 0
        while got < size:
            rest = view[got:]
            received = self._patiently("Reading from", partial(self._socket.recv_into, rest))
            if not received:
                error = ConnectionResetError("the broker has closed the connection")
                raise self._failed("Reading from", error)
            got += received
        return data

    def _patiently(self, doing: str, transfer: Callable[[], int]) -> int:
        """The number of bytes transferred. Waits for some, a second at a time."""
        deadline = monotonic() + self._seconds
        while True:
            try:
                self._socket.settimeout(max(0.001, min(_SILENCE, deadline - monotonic())))
                return transfer()
            except OSError as error:
                # Only our own time-out has no number. The system's own means that the host is gone.
                waiting = isinstance(error, TimeoutError) and error.errno is None
                if not waiting or monotonic() >= deadline:
                    raise self._failed(doing, error) from None
            if self._while_silent is not None:
                try:
                    self._while_silent()
                except HoldfastError:
                    self.close()
                    raise

    def _failed(self, doing: str, error: Exception) -> TimedOutError | UnreachableError:
        """Close the connection: a later reply could be taken for that to another request."""
        if hasattr(self, "_socket"):
            self._socket.close()
        if isinstance(error, TimeoutError):
            return TimedOutError(f"{doing} {self._name} took more than {self._seconds:g} s.")
        return UnreachableError(f"{doing} {self._name} failed: {error}.")


def _header(call: ApiCall, number: int, client: bytes) -> bytes:
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
