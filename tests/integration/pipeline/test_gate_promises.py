"""What the gate promises, on real brokers; batches come without Spark here."""

import time

import pytest
from tests.brokers import BrokerProcess
from tests.integration.pipeline.world import World, eventually, running

from holdfast.flows.journal import Outcome
from holdfast.flows.status import KeyState


@pytest.fixture
def world(kafka: BrokerProcess) -> World:
    return World(kafka)


def test_events_pass_unchanged_with_their_coordinate(world: World) -> None:
    # Of a minute ago: the retention of events takes what is old.
    ago = round(time.time() * 1000) - 60_000
    world.send(b"a", b"1", timestamp=ago, headers=[("x", b"1"), ("x", None), ("y", b"")])
    world.send(b"a", None, timestamp=ago + 1)
    world.send(None, b"no key", timestamp=ago + 2)
    world.send(b"\x00\xff", b"bytes", timestamp=ago + 3)
    with running(world):
        eventually(lambda: len(world.processed()) == 4, "four events out")
    out = {o.value: o for o in world.out(world.names.processed)}
    first = out[b"1"]
    assert (first.key, first.timestamp) == (b"a", ago)
    assert first.headers[:-1] == [("x", b"1"), ("x", None), ("y", b"")]
    assert out[None].timestamp == ago + 1
    assert out[b"no key"].key is None
    assert out[b"bytes"].key == b"\x00\xff"
    world.check_each_event_once()


def test_hold_and_release_on_an_idle_flow_act_without_events(world: World) -> None:
    with running(world):
        world.flow.hold("a", reason="disputed").wait(20)
        assert world.flow.status("a").state is KeyState.HELD
        world.send(b"a", b"1", b"2")
        world.send(b"b", b"3")
        eventually(lambda: world.processed() == [b"3"], "the other key's event")
        world.wait_until_taken()
        eventually(lambda: world.flow.status("a").events == 2, "the count in status")
        world.flow.release("a").wait(20)
        eventually(lambda: world.processed(b"a") == [b"1", b"2"], "the held events")
        world.wait_for(Outcome.DRAINED, b"a")
        world.send(b"a", b"4")
        eventually(lambda: world.processed(b"a") == [b"1", b"2", b"4"], "the next event")
        assert world.flow.status("a").state is KeyState.ACTIVE
    world.check_each_event_once()
