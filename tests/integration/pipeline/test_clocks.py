"""A pipeline whose clock jumps, or differs from the broker's."""

import pytest
from tests.brokers import BrokerProcess
from tests.integration.pipeline.world import WallClock, World, eventually, gate_of, running

from holdfast.client.topics import Topics
from holdfast.clock import now_ms
from holdfast.errors import AccessDeniedError, GateStoppedError
from holdfast.flows.command_builder import CommandBuilder
from holdfast.flows.journal import Outcome
from holdfast.pipeline.gate.flow_gate import FlowGate
from holdfast.pipeline.parts.clock import PipelineClock
from holdfast.pipeline.parts.metrics import Metrics
from holdfast.pipeline.process.reporter import Reporter
from holdfast.pipeline.process.runner import Health

K = b"customer-7"
MINUTE = 60
TIMESTAMPS = "message.timestamp.type"


@pytest.fixture
def world(kafka: BrokerProcess) -> World:
    return World(kafka, partitions=1)


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> WallClock:
    return WallClock(monkeypatch)


def clock_of(gate: FlowGate) -> PipelineClock:
    assert isinstance(gate.clock, PipelineClock)
    return gate.clock


def test_a_hold_acknowledged_after_the_clock_was_ahead_for_a_moment_still_holds(
    world: World, wall: WallClock
) -> None:
    with running(world) as gate:
        wall.ahead = 50 * MINUTE
        world.send(b"other", b"0")
        world.wait_until_taken()
        eventually(lambda: clock_of(gate).jumps == 1, "the jump seen")
        wall.ahead = 0
        world.flow.hold("customer-7", expires_in=10 * MINUTE).wait()
        world.send(K, b"1", b"2")
        world.wait_until_taken()
        assert world.outcomes(K) == [Outcome.HELD]
        assert world.processed(K) == []
        assert "jumped back" in str(clock_of(gate).trouble())


def test_a_hold_does_not_expire_by_a_clock_that_is_ahead_for_a_moment(
    world: World, wall: WallClock
) -> None:
    with running(world) as gate:
        world.flow.hold("customer-7", expires_in=10 * MINUTE).wait()
        wall.ahead = 50 * MINUTE
        world.send(K, b"1")
        world.wait_until_taken()
        eventually(lambda: clock_of(gate).jumps == 1, "the jump seen")
        assert world.outcomes(K) == [Outcome.HELD]
        assert "No hold expires" in str(clock_of(gate).trouble())
        wall.ahead = 0
        eventually(lambda: clock_of(gate).jumps == 2, "the jump back seen")
        assert world.processed(K) == []


def test_hold_of_a_sender_with_a_slow_clock_lasts_as_long_as_requested(world: World) -> None:
    slow = CommandBuilder("ana", now_ms() - 15 * MINUTE * 1000)
    with running(world):
        (receipt,) = world.flow.request([slow.hold(K, expires_in=10 * MINUTE)])
        receipt.wait()
        world.send(K, b"1")
        world.wait_until_taken()
        assert world.outcomes(K) == [Outcome.HELD]
        assert world.processed(K) == []


@pytest.mark.parametrize("ahead", [50.0 * MINUTE, -50.0 * MINUTE])
def test_a_paced_drain_continues_after_a_jump(world: World, wall: WallClock, ahead: float) -> None:
    with running(world) as gate:
        world.flow.hold("customer-7").wait()
        world.send(K, *(b"%d" % n for n in range(30)))
        world.wait_until_taken()
        world.flow.release("customer-7", pace=10).wait()
        wall.ahead = ahead
        eventually(lambda: clock_of(gate).jumps, "the jump seen")
        assert len(world.processed(K)) < 30, "all at once"
        world.wait_for(Outcome.DRAINED, K)
        assert world.processed(K) == [b"%d" % n for n in range(30)]


@pytest.mark.parametrize("ahead", [3 * 60.0 * MINUTE, -30 * 24 * 60.0 * MINUTE])
def test_a_flow_runs_with_a_clock_hours_from_the_broker_s_also_on_topics_that_bound_timestamps(
    world: World, wall: WallClock, ahead: float
) -> None:
    """Topics that an earlier version made have the producer's time, and Kafka's bound on it."""
    topics = Topics(world.connection)
    own = (world.names.control, world.names.journal, world.names.status)
    for topic in own:
        topics.set_config(topic, {TIMESTAMPS: "CreateTime"})
    wall.ahead = ahead

    def starts() -> bool:
        try:
            with gate_of(world):
                return True
        except GateStoppedError:  # Apache Kafka takes a moment to use a topic's new settings
            return False

    eventually(starts, "a start")
    with running(world):
        world.flow.hold("customer-7").wait()
        world.send(K, b"1")
        world.wait_until_taken()
        world.flow.release("customer-7").wait()
        world.wait_for(Outcome.DRAINED, K)
        assert world.processed(K) == [b"1"]
    for topic in own:
        assert topics.config(topic)[TIMESTAMPS].value == "LogAppendTime"


@pytest.mark.parametrize("hours", [2, -2])
def test_a_steady_difference_to_the_broker_s_clock_is_known_from_reports_and_in_trouble(
    world: World, wall: WallClock, hours: int
) -> None:
    wall.ahead = hours * 60 * MINUTE
    clock, flow = PipelineClock(), world.flow.name
    reporter = Reporter(
        world.connection, Metrics(), lambda: {flow: {"gate": Health("running")}}, clock
    )
    reporter.start()
    try:
        eventually(lambda: clock.ahead_of_broker, "a comparison with the broker's clock")
    finally:
        reporter.stop()
    assert abs(clock.ahead_of_broker / 1000 - wall.ahead) < MINUTE
    side = "ahead of" if hours > 0 else "behind"
    assert f"s {side} the broker's: it said" in str(clock.trouble())


def test_a_gate_whose_timestamps_are_refused_stops_and_names_both_clocks(
    world: World, wall: WallClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The topics bound timestamps, and the pipeline may not change them."""

    def denied(*_: object) -> None:
        raise AccessDeniedError("Changing the settings failed.")

    topics = Topics(world.connection)
    for topic in (world.names.journal, world.names.status):
        topics.set_config(topic, {TIMESTAMPS: "CreateTime"})
    monkeypatch.setattr(Topics, "set_config", denied)
    wall.ahead = 3 * 60 * MINUTE

    def refused() -> str:
        try:
            with gate_of(world):
                return ""
        except GateStoppedError as error:
            return str(error)

    said = eventually(refused, "a start that is refused")
    assert "The pipeline's clock says" in said
    assert "the broker's clock is behind" in said
    assert "LogAppendTime" in said
