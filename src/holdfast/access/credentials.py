"""The credentials of a request, unverified."""

import re
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.requests import cookie_parser

from holdfast.errors import InvalidArgumentError

SESSION_COOKIE = "holdfast_session"
ACTOR_HEADER = "X-Holdfast-Actor"
VIA_HEADER = "X-Holdfast-Via"
"""The program through which the actor makes the request. The audit names it beside the actor."""

_PROGRAM = re.compile(r"[a-z0-9-]{1,20}")


@dataclass(frozen=True, slots=True)
class Credentials:
    """A token, a session, or a name; each may be missing."""

    token: str | None = None
    session: str | None = None
    named: str | None = None
    """The name that the caller claims: used in open mode only."""


def read_credentials(headers: Headers) -> Credentials:
    """The credentials in a request's headers."""
    scheme, _, token = headers.get("Authorization", "").partition(" ")
    named = headers.get(ACTOR_HEADER)
    return Credentials(
        token=token.strip() if scheme.lower() == "bearer" else None,
        session=cookie_parser(headers.get("Cookie", "")).get(SESSION_COOKIE),
        # Headers come as Latin-1, and names as UTF-8.
        named=None if named is None else named.encode("latin-1").decode(errors="replace"),
    )


def read_via(headers: Headers) -> str:
    """The program that a request names as its means; empty if it names none."""
    via = headers.get(VIA_HEADER, "")
    if via and not _PROGRAM.fullmatch(via):
        raise InvalidArgumentError(
            f"{VIA_HEADER} is 1 to 20 lower-case letters, digits and hyphens."
        )
    return via
