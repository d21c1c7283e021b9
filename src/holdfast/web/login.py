"""Signing in with a browser: a token is pasted once, and a cookie stands for it from then on."""

from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Form, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, RedirectResponse, Response

from holdfast.access.credentials import SESSION_COOKIE, Credentials
from holdfast.access.gatekeeper import SESSION_S, Gatekeeper
from holdfast.access.roles import Actor
from holdfast.dashboard.rendering import render
from holdfast.errors import NotSignedInError, TransientError
from holdfast.web.door import LOGIN


def login_router(gatekeeper: Gatekeeper, *, tls: bool) -> APIRouter:
    """The page, and the two things that one can do there. Open to all, as it must be."""
    router = APIRouter(include_in_schema=False)

    @router.get(LOGIN)
    def page(request: Request, next: str = "/") -> HTMLResponse:  # noqa: A002
        return _page(gatekeeper, _who(gatekeeper, request), next)

    @router.post(LOGIN)
    async def sign_in(
        request: Request,
        token: Annotated[str, Form(max_length=500)] = "",
        next: Annotated[str, Form(max_length=5000)] = "/",  # noqa: A002
    ) -> Response:
        try:
            session = await run_in_threadpool(gatekeeper.sign_in, token)
        except NotSignedInError as error:
            return _page(gatekeeper, None, next, error=str(error), status=401)
        except TransientError as error:
            return _page(gatekeeper, None, next, error=str(error), status=503)
        answer = RedirectResponse(local_path(next), status_code=303)
        answer.set_cookie(
            SESSION_COOKIE,
            session,
            max_age=SESSION_S,
            httponly=True,
            samesite="strict",
            # A proxy may speak TLS in our place. Who only says so harms no session but their own.
            secure=tls or request.headers.get("X-Forwarded-Proto") == "https",
        )
        return answer

    @router.post("/logout")
    async def sign_out(request: Request) -> Response:
        session = request.cookies.get(SESSION_COOKIE)
        if session:
            await run_in_threadpool(gatekeeper.sign_out, session)
        answer = RedirectResponse(LOGIN, status_code=303)
        answer.delete_cookie(SESSION_COOKIE, httponly=True, samesite="strict", secure=tls)
        return answer

    return router


def local_path(text: str) -> str:
    """The path, if it is one of ours: nobody is sent elsewhere after signing in.

    >>> local_path("/flows/orders?state=HELD"), local_path("//evil.example"), local_path("x:y")
    ('/flows/orders?state=HELD', '/', '/')
    """
    try:
        parts = urlsplit(text)
    except ValueError:
        return "/"
    plain = text.startswith("/") and "\\" not in text and text.isprintable()
    return text if plain and not parts.scheme and not parts.netloc else "/"


def _who(gatekeeper: Gatekeeper, request: Request) -> Actor | None:
    try:
        return gatekeeper.identify(Credentials(session=request.cookies.get(SESSION_COOKIE)))
    except (NotSignedInError, TransientError):
        return None


def _page(
    gatekeeper: Gatekeeper,
    actor: Actor | None,
    target: str,
    *,
    error: str = "",
    status: int = 200,
) -> HTMLResponse:
    text = render(
        "login.html",
        actor=actor,
        open_mode=gatekeeper.open_to_all,
        target=local_path(target),
        error=error,
    )
    return HTMLResponse(text, status_code=status)
