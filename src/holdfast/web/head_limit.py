"""How long a connection may take to send its request head."""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol


def protocol_with_head_limit(seconds: float) -> type[H11Protocol]:
    """uvicorn's protocol, which by itself waits without limit for the end of a request head.

    A few thousand connections that send a byte now and then could otherwise use up all connections.
    """

    class HeadLimited(H11Protocol):
        _due: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._begin()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._begin()

        def connection_lost(self, exc: Exception | None) -> None:
            self._end()
            super().connection_lost(exc)

        def _begin(self) -> None:
            self._end()
            self._due = self.loop.call_later(seconds, self._check)

        def _end(self) -> None:
            if self._due is not None:
                self._due.cancel()

        def _check(self) -> None:
            answering = self.cycle is not None and not self.cycle.response_complete
            if not answering and not self.transport.is_closing():
                self.transport.close()

    return HeadLimited
