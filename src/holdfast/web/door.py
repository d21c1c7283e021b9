"""Nobody comes in unknown.

Each route says which role it takes. This stands before all of them, so that a route that forgets to
say so, an address that is none, and a body that nobody should read are closed to strangers, too.
"""

from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from holdfast.access.credentials import read_credentials
from holdfast.access.gatekeeper import Gatekeeper
from holdfast.api.problems import problem_of
from holdfast.errors import HoldfastError, NotSignedInError
from holdfast.web.error_pages import asks_for_page, error_answer

LOGIN = "/login"
OPEN_PATHS = frozenset({"/healthz", "/readyz", LOGIN, "/logout"})
OPEN_FOLDER = "/static/"
"""Style and script, the same for everybody: the page where one signs in needs them."""


class Door:
    """Lets through whoever is known, and everybody to what is open."""

    def __init__(self, app: ASGIApp, gatekeeper: Gatekeeper) -> None:
        self._app = app
        self._gatekeeper = gatekeeper

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _is_open(scope["path"]):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        try:
            self._gatekeeper.identify(read_credentials(headers))
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
    """A person at a page is sent to the page where one signs in; None for a program."""
    if headers.get("HX-Request"):
        # A part of a page cannot become another page: htmx is told to go there.
        return Response(status_code=401, headers={"HX-Redirect": LOGIN})
    if not asks_for_page(scope):
        return None
    query = scope["query_string"].decode("latin-1")
    target = scope["path"] + (f"?{query}" if query else "")
    return RedirectResponse(f"{LOGIN}?next={quote(target, safe='')}", status_code=303)
