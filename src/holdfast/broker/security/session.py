"""Who uses a connection: its login, and what the client may do."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from holdfast.broker.security.acls import ANONYMOUS
from holdfast.broker.security.authorizer import Access, Authorizer
from holdfast.broker.security.logins import OAUTHBEARER, PLAIN, Logins
from holdfast.broker.security.scram import LoginFailed, ScramExchange
from holdfast.wire.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from holdfast.broker.security.security import Security

SASL_HANDSHAKE, API_VERSIONS, SASL_AUTHENTICATE = 17, 18, 36
REFUSED_TOKEN = b'{"status":"invalid_token"}'
"""The answer to a wrong token (RFC 7628). The client sends another message, and then gets the
error."""
LONGEST_MESSAGE = 32 * 1024
"""Of a login, also of one that renews another: its request may be as large as any other."""
_BEFORE_LOGIN = frozenset((SASL_HANDSHAKE, API_VERSIONS, SASL_AUTHENTICATE))


class Session:
    """One connection's client. Until it has logged in, only the login is answered."""

    def __init__(
        self,
        security: "Security",
        host: str,
        needs_login: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.host = host
        self.is_over = False
        """A login has failed: the connection is closed once the answer is sent."""
        self.access: Access | None = None
        self._logins: Logins = security.logins
        self._authorizer: Authorizer | None = security.authorizer
        self.mechanisms = security.mechanisms if needs_login else ()
        self._reauth_ms = security.reauth_ms
        self._clock = clock
        self._principal: str | None = None
        self._lifetime_ms = 0
        self._expires_at: float | None = None
        self._refused: LoginFailed | None = None
        """A token was wrong: the client's next message gets the error."""
        self._mechanism: str | None = None
        self._exchange: ScramExchange | None = None
        self._user = ""
        if not needs_login:
            self.identify(ANONYMOUS)

    @property
    def principal(self) -> str | None:
        """None before the login."""
        return self._principal

    def identify(self, principal: str) -> None:
        self._principal = principal
        if self._authorizer is not None:
            self.access = Access(self._authorizer, principal, self.host)

    def refusal(self, key: int) -> str | None:
        """Why a request of this API is not answered now; None if it is."""
        if self.is_over:
            return "its login has failed"
        if self._refused is not None and key != SASL_AUTHENTICATE:
            return "its login has failed"
        if key in _BEFORE_LOGIN:
            return None
        if self._principal is None:
            return f"it sent a request (API key {key}) before it has logged in"
        if self._expires_at is not None and self._clock() > self._expires_at:
            return "its login has expired"
        return None

    def begin(self, mechanism: str) -> ErrorCode:
        """The client chooses a mechanism. It may do so again to renew its login in time."""
        if not self.mechanisms or (self._principal is not None and self._expires_at is None):
            return ErrorCode.ILLEGAL_SASL_STATE
        if mechanism not in self.mechanisms:
            return ErrorCode.UNSUPPORTED_SASL_MECHANISM
        self._mechanism = mechanism
        self._exchange = None
        return ErrorCode.NONE

    async def authenticate(self, message: bytes) -> bytes | None:
        """Takes the next message of a login, and returns the answer. Raises LoginFailed; None
        means that the connection is to be closed without one."""
        mechanism = self._mechanism
        if mechanism is None:
            self.is_over = True
            raise LoginFailed("There was no SaslHandshake before.")
        if self._refused is not None:
            self.is_over = True
            raise self._refused
        try:
            if len(message) > LONGEST_MESSAGE:
                raise LoginFailed(f"The message has more than {LONGEST_MESSAGE} bytes.")
            if mechanism == OAUTHBEARER:
                self._user = ""
                self._logged_in(*await self._logins.check_token(message))
                return b""
            if mechanism == PLAIN:
                self._user = _claimed(message)
                self._logged_in(await self._logins.check_password(message, self.host))
                return b""
            if self._exchange is None:
                self._user, self._exchange = self._logins.scram(mechanism, message)
                return self._exchange.challenge.encode()
            answer = self._exchange.verify(message)
            self._logged_in(self._user)
            return answer
        except LoginFailed as error:
            self.is_over = mechanism != OAUTHBEARER
            self._refused = error
            if not await self._logins.failed(self._user, self.host, mechanism, error):
                return None
            if self.is_over:
                raise
            return REFUSED_TOKEN

    def _logged_in(self, user: str, valid_ms: int = 0) -> None:
        """`valid_ms`: how long the proof itself is valid; 0 for ever."""
        principal = f"User:{user}"
        if self._principal not in (None, principal):
            raise LoginFailed("A login can be renewed by the same user only.")
        self._mechanism = self._exchange = None
        limits = [limit for limit in (self._reauth_ms, valid_ms) if limit]
        self._lifetime_ms = min(limits, default=0)
        if limits:
            self._expires_at = self._clock() + self._lifetime_ms / 1000
        self.identify(principal)
        self._logins.succeeded()

    @property
    def lifetime_ms(self) -> int:
        """How long a login is valid; 0 for ever."""
        return self._lifetime_ms


def _claimed(message: bytes) -> str:
    """The name in a message of PLAIN, for the log. Never a part of the password."""
    parts = message.split(b"\0")
    return parts[1].decode(errors="replace") if len(parts) == 3 else ""
