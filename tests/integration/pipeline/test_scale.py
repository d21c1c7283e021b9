"""Many keys held, and one key with very much held."""

from pathlib import Path

import pytest
from tests.brokers import BrokerProcess
from tests.clients import DEADLINE_S
from tests.integration.pipeline.feeder import Feeder
from tests.integration.pipeline.processes import GateProcess, gates
from tests.integration.pipeline.world import World, eventually, gate_of

from holdfast.client.positions import Offsets, Partition
from holdfast.flows.commands import Hold, Release, encode_command
from holdfast.pipeline.gate.keeper import Keeper

KEYS = 10_000
EVENTS = 200_000
HELD_BYTES = 600_000_000


@pytest.fixture
def world(kafka: BrokerProcess) -> World:
    return World(kafka)


def ask(world: World, command: Hold | Release) -> None:
    key, value = encode_command(command)
    world.producer.produce(world.names.control, value, key)


def test_ten_thousand_keys_are_held_through_a_restart_and_released(world: World) -> None:
    keys = [b"key-%d" % i for i in range(KEYS)]
    for i, key in enumerate(keys):
        ask(world, Hold(id=f"h{i}", actor="ana", at=1, key=key))
        world.producer.produce(world.names.events, b"1", key)
    assert world.producer.flush(DEADLINE_S) == 0
    with gate_of(world) as gate:
        feeder = Feeder(world.connection, gate, most=50_000)
        while feeder.batch():
            pass
        assert sum(state.events for state in gate._exclusive.states) == KEYS
    for i, key in enumerate(keys):
        ask(world, Release(id=f"r{i}", actor="ana", at=1, key=key))
    assert world.producer.flush(DEADLINE_S) == 0
    with gate_of(world) as gate:
        assert sum(len(state.entries) for state in gate._exclusive.states) == KEYS
        assert sum(state.events for state in gate._exclusive.states) == KEYS
        keeper = Keeper(gate)
        eventually(
            lambda: (
                keeper.turn() is not None and not any(s.entries for s in gate._exclusive.states)
            ),
            "all released",
            90,
        )
    assert len(world.processed()) == KEYS
    world.check_each_event_once()


def test_one_key_with_200_000_held_events_drains_in_order_through_bounded_memory(
    world: World,
) -> None:
    world.flow.hold("k")
    for i in range(EVENTS):
        world.producer.produce(world.names.events, b"%d" % i, b"k")
        if i % 50_000 == 0:
            world.producer.flush(DEADLINE_S)
    assert world.producer.flush(DEADLINE_S) == 0
    with gate_of(world) as gate:
        feeder = Feeder(world.connection, gate, most=50_000)
        while feeder.batch():
            pass
        assert gate._exclusive.states[world.home(b"k")].entries[b"k"].events == EVENTS
        world.flow.release("k")
        keeper = Keeper(gate)
        most = 0
        while True:
            keeper.turn()
            most = max(
                most, *(len(q.rows) for b in keeper._backlogs for q in b._queues.values()), 0
            )
            if gate.counts.drained == EVENTS:
                break
        assert most <= 50_000
    assert world.processed(b"k") == [b"%d" % i for i in range(EVENTS)]


def test_held_events_may_exceed_the_memory_of_the_gate(world: World, tmp_path: Path) -> None:
    """Held and given out again by a process whose memory grows by a fraction of it, also when
    many keys with large events drain at once."""
    keys, size = [b"key-%d" % i for i in range(40)], 40_000
    for i, key in enumerate(keys):
        ask(world, Hold(id=f"h{i}", actor="ana", at=1, key=key))
    assert world.producer.flush(DEADLINE_S) == 0
    with gates() as started:
        gate = GateProcess(world, tmp_path, most=100).wait_until_running()
        started.append(gate)
        small = gate.peak_memory()
        for number in range(HELD_BYTES // size):
            value = b"%d:" % number + bytes(size)
            world.producer.produce(world.names.events, value, keys[number % len(keys)])
            if number % 500 == 0:
                assert world.producer.flush(DEADLINE_S) == 0
        assert world.producer.flush(DEADLINE_S) == 0
        eventually(world.is_taken, "all of it held", 120)
        for i, key in enumerate(keys):
            ask(world, Release(id=f"r{i}", actor="ana", at=1, key=key))
        assert world.producer.flush(DEADLINE_S) == 0
        processed = [Partition(world.names.processed, p) for p in range(world.partitions)]
        offsets = Offsets(world.connection)
        wanted = HELD_BYTES // size
        eventually(lambda: sum(offsets.ends(processed).values()) >= wanted, "all of it out", 120)
        eventually(lambda: world.flow.held() == [], "no key held", 60)
        grown = gate.peak_memory() - small
    assert grown < HELD_BYTES / 2, f"{grown / 1e6:.0f} MB"
