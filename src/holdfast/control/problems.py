"""Errors as `application/problem+json` (RFC 9457), each with a code that never changes.

`code` is for programs, `title` names the kind of error, and `detail` tells what happened, what it
means and what to do.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import iter_route_contexts
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import compile_path

from holdfast import errors
from holdfast.control.commands import IdempotencyKeyReusedError, KeyNotHeldError
from holdfast.control.filters import FilterError
from holdfast.errors import HoldfastError
from holdfast.flows.holds import ChooseHoldError

MEDIA_TYPE = "application/problem+json"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of error, as callers see it."""

    code: str
    status: int
    title: str


_INTERNAL = Kind("internal", 500, "Something went wrong here")

# The first class that matches an error decides.
_KINDS: tuple[tuple[type[HoldfastError], Kind], ...] = (
    (errors.NotSignedInError, Kind("not-signed-in", 401, "Not signed in")),
    (errors.RoleTooLowError, Kind("role-too-low", 403, "The role does not allow this")),
    (
        IdempotencyKeyReusedError,
        Kind("idempotency-key-reused", 422, "The Idempotency-Key belongs to another request"),
    ),
    (ChooseHoldError, Kind("choose-a-hold", 409, "The key has several holds")),
    (KeyNotHeldError, Kind("key-not-held", 409, "The key is not held")),
    (errors.RecordTooLargeError, Kind("record-too-large", 413, "The record is too large")),
    (errors.InvalidArgumentError, Kind("invalid-argument", 422, "A value cannot be used")),
    (errors.InvalidRecordError, Kind("invalid-record", 422, "A record cannot be used")),
    (errors.NotFoundError, Kind("not-found", 404, "Not found")),
    (errors.AlreadyExistsError, Kind("already-exists", 409, "There is one already")),
    (errors.ConflictError, Kind("conflict", 409, "Its state forbids this")),
    (errors.AccessDeniedError, Kind("broker-denies", 502, "The broker denies this")),
    (errors.TimedOutError, Kind("timed-out", 504, "No answer came in time")),
    (errors.TransientError, Kind("unavailable", 503, "Not possible just now")),
)

# Errors that FastAPI raises itself.
_CODES = {400: "bad-request", 404: "not-found", 405: "method-not-allowed"}

_NOT_THE_FORM = "The request does not have the required form"
_HEADERS = {401: {"WWW-Authenticate": "Bearer"}, 503: {"Retry-After": "1"}}


class FieldError(BaseModel):
    """The fault in one part of a request."""

    where: str = Field(examples=["body.expires_in"])
    what: str = Field(examples=["Input should be greater than 0"])


class Problem(BaseModel):
    """The reason why a request failed."""

    type: str = Field(examples=["urn:holdfast:problem:not-found"])
    title: str = Field(examples=["Not found"])
    status: int = Field(examples=[404])
    code: str = Field(
        description="Stable: made for programs to tell kinds of errors apart.",
        examples=["not-found"],
    )
    detail: str = Field(examples=["There is no flow 'order'."])
    errors: list[FieldError] | None = Field(
        default=None, description="Of a request that does not have the required form."
    )


def kind_of(error: Exception) -> Kind:
    for kind, known in _KINDS:
        if isinstance(error, kind):
            return known
    return _INTERNAL


def problem(
    status: int,
    code: str,
    detail: str,
    *,
    title: str | None = None,
    fields: Sequence[FieldError] | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """An error as an answer: `code` for programs, `detail` for people."""
    body = Problem(
        type=f"urn:holdfast:problem:{code}",
        title=title or HTTPStatus(status).phrase,
        status=status,
        code=code,
        detail=detail,
        errors=None if fields is None else list(fields),
    )
    return JSONResponse(
        body.model_dump(exclude_none=True), status, dict(headers or {}), media_type=MEDIA_TYPE
    )


def problem_of(error: Exception) -> JSONResponse:
    """The answer for any error: Holdfast's, FastAPI's, or another."""
    if isinstance(error, RequestValidationError):
        return _invalid(error)
    if isinstance(error, HTTPException):
        code = _CODES.get(error.status_code, f"http-{error.status_code}")
        return problem(error.status_code, code, str(error.detail), headers=error.headers)
    kind = kind_of(error)
    detail = str(error)
    if kind is _INTERNAL:
        detail = "Holdfast failed to answer. The log of the web process has the details. Try again."
    fields = None
    if isinstance(error, FilterError):
        fields = [FieldError(where=f"query.{error.field}", what=detail)]
    return problem(
        kind.status,
        kind.code,
        detail,
        title=kind.title,
        fields=fields,
        headers=_HEADERS.get(kind.status),
    )


def install_problems(app: FastAPI) -> None:
    """Answer every error of the API with a problem."""

    async def answer(request: Request, error: Exception) -> Response:
        if isinstance(error, RequestValidationError) and _unread_body(request, error):
            return _not_json(request)
        answer = problem_of(error)
        if answer.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            answer.headers["Allow"] = ", ".join(sorted(_methods_at(request)))
        return answer

    for kind in (HoldfastError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, answer)


def _unread_body(request: Request, error: RequestValidationError) -> bool:
    """Returns True if a body was not read as JSON, because it was not called JSON."""
    return "json" not in request.headers.get("content-type", "") and any(
        found["loc"] == ("body",) and found.get("input") is not None for found in error.errors()
    )


def _not_json(request: Request) -> JSONResponse:
    given = request.headers.get("content-type")
    called = "has no Content-Type" if given is None else f"has the Content-Type {given[:100]!r}"
    detail = f"The body {called}: send `Content-Type: application/json`."
    fields = [FieldError(where="header.content-type", what=detail)]
    return problem(422, "invalid-request", detail, title=_NOT_THE_FORM, fields=fields)


def _methods_at(request: Request) -> set[str]:
    """All methods of the address. Starlette names only those of the first matching route."""
    return {
        method
        for context in iter_route_contexts(request.app.routes)
        for method in context.methods or ()
        if compile_path(context.path or "")[0].match(request.url.path)
    }


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors that a route may answer with, for its documentation."""
    return {
        status: {
            "description": _DESCRIPTIONS[status],
            "content": {MEDIA_TYPE: {"schema": _SCHEMA}},
        }
        for status in statuses
    }


def _problem_schema() -> dict[str, Any]:
    """A schema without references, because each route's documentation stands by itself."""
    schema = Problem.model_json_schema()
    parts = schema.pop("$defs")
    schema["properties"]["errors"]["anyOf"][0]["items"] = parts["FieldError"]
    return schema


_SCHEMA = _problem_schema()

_DESCRIPTIONS = {
    400: "The request cannot be read at all.",
    401: "Not signed in.",
    403: "The role does not allow this.",
    404: "Not found.",
    409: "Its state forbids this.",
    413: "The request is too large.",
    421: "The `Host` header has an unknown name.",
    422: "The request does not have the required form, or has an invalid value.",
    429: "Too many requests.",
    502: "The broker denies this.",
    503: "Not possible just now: the broker is away, or views are not built yet.",
    504: "The broker did not answer in time.",
}


def _invalid(error: RequestValidationError) -> JSONResponse:
    fields = [
        FieldError(where=".".join(map(str, found["loc"])), what=str(found["msg"]))
        for found in error.errors()
    ]
    detail = "; ".join(f"{field.where}: {field.what}" for field in fields[:5])
    return problem(422, "invalid-request", detail, title=_NOT_THE_FORM, fields=fields)
