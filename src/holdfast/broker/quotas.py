"""Quotas of clients: bytes produced and fetched per second, and time on the event loop.

The limits, their precedence and the throttle times are those of Kafka. A rate is measured over the
last ten whole seconds and the present one, so ten seconds' worth may come at once. A client over
its limit gets the reply at once with the time that brings it back to the limit, and the broker does
not read from its connection for that long (KIP-219).
"""

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from holdfast.broker.dynamic_file import DEFAULT, QuotaEntity

PRODUCE_RATE, FETCH_RATE = "producer_byte_rate", "consumer_byte_rate"
REQUEST_PERCENTAGE = "request_percentage"
KEYS = (PRODUCE_RATE, FETCH_RATE, REQUEST_PERCENTAGE)
WINDOW_SECONDS = 1.0
WHOLE_WINDOWS = 10
MOST_RATES = 10_000
"""Measured clients, about 1 kB each. Above it, the one that was silent for longest is forgotten."""
LONGEST_REQUEST_THROTTLE_SECONDS = WINDOW_SECONDS
"""Of `request_percentage`, as in Kafka: a client must not wait long for one slow request."""

Limits = Mapping[QuotaEntity, Mapping[str, float]]


class Rate:
    """An amount per second, over the last whole windows and the present one."""

    __slots__ = ("_windows",)

    def __init__(self) -> None:
        self._windows: deque[tuple[float, float]] = deque()
        """The start and the amount of each window that has any, oldest first."""

    def add(self, amount: float, now: float) -> None:
        windows = self._windows
        if windows and now - windows[-1][0] < WINDOW_SECONDS:
            start, present = windows[-1]
            windows[-1] = start, present + amount
        else:
            windows.append((now, amount))
        while now - windows[0][0] >= (WHOLE_WINDOWS + 1) * WINDOW_SECONDS:
            windows.popleft()

    def span(self, now: float) -> float:
        """The seconds over which the rate is measured."""
        elapsed = now - self._windows[0][0] if self._windows else 0.0
        missing = WHOLE_WINDOWS - elapsed // WINDOW_SECONDS
        return elapsed + max(0.0, missing) * WINDOW_SECONDS

    def delay(self, limit: float, now: float) -> float:
        """Seconds without any more that bring the rate down to the limit; 0 if it is not above."""
        total = sum(amount for _, amount in self._windows)
        span = self.span(now)
        if total <= limit * span:
            return 0.0
        return total / limit - span if limit > 0 else span


class Client(NamedTuple):
    """Who sends a request."""

    user: str
    client_id: str


class Quotas:
    """The limits, and the rates of the clients that have one."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._rates: OrderedDict[tuple[str, QuotaEntity], Rate] = OrderedDict()
        self._limits: Limits = {}
        self.keys: frozenset[str] = frozenset()
        """The keys that any client has a limit for. Nothing is measured for the others."""
        self.load(limits)

    def load(self, limits: Limits) -> None:
        self._limits = limits
        self.keys = frozenset(key for each in limits.values() for key in each)
        for measured in [each for each in self._rates if each[0] not in self.keys]:
            del self._rates[measured]

    def limit(self, key: str, client: Client) -> tuple[QuotaEntity, float] | None:
        """The limit of a client, and the entity that it is measured for: clients of a user without
        limits of their own share one rate. None if there is no limit."""
        for entity, measured in _by_precedence(client):
            found = self._limits.get(entity)
            if found is not None and key in found:
                return measured, found[key]
        return None

    def most_at_once(self, key: str, client: Client) -> float:
        """The largest amount that is not always too much."""
        found = self.limit(key, client) if key in self.keys else None
        return float("inf") if found is None else found[1] * WHOLE_WINDOWS * WINDOW_SECONDS

    def use(self, key: str, client: Client, amount: float) -> float:
        """Counts an amount. Returns the seconds for which the client must wait."""
        found = self.limit(key, client) if key in self.keys else None
        if found is None:
            return 0.0
        entity, limit = found
        rate, now = self._rate(key, entity), self._clock()
        rate.add(amount, now)
        delay = rate.delay(limit, now)
        if key == REQUEST_PERCENTAGE:
            return min(delay, LONGEST_REQUEST_THROTTLE_SECONDS)
        return delay

    def give_back(self, key: str, client: Client, amount: float) -> None:
        """Does not count an amount after all."""
        found = self.limit(key, client)
        if found is not None:
            self._rate(key, found[0]).add(-amount, self._clock())

    def _rate(self, key: str, entity: QuotaEntity) -> Rate:
        rate = self._rates.get((key, entity))
        if rate is None:
            rate = self._rates[key, entity] = Rate()
            if len(self._rates) > MOST_RATES:
                self._rates.popitem(last=False)
        else:
            self._rates.move_to_end((key, entity))
        return rate


def _by_precedence(client: Client) -> Iterator[tuple[QuotaEntity, QuotaEntity]]:
    """The entities whose limits apply to a client, the most specific first, and what each of them
    measures."""
    user, client_id = client
    both, whole_user = QuotaEntity(user, client_id), QuotaEntity(user)
    yield both, both
    yield QuotaEntity(user, DEFAULT), both
    yield whole_user, whole_user
    yield QuotaEntity(DEFAULT, client_id), both
    yield QuotaEntity(DEFAULT, DEFAULT), both
    yield QuotaEntity(DEFAULT), whole_user
    yield QuotaEntity(None, client_id), QuotaEntity(None, client_id)
    yield QuotaEntity(None, DEFAULT), QuotaEntity(None, client_id)
