"""The dependency that declares the role of a route."""

from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import APIKeyCookie, HTTPAuthorizationCredentials, HTTPBearer

from holdfast.access.authenticator import Authenticator
from holdfast.access.credentials import SESSION_COOKIE, read_credentials, read_via
from holdfast.access.roles import Actor, Role
from holdfast.errors import RoleTooLowError

_bearer = HTTPBearer(
    auto_error=False,
    scheme_name="token",
    description="A token that `holdfast token create` has shown.",
)
_cookie = APIKeyCookie(
    name=SESSION_COOKIE,
    auto_error=False,
    scheme_name="session",
    description="The browser's session, from signing in at `/login`.",
)


@dataclass(frozen=True, slots=True)
class Require:
    """Returns the actor of the request, if it has at least this role.

    Raises NotSignedInError for an unknown actor, RoleTooLowError for a lower role.
    """

    role: Role

    def __call__(
        self,
        request: Request,
        # Only for the API's documentation: both are read with the other headers.
        _in_header: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
        _in_cookie: Annotated[str | None, Depends(_cookie)],
    ) -> Actor:
        authenticator: Authenticator = request.app.state.authenticator
        actor = authenticator.identify(read_credentials(request.headers))
        if not actor.may(self.role):
            raise RoleTooLowError(
                f"This needs the role {self.role.label}, and {actor.name!r} is {actor.role.label}."
            )
        actor = replace(actor, via=read_via(request.headers))
        request.state.actor = actor
        return actor


def require(role: Role) -> Require:
    """The dependency for a route that needs `role`.

    `@router.get("/flows")` with `actor: Annotated[Actor, Depends(require(Role.VIEWER))]`.
    """
    return Require(role)
