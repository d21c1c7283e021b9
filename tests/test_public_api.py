"""The public surface, pinned: a change here is a change for users."""

import inspect
import subprocess
import sys

import pytest

import holdfast
from holdfast import errors

EXPORTED = {
    "AsyncConsumer", "AsyncProducer", "Client", "Consumer", "Delivered", "Delivery", "Effect",
    "FailurePolicy", "Flow", "HoldfastError", "KeyStatus", "Producer", "Receipt", "Record",
    "TerminalError", "TransientError", "connect",
}  # fmt: skip

SIGNATURES = {
    "connect": "(bootstrap, *, client_id, connect_timeout, request_timeout, kafka, config_file)",
    "Client.send": "(self, topic, value, key, headers, timestamp, partition)",
    "Client.producer": "(self, *, transactional_id, delivery_timeout, kafka)",
    "Client.consumer": "(self, topics, *, group, start, partitions, auto_commit, commit_interval, "
    "commit_count, kafka)",
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
    "AsyncConsumer.records": "(self, *, until, limit)",
    "AsyncConsumer.run": "(self, handler, *, dead_letter, policy, until, limit)",
    "AsyncConsumer.seek": "(self, where, *, topic, partition)",
    "AsyncConsumer.commit": "(self)",
    "Flow.create": "(self, *, partitions, start, overflow, limits, schema, masks, event_id, "
    "checks)",
    "Flow.describe": "(self)",
    "Flow.hold": "(self, key, *, reason, expires_in, actor, command_id)",
    "Flow.release": "(self, key, *, pace, actor, command_id)",
    "Flow.dead_letter": "(self, key, *, reason, actor, command_id)",
    "Flow.void": "(self, offset, *, reason, actor)",
    "Flow.status": "(self, key)",
    "Flow.held": "(self)",
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


def test_the_tree_of_errors() -> None:
    found = {
        name: kind.__bases__[0].__name__
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and kind is not errors.HoldfastError
    }
    assert found == {name: base for name, base in ERRORS.items() if base is not None}


def test_what_is_not_exported_is_not_there() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        holdfast.nonsense  # noqa: B018


def test_importing_the_package_loads_no_kafka_client() -> None:
    script = "import sys, holdfast; print('confluent_kafka' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "False"
