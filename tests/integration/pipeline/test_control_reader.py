"""Reading the control log: if it fails, the gate says so and is started again."""

from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.brokers import EmbeddedBroker
from tests.clients import DEADLINE_S
from tests.integration.pipeline.world import World, end_by_exception, eventually, gate_of

from holdfast.errors import GateStoppedError
from holdfast.flows.journal import Outcome
from holdfast.flows.registry import FlowDefinition
from holdfast.gate import ControlLog
from holdfast.kafka.watch import Watches
from holdfast.pipeline.gate import control_log
from holdfast.pipeline.gate.control_log import ControlTail
from holdfast.pipeline.gate.part import GatePart
from holdfast.pipeline.parts.clock import PipelineClock
from holdfast.pipeline.parts.metrics import Metrics
from holdfast.pipeline.parts.ticket import Ticket
from holdfast.pipeline.process import runner
from holdfast.pipeline.process.runner import Runner


class Planted:
    """An error in taking what was read of the control log, as often as there are errors left."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left = 0
        real = ControlTail._take

        def failing(tail: ControlTail, *given: Any) -> None:
            if self.left and given[0]:
                self.left -= 1
                raise ValueError("planted")
            real(tail, *given)

        monkeypatch.setattr(ControlTail, "_take", failing)


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> Planted:
    return Planted(monkeypatch)


@pytest.fixture
def world(embedded_broker: EmbeddedBroker) -> World:
    return World(embedded_broker, partitions=1)


def test_a_step_that_cannot_read_the_control_log_fails_and_the_next_one_reads_it(
    world: World, planted: Planted
) -> None:
    with gate_of(world) as gate:
        planted.left = 1
        world.flow.hold("k")
        with pytest.raises(ValueError, match="planted"):
            gate.run_exclusively(lambda flow: flow.begin_step())
        gate.run_exclusively(lambda flow: flow.begin_step())
        assert gate._exclusive.tail.log.end == 1


def test_control_log_that_ends_before_the_read_offset_stops_the_gate(world: World) -> None:
    with gate_of(world) as gate:
        world.flow.hold("k")
        gate.run_exclusively(lambda flow: flow.begin_step())
        with pytest.raises(GateStoppedError, match="control log has no offset"):
            gate._exclusive.tail.read_through(0)


def test_a_start_reads_only_as_many_commands_as_may_have_duplicates(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the length of the control log: its state is in status."""
    monkeypatch.setattr(control_log, "DUPLICATE_WINDOW", 10)
    for number in range(40):
        world.flow.hold(f"k{number}")
    offsets: list[int] = []
    real = ControlLog.append

    def append(log: ControlLog, offset: int, *record: Any) -> None:
        offsets.append(offset)
        real(log, offset, *record)

    with gate_of(world):
        pass
    monkeypatch.setattr(ControlLog, "append", append)
    with gate_of(world) as gate:
        assert offsets == list(range(30, 40))
        assert len(gate._exclusive.states[0].entries) == 40


@pytest.mark.spark
def test_gate_whose_reader_has_failed_is_started_again_and_takes_the_command(
    world: World,
    planted: Planted,
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runner, "FIRST_PAUSE_SECONDS", 0.01)
    metrics, ticket, watches = Metrics(), Ticket(world.settings), Watches(world.settings)
    monkeypatch.setattr(ticket, "end", end_by_exception)

    def make(flow: FlowDefinition) -> GatePart:
        clock = PipelineClock()
        return GatePart(spark, world.connection, flow, metrics, ticket, clock, watches)

    part = Runner("gate", world.flow.describe(), make, metrics)
    part.start()
    try:
        eventually(lambda: part.health.state == "running", "a gate that runs")
        planted.left = 1
        world.flow.hold("k")
        eventually(lambda: Outcome.HELD in world.outcomes(b"k"), "the hold")
        failures = metrics.part_failures.labels(world.flow.name, "gate")
        assert (planted.left, failures._value.get()) == (0, 1)
    finally:
        part.request_stop()
        watches.stop()
        assert part.join(DEADLINE_S)
