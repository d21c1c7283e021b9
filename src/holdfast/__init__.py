"""Holdfast: streams in which any key can be put on hold and released again.

| module | content |
|---|---|
| `addresses` | addresses to listen on, as people write them |
| `background` | a thread that works in turns and survives errors visibly |
| `backoff` | a pause between attempts that grows with each failure |
| `clock` | the wall clock of this machine; times and durations as text |
| `config` | settings |
| `csv_rows` | rows as CSV that no spreadsheet runs |
| `errors` | one tree of errors |
| `extras` | the extras of the package, and the modules of each |
| `faults` | named points of a step at which a test stops a process |
| `http_call` | one HTTP request, without redirects, with a bounded answer |
| `jar_fetch` | fetches Spark's jars and checks them |
| `jars` | which jars Spark needs, and where they are |
| `java` | the Java that Spark runs on |
| `logs` | lines on standard error |
| `metrics_server` | serves `/metrics` and `/healthz` of a process |
| `access/` | who may do what |
| `api/` | the REST API, under `/api/v1`, and the functions behind it |
| `broker/` | an embedded single-node broker that speaks the Kafka wire protocol |
| `cli/` | the command line |
| `client/` | the SDK |
| `control/` | operations on flows that the REST API and the dashboard share |
| `dashboard/` | the dashboard |
| `flows/` | what a flow is, and what its records look like |
| `gate/` | the gate |
| `guard/` | the guard |
| `hooks/` | webhooks |
| `kafka/` | A Kafka client in columns |
| `mcp/` | a Model Context Protocol server, for agents |
| `pipeline/` | the pipeline |
| `processing/` | A run loop for Python consumers whose pauses cannot race |
| `remote/` | flows over the REST API, for the command line |
| `up/` | `holdfast up` |
| `views/` | live views of flows, in memory |
| `web/` | the process behind the API and the dashboard |
| `wire/` | the Kafka protocol itself |
"""

# Type checkers take this name for true. The module `typing` takes longer to import than this
# package may take to start.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.client.async_consumer import AsyncConsumer
    from holdfast.client.async_producer import AsyncProducer
    from holdfast.client.client import Client, connect
    from holdfast.client.consumer import Consumer
    from holdfast.client.delivery import Delivered, Delivery
    from holdfast.client.failure import FailurePolicy
    from holdfast.client.flow import Flow
    from holdfast.client.producer import Producer
    from holdfast.client.receipt import Effect, Receipt
    from holdfast.client.record import Record
    from holdfast.errors import HoldfastError, TerminalError, TransientError
    from holdfast.flows.status import KeyStatus
    from holdfast.guard.event import Event, Hold, Skip
    from holdfast.guard.guard import Guard

# Looked up when first used, so that the broker and `holdfast --help` do not load librdkafka.
_HOME = {
    "AsyncConsumer": "client.async_consumer",
    "AsyncProducer": "client.async_producer",
    "Client": "client.client",
    "Consumer": "client.consumer",
    "Delivered": "client.delivery",
    "Delivery": "client.delivery",
    "Effect": "client.receipt",
    "Event": "guard.event",
    "FailurePolicy": "client.failure",
    "Flow": "client.flow",
    "Guard": "guard.guard",
    "Hold": "guard.event",
    "HoldfastError": "errors",
    "KeyStatus": "flows.status",
    "Producer": "client.producer",
    "Receipt": "client.receipt",
    "Record": "client.record",
    "Skip": "guard.event",
    "TerminalError": "errors",
    "TransientError": "errors",
    "connect": "client.client",
}

__all__ = [
    "AsyncConsumer",
    "AsyncProducer",
    "Client",
    "Consumer",
    "Delivered",
    "Delivery",
    "Effect",
    "Event",
    "FailurePolicy",
    "Flow",
    "Guard",
    "Hold",
    "HoldfastError",
    "KeyStatus",
    "Producer",
    "Receipt",
    "Record",
    "Skip",
    "TerminalError",
    "TransientError",
    "connect",
]


def __getattr__(name: str) -> object:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(f"holdfast.{home}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
