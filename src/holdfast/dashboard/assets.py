"""Static files, by addresses that change with their content: a browser may keep them for ever."""

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

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


class Assets(StaticFiles):
    """Serves `static/`. What is asked for with its version never changes."""

    def __init__(self) -> None:
        super().__init__(directory=ROOT)

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        query: Mapping[bytes, bytes] | bytes = scope.get("query_string", b"")
        versioned = isinstance(query, bytes) and query.startswith(b"v=")
        response.headers["Cache-Control"] = _FOREVER if versioned else "no-cache"
        return response
