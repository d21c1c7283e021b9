"""A client's connection over TLS.

The connection counts from its first packet on, so handshakes are within the limits too. A reply is
encrypted in pieces, as the client reads it: a large one neither delays other clients nor escapes
the limit of unsent replies.
"""

import asyncio
import logging
import ssl
from collections import deque
from typing import TYPE_CHECKING, cast

from holdfast.broker.connection import Connection
from holdfast.broker.dispatch import Buffer, Chunks, Dispatcher
from holdfast.broker.security.tls import subject_name

if TYPE_CHECKING:
    from holdfast.broker.listener import Listener
    from holdfast.broker.security.endpoints import Endpoint

log = logging.getLogger(__name__)

ENCRYPTED_BYTES = 64 * 1024
PIECE_BYTES = 64 * 1024
SMALL_BYTES = 4 * 1024
"""Smaller chunks of a reply are joined: each write is a TLS record of its own."""

# One buffer for all connections: it is copied to the TLS layer of one in the same step.
_encrypted = memoryview(bytearray(ENCRYPTED_BYTES))


class TlsConnection(Connection):
    """Decrypts what arrives for `Connection`, and encrypts its replies."""

    def __init__(
        self,
        listener: "Listener",
        dispatcher: Dispatcher,
        endpoint: "Endpoint",
        context: ssl.SSLContext,
    ) -> None:
        super().__init__(listener, dispatcher, endpoint)
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._is_secured = False
        self._unwritten: deque[Buffer] = deque()
        self._unwritten_bytes = 0

    # from the client

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._owe_frame()  # the handshake

    def get_buffer(self, sizehint: int) -> memoryview:
        return _encrypted

    def buffer_updated(self, count: int) -> None:
        self._incoming.write(_encrypted[:count])
        self._read()

    def _read(self) -> None:
        """Decrypts what has arrived, until the connection stops reading."""
        try:
            if not self._is_secured:
                self._tls.do_handshake()
                self._is_secured = True
                self._owed_since = None
                self._secured()
            while self._reading and not self._closing:
                buffer = super().get_buffer(-1)
                count = cast("int", self._tls.read(len(buffer), buffer))
                if not count:
                    self._hang_up()
                    return
                super().buffer_updated(count)
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLZeroReturnError:
            self._hang_up()
        except ssl.SSLError as error:
            self._fail(error)
            return
        self._flush()

    def _secured(self) -> None:
        """The handshake is done. A certificate's subject is the client's name."""
        subject = subject_name(self._tls.getpeercert())
        if subject is not None and self.session is not None and not self._protocol.has_login:
            self.session.identify(f"User:{subject}")

    @property
    def is_admitted(self) -> bool:
        return self._is_secured and super().is_admitted

    def _fail(self, error: ssl.SSLError) -> None:
        """Closes the connection. The alert, if there is one, names the reason."""
        if not self._is_secured:
            self._owner.broker.metrics.failed_handshakes += 1
        log.info("Closing the connection from %s: TLS: %s", self.host, error.reason)
        self._closing = True
        self._flush()
        self._transport.close()

    def _unblock(self) -> None:
        super()._unblock()
        if self._reading and (self._incoming.pending or self._tls.pending()):
            # Not at once: another connection may be using the shared receive buffer.
            asyncio.get_running_loop().call_soon(self._read_again)

    def _read_again(self) -> None:
        if not self._transport.is_closing():
            self._read()

    # to the client

    def _write(self, chunks: Chunks) -> None:
        small: list[Buffer] = []
        for chunk in chunks:
            if len(chunk) < SMALL_BYTES:
                small.append(chunk)
                continue
            self._keep(b"".join(small))
            small.clear()
            view = memoryview(chunk)
            for start in range(0, len(view), PIECE_BYTES):
                self._keep(view[start : start + PIECE_BYTES])
        self._keep(b"".join(small))
        self._write_pieces()

    def _keep(self, piece: Buffer) -> None:
        if piece:
            self._unwritten.append(piece)
            self._unwritten_bytes += len(piece)

    def _write_pieces(self) -> None:
        while self._writable and self._unwritten and not self._transport.is_closing():
            piece = memoryview(self._unwritten.popleft())
            self._unwritten_bytes -= len(piece)
            try:
                while piece:
                    piece = piece[self._tls.write(piece) :]
            except ssl.SSLError as error:
                self._fail(error)
                return
            self._flush()

    def _flush(self) -> None:
        if self._outgoing.pending and not self._transport.is_closing():
            self._transport.write(self._outgoing.read())  # may call `pause_writing`

    def _unsent_now(self) -> int:
        return super()._unsent_now() + self._unwritten_bytes

    def resume_writing(self) -> None:
        self._writable = True
        self._write_pieces()
        if not self._writable:
            return
        super().resume_writing()
        if self._closing:
            self._close_when_answered()

    # the end

    def _close_when_answered(self) -> None:
        if not self._unwritten:
            super()._close_when_answered()

    def _hang_up(self) -> None:
        if self._is_secured and not self._transport.is_closing():
            try:
                self._tls.unwrap()
            except ssl.SSLError:
                pass  # the client's own farewell is not waited for
            self._flush()
        super()._hang_up()

    def connection_lost(self, error: Exception | None) -> None:
        self._unwritten.clear()
        self._unwritten_bytes = 0
        super().connection_lost(error)
