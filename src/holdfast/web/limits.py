"""The size of a request, and the time until its answer begins."""

import asyncio

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.control.problems import problem


class BodyLimit:
    """Refuses bodies that are too large, by their declared length and by the received bytes."""

    def __init__(self, app: ASGIApp, *, most_bytes: int) -> None:
        self._app = app
        self._most = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        declared = Headers(scope=scope).get("content-length", "0")
        if declared.isdigit() and int(declared) > self._most:
            await self._refuse(scope, receive, send)
            return
        received, too_large, started = 0, False, False

        async def counted() -> Message:
            nonlocal received, too_large
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._most:
                too_large = True
                return {"type": "http.disconnect"}  # the reader of the body gives up
            return message

        async def unless_refused(message: Message) -> None:
            nonlocal started
            if too_large and not started:
                return  # the app's answer to the truncated body is discarded
            started = True
            await send(message)

        try:
            await self._app(scope, counted, unless_refused)
        except Exception:
            if not too_large:
                raise
        if too_large and not started:
            await self._refuse(scope, receive, send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = problem(
            413,
            "body-too-large",
            f"A request has at most {self._most} bytes. Send it in parts.",
            headers={"Connection": "close"},  # the rest of it is not read
        )
        await answer(scope, receive, send)


class TimeLimit:
    """Ends a request whose answer does not begin within `seconds`."""

    def __init__(self, app: ASGIApp, *, seconds: float) -> None:
        self._app = app
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = asyncio.timeout(self._seconds)

        async def begun(message: Message) -> None:
            limit.reschedule(None)
            await send(message)

        try:
            async with limit:
                await self._app(scope, receive, begun)
        except TimeoutError:
            if not limit.expired():
                raise
            answer = problem(
                504,
                "took-too-long",
                f"There was no answer after {self._seconds:.0f} s. The request may or may not have "
                "taken effect: check the state before you try again.",
            )
            await answer(scope, receive, send)
