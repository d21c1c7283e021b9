"""Running steps again after errors, without a broker: nothing here connects."""

import pytest

from holdfast.client.connection import Connection
from holdfast.client.settings import ClientSettings
from holdfast.errors import ConflictError, UnavailableError
from holdfast.flows.registry import FlowDefinition
from holdfast.pipeline.gate.exclusive import ExclusiveFlow
from holdfast.pipeline.gate.flow_gate import FlowGate, GateClosedError
from holdfast.pipeline.gate.sizes import MOST_ATTEMPTS
from holdfast.pipeline.gate.steps import LimitsChangedError


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> FlowGate:
    monkeypatch.setattr(ExclusiveFlow, "make_current", lambda self: None)
    connection = Connection(ClientSettings(bootstrap="127.0.0.1:1"))
    flow = FlowDefinition(name="orders", partitions=1, created_at=0)
    return FlowGate(connection, flow)


def test_a_step_is_decided_again_at_once_when_size_limits_change(gate: FlowGate) -> None:
    attempts = []

    def step(flow: ExclusiveFlow) -> str:
        attempts.append(gate.trouble)
        if len(attempts) < 3:
            raise LimitsChangedError("changed")
        return "committed"

    assert gate.run_exclusively(step) == "committed"
    assert attempts == [None, None, None]


def test_size_limits_that_keep_changing_are_reported(gate: FlowGate) -> None:
    attempts = []

    def step(flow: ExclusiveFlow) -> None:
        attempts.append(gate.trouble is not None)
        if len(attempts) < MOST_ATTEMPTS + 3:
            raise LimitsChangedError("changed")

    gate.run_exclusively(step)
    assert attempts == [False] * (MOST_ATTEMPTS + 1) + [True] * 2
    assert gate.trouble is None


def test_a_step_is_tried_again_without_the_lock_while_the_broker_is_away(gate: FlowGate) -> None:
    attempts = []

    def step(flow: ExclusiveFlow) -> None:
        attempts.append(str(gate.trouble))
        if len(attempts) == 1:
            raise UnavailableError("no replicas")

    gate.run_exclusively(step)
    assert attempts == ["None", "no replicas"]


def test_other_errors_end_the_attempts_and_release_the_lock(gate: FlowGate) -> None:
    def step(flow: ExclusiveFlow) -> None:
        raise ConflictError("no retry can help")

    with pytest.raises(ConflictError):
        gate.run_exclusively(step)
    with gate.exclusive() as flow:
        assert flow.states == []


def test_no_step_begins_once_the_gate_stops(gate: FlowGate) -> None:
    gate.stopping.set()
    with pytest.raises(GateClosedError):
        gate.run_exclusively(lambda flow: None)
