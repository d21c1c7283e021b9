"""Bugs: the log has the traceback, the caller an answer like any other."""

import logging

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.web.error_pages import error_answer

log = logging.getLogger(__name__)


class Faults:
    """Answers for an app that fails. Inside of what adds headers and counts, unlike the handler of
    the framework, whose answers would go out without."""

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
                raise  # half an answer is out: the connection has to break, so that it is seen
            await error_answer(scope, error)(scope, receive, send)
