"""Charges a request to its client's quotas, and lets the client wait if it is over them."""

import math
from typing import Any, Protocol

from holdfast.broker.context import HandlerFailed, HangUp, RequestContext
from holdfast.broker.metrics import Metrics
from holdfast.broker.quotas import (
    FETCH_RATE,
    PRODUCE_RATE,
    REQUEST_PERCENTAGE,
    Client,
    Quotas,
)
from holdfast.wire.protocol.generated.fetch_response import FetchResponse

_PRODUCE, _FETCH = 0, 1
_LOGIN = frozenset((17, 36))
"""SaslHandshake and SaslAuthenticate. Failed logins are slowed down in another way."""
_ANONYMOUS = "ANONYMOUS"
_KEPT_OF_CLIENT_ID = 256
"""One more character than a quota's entity can have, so that a cut id is never that of another. Ids
have up to 32 kB, and 10,000 of them are kept with their rates."""


class Muted(Protocol):
    """The connection of a client."""

    def mute(self, seconds: float) -> None:
        """Reads nothing from the client for this long."""


def client_of(context: RequestContext) -> Client | None:
    """Whose quotas a request uses; None before the login."""
    session, client_id = context.session, context.client_id[:_KEPT_OF_CLIENT_ID]
    if session is None:
        return Client(_ANONYMOUS, client_id)
    if session.principal is None:
        return None
    return Client(session.principal.removeprefix("User:"), client_id)


def is_charged(key: int) -> bool:
    return key not in _LOGIN


class Charge:
    """One request whose client may have quotas."""

    __slots__ = ("_client", "_connection", "_key", "_metrics", "_quotas", "_size")

    def __init__(
        self,
        quotas: Quotas,
        metrics: Metrics,
        connection: Muted,
        client: Client,
        key: int,
        size: int,
    ) -> None:
        self._quotas = quotas
        self._metrics = metrics
        self._connection = connection
        self._client = client
        self._key = key
        self._size = size

    def settle(self, response: Any, seconds: float) -> Any:
        """Counts the request when its response is ready. `seconds`: its time on the event loop.
        Returns the response with the throttle time; None stands for a request without a reply."""
        if isinstance(response, (HandlerFailed, HangUp)):
            return response
        quotas, client = self._quotas, self._client
        delay = quotas.use(REQUEST_PERCENTAGE, client, 100 * seconds)
        if self._key == _PRODUCE:
            delay = max(delay, quotas.use(PRODUCE_RATE, client, self._size))
        elif self._key == _FETCH and response is not None:  # None: its client is gone
            response, delay = self._settle_fetch(response, delay)
        if delay <= 0:
            return response
        self._metrics.throttled_requests += 1
        self._metrics.throttled_seconds += delay
        if hasattr(response, "throttle_time_ms"):
            response.throttle_time_ms = min(math.ceil(1000 * delay), 2**31 - 1)
        self._connection.mute(delay)
        return response

    def _settle_fetch(self, response: FetchResponse, delay: float) -> tuple[FetchResponse, float]:
        """A client over its byte rate gets its records later: they would only fill its connection.
        One over its time on the loop gets them now: to read them again takes the same time, so that
        it could be over its limit at each attempt."""
        size = sum(
            len(partition.records or b"")
            for topic in response.responses
            for partition in topic.partitions
        )
        delay_of_bytes = self._quotas.use(FETCH_RATE, self._client, size)
        delay = max(delay, delay_of_bytes)
        # A record batch above the limit of all windows is sent, or its reader could never go on.
        if delay_of_bytes > 0 and 0 < size <= self._quotas.most_at_once(FETCH_RATE, self._client):
            self._quotas.give_back(FETCH_RATE, self._client, size)
            return FetchResponse(error_code=response.error_code), delay
        return response, delay
