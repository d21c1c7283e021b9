"""Flows with believable traffic: `python -m holdfast.up.demo HOST:PORT`.

Three flows: `orders` and `payments` of a small shop, by customer, and `demo`, devices that report.
A few customers are on hold from the start, and every now and then another one is for a while.
A payment now and then is broken, and becomes a dead letter.
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

HOLD_EVERY_S = 45.0
HOLD_FOR_S = (60, 180)
_PATIENCE_S = 60.0
_TICK_S = 0.05
_REASONS = ("address disputed", "fraud check pending", "chargeback opened", "asked by support")


@dataclass(frozen=True, slots=True)
class DemoFlow:
    """A flow to be made, with what goes through it."""

    name: str
    partitions: int
    rate: float
    """Events a second, on average."""
    traffic: Callable[[random.Random], Iterator[Keyed]]
    held: tuple[tuple[str, str], ...]
    """Keys that are on hold from the start, and why."""
    schema: str | None = None
    """What its values must be; the others become dead letters."""
    checks: tuple[str, ...] = ()
    """What `holdfast quality` looks at."""


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
    """Make the flows, and send until told to stop."""
    log_to_stderr()
    # The broker may yet start: until then its absence is no news.
    logging.getLogger("holdfast.client.librdkafka").setLevel(logging.CRITICAL)
    stopping = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    try:
        with _connect(bootstrap) as client:
            for flow in FLOWS:
                _make(client, flow)
            print("Traffic flows: orders, payments, demo", flush=True)
            _send(client, stopping)
    except HoldfastError as error:
        log.error("%s", error)
        return 1
    return 0


def _connect(bootstrap: str) -> Client:
    """The broker may start at the same time."""
    deadline = monotonic() + _PATIENCE_S
    while True:
        try:
            return connect(bootstrap, client_id="holdfast-demo")
        except HoldfastError as error:
            if not error.transient or monotonic() > deadline:
                raise
            sleep(0.2)


def _make(client: Client, flow: DemoFlow) -> None:
    try:
        client.flow(flow.name).create(
            partitions=flow.partitions, schema=flow.schema, checks=flow.checks
        )
    except AlreadyExistsError:
        return  # of an earlier run, with the keys that were held then
    for key, reason in flow.held:
        client.flow(flow.name).hold(key, reason=reason, actor="demo")


def _send(client: Client, stopping: Event) -> None:
    chance = random.Random()
    streams = [(flow, flow.traffic(chance)) for flow in FLOWS]
    due = dict.fromkeys((flow.name for flow in FLOWS), monotonic())
    hold_at = monotonic() + HOLD_EVERY_S
    while not stopping.wait(_TICK_S):
        now = monotonic()
        for flow, traffic in streams:
            while due[flow.name] <= now:
                key, value = next(traffic)
                client.send(f"{flow.name}.events", value, key=key)
                due[flow.name] += chance.expovariate(flow.rate)
        if now >= hold_at:
            hold_at = now + HOLD_EVERY_S
            _hold_someone(client, chance)


def _hold_someone(client: Client, chance: random.Random) -> None:
    client.flow("orders").hold(
        some_customer(chance),
        reason=chance.choice(_REASONS),
        expires_in=chance.uniform(*HOLD_FOR_S),
        actor="demo",
    )


if __name__ == "__main__":
    sys.exit(run(sys.argv[1]))
