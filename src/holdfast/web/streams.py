"""Live streams: counted, and ended when the process stops or the reader's credentials end."""

import asyncio
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.access.credentials import Credentials, read_credentials
from holdfast.control.event_stream import MEDIA_TYPE

_CHECK_SECONDS = 0.5


class OpenStreams:
    """The open streams, each with the credentials of its request."""

    def __init__(self) -> None:
        self._open: dict[asyncio.Task[None], Credentials] = {}
        self._ended: set[asyncio.Task[None]] = set()
        self._closed = False

    def __len__(self) -> int:
        return len(self._open)

    def enter(self, task: "asyncio.Task[None]", given: Credentials) -> None:
        self._open[task] = given
        if self._closed:
            self._end(task)

    def leave(self, task: "asyncio.Task[None]") -> bool:
        """Returns True if it was ended by this object."""
        self._open.pop(task, None)
        ended = task in self._ended
        self._ended.discard(task)
        return ended

    def end_all(self) -> None:
        """Ends all streams, and all that begin later. A server that waits for its connections would
        otherwise wait for ever."""
        self._closed = True
        for task in self._open:
            self._end(task)

    async def end_those(self, without_right: Callable[[Credentials], bool]) -> None:
        """Runs for ever: ends the streams whose token was revoked or has expired."""
        while True:
            await asyncio.sleep(_CHECK_SECONDS)
            for task, given in self._open.items():
                if without_right(given):
                    self._end(task)

    def _end(self, task: "asyncio.Task[None]") -> None:
        self._ended.add(task)
        task.cancel()


class Streams:
    """Registers every answer that is a stream of events."""

    def __init__(self, app: ASGIApp, streams: OpenStreams) -> None:
        self._app = app
        self._streams = streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        task = asyncio.current_task()
        if scope["type"] != "http" or task is None:
            await self._app(scope, receive, send)
            return

        async def watched(message: Message) -> None:
            await send(message)
            if message["type"] == "http.response.start" and _is_stream(message):
                self._streams.enter(task, read_credentials(Headers(scope=scope)))

        try:
            await self._app(scope, receive, watched)
        except asyncio.CancelledError:
            if not self._streams.leave(task):
                raise
            task.uncancel()
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self._streams.leave(task)


def _is_stream(start: Message) -> bool:
    return Headers(raw=start["headers"]).get("content-type", "").startswith(MEDIA_TYPE)
