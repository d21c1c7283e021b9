"""OAUTHBEARER (RFC 7628): the client sends a token that its issuer has signed."""

import re
import time
from collections.abc import Callable

from holdfast.broker.security.key_set import KeySet
from holdfast.broker.security.scram import LoginFailed
from holdfast.broker.security.tokens import Claims, Login, check_claims, parse_token, verify
from holdfast.broker.settings import BrokerSettings
from holdfast.errors import ConfigError

_MESSAGE = re.compile(
    rb"n,(?:a=(?P<name>(?:[^=,\0]|=2C|=3D)+))?,\x01"
    rb"(?P<pairs>(?:[A-Za-z]+=[\x20-\x7e\t\r\n]*\x01)+)\x01"
)
_BEARER = re.compile(r"bearer +([-_.=A-Za-z0-9]+)", re.IGNORECASE)


def parse_message(message: bytes) -> tuple[str | None, str]:
    """The user that the client wants to be, if it names one, and the token."""
    match = _MESSAGE.fullmatch(message)
    if match is None:
        raise LoginFailed("The message of OAUTHBEARER is not understood.")
    pairs = dict(each.split(b"=", 1) for each in match["pairs"].split(b"\x01") if each)
    bearer = _BEARER.fullmatch(pairs.get(b"auth", b"").decode())
    if bearer is None:
        raise LoginFailed("The message of OAUTHBEARER has no bearer token.")
    name = match["name"]
    if name is None:
        return None, bearer[1]
    try:
        return name.decode().replace("=2C", ",").replace("=3D", "="), bearer[1]
    except UnicodeDecodeError:
        raise LoginFailed("The message of OAUTHBEARER is not UTF-8.") from None


class TokenLogins:
    """Verifies tokens."""

    def __init__(
        self, keys: KeySet, claims: Claims, clock: Callable[[], float] = time.time
    ) -> None:
        self._keys = keys
        self._claims = claims
        self.clock = clock

    async def check(self, message: bytes) -> Login:
        """Who the client is, and until when; raises LoginFailed."""
        name, token = parse_message(message)
        signed = parse_token(token)
        candidates = await self._keys.candidates(signed.key_id)
        if not any(verify(signed, key) for key in candidates):
            raise LoginFailed("No key of the issuer (oauth_jwks) has signed the token.")
        login = check_claims(signed.claims, self._claims, self.clock())
        if name not in (None, login.user):
            raise LoginFailed("Acting as another user than the one that logs in is not possible.")
        return login

    def close(self) -> None:
        self._keys.close()


def token_logins(settings: BrokerSettings) -> TokenLogins:
    if settings.oauth_jwks is None:
        raise ConfigError(
            "sasl_mechanisms has OAUTHBEARER, which needs the keys of the issuer: set oauth_jwks "
            "under [broker] to a file with a JWK set, or to the address of one."
        )
    claims = Claims(
        settings.oauth_issuer,
        settings.oauth_audience,
        settings.oauth_scope,
        settings.oauth_principal_claim,
    )
    return TokenLogins(KeySet(settings.oauth_jwks), claims)
