"""A whole flow on pause, and prefixes on hold, on real brokers and with kill -9 at every point."""

from pathlib import Path
from typing import Literal

import pytest
from tests.brokers import BrokerProcess
from tests.clients import DEADLINE_S
from tests.integration.pipeline.processes import GateProcess, gates
from tests.integration.pipeline.test_crash import POINTS, send_some, values_of
from tests.integration.pipeline.world import World, eventually, gate_of, running

from holdfast.flows.journal import Outcome
from holdfast.flows.status import KeyState
from holdfast.pipeline.gate.keeper import Keeper


def test_a_paused_flow_takes_no_events_and_serves_commands(kafka: BrokerProcess) -> None:
    world = World(kafka)
    with running(world):
        world.flow.hold("k")
        world.send(b"k", b"0", b"1")
        world.send(b"x", b"2")
        world.wait_until_taken()
        effect = world.flow.pause(reason="consumers are down", actor="ana").wait(DEADLINE_S)
        assert effect.outcome is Outcome.PAUSED
        assert set(effect.cuts) == {0, 1}
        world.send(b"x", b"3")
        world.send(None, b"4")
        released = world.flow.release("k", every=True, reason="done").wait(DEADLINE_S)
        assert released.outcome is Outcome.RELEASED
        assert world.flow.hold("y").wait(DEADLINE_S).cut == effect.cuts[world.home(b"y")]
        assert world.processed() == [b"2"], "something came out of a paused flow"
        [pause] = world.flow.pauses()
        assert (pause.name, pause.reason) == ("ana", "consumers are down")
        assert world.flow.status("k").state is KeyState.DRAINING
        resumed = world.flow.resume(actor="ben").wait(DEADLINE_S)
        assert resumed.outcome is Outcome.RESUMED
        assert resumed.cuts == effect.cuts
        eventually(world.all_out, "all events out")
    assert world.flow.pauses() == ()
    world.check_each_event_once()


def test_a_flow_is_paused_until_its_last_pause_was_ended(kafka: BrokerProcess) -> None:
    world = World(kafka)
    with running(world):
        world.flow.pause(actor="ana").wait(DEADLINE_S)
        assert world.flow.pause(actor="ben").wait(DEADLINE_S).outcome is Outcome.ADDED
        world.send(b"x", b"0")
        effect = world.flow.resume(actor="ben").wait(DEADLINE_S)
        assert effect.outcome is Outcome.HOLD_RELEASED
        assert [hold.name for hold in effect.remaining] == ["ana"]
        assert world.processed() == []
        world.flow.resume(every=True, actor="ben", reason="over").wait(DEADLINE_S)
        eventually(world.all_out, "all events out")


def test_a_pause_outlives_the_process(kafka: BrokerProcess, tmp_path: Path) -> None:
    world = World(kafka)
    with gates() as started:
        started.append(GateProcess(world, tmp_path / "1").wait_until_running())
        world.flow.pause().wait(DEADLINE_S)
        world.send(b"x", b"0")
        started[0].kill()
        started.append(GateProcess(world, tmp_path / "2").wait_until_running())
        world.flow.hold("y").wait(DEADLINE_S)
        assert world.processed() == []
        world.flow.resume().wait(DEADLINE_S)
        eventually(world.all_out, "all events out")
    world.check_each_event_once()


