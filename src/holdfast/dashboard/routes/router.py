"""All pages under one router."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import APIRouter, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from holdfast.api.problems import kind_of
from holdfast.dashboard.rendering import render
from holdfast.dashboard.routes import (
    audit,
    dead_letters,
    find,
    flow,
    groups,
    health,
    key,
    overview,
    quality,
    runs,
    topics,
    verbs,
)
from holdfast.errors import HoldfastError, NotSignedInError


class _PageRoute(APIRoute):
    """Errors are shown where they happen: as a page, or as the text of a part of one."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_or_show(request: Request) -> Response:
            try:
                return await handle(request)
            except NotSignedInError:
                raise  # the app sends people to where one signs in
            except HoldfastError as error:
                return _shown(request, kind_of(error).status, kind_of(error).title, str(error))
            except RequestValidationError as error:
                said = "; ".join(f"{found['loc'][-1]}: {found['msg']}" for found in error.errors())
                return _shown(request, 422, "This address cannot be used", said)

        return handle_or_show


def dashboard_router() -> APIRouter:
    """The dashboard's pages."""
    pages = APIRouter(include_in_schema=False, route_class=_PageRoute)
    for module in (
        overview, find, flow, verbs, key, dead_letters, runs, topics, groups, audit, quality,
        health,
    ):  # fmt: skip
        module.add(pages)
    return pages


def _shown(request: Request, status: int, title: str, detail: str) -> Response:
    if request.headers.get("HX-Request"):
        return PlainTextResponse(detail, status)
    return HTMLResponse(render("error.html", title=title, detail=detail, status=status), status)
