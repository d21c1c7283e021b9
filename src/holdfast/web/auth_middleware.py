"""Rejects requests without valid credentials.

Each route declares its role. This middleware runs before all routes, so unknown addresses, and
routes that declare no role, are closed as well, and no unauthenticated body is read.
"""

from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from holdfast.access.authenticator import Authenticator
from holdfast.access.credentials import read_credentials
from holdfast.control.problems import problem_of
from holdfast.errors import HoldfastError, NotSignedInError
from holdfast.web.error_pages import asks_for_page, error_answer

LOGIN = "/login"
OPEN_PATHS = frozenset({"/healthz", "/readyz", LOGIN, "/logout"})
OPEN_FOLDER = "/static/"
"""Styles and scripts, which the sign-in page needs."""


class AuthMiddleware:
    """Passes requests of known actors, and all requests to open paths."""

    def __init__(self, app: ASGIApp, authenticator: Authenticator) -> None:
        self._app = app
        self._authenticator = authenticator

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _is_open(scope["path"]):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        try:
            self._authenticator.identify(read_credentials(headers))
        except NotSignedInError as error:
            answer = _ask_to_sign_in(scope, headers) or problem_of(error)
        except HoldfastError as error:
            answer = error_answer(scope, error)
        else:
            await self._app(scope, receive, send)
            return
        await answer(scope, receive, send)


def _is_open(path: str) -> bool:
    return path in OPEN_PATHS or path.startswith(OPEN_FOLDER)


def _ask_to_sign_in(scope: Scope, headers: Headers) -> Response | None:
    """Returns a redirect to the sign-in page for a person at a page; None for a program."""
    if headers.get("HX-Request"):
        # A part of a page cannot become another page: htmx goes there instead.
        return Response(status_code=401, headers={"HX-Redirect": LOGIN})
    if not asks_for_page(scope):
        return None
    query = scope["query_string"].decode("latin-1")
    target = scope["path"] + (f"?{query}" if query else "")
    return RedirectResponse(f"{LOGIN}?next={quote(target, safe='')}", status_code=303)
