"""Answers for requests that fail by a bug; the log has the traceback."""

import logging

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.web.error_pages import error_answer

log = logging.getLogger(__name__)


class CatchErrors:
    """Answers when the app raises. It runs inside the middlewares that add headers and count,
    unlike the framework's own handler."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception as error:
            log.exception("%s %s failed", scope["method"], scope["path"])
            if begun:
                raise  # half an answer is out: break the connection, so that the client notices
            await error_answer(scope, error)(scope, receive, send)
