"""The routers of pages, which show errors where they happen."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import APIRouter, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from holdfast.control.problems import kind_of
from holdfast.dashboard.rendering import render
from holdfast.errors import HoldfastError, NotSignedInError


class PageRoute(APIRoute):
    """Shows an error as a page, or as the text of a part of a page."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_or_show(request: Request) -> Response:
            try:
                return await handle(request)
            except NotSignedInError:
                raise  # the app redirects people to the sign-in page
            except HoldfastError as error:
                kind = kind_of(error)
                return _error(request, kind.status, kind.title, str(error))
            except RequestValidationError as error:
                detail = "; ".join(f"{each['loc'][-1]}: {each['msg']}" for each in error.errors())
                return _error(request, 422, "This address cannot be used", detail)

        return handle_or_show


def page_router() -> APIRouter:
    """A router for one module of pages."""
    return APIRouter(include_in_schema=False, route_class=PageRoute)


def _error(request: Request, status: int, title: str, detail: str) -> Response:
    if request.headers.get("HX-Request"):
        return PlainTextResponse(detail, status)
    return HTMLResponse(render("error.html", title=title, detail=detail, status=status), status)
