"""Finds the actor of a request."""

from collections.abc import Callable

from holdfast.access.credentials import ACTOR_HEADER, Credentials
from holdfast.access.roles import Actor, Role
from holdfast.access.token_log import TokenLog
from holdfast.access.token_view import TokenView
from holdfast.access.tokens import Token, new_token, split_token
from holdfast.clock import now_ms
from holdfast.errors import HoldfastError, InvalidArgumentError, NotSignedInError, UnavailableError

SESSION_SECONDS = 12 * 3600
"""A working day and some hours; then a new sign-in is required."""

OPEN_ACTOR = "local"
"""The actor in open mode, if the request names none."""
MAX_ACTOR_LENGTH = 100


class Authenticator:
    """Finds the actor of a request by its token or session.

    Open mode means: on loopback, without any token. Then every caller is an admin, under the name
    that it gives. Open mode ends with the first token for the rest of the process: a token that
    expires or is revoked does not start it again.
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
        """True once all tokens were read."""
        return self._view.known

    @property
    def trouble(self) -> str:
        """Why revoked and new tokens are not noticed at the moment; empty if they are."""
        return self._view.failure

    @property
    def open_to_all(self) -> bool:
        return self._loopback and self.knows_tokens and not self._view.ever_any

    def identify(self, credentials: Credentials) -> Actor:
        """The actor, or NotSignedInError."""
        if not self.knows_tokens:
            raise UnavailableError(
                "The tokens were not read yet, because no broker answers. Try again later."
            )
        if self.open_to_all:
            return Actor(
                _checked_name(credentials.named) if credentials.named else OPEN_ACTOR, Role.ADMIN
            )
        if credentials.token is None and credentials.session is None:
            raise NotSignedInError(
                "This needs a token, and none was given: send it as 'Authorization: Bearer ...'. "
                "'holdfast token create' makes one."
            )
        token = self._token_of(credentials)
        return Actor(token.name, token.role)

    def knows(self, credentials: Credentials) -> bool:
        """Returns True if the credentials are valid."""
        try:
            self.identify(credentials)
        except HoldfastError:
            return False
        return True

    def credential(self, credentials: Credentials) -> str | None:
        """The id of the token, also of a session's token; None if it is not valid."""
        try:
            token = self._token_of(credentials)
        except NotSignedInError:
            return None
        return token.parent or token.id

    def sign_in(self, token: str) -> str:
        """Start a session of the token. Returns its text, for the cookie."""
        parent = self._verified(token.strip(), of_session=False)
        now = self._clock()
        ends = now + SESSION_SECONDS * 1000
        session, text = new_token(
            name=parent.name,
            role=parent.role,
            now=now,
            created_by=parent.name,
            expires_at=min(ends, parent.expires_at or ends),
            parent=parent.id,
        )
        self._view.wait_for(self._log.append(session))
        self._remove_expired_sessions()
        return text

    def sign_out(self, session: str) -> None:
        """End a session, in all processes. Nothing happens if it is not valid."""
        try:
            token = self._verified(session, of_session=True)
        except NotSignedInError:
            return
        self._view.wait_for(self._log.remove(token.id))

    def _token_of(self, credentials: Credentials) -> Token:
        if credentials.token is not None:
            return self._verified(credentials.token, of_session=False)
        return self._verified(credentials.session or "", of_session=True)

    def _verified(self, text: str, *, of_session: bool) -> Token:
        parts = split_token(text)
        token = self._view.tokens.get(parts[0]) if parts else None
        if token is None or parts is None or not token.proves(parts[1]):
            raise _invalid_token()
        if (token.parent is not None) is not of_session or not self._is_valid(token):
            raise _invalid_token()
        return token

    def _is_valid(self, token: Token) -> bool:
        if token.expired(self._clock()):
            return False
        if token.parent is None:
            return True
        parent = self._view.tokens.get(token.parent)
        return parent is not None and self._is_valid(parent)

    def _remove_expired_sessions(self) -> None:
        """Without this, sessions without a sign-out would stay on the topic."""
        for token in list(self._view.tokens.values()):
            if token.parent is not None and not self._is_valid(token):
                self._log.remove(token.id)


def _checked_name(named: str) -> str:
    if len(named) > MAX_ACTOR_LENGTH or not named.isprintable() or not named.strip():
        raise InvalidArgumentError(
            f"{ACTOR_HEADER} is 1 to {MAX_ACTOR_LENGTH} characters that can be printed."
        )
    return named.strip()


def _invalid_token() -> NotSignedInError:
    return NotSignedInError("This token is not valid: it is unknown, expired or revoked.")
