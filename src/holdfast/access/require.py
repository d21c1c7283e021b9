"""The dependency by which a route says which role it needs."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import APIKeyCookie, HTTPAuthorizationCredentials, HTTPBearer

from holdfast.access.credentials import SESSION_COOKIE, read_credentials
from holdfast.access.gatekeeper import Gatekeeper
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
    """Gives the Actor behind the request, who has at least that role.

    Raises NotSignedInError where nobody is known to be there, RoleTooLowError where somebody is
    who may not.
    """

    role: Role

    def __call__(
        self,
        request: Request,
        # For the API's documentation alone: both are read with the other headers.
        _in_header: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
        _in_cookie: Annotated[str | None, Depends(_cookie)],
    ) -> Actor:
        gatekeeper: Gatekeeper = request.app.state.gatekeeper
        actor = gatekeeper.identify(read_credentials(request.headers))
        if not actor.may(self.role):
            raise RoleTooLowError(
                f"This needs the role {self.role.label}, and {actor.name!r} is {actor.role.label}."
            )
        request.state.actor = actor
        return actor


def require(role: Role) -> Require:
    """The dependency for a route that needs `role`.

    `@router.get("/flows")` with `actor: Annotated[Actor, Depends(require(Role.VIEWER))]`.
    """
    return Require(role)
