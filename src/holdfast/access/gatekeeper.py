"""Who is behind a request."""

from holdfast.access.roles import Actor, Role
from holdfast.errors import NotSignedInError

SESSION_COOKIE = "holdfast_session"

OPEN_ACTOR = "local"
"""The name of whoever acts where no tokens are asked for, and says no other."""


class Gatekeeper:
    """Tells who is behind a request, from a token or a session.

    Open means: on loopback, where nobody has ever made a token. Then everybody is an admin, by the
    name they give.
    """

    def __init__(self, *, open_to_all: bool) -> None:
        self.open_to_all = open_to_all

    def identify(
        self, *, token: str | None, session: str | None, named: str | None = None
    ) -> Actor:
        """The actor, or NotSignedInError. `named` counts in open mode only."""
        if self.open_to_all:
            return Actor(named or OPEN_ACTOR, Role.ADMIN)
        raise NotSignedInError("This needs a token, and none that holds was given.")
