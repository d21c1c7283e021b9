"""Refuses requests that another site makes through the user's browser.

There are two ways in. A page elsewhere posts a form or a fetch here: `Sec-Fetch-Site` or `Origin`
reveal it. Or a site points its own name to loopback, so that its script seems to belong to this
site: `Host` then has the foreign name.
"""

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from holdfast.control.problems import problem
from holdfast.web.settings import WebSettings

_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_OWN = frozenset({"same-origin", "none"})
"""`none` is a person who typed an address or used a bookmark. `same-site` is another port of this
host."""


class OwnSiteOnly:
    """Passes requests of our own pages, of people, and of programs that are not browsers."""

    def __init__(self, app: ASGIApp, settings: WebSettings) -> None:
        self._app = app
        self._hosts = _allowed_hosts(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if self._hosts and _host_name(headers.get("host", "")) not in self._hosts:
            answer = problem(
                421,
                "unknown-host",
                "This process does not go by the name in the Host header. If it is right, name it "
                "in the setting 'hosts' of [web].",
            )
            await answer(scope, receive, send)
        elif scope["method"] not in _SAFE and not _from_here(headers):
            answer = problem(
                403,
                "cross-site",
                "This request was made by a page of another site, and is refused.",
            )
            await answer(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _allowed_hosts(settings: WebSettings) -> frozenset[str]:
    """Empty: any."""
    if settings.loopback:
        return _LOOPBACK_NAMES | settings.named_hosts
    return settings.named_hosts


def _from_here(headers: Headers) -> bool:
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site in _OWN
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc == headers.get("host")


def _host_name(host: str) -> str:
    """Without the port, and without the brackets of IPv6.

    >>> _host_name("Localhost:8600"), _host_name("[::1]:8600")
    ('localhost', '::1')
    """
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
