"""Kill -9 at every point of a step, and zombies: each event comes out once, in order."""

from pathlib import Path
from typing import Literal

import pytest
from kafka.protocol.consumer import LeaveGroupRequest
from tests.brokers import BrokerProcess
from tests.clients import DEADLINE_S
from tests.integration.pipeline.processes import GateProcess, gates
from tests.integration.pipeline.world import World, eventually
from tests.wire import Wire

from holdfast.flows.journal import Outcome
from holdfast.pipeline.gate.owner import INSTANCE_ID
from holdfast.pipeline.parts.ticket import REPLACED, START_AGAIN

POINTS = [
    "before-begin@4",
    "mid-produce@2",
    "before-offsets@4",
    "before-commit@4",
    "after-commit@4",
]
DRAIN_POINTS = ["mid-drain@1", "before-commit@3", "after-commit@3"]
DRAINED = 60
DRAIN_PACE = 10
"""A step drains at most a second's worth, so the drain takes at least six steps on any machine."""
FEW_EVENTS = 5
"""In a batch, so that there are several."""


def send_some(world: World, first: int, count: int = 30) -> None:
    for i in range(first, first + count):
        world.producer.produce(world.names.events, b"%d" % i, b"k%d" % (i % 7))
    assert world.producer.flush(DEADLINE_S) == 0


def values_of(world: World, key: bytes) -> list[int]:
    return [int(v) for v in world.processed(key) if v is not None]


@pytest.mark.parametrize("path", ["driver", "tasks"])
def test_killed_at_every_point_of_a_step_each_event_comes_out_once_in_order(
    kafka: BrokerProcess, tmp_path: Path, path: Literal["driver", "tasks"]
) -> None:
    """One process after the other, each killed at its point with a batch in its hands."""
    world = World(kafka)
    world.flow.hold("k1")
    sent = 0
    with gates() as started:
        for number, point in enumerate(POINTS):
            process = GateProcess(
                world, tmp_path / str(number), fault=point, most=FEW_EVENTS, path=path
            )
            started.append(process)
            send_some(world, sent)
            process.wait_at_fault()
            send_some(world, sent + 30)
            sent += 60
            process.kill()
        started.append(GateProcess(world, tmp_path / "last", path=path))
        world.wait_until_taken()
        world.flow.release("k1").wait(DEADLINE_S)
        eventually(world.all_out, "all events out")
    world.check_each_event_once()
    for key in range(7):
        assert values_of(world, b"k%d" % key) == [i for i in range(sent) if i % 7 == key]


def test_flow_whose_first_step_was_aborted_can_be_started(
    kafka: BrokerProcess, tmp_path: Path
) -> None:
    """The first transaction journals a hold and is never committed: its records stay in the log."""
    world = World(kafka)
    world.flow.hold("k1")
    with gates() as started:
        first = GateProcess(world, tmp_path / "1", fault="before-commit@1")
        started.append(first)
        first.wait_at_fault()
        first.kill()
        started.append(GateProcess(world, tmp_path / "2").wait_until_running())
        send_some(world, 0)
        world.wait_until_taken()
    world.check_each_event_once()


def test_the_keeper_killed_in_mid_drain_gives_each_held_event_out_once(
    kafka: BrokerProcess, tmp_path: Path
) -> None:
    world = World(kafka)
    with gates() as started:
        world.flow.hold("k")
        world.send(b"k", *(b"%d" % i for i in range(DRAINED)))
        started.append(GateProcess(world, tmp_path / "holds"))
        world.wait_until_taken()
        started[0].kill()
        world.flow.release("k", pace=DRAIN_PACE)
        for number, point in enumerate(DRAIN_POINTS):
            process = GateProcess(world, tmp_path / str(number), fault=point)
            started.append(process)
            process.wait_at_fault()
            process.kill()
        world.send(b"k", b"%d" % DRAINED)
        started.append(GateProcess(world, tmp_path / "last"))
        world.wait_for(Outcome.DRAINED, b"k")
        eventually(world.all_out, "all events out")
    world.check_each_event_once()
    assert values_of(world, b"k") == list(range(DRAINED + 1))


def test_driver_stopped_in_mid_transaction_is_fenced_when_it_resumes(
    kafka: BrokerProcess, tmp_path: Path
) -> None:
    world = World(kafka)
    with gates() as started:
        zombie = GateProcess(world, tmp_path / "1", fault="before-offsets@4", most=5)
        started.append(zombie)
        send_some(world, 0)
        zombie.wait_at_fault()
        zombie.stop()
        heir = GateProcess(world, tmp_path / "2", most=5).wait_until_running()
        started.append(heir)
        world.wait_until_taken()
        zombie.leave_fault()
        zombie.go_on()
        assert zombie.exit_code() == REPLACED
        send_some(world, 30)
        world.wait_until_taken()
        eventually(world.all_out, "all events out")
        assert "fenced" not in heir.text()  # a replaced gate leaves the ids of its successor alone
    world.check_each_event_once()


def test_later_of_two_pipelines_continues_without_duplicates(
    kafka: BrokerProcess, tmp_path: Path
) -> None:
    world = World(kafka)
    with gates() as started:
        first = GateProcess(world, tmp_path / "1", most=3).wait_until_running()
        started.append(first)
        send_some(world, 0)
        second = GateProcess(world, tmp_path / "2", most=3)
        started.append(second)
        send_some(world, 30)
        second.wait_until_running()
        assert first.exit_code() == REPLACED
        send_some(world, 60)
        world.wait_until_taken()
        eventually(world.all_out, "all events out")
    world.check_each_event_once()


def test_a_process_whose_session_was_lost_ends_and_does_not_join_again(
    kafka: BrokerProcess, tmp_path: Path
) -> None:
    """librdkafka would join again by itself, and then refuse the rightful owner."""
    world = World(kafka)
    with gates() as started:
        first = GateProcess(world, tmp_path / "1").wait_until_running()
        started.append(first)
        send_some(world, 0)
        world.wait_until_taken()
        with Wire(kafka) as wire:
            member = LeaveGroupRequest.MemberIdentity(
                version=4, member_id="", group_instance_id=INSTANCE_ID
            )
            wire.ask(LeaveGroupRequest(version=4, group_id=world.names.group, members=[member]))
        assert first.exit_code() == START_AGAIN
        send_some(world, 30)
        started.append(GateProcess(world, tmp_path / "2"))
        world.wait_until_taken()
        eventually(world.all_out, "all events out")
    world.check_each_event_once()


def test_a_broker_killed_in_mid_transaction_costs_and_doubles_nothing(
    fresh_kafka: BrokerProcess, tmp_path: Path
) -> None:
    world = World(fresh_kafka, patience=3.0)
    with gates() as started:
        process = GateProcess(world, tmp_path / "1", fault="before-commit@4", most=5)
        started.append(process)
        send_some(world, 0)
        process.wait_at_fault()
        fresh_kafka.kill()
        fresh_kafka.start()
        process.leave_fault()
        world.reconnect()
        send_some(world, 30)
        eventually(world.is_taken, "every event taken", 120)
        eventually(world.all_out, "all events out")
    world.check_each_event_once()
