"""The keeper reads held in slices and within a bound, and serves everybody else meanwhile."""

import os

import pytest
from confluent_kafka import Producer
from tests.brokers import BrokerProcess
from tests.clients import DEADLINE_S
from tests.integration.pipeline.feeder import Feeder
from tests.integration.pipeline.world import World, eventually, gate_of, running

from holdfast.flows.status import KeyState
from holdfast.pipeline.gate.flow_gate import FlowGate
from holdfast.pipeline.gate.keeper import Keeper


@pytest.fixture
def world(kafka: BrokerProcess) -> World:
    return World(kafka, partitions=1)


def fill_held(world: World, megabytes: int) -> None:
    """Rows of a key that nobody knows of: held is long, and nothing in it is wanted."""
    noise = os.urandom(50_000)
    for i in range(20 * megabytes):
        source = ("holdfast-source", b"0:%d" % (10**9 + i))
        world.producer.produce(world.names.held, noise, b"noise", partition=0, headers=[source])
        world.producer.poll(0)
    assert world.producer.flush(DEADLINE_S) == 0


def heard(gate: FlowGate) -> bool:
    return gate._exclusive.tail.reached >= gate._exclusive.tail.end()


def test_a_command_is_effective_before_a_long_pass_over_held_ends(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.pipeline.gate.keeper.SLICE_SECONDS", 0.0)
    with gate_of(world) as gate:
        keeper, feeder = Keeper(gate), Feeder(world.connection, gate)
        world.flow.hold("a")
        world.send(b"a", b"1")
        feeder.batch()
        fill_held(world, 60)
        world.send(b"a", b"2")
        feeder.batch()
        gate._exclusive.refresh_held_ends()
        world.flow.release("a")
        eventually(lambda: heard(gate), "the release is heard")
        entries = gate._exclusive.states[0].entries
        while entries[b"a"].state is not KeyState.DRAINING:
            keeper.turn()
        assert keeper.turn(), "more is to be read"
        world.flow.hold("b")
        eventually(lambda: heard(gate), "the hold is heard")
        keeper.turn()
        assert entries[b"b"].state is KeyState.HELD
        assert entries[b"a"].state is KeyState.DRAINING, "the pass goes on"
        assert world.processed() in ([], [b"1"])
        eventually(lambda: keeper.turn() is not None and b"a" not in entries, "the drain")
    assert world.processed() == [b"1", b"2"]


def test_unreadable_held_does_not_delay_commands(world: World) -> None:
    """A transaction that somebody left open hides what is behind it. It is named, and all else
    goes on, though no event comes that would bring a batch."""
    hung = Producer(
        {"bootstrap.servers": world.kafka.bootstrap, "transactional.id": world.flow.name}
    )
    hung.init_transactions(30)
    with running(world) as gate:
        world.flow.hold("k").wait(DEADLINE_S)
        hung.begin_transaction()
        hung.produce(world.names.held, b"open", b"x", partition=0)
        hung.flush(DEADLINE_S)
        world.send(b"k", b"1")
        world.wait_until_taken()
        world.flow.release("k").wait(DEADLINE_S)
        eventually(lambda: "transaction left open" in str(gate.trouble), "its word")
        world.flow.hold("other").wait(DEADLINE_S)
        eventually(lambda: "transaction left open" in str(gate.trouble), "its word again")
        hung.abort_transaction(30)
        eventually(lambda: world.processed() == [b"1"], "the held event")
        eventually(lambda: gate.trouble is None, "no more trouble")


def test_rows_of_many_paced_keys_wait_within_one_bound(
    kafka: BrokerProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    bound = 2 * 1024**2
    monkeypatch.setattr("holdfast.pipeline.gate.keeper.READ_AHEAD_BYTES", bound)
    world = World(kafka, partitions=2)
    keys = [b"%d" % i for i in range(40)]
    with gate_of(world) as gate:
        keeper, feeder = Keeper(gate), Feeder(world.connection, gate)
        for key in keys:
            world.flow.hold(key)
            # In headers, too: they take as much memory as values.
            world.send(key, *[b"x" * 20_000] * 4, headers=[("h", b"y" * 20_000)])
        feeder.batch()
        for key in keys:
            world.flow.release(key, pace=60)
        most = 0
        eventually(lambda: heard(gate), "the releases are heard")
        while any(state.entries for state in gate._exclusive.states):
            keeper.turn()
            most = max(most, waiting(keeper))
    assert bound // 4 < most <= bound, "there was a queue, and it was bounded"
    assert len(world.processed()) == 160
    world.check_each_event_once()


def waiting(keeper: Keeper) -> int:
    """Bytes of all rows that wait to leave."""

    def size(data: str | bytes | None) -> int:
        return len(data or b"")

    return sum(
        sum((size(row.payload.value), *(size(value) for _, value in row.payload.headers)))
        for backlog in keeper._backlogs
        for queue in backlog._queues.values()
        for row in queue.rows
    )
