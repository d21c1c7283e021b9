"""Who is behind a request."""

from collections.abc import Callable

from holdfast.access.roles import Actor, Role
from holdfast.access.token_log import TokenLog, now_ms
from holdfast.access.token_view import TokenView
from holdfast.access.tokens import Token, new_token, split_token
from holdfast.errors import InvalidArgumentError, NotSignedInError, UnavailableError

SESSION_COOKIE = "holdfast_session"
SESSION_S = 12 * 3600
"""A working day, with some to spare; then one signs in again."""

OPEN_ACTOR = "local"
"""The name of whoever acts where no tokens are asked for, and says no other."""
MAX_ACTOR_LENGTH = 100


class Gatekeeper:
    """Tells who is behind a request, from a token or a session.

    Open means: on loopback, where there is no token. Then everybody is an admin, by the name they
    give. It ends with the first token, for as long as the process runs: a token that expires or is
    revoked lets nobody in.
    """

    def __init__(
        self,
        view: TokenView,
        token_log: TokenLog,
        *,
        loopback: bool,
        clock: Callable[[], int] = now_ms,
    ) -> None:
        self._view = view
        self._log = token_log
        self._loopback = loopback
        self._clock = clock

    @property
    def knows_tokens(self) -> bool:
        """Whether all tokens were read."""
        return self._view.complete

    @property
    def open_to_all(self) -> bool:
        return self._loopback and self.knows_tokens and not self._view.ever_any

    def identify(
        self, *, token: str | None, session: str | None, named: str | None = None
    ) -> Actor:
        """The actor, or NotSignedInError. `named` counts in open mode only."""
        if not self.knows_tokens:
            raise UnavailableError(
                "The tokens were not read yet, because no broker answers: nobody can be let in."
            )
        if self.open_to_all:
            return Actor(_checked_name(named) if named else OPEN_ACTOR, Role.ADMIN)
        if token is not None:
            return self._actor(token, of_session=False)
        if session is not None:
            return self._actor(session, of_session=True)
        raise NotSignedInError(
            "This needs a token, and none was given: send it as 'Authorization: Bearer ...'. "
            "'holdfast token create' makes one."
        )

    def credential(self, *, token: str | None, session: str | None) -> str | None:
        """The id of the token that is used, also by way of a session; None if none holds."""
        given = token or session
        try:
            found = self._proved(given, of_session=token is None) if given else None
        except NotSignedInError:
            return None
        return (found.parent or found.id) if found else None

    def sign_in(self, token: str) -> str:
        """Begin a session of the token's. -> its text, for the cookie"""
        parent = self._proved(token.strip(), of_session=False)
        now = self._clock()
        ends = now + SESSION_S * 1000
        session, text = new_token(
            name=parent.name,
            role=parent.role,
            now=now,
            created_by=parent.name,
            expires_at=min(ends, parent.expires_at or ends),
            parent=parent.id,
        )
        self._view.wait_for(self._log.append(session))
        self._forget_what_has_ended()
        return text

    def sign_out(self, session: str) -> None:
        """End a session, in all instances. One that does not hold is ended already."""
        try:
            found = self._proved(session, of_session=True)
        except NotSignedInError:
            return
        self._view.wait_for(self._log.remove(found.id))

    def _proved(self, text: str, *, of_session: bool) -> Token:
        parts = split_token(text)
        found = self._view.tokens.get(parts[0]) if parts else None
        if found is None or parts is None or not found.proves(parts[1]):
            raise _does_not_hold()
        if (found.parent is not None) is not of_session or not self._holds(found):
            raise _does_not_hold()
        return found

    def _holds(self, token: Token) -> bool:
        if token.expired(self._clock()):
            return False
        if token.parent is None:
            return True
        parent = self._view.tokens.get(token.parent)
        return parent is not None and self._holds(parent)

    def _actor(self, text: str, *, of_session: bool) -> Actor:
        proved = self._proved(text, of_session=of_session)
        return Actor(proved.name, proved.role)

    def _forget_what_has_ended(self) -> None:
        """Sessions that nobody has signed out of would stay on the topic for ever."""
        for token in list(self._view.tokens.values()):
            if token.parent is not None and not self._holds(token):
                self._log.remove(token.id)


def _checked_name(named: str) -> str:
    if len(named) > MAX_ACTOR_LENGTH or not named.isprintable() or not named.strip():
        raise InvalidArgumentError(
            f"X-Holdfast-Actor is 1 to {MAX_ACTOR_LENGTH} characters that can be printed."
        )
    return named.strip()


def _does_not_hold() -> NotSignedInError:
    return NotSignedInError("This token does not hold: it is unknown, expired or revoked.")
