"""The public surface, pinned: a change here is a change for users."""

import inspect
import subprocess
import sys

import pytest

import holdfast
from holdfast import errors
from holdfast.client.consumer import Consumer, ConsumerOptions
from holdfast.client.producer import Producer, ProducerOptions

EXPORTED = {
    "AsyncConsumer", "AsyncProducer", "Client", "Consumer", "Delivered", "Delivery", "Effect",
    "Event", "FailurePolicy", "Flow", "Guard", "Hold", "HoldfastError", "KeyStatus", "Producer",
    "Receipt", "Record", "Skip", "TerminalError", "TransientError", "connect",
}  # fmt: skip

SIGNATURES = {
    "connect": "(bootstrap, *, client_id, connect_timeout, request_timeout, kafka, config_file)",
    "Client.send": "(self, topic, value, key, headers, timestamp, partition)",
    "Client.producer": "(self, **options)",
    "Client.consumer": "(self, topics, **options)",
    "Client.async_producer": "(self, **options)",
    "Client.async_consumer": "(self, topics, **options)",
    "Client.flow": "(self, name)",
    "Client.flows": "(self)",
    "Client.cluster": "(self)",
    "Client.close": "(self)",
    "Producer.send": "(self, topic, value, key, headers, timestamp, partition)",
    "Producer.flush": "(self, timeout)",
    "Producer.transaction": "(self)",
    "Producer.close": "(self)",
    "Delivery.result": "(self, timeout)",
    "Delivery.done": "(self)",
    "Consumer.records": "(self, *, until, limit)",
    "Consumer.run": "(self, handler, *, dead_letter, policy, until, limit)",
    "Consumer.seek": "(self, where, *, topic, partition)",
    "Consumer.rewind": "(self)",
    "Consumer.commit": "(self)",
    "Consumer.stop": "(self)",
    "Consumer.close": "(self)",
    "AsyncProducer.send": "(self, topic, value, key, headers, timestamp, partition)",
    "AsyncProducer.flush": "(self)",
    "AsyncProducer.transaction": "(self)",
    "AsyncProducer.close": "(self)",
    "AsyncConsumer.records": "(self, *, until, limit)",
    "AsyncConsumer.run": "(self, handler, *, dead_letter, policy, until, limit)",
    "AsyncConsumer.seek": "(self, where, *, topic, partition)",
    "AsyncConsumer.commit": "(self)",
    "AsyncConsumer.stop": "(self)",
    "AsyncConsumer.close": "(self)",
    "Flow.create": "(self, **options)",
    "Flow.describe": "(self)",
    "Flow.hold": "(self, key, *, reason, expires_in, name, actor, command_id)",
    "Flow.release": "(self, key, *, pace, holds, every, reason, actor, command_id)",
    "Flow.create_guard": "(self, topic, *, start, attempts, backoff, then, overflow, limits, "
    "masks, require_reasons)",
    "Flow.dead_letter": "(self, key, *, reason, first, actor, command_id)",
    "Flow.void": "(self, offset, *, reason, actor)",
    "Flow.status": "(self, key)",
    "Flow.held": "(self)",
    "Guard.handler": "(self, attempts, backoff, then, timeout, at_once)",
    "Guard.run": "(self, client)",
    "Guard.stop": "(self)",
    "Event.json": "(self)",
    "Event.send": "(self, topic, value, key, headers, partition)",
    "Receipt.wait": "(self, timeout)",
    "Record.json": "(self)",
    "Record.text": "(self)",
    "Record.header": "(self, name)",
}

ERRORS = {
    "HoldfastError": None,
    "TransientError": "HoldfastError",
    "UnreachableError": "TransientError",
    "TimedOutError": "TransientError",
    "UnavailableError": "TransientError",
    "TerminalError": "HoldfastError",
    "ConfigError": "TerminalError",
    "DataDirectoryError": "TerminalError",
    "InvalidArgumentError": "TerminalError",
    "InvalidRecordError": "TerminalError",
    "NotFoundError": "TerminalError",
    "AlreadyExistsError": "TerminalError",
    "AccessDeniedError": "TerminalError",
    "NotSignedInError": "TerminalError",
    "RoleTooLowError": "TerminalError",
    "ConflictError": "TerminalError",
    "FencedError": "TerminalError",
    "RecordTooLargeError": "InvalidRecordError",
    "DeliveryError": "TerminalError",
    "DeadLetterError": "TerminalError",
    "EventsLostError": "TerminalError",
    "GateStoppedError": "TerminalError",
    "StaleStateError": "TransientError",
    "UndeliveredWarning": "RuntimeWarning",
}


def shape(path: str) -> str:
    value: object = holdfast
    for name in path.split("."):
        value = getattr(value, name)
    assert callable(value)
    signature = inspect.signature(value)
    bare = [p.replace(annotation=p.empty, default=p.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=signature.empty))


def test_the_package_exports_exactly_this() -> None:
    assert set(holdfast.__all__) == EXPORTED
    assert {name for name in EXPORTED if getattr(holdfast, name)} == EXPORTED


@pytest.mark.parametrize("path", SIGNATURES)
def test_signatures(path: str) -> None:
    assert shape(path) == SIGNATURES[path]


@pytest.mark.parametrize(
    ("options", "kind"), [(ProducerOptions, Producer), (ConsumerOptions, Consumer)]
)
def test_options_are_those_of_the_class(options: type, kind: type) -> None:
    parameters = inspect.signature(kind).parameters.values()
    keywords = {each.name for each in parameters if each.kind is each.KEYWORD_ONLY}
    assert options.__annotations__.keys() == keywords


def test_the_tree_of_errors() -> None:
    found = {
        name: kind.__bases__[0].__name__
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and kind is not errors.HoldfastError
    }
    assert found == {name: base for name, base in ERRORS.items() if base is not None}


def test_names_outside_the_public_api_are_missing() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        holdfast.nonsense  # noqa: B018


def test_importing_the_package_loads_no_kafka_client() -> None:
    script = "import sys, holdfast; print('confluent_kafka' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "False"
