"""Errors as `application/problem+json` (RFC 9457), each with a stable code."""

from collections.abc import Mapping
from http import HTTPStatus

from starlette.responses import JSONResponse

MEDIA_TYPE = "application/problem+json"


def problem(
    status: int, code: str, detail: str, *, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """An answer that says what is wrong: `code` for programs, `detail` for people."""
    return JSONResponse(
        {
            "type": "about:blank",
            "title": HTTPStatus(status).phrase,
            "status": status,
            "code": code,
            "detail": detail,
        },
        status_code=status,
        headers=dict(headers or {}),
        media_type=MEDIA_TYPE,
    )
