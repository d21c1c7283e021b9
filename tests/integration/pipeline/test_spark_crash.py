"""With Spark: kill -9 before Spark's own commit and in tasks, a task that outlives its driver,
and a broker that ends in mid-batch or is away for long."""

import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Literal

import psutil
import pytest
from tests.brokers import ApacheKafka, BrokerProcess, EmbeddedBroker
from tests.clients import DEADLINE_S
from tests.integration.pipeline.processes import GateProcess, gates
from tests.integration.pipeline.world import World, eventually

pytestmark = pytest.mark.spark

SLOW_S = 400.0
AWAY_S = 20.0
"""Longer than any time-out of a world whose patience is three seconds."""


def send_some(world: World, first: int, count: int = 40) -> None:
    for i in range(first, first + count):
        world.producer.produce(world.names.events, b"%d" % i, b"k%d" % (i % 7))
    assert world.producer.flush(DEADLINE_S) == 0


def check(world: World, count: int) -> None:
    """Of 7 keys all events came out once and in order, but for the held one's."""
    world.check_each_event_once()
    for key in range(7):
        expected = [] if key == 1 else list(range(key, count, 7))
        assert _values(world, b"k%d" % key) == expected


def _values(world: World, key: bytes) -> list[int]:
    return [int(value or b"") for value in world.processed(key)]


@pytest.mark.parametrize(
    ("path", "point"),
    [
        ("driver", "mid-produce@1"),
        ("driver", "after-commit@1"),
        ("tasks", "task-mid-produce@1"),
        ("tasks", "task-after-commit@1"),
    ],
)
def test_killed_with_spark_each_event_comes_out_once_in_order(
    kafka: BrokerProcess, tmp_path: Path, path: Literal["driver", "tasks"], point: str
) -> None:
    """The other points are those of a gate without Spark: see `test_crash`."""
    world = World(kafka)
    world.flow.hold("k1")
    send_some(world, 0)
    with gates() as started:
        first = GateProcess(world, tmp_path / "1", fault=point, path=path, spark=True)
        started.append(first)
        first.wait_at_fault(SLOW_S)
        send_some(world, 40)
        first.kill()
        # What follows without Spark sees just the same topics.
        started.append(GateProcess(world, tmp_path / "2"))
        eventually(world.is_taken, "every event taken", SLOW_S)
    check(world, 80)


def test_a_task_that_outlives_its_driver_is_refused(
    apache_kafka: BrokerProcess, tmp_path: Path
) -> None:
    world = World(apache_kafka)
    world.flow.hold("k1")
    send_some(world, 0)
    with gates() as started:
        first = GateProcess(
            world, tmp_path / "1", fault="task-before-offsets@1", path="tasks", spark=True
        )
        started.append(first)
        first.wait_at_fault(SLOW_S)
        worker = psutil.Process(first.pid_at_fault)
        daemon = worker.parent()
        assert daemon is not None
        daemon.suspend()  # it would end its workers when Spark is gone
        try:
            first.kill_all_but(worker, daemon)
            second = GateProcess(world, tmp_path / "2")
            started.append(second)
            eventually(world.is_taken, "every event taken", SLOW_S)
            first.leave_fault()
            # Its answer finds nobody, so the worker ends; its transaction was refused before.
            eventually(lambda: _has_ended(worker), "its end", SLOW_S)
            send_some(world, 40)
            eventually(world.is_taken, "every event taken", SLOW_S)
        finally:
            for process in (worker, daemon):
                with suppress(psutil.NoSuchProcess):
                    process.kill()
    check(world, 80)


def _has_ended(process: psutil.Process) -> bool:
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)  # its parent is stopped
    except psutil.NoSuchProcess:
        return True


def test_a_broker_that_ends_in_mid_batch_and_comes_back_costs_and_doubles_nothing(
    tmp_path: Path,
) -> None:
    with EmbeddedBroker(tmp_path / "broker") as broker, gates() as started:
        world = World(broker, patience=3.0)
        world.flow.hold("k1")
        send_some(world, 0)
        gate = GateProcess(
            world, tmp_path / "1", fault="task-before-commit@1", path="tasks", spark=True
        )
        started.append(gate)
        gate.wait_at_fault(SLOW_S)
        broker.kill()
        gate.leave_fault()
        eventually(lambda: f"Flow {world.flow.name}: " in gate.text(), "its word", SLOW_S)
        broker.start()
        world.reconnect()
        send_some(world, 40)
        eventually(world.is_taken, "every event taken", SLOW_S)
        check(world, 80)


def test_brokers_that_are_gone_past_every_time_out_are_waited_for(tmp_path: Path) -> None:
    """Both kinds at once, so that the time passes once. Batches are taken by tasks of one and
    by the driver of the other."""
    with ExitStack() as brokers, gates() as started:
        worlds: list[World] = []
        kinds: list[tuple[type[BrokerProcess], Literal["driver", "tasks"]]] = [
            (ApacheKafka, "tasks"),
            (EmbeddedBroker, "driver"),
        ]
        for kind, path in kinds:
            folder = tmp_path / kind.kind
            world = World(brokers.enter_context(kind(folder / "broker")), patience=3.0)
            world.flow.hold("k1")
            send_some(world, 0)
            started.append(GateProcess(world, folder, path=path, spark=True))
            worlds.append(world)
        for world in worlds:
            eventually(world.is_taken, "every event taken", SLOW_S)
        for world in worlds:
            world.kafka.kill()
        time.sleep(AWAY_S)
        for gate in started:
            gate.assert_running()
        for world in worlds:
            world.kafka.start()
            world.reconnect()
            check_it_goes_on(world)


def check_it_goes_on(world: World) -> None:
    send_some(world, 40)
    eventually(world.is_taken, "events that came after it", SLOW_S)
    check(world, 80)
    world.flow.release("k1").wait(SLOW_S)
    held = list(range(1, 80, 7))
    eventually(lambda: _values(world, b"k1") == held, "what was held", SLOW_S)
