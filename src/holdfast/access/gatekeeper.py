"""Who is behind a request."""

from collections.abc import Callable

from holdfast.access.credentials import ACTOR_HEADER, Credentials
from holdfast.access.roles import Actor, Role
from holdfast.access.token_log import TokenLog, now_ms
from holdfast.access.token_view import TokenView
from holdfast.access.tokens import Token, new_token, split_token
from holdfast.errors import HoldfastError, InvalidArgumentError, NotSignedInError, UnavailableError

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

    def identify(self, given: Credentials) -> Actor:
        """The actor, or NotSignedInError."""
        if not self.knows_tokens:
            raise UnavailableError(
                "The tokens were not read yet, because no broker answers: nobody can be let in."
            )
        if self.open_to_all:
            return Actor(_checked_name(given.named) if given.named else OPEN_ACTOR, Role.ADMIN)
        if given.token is None and given.session is None:
            raise NotSignedInError(
                "This needs a token, and none was given: send it as 'Authorization: Bearer ...'. "
                "'holdfast token create' makes one."
            )
        proved = self._proved_by(given)
        return Actor(proved.name, proved.role)

    def knows(self, given: Credentials) -> bool:
        """Whether somebody is behind these."""
        try:
            self.identify(given)
        except HoldfastError:
            return False
        return True

    def credential(self, given: Credentials) -> str | None:
        """The id of the token that is used, also by way of a session; None if none holds."""
        try:
            proved = self._proved_by(given)
        except NotSignedInError:
            return None
        return proved.parent or proved.id

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

    def _proved_by(self, given: Credentials) -> Token:
        if given.token is not None:
            return self._proved(given.token, of_session=False)
        return self._proved(given.session or "", of_session=True)

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

    def _forget_what_has_ended(self) -> None:
        """Sessions that nobody has signed out of would stay on the topic for ever."""
        for token in list(self._view.tokens.values()):
            if token.parent is not None and not self._holds(token):
                self._log.remove(token.id)


def _checked_name(named: str) -> str:
    if len(named) > MAX_ACTOR_LENGTH or not named.isprintable() or not named.strip():
        raise InvalidArgumentError(
            f"{ACTOR_HEADER} is 1 to {MAX_ACTOR_LENGTH} characters that can be printed."
        )
    return named.strip()


def _does_not_hold() -> NotSignedInError:
    return NotSignedInError("This token does not hold: it is unknown, expired or revoked.")
