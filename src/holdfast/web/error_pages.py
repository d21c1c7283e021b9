"""Errors as a page for a person, or as a problem for a program."""

import json

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import Scope

from holdfast.control.problems import problem_of
from holdfast.dashboard.rendering import render


def asks_for_page(scope: Scope) -> bool:
    """Returns True if a person has followed a link or typed an address."""
    headers = Headers(scope=scope)
    part = "HX-Request" in headers
    return scope["method"] == "GET" and not part and "text/html" in headers.get("Accept", "")


def error_answer(scope: Scope, error: Exception) -> Response:
    """The answer for an error that no route has handled."""
    answer = problem_of(error)
    if not asks_for_page(scope):
        return answer
    problem = json.loads(bytes(answer.body))
    text = render(
        "error.html",
        title=problem["title"],
        detail=problem["detail"],
        status=problem["status"],
    )
    return HTMLResponse(text, problem["status"])


async def show_error(request: Request, error: Exception) -> Response:
    """`error_answer` as an exception handler."""
    return error_answer(request.scope, error)
