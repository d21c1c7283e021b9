"""Holdfast: streams in which any key can be put on hold and let go again."""

# Type checkers take this name for true. The module `typing` takes longer to import than this
# package may take to start.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.client.aio import AsyncConsumer, AsyncProducer
    from holdfast.client.client import Client, connect
    from holdfast.client.consumer import Consumer
    from holdfast.client.delivery import Delivered, Delivery
    from holdfast.client.failure import FailurePolicy
    from holdfast.client.flow import Flow, KeyStatus
    from holdfast.client.producer import Producer
    from holdfast.client.receipt import Effect, Receipt
    from holdfast.client.record import Record
    from holdfast.errors import HoldfastError, TerminalError, TransientError

# Looked up when first used, so that the broker and `holdfast --help` do not load librdkafka.
_HOME = {
    "AsyncConsumer": "client.aio",
    "AsyncProducer": "client.aio",
    "Client": "client.client",
    "Consumer": "client.consumer",
    "Delivered": "client.delivery",
    "Delivery": "client.delivery",
    "Effect": "client.receipt",
    "FailurePolicy": "client.failure",
    "Flow": "client.flow",
    "HoldfastError": "errors",
    "KeyStatus": "client.flow",
    "Producer": "client.producer",
    "Receipt": "client.receipt",
    "Record": "client.record",
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
    "FailurePolicy",
    "Flow",
    "HoldfastError",
    "KeyStatus",
    "Producer",
    "Receipt",
    "Record",
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
