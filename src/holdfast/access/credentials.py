"""What a request says about who makes it. Nothing in it is proved."""

from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.requests import cookie_parser

SESSION_COOKIE = "holdfast_session"
ACTOR_HEADER = "X-Holdfast-Actor"


@dataclass(frozen=True, slots=True)
class Credentials:
    """A token, a session, or a name; each may be missing."""

    token: str | None = None
    session: str | None = None
    named: str | None = None
    """Who the caller says to be: counts in open mode only."""


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
