"""Static files, by addresses that change with their content: a browser may keep them for ever."""

import hashlib
from functools import cache
from pathlib import Path

from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

ROOT = Path(__file__).parent / "static"
PATH = "/static"
_FOREVER = "public, max-age=31536000, immutable"


@cache
def asset(name: str) -> str:
    """The address of a file in `static/`.

    >>> asset("theme.js").startswith("/static/theme.js?v=")
    True
    """
    digest = hashlib.sha256((ROOT / name).read_bytes()).hexdigest()
    return f"{PATH}/{name}?v={digest[:12]}"


class Assets:
    """Serves `static/`, compressed. A file with its version in the address never changes."""

    def __init__(self) -> None:
        self._app = GZipMiddleware(_Files(directory=ROOT), minimum_size=500, compresslevel=6)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


class _Files(StaticFiles):
    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        versioned = scope.get("query_string", b"").startswith(b"v=")
        response.headers["Cache-Control"] = _FOREVER if versioned else "no-cache"
        return response
