"""Checks of logins, for all connections: passwords, tokens, and the price of failures."""

import asyncio
import logging
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from holdfast.broker.metrics import Metrics
from holdfast.broker.security.access_file import AccessFile
from holdfast.broker.security.scram import (
    HASHES,
    Decoys,
    LoginFailed,
    ScramExchange,
    parse_first,
    proves,
)
from holdfast.errors import ConfigError

if TYPE_CHECKING:
    from holdfast.broker.security.oauth import TokenLogins

log = logging.getLogger(__name__)

PLAIN, OAUTHBEARER = "PLAIN", "OAUTHBEARER"
MECHANISMS = (*HASHES, PLAIN, OAUTHBEARER)
FIRST_DELAY_SECONDS = 0.1
LONGEST_DELAY_SECONDS = 5.0
FORGET_SECONDS = 60.0
"""A host without a failed login for this long begins with the first delay again."""
MOST_HOSTS = 10_000
MOST_WAITING = 1_000
"""Failed logins that wait for their answer. Further ones get none: the connection is closed."""
MOST_CHECKS_OF_HOST = 4
MOST_CHECKS = 64
"""Passwords (PLAIN) that are checked or wait for it: each takes milliseconds of a core."""


def parse_mechanisms(text: str) -> tuple[str, ...]:
    """The mechanisms of the setting `sasl_mechanisms`."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if name not in MECHANISMS:
            raise ConfigError(
                f"sasl_mechanisms has {name!r}, which is unknown. Known: {', '.join(MECHANISMS)}."
            )
    return names


class FailedLogins:
    """Counts failures by host: the longer the series, the longer the wait for the next answer.
    A correct login never waits."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._hosts: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def delay(self, host: str) -> float:
        """Counts one more failure. Returns the seconds to wait before the answer."""
        now = self._clock()
        count, last = self._hosts.pop(host, (0, now))
        count = 1 if now - last > FORGET_SECONDS else min(count + 1, 30)
        self._hosts[host] = count, now
        if len(self._hosts) > MOST_HOSTS:
            self._hosts.popitem(last=False)
        return min(FIRST_DELAY_SECONDS * (1 << (count - 1)), LONGEST_DELAY_SECONDS)


class Logins:
    """Verifies who clients are."""

    def __init__(
        self, file: AccessFile, metrics: Metrics, tokens: "TokenLogins | None" = None
    ) -> None:
        self._tokens = tokens
        self._file = file
        self._metrics = metrics
        self._decoys = Decoys()
        self._failures = FailedLogins()
        self._waiting = 0
        self._checks: Counter[str] = Counter()
        # One thread: guessing passwords must not take the cores from the rest.
        self._checker = ThreadPoolExecutor(1, "login")

    def scram(self, mechanism: str, message: bytes) -> tuple[str, ScramExchange]:
        """Begins an exchange. Returns the name that the client claims, too."""
        first = parse_first(message)
        known = self._file.entries.users.get(first.user, {}).get(mechanism)
        if known is None:
            known = self._decoys.of(mechanism, first.user)
        return first.user, ScramExchange(mechanism, first, known)

    async def check_password(self, message: bytes, host: str) -> str:
        """The user of a PLAIN message; raises LoginFailed. Passwords are checked against the
        stored credentials of SCRAM."""
        parts = message.split(b"\0")
        if len(parts) != 3 or not parts[1] or not parts[2]:
            raise LoginFailed("The message of PLAIN is not understood.")
        try:
            authorized_as, user = parts[0].decode(), parts[1].decode()
        except UnicodeDecodeError:
            raise LoginFailed("The message of PLAIN is not UTF-8.") from None
        if authorized_as not in ("", user):
            raise LoginFailed("Acting as another user than the one that logs in is not possible.")
        if self._checks[host] >= MOST_CHECKS_OF_HOST or self._checks.total() >= MOST_CHECKS:
            raise LoginFailed("Too many logins at once.")
        found = self._file.entries.users.get(user, {})
        mechanism = next(iter(found), next(iter(HASHES)))
        known = found.get(mechanism) or self._decoys.of(mechanism, user)
        self._checks[host] += 1
        try:
            is_right = await asyncio.get_running_loop().run_in_executor(
                self._checker, proves, mechanism, known, parts[2]
            )
        finally:
            self._checks[host] -= 1
            if not self._checks[host]:
                del self._checks[host]
        if not is_right:
            raise LoginFailed("Wrong user name or password.")
        return user

    async def check_token(self, message: bytes) -> tuple[str, int]:
        """The user of a token, and the milliseconds for which it is valid; raises LoginFailed."""
        assert self._tokens is not None, "the mechanism is off"
        login = await self._tokens.check(message)
        return login.user, max(1, int(1000 * (login.expires_at - self._tokens.clock())))

    def succeeded(self) -> None:
        self._metrics.logins += 1

    async def failed(self, user: str, host: str, mechanism: str, reason: LoginFailed) -> bool:
        """Counts, logs and delays a failure. Returns False if the client should get no answer."""
        self._metrics.failed_logins += 1
        log.warning("Login of %.64r from %s by %s failed: %s", user, host, mechanism, reason)
        delay = self._failures.delay(host)
        if self._waiting >= MOST_WAITING:
            return False
        self._waiting += 1
        try:
            await asyncio.sleep(delay)
        finally:
            self._waiting -= 1
        return True

    def close(self) -> None:
        if self._tokens is not None:
            self._tokens.close()
        self._checker.shutdown(wait=False, cancel_futures=True)
