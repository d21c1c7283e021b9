"""Batches that the intake plans and the driver takes. No Spark."""

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import NoReturn
from urllib.request import urlopen

import pytest
from confluent_kafka import Producer
from tests.brokers import BrokerProcess, EmbeddedBroker, free_ports
from tests.clients import DEADLINE_S
from tests.integration.pipeline.world import World, end_by_exception, eventually

from holdfast.errors import HoldfastError
from holdfast.kafka.watch import LogWatch, Watches
from holdfast.pipeline.gate import keeper
from holdfast.pipeline.gate.flow_gate import FlowGate
from holdfast.pipeline.gate.intake import Intake
from holdfast.pipeline.gate.keeper import Keeper


def no_spark() -> NoReturn:
    raise AssertionError("small batches need no Spark")


@contextmanager
def taking(world: World, watches: Watches) -> Iterator[FlowGate]:
    gate = FlowGate(world.connection, world.flow.describe(), end=end_by_exception, watches=watches)
    gate.start()
    keeping, intake = Keeper(gate), Intake(no_spark, gate, small=True)
    keeping.start()
    intake.start()
    try:
        yield gate
    finally:
        intake.stop()
        keeping.stop()
        gate.close()
    assert (intake.failure(), keeping.error) == (None, None)


@pytest.fixture
def watches(kafka: BrokerProcess) -> Iterator[Watches]:
    made = Watches(World(kafka).settings)
    yield made
    made.stop()


def test_events_of_two_flows_come_out_once_and_held_ones_after_their_release(
    kafka: BrokerProcess, watches: Watches
) -> None:
    worlds = [World(kafka), World(kafka)]
    with ExitStack() as stack:
        for world in worlds:
            stack.enter_context(taking(world, watches))
            world.flow.hold("held").wait(DEADLINE_S)
        for number in range(30):
            for world in worlds:
                world.send(b"held" if number % 3 else b"free", b"%d" % number)
        for world in worlds:
            eventually(world.is_taken, "all events")
            assert world.processed(b"held") == []
            world.flow.release("held").wait(DEADLINE_S)
            eventually(partial(_held_came_out, world, 20), "the held events")
            world.send(b"held", b"30")
            eventually(partial(_held_came_out, world, 21), "the next event")
    for world in worlds:
        numbers = [int(value or b"") for value in world.processed(b"held")]
        assert numbers == [*(n for n in range(30) if n % 3), 30]
        world.check_each_event_once()


def _held_came_out(world: World, count: int) -> bool:
    return len(world.processed(b"held")) == count


def test_range_of_aborted_events_moves_the_position_and_lets_nothing_pass(
    kafka: BrokerProcess, watches: Watches
) -> None:
    world = World(kafka)
    names = world.names
    writer = Producer({"bootstrap.servers": kafka.bootstrap, "transactional.id": names.flow})
    writer.init_transactions(30)
    with taking(world, watches):
        for value, commit in ((b"gone", False), (b"kept", True), (b"gone too", False)):
            writer.begin_transaction()
            for partition in range(world.partitions):
                writer.produce(names.events, value, b"k", partition=partition)
            assert writer.flush(DEADLINE_S) == 0
            if commit:
                writer.commit_transaction(30)
            else:
                writer.abort_transaction(30)
        eventually(lambda: set(world.ends(names.events).values()) == {6}, "all markers")
        eventually(world.is_taken, "the position behind the last marker")
    assert set(world.processed()) == {b"kept"}
    world.check_each_event_once()


def test_missing_topic_delays_no_other_log(kafka: BrokerProcess) -> None:
    world = World(kafka)
    watch = LogWatch(world.settings, committed=True)
    ends: dict[int, int] = {}
    errors: list[HoldfastError] = []

    def moved(changed: Mapping[int, int]) -> None:
        ends.update(changed)

    try:
        watch.add("missing", {0: 0}, lambda _: None, errors.append)
        watch.add(world.names.events, {0: 0, 1: 0}, moved, lambda _: None)
        eventually(lambda: errors, "the reason why it is not watched")
        for number in range(1, 4):
            world.send(b"k", b"v", partition=1)
            eventually(partial(ends.__eq__, {1: number}), "the new end")
    finally:
        watch.stop()


def test_quiet_flows_send_the_broker_hardly_a_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "_TRIM_SECONDS", 0.1)
    flows = 10
    (port,) = free_ports(1)
    with EmbeddedBroker(tmp_path, {"http": f"127.0.0.1:{port}"}) as broker, ExitStack() as stack:
        worlds = [World(broker) for _ in range(flows)]
        watches = Watches(worlds[0].settings)
        stack.callback(watches.stop)
        gates = [stack.enter_context(taking(world, watches)) for world in worlds]
        eventually(lambda: all(gate.keeper_sleeps for gate in gates), "keepers that sleep")
        # One request of each flow, every second, would be more.
        eventually(lambda: _requests_per_second(port) < 0.7 * flows, "a quiet broker")
        worlds[3].send(b"k", b"v")
        eventually(lambda: worlds[3].processed() == [b"v"], "an event after the quiet")
        worlds[4].flow.hold("k").wait(DEADLINE_S)


def _requests_per_second(port: int) -> float:
    before, began = _requests(port), time.monotonic()
    time.sleep(4.0)
    return (_requests(port) - before) / (time.monotonic() - began)


def _requests(port: int) -> float:
    """All requests that the broker has answered."""
    with urlopen(f"http://127.0.0.1:{port}/metrics") as reply:
        text = reply.read().decode()
    found = re.findall(r"^holdfast_broker_requests_total\{.*\} (\S+)$", text, re.MULTILINE)
    return sum(map(float, found))