def test_every_key_with_a_held_prefix_is_held_seen_or_not(kafka: BrokerProcess) -> None:
    world = World(kafka, partitions=3)
    keys = [b"tenant-7/%d" % i for i in range(6)]
    with running(world):
        world.send(keys[0], b"before")
        world.wait_until_taken()
        world.flow.hold_prefix("tenant-7/", reason="broken", actor="ana").wait(DEADLINE_S)
        world.flow.hold(keys[1], actor="ben", reason="fraud").wait(DEADLINE_S)
        for key in keys:
            world.send(key, b"1", b"2")
        world.send(b"tenant-70", b"passes")
        world.wait_until_taken()
        eventually(lambda: len(world.processed()) == 2, "all other events out")
        [prefix] = world.flow.prefixes()
        assert (prefix.prefix, [hold.name for hold in prefix.holds]) == (b"tenant-7/", ["ana"])
        assert [status.key for status in prefix.keys] == keys
        assert world.flow.status("tenant-7/unseen").state is KeyState.HELD
        # A release of a key ends no hold of its prefix.
        effect = world.flow.release(keys[0], every=True, reason="try").wait(DEADLINE_S)
        assert effect.outcome is Outcome.NOTHING_TO_DO
        assert [hold.prefix for hold in effect.remaining] == [b"tenant-7/"]
        effect = world.flow.release_prefix("tenant-7/", actor="ana").wait(DEADLINE_S)
        assert effect.outcome is Outcome.RELEASED
        eventually(lambda: len(world.processed()) == 12, "all but the key with another hold out")
        assert [hold.name for hold in world.flow.status(keys[1]).holds] == ["ben"]
        world.flow.release(keys[1], actor="ben").wait(DEADLINE_S)
        eventually(world.all_out, "all events out")
    world.check_each_event_once()


def test_a_hold_of_a_prefix_expires_for_all_its_keys(kafka: BrokerProcess) -> None:
    world = World(kafka)
    with running(world):
        world.flow.hold_prefix("a", expires_in=1.0).wait(DEADLINE_S)
        world.send(b"a1", b"0")
        world.send(b"a2", b"1")
        eventually(world.all_out, "all events out")
    assert world.outcomes(b"a1") == [Outcome.HELD, Outcome.EXPIRED, Outcome.DRAINED]
    assert world.flow.prefixes() == []


@pytest.mark.parametrize("path", ["driver", "tasks"])
def test_killed_at_every_point_a_held_prefix_keeps_its_promises(
    kafka: BrokerProcess, tmp_path: Path, path: Literal["driver", "tasks"]
) -> None:
    """A prefix of most keys is held while each process is killed with a batch in its hands, and the
    flow is paused and resumed in between."""
    world = World(kafka)
    world.flow.hold_prefix("k")
    world.flow.hold("k1", name="other")
    sent = 0
    with gates() as started:
        for number, point in enumerate(POINTS):
            process = GateProcess(world, tmp_path / str(number), fault=point, most=5, path=path)
            started.append(process)
            send_some(world, sent)
            process.wait_at_fault()
            world.flow.pause()
            send_some(world, sent + 30)
            sent += 60
            process.kill()
            world.flow.resume(every=True, reason="next")
        started.append(GateProcess(world, tmp_path / "last", path=path))
        world.wait_until_taken()
        assert world.processed() == [], "a key with a held prefix came out"
        world.flow.release_prefix("k").wait(DEADLINE_S)
        world.flow.release("k1", holds=["other"]).wait(DEADLINE_S)
        eventually(world.all_out, "all events out")
    world.check_each_event_once()
    for key in range(7):
        assert values_of(world, b"k%d" % key) == [i for i in range(sent) if i % 7 == key]


def test_a_keeper_of_a_paused_flow_with_a_drain_has_nothing_to_do(kafka: BrokerProcess) -> None:
    """It would take all of a processor, to find at each turn that nothing may leave."""
    world = World(kafka)
    with running(world):
        world.flow.hold("k")
        world.send(b"k", b"0", b"1")
        world.wait_until_taken()
    with gate_of(world) as gate:
        keeper = Keeper(gate)
        world.flow.pause()
        world.flow.release("k", every=True, reason="done")
        eventually(gate.has_new_commands, "commands")
        while gate.has_new_commands():
            keeper.turn()
        eventually(lambda: not keeper.turn(), "a keeper at rest")
        assert keeper._due_in() > 0
        world.flow.resume(every=True, reason="done")
        eventually(gate.has_new_commands, "commands")
        eventually(lambda: not keeper.turn() and world.all_out(), "all events out")
