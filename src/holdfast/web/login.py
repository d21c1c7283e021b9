"""Signing in with a browser: a person pastes a token once, then a session cookie replaces it."""

from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Form, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, RedirectResponse, Response

from holdfast.access.authenticator import SESSION_SECONDS, Authenticator
from holdfast.access.credentials import SESSION_COOKIE, Credentials
from holdfast.access.roles import Actor
from holdfast.dashboard.rendering import render
from holdfast.errors import NotSignedInError, TransientError
from holdfast.web.auth_middleware import LOGIN
from holdfast.web.settings import WebSettings

router = APIRouter(include_in_schema=False)
"""The sign-in page and its two forms. They are open to everyone. They need
`app.state.authenticator` and `app.state.settings`."""


@router.get(LOGIN)
def page(request: Request, next: str = "/") -> HTMLResponse:  # noqa: A002
    return _page(request, _actor(request), next)


@router.post(LOGIN)
async def sign_in(
    request: Request,
    token: Annotated[str, Form(max_length=500)] = "",
    next: Annotated[str, Form(max_length=5000)] = "/",  # noqa: A002
) -> Response:
    try:
        session = await run_in_threadpool(_authenticator(request).sign_in, token)
    except NotSignedInError as error:
        return _page(request, None, next, error=str(error), status=401)
    except TransientError as error:
        return _page(request, None, next, error=str(error), status=503)
    answer = RedirectResponse(local_path(next), status_code=303)
    answer.set_cookie(
        SESSION_COOKIE,
        session,
        max_age=SESSION_SECONDS,
        httponly=True,
        samesite="strict",
        # A proxy may terminate TLS. A client that forges the header harms only its own session.
        secure=_tls(request) or request.headers.get("X-Forwarded-Proto") == "https",
    )
    return answer


@router.post("/logout")
async def sign_out(request: Request) -> Response:
    session = request.cookies.get(SESSION_COOKIE)
    if session:
        await run_in_threadpool(_authenticator(request).sign_out, session)
    answer = RedirectResponse(LOGIN, status_code=303)
    answer.delete_cookie(SESSION_COOKIE, httponly=True, samesite="strict", secure=_tls(request))
    return answer


def local_path(text: str) -> str:
    """Returns the path if it is on this site, otherwise `/`: signing in never redirects elsewhere.

    >>> local_path("/flows/orders?state=HELD"), local_path("//evil.example"), local_path("x:y")
    ('/flows/orders?state=HELD', '/', '/')
    """
    try:
        parts = urlsplit(text)
    except ValueError:
        return "/"
    plain = text.startswith("/") and "\\" not in text and text.isprintable()
    return text if plain and not parts.scheme and not parts.netloc else "/"


def _authenticator(request: Request) -> Authenticator:
    authenticator: Authenticator = request.app.state.authenticator
    return authenticator


def _tls(request: Request) -> bool:
    settings: WebSettings = request.app.state.settings
    return settings.tls


def _actor(request: Request) -> Actor | None:
    session = request.cookies.get(SESSION_COOKIE)
    try:
        return _authenticator(request).identify(Credentials(session=session))
    except (NotSignedInError, TransientError):
        return None


def _page(
    request: Request, actor: Actor | None, target: str, *, error: str = "", status: int = 200
) -> HTMLResponse:
    text = render(
        "login.html",
        actor=actor,
        open_mode=_authenticator(request).open_to_all,
        target=local_path(target),
        error=error,
    )
    return HTMLResponse(text, status_code=status)
