"""Demo flows with realistic traffic: `python -m holdfast.up.demo HOST:PORT`.

Three flows: `orders` and `payments` of a small shop, by customer, and `demo`, reports of devices.
A few customers are on hold from the start, and from time to time another one for some minutes.
Some payments are invalid and become dead letters.
"""

import logging
import random
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from threading import Event
from time import monotonic, sleep

from holdfast.client.client import Client, connect
from holdfast.errors import AlreadyExistsError, HoldfastError
from holdfast.logs import log_to_stderr
from holdfast.up.demo_traffic import Keyed, orders, payments, readings, some_customer

log = logging.getLogger(__name__)

HOLD_INTERVAL_SECONDS = 45.0
HOLD_SECONDS = (60, 180)
_CONNECT_SECONDS = 60.0
_TICK_SECONDS = 0.05
_REASONS = ("address disputed", "fraud check pending", "chargeback opened", "requested by support")


@dataclass(frozen=True, slots=True)
class DemoFlow:
    """A flow to create, with its traffic."""

    name: str
    partitions: int
    rate: float
    """Events a second, on average."""
    traffic: Callable[[random.Random], Iterator[Keyed]]
    held: tuple[tuple[str, str], ...]
    """Keys that are on hold from the start, with the reason."""
    schema: str | None = None
    """The schema of its values; other values become dead letters."""
    checks: tuple[str, ...] = ()
    """The checks of `holdfast quality`."""


FLOWS = (
    DemoFlow("orders", 6, 30.0, orders,
             (("customer-007", "address disputed"), ("customer-021", "fraud check pending")),
             schema="order STRING NOT NULL, "
                    "items ARRAY<STRUCT<article: STRING, quantity: INT, price: DOUBLE>>, "
                    "total DOUBLE NOT NULL, currency STRING NOT NULL, status STRING NOT NULL",
             checks=("required order", "range total 0..5000", "fresh 10m", "volume 10..1000 7")),
    DemoFlow("payments", 6, 15.0, payments, (("customer-021", "fraud check pending"),),
             schema="payment STRING NOT NULL, amount DOUBLE NOT NULL, currency STRING NOT NULL, "
                    "method STRING, state STRING NOT NULL"),
    DemoFlow("demo", 3, 10.0, readings, (("device-13", "firmware is being replaced"),)),
)  # fmt: skip


def run(bootstrap: str) -> int:
    """Create the flows, and send events until SIGTERM or SIGINT."""
    log_to_stderr()
    # The broker may start at the same time: do not log that it does not answer yet.
    logging.getLogger("holdfast.client.librdkafka").setLevel(logging.CRITICAL)
    stopping = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    try:
        with connect_when_up(bootstrap) as client:
            for flow in FLOWS:
                _create(client, flow)
            print("Traffic flows: orders, payments, demo", flush=True)
            _send(client, stopping)
    except HoldfastError as error:
        log.error("%s", error)
        return 1
    return 0


def connect_when_up(bootstrap: str) -> Client:
    """Connects, and waits for a broker that starts at the same time."""
    deadline = monotonic() + _CONNECT_SECONDS
    while True:
        try:
            return connect(bootstrap, client_id="holdfast-demo")
        except HoldfastError as error:
            if not error.transient or monotonic() > deadline:
                raise
            sleep(0.2)


def _create(client: Client, flow: DemoFlow) -> None:
    try:
        client.flow(flow.name).create(
            partitions=flow.partitions, schema=flow.schema, checks=flow.checks
        )
    except AlreadyExistsError:
        return  # from an earlier run, with its held keys
    for key, reason in flow.held:
        client.flow(flow.name).hold(key, reason=reason, actor="demo")


def _send(client: Client, stopping: Event) -> None:
    chance = random.Random()
    streams = [(flow, flow.traffic(chance)) for flow in FLOWS]
    due = dict.fromkeys((flow.name for flow in FLOWS), monotonic())
    hold_at = monotonic() + HOLD_INTERVAL_SECONDS
    while not stopping.wait(_TICK_SECONDS):
        now = monotonic()
        for flow, traffic in streams:
            while due[flow.name] <= now:
                key, value = next(traffic)
                client.send(f"{flow.name}.events", value, key=key)
                due[flow.name] += chance.expovariate(flow.rate)
        if now >= hold_at:
            hold_at = now + HOLD_INTERVAL_SECONDS
            _hold_someone(client, chance)


def _hold_someone(client: Client, chance: random.Random) -> None:
    client.flow("orders").hold(
        some_customer(chance),
        reason=chance.choice(_REASONS),
        expires_in=chance.uniform(*HOLD_SECONDS),
        actor="demo",
    )


if __name__ == "__main__":
    sys.exit(run(sys.argv[1]))
