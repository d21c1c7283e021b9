"""Live streams: counted, and ended when the process ends."""

import asyncio

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_EVENT_STREAM = "text/event-stream"


class OpenStreams:
    """The streams that are read just now."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self.ending = False

    def __len__(self) -> int:
        return len(self._tasks)

    def enter(self, task: "asyncio.Task[None]") -> None:
        self._tasks.add(task)
        if self.ending:
            task.cancel()

    def leave(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)

    def end(self) -> None:
        """End all, and those that yet begin. A server that waits for its connections would wait
        for them for ever."""
        self.ending = True
        for task in self._tasks:
            task.cancel()


class Streams:
    """Enters every answer that is a stream of events among those that are open."""

    def __init__(self, app: ASGIApp, streams: OpenStreams) -> None:
        self._app = app
        self._streams = streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        task = asyncio.current_task()
        if scope["type"] != "http" or task is None:
            await self._app(scope, receive, send)
            return
        streaming = False

        async def watched(message: Message) -> None:
            nonlocal streaming
            await send(message)
            if message["type"] == "http.response.start" and _is_stream(message):
                streaming = True
                self._streams.enter(task)

        try:
            await self._app(scope, receive, watched)
        except asyncio.CancelledError:
            if not (streaming and self._streams.ending):
                raise
            task.uncancel()
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self._streams.leave(task)


def _is_stream(start: Message) -> bool:
    return Headers(raw=start["headers"]).get("content-type", "").startswith(_EVENT_STREAM)
