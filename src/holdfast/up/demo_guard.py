"""A guard of the demo: `python -m holdfast.up.demo_guard HOST:PORT`.

`billing` charges the payments that come out of the flow `payments`. Its partner refuses a customer
now and then, for some time: that customer's payments wait in order, are tried again, and come
through.
"""

import logging
import random
import sys
from collections.abc import Callable
from threading import Lock
from time import monotonic, sleep

from holdfast.client.client import Client
from holdfast.errors import AlreadyExistsError, ConflictError, HoldfastError, NotFoundError
from holdfast.guard.event import Event
from holdfast.guard.guard import Guard
from holdfast.logs import log_to_stderr
from holdfast.up.demo import connect_when_up

log = logging.getLogger(__name__)

NAME, TOPIC = "billing", "payments.processed"
NAME_TAKEN = 3
_FLOW_SECONDS = 60.0


class RefusedError(Exception):
    """The partner does not take a payment of this customer now."""


class FlakyPartner:
    """A payment provider that refuses a customer now and then, for some time. For threads."""

    def __init__(
        self,
        interval: float = 20.0,
        refused_seconds: tuple[float, float] = (10.0, 60.0),
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`interval`: seconds from one customer that is refused to the next."""
        self._interval = interval
        self._refused_seconds = refused_seconds
        self._clock = clock
        self._chance = random.Random()
        self._lock = Lock()
        self._next_at = clock()
        self._refused: dict[bytes | None, float] = {}
        """Until when, by customer."""

    def charge(self, customer: bytes | None) -> None:
        """RefusedError if the customer is refused now."""
        with self._lock:
            now = self._clock()
            if now >= self._next_at:
                self._next_at = now + self._interval
                self._refused[customer] = now + self._chance.uniform(*self._refused_seconds)
            until = self._refused.get(customer, now)
            if until > now:
                raise RefusedError("the bank of this customer does not answer")
            self._refused.pop(customer, None)


def make_guard(partner: FlakyPartner, name: str = NAME, topic: str = TOPIC) -> Guard:
    """Its `run` raises ConflictError if the name is that of someone's own flow or guard, whose
    events the demo must not take."""
    guard = Guard(name, topic=topic)

    @guard.handler(attempts=20, backoff="1s..15s", then="hold")
    def charge(event: Event) -> None:
        partner.charge(event.key)

    return guard


def create_guard(client: Client, name: str = NAME, topic: str = TOPIC) -> None:
    """Create the guard, once its topic is there."""
    deadline = monotonic() + _FLOW_SECONDS
    while True:
        try:
            client.flow(name).create_guard(topic)
        except AlreadyExistsError:
            return  # from an earlier run
        except NotFoundError:
            if monotonic() > deadline:
                raise
            sleep(0.2)
        else:
            return


def run(bootstrap: str) -> int:
    """Handle payments until SIGTERM or SIGINT. Returns the exit code."""
    log_to_stderr()
    try:
        with connect_when_up(bootstrap) as client:
            create_guard(client)
            print(f"Guard {NAME} charges payments; its partner is flaky", flush=True)
            make_guard(FlakyPartner()).run(client)
    except ConflictError as error:
        log.error("%s", error)
        return NAME_TAKEN
    except HoldfastError as error:
        log.error("%s", error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1]))
