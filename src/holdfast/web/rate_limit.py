"""Limits the requests per second of one credential, or of one address without credentials."""

import math
from collections.abc import Callable
from time import monotonic

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from holdfast.access.authenticator import Authenticator
from holdfast.access.credentials import read_credentials
from holdfast.control.problems import problem

_MOST_BUCKETS = 10_000


class Buckets:
    """A bucket of tokens for each caller; it fills at `rate`, and holds at most `burst`."""

    def __init__(self, rate: float, burst: int, clock: Callable[[], float] = monotonic) -> None:
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._filled: dict[str, tuple[float, float]] = {}

    def take(self, caller: str) -> float:
        """Takes one token. Returns 0, or the seconds until there is one."""
        now = self._clock()
        level = self._level(caller, now)
        if level < 1:
            return (1 - level) / self._rate
        self._make_room(now)
        self._filled[caller] = level - 1, now
        return 0.0

    def _level(self, caller: str, now: float) -> float:
        level, at = self._filled.get(caller, (float(self._burst), now))
        return min(self._burst, level + (now - at) * self._rate)

    def _make_room(self, now: float) -> None:
        """Drops full buckets, which equal new ones. If none is full, there are too many callers to
        tell apart and all buckets are dropped, which bounds the memory."""
        if len(self._filled) < _MOST_BUCKETS:
            return
        for caller in list(self._filled):
            if self._level(caller, now) >= self._burst:
                del self._filled[caller]
        if len(self._filled) >= _MOST_BUCKETS:
            self._filled.clear()


class RateLimit:
    """Refuses requests that come too fast, with the time of the next try."""

    def __init__(self, app: ASGIApp, buckets: Buckets, authenticator: Authenticator) -> None:
        self._app = app
        self._buckets = buckets
        self._authenticator = authenticator

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        seconds = self._buckets.take(self._caller(scope))
        if seconds == 0:
            await self._app(scope, receive, send)
            return
        answer = problem(
            429,
            "too-many-requests",
            "Requests come faster than this process takes them from one caller.",
            headers={"Retry-After": str(math.ceil(seconds))},
        )
        await answer(scope, receive, send)

    def _caller(self, scope: Scope) -> str:
        """Only a valid credential counts: with invented ones a caller could pretend to be many."""
        credential = self._authenticator.credential(read_credentials(Headers(scope=scope)))
        client = scope.get("client")
        return credential or (client[0] if client else "")
