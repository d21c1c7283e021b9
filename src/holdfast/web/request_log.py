"""Logs one line for each request, without secrets, and counts it in the metrics."""

import logging
from collections.abc import Callable, Mapping
from functools import cached_property
from time import perf_counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.web.metrics import WebMetrics
from holdfast.web.route_table import RouteEntry

log = logging.getLogger(__name__)

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_QUIET = ("/healthz", "/readyz", "/metrics", "/static")
"""Probes: they are logged only if they fail."""


class RequestLog:
    """The outermost middleware, so that it sees the end of every request.

    Headers and query are not logged: they may contain a token.
    """

    def __init__(
        self,
        app: ASGIApp,
        metrics: WebMetrics,
        routes: Callable[[], tuple[RouteEntry, ...]],
        *,
        all_requests: bool,
    ) -> None:
        """`routes` is called at the first request, when all routes exist."""
        self._app = app
        self._metrics = metrics
        self._routes = routes
        self._all = all_requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = perf_counter()
        status, seconds = 500, 0.0

        async def watched(message: Message) -> None:
            nonlocal status, seconds
            if message["type"] == "http.response.start":
                status, seconds = message["status"], perf_counter() - began
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            self._write(scope, status, seconds or perf_counter() - began)

    def _write(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in _METHODS else "other"
        route = self._templates.get(id(scope.get("route")), "unmatched")
        self._metrics.answered(method, route, status, seconds)
        quiet = status < 500 and (not self._all or scope["path"].startswith(_QUIET))
        actor = scope.get("state", {}).get("actor")
        log.log(
            logging.DEBUG if quiet else logging.INFO,
            "%s %s %d in %.0f ms by %s from %s",
            method,
            scope["path"],
            status,
            seconds * 1000,
            actor.name if actor else "-",
            scope["client"][0] if scope.get("client") else "-",
        )

    @cached_property
    def _templates(self) -> Mapping[int, str]:
        """The route's template. Addresses contain keys and would make endless metrics."""
        return {id(entry.route): entry.path for entry in self._routes()}
