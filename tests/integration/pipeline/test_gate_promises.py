"""The promises of the gate, on real brokers; batches come without Spark here."""

import json
import random
import subprocess
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass

import pytest
from tests.brokers import BrokerProcess
from tests.clients import DEADLINE_S
from tests.integration.pipeline.world import World, eventually, running
from tests.unit.gate.kafka import Kafka
from tests.unit.gate.model import Explained

from holdfast.client.held import HeldPosition, read_held
from holdfast.flows.commands import Hold, decode_command, encode_command
from holdfast.flows.journal import Outcome, decode_journal
from holdfast.flows.registry import Limits
from holdfast.flows.status import KeyState, Position
from holdfast.gate import HeldRow


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


@dataclass(frozen=True, slots=True)
class Story:
    """A flow on which much was done while events flowed, and what came of it."""

    world: World
    positions: list[Position]
    seed: int


@pytest.fixture(scope="module")
def story(kafka: BrokerProcess) -> Story:
    """Random verbs on a few keys amid their events; in the end everything is released."""
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    world = World(kafka, limits=Limits(key_events=60), overflow="dead-letter")
    keys = [b"k%d" % i for i in range(5)]
    with running(world) as gate:
        for number in range(1_500):
            world.producer.produce(world.names.events, b"%d" % number, chance.choice(keys))
            if chance.random() < 0.05:
                some_verb(world, chance, chance.choice(keys))
        world.producer.flush(DEADLINE_S)
        for key in keys:
            world.flow.release(key)
        world.wait_until_taken()
        eventually(
            lambda: not any(s.entries for s in gate._exclusive.states), f"all out; seed {seed}", 60
        )
        positions = gate.positions()
    return Story(world, positions, seed)


def some_verb(world: World, chance: random.Random, key: bytes) -> None:
    match chance.randrange(6):
        case 0 | 1:
            world.flow.hold(key)
        case 2:
            world.flow.hold(key, expires_in=chance.uniform(0.05, 0.3))
        case 3:
            world.flow.release(key)
        case 4:
            world.flow.release(key, pace=500.0)
        case 5:
            world.flow.dead_letter(key)


def test_g1_each_event_ends_in_exactly_one_topic(story: Story) -> None:
    world = story.world
    sent = [(m.partition(), m.offset()) for m in world.read(world.names.events)]
    out = [o.source for t in (world.names.processed, world.names.dlq) for o in world.out(t)]
    assert sorted(out) == sorted(sent), f"seed {story.seed}"


def test_g2_a_keys_events_come_out_in_source_order(story: Story) -> None:
    """In the order of the log of processed, which is the order that its readers see."""
    offsets: dict[bytes | None, list[int]] = defaultdict(list)
    for out in story.world.out(story.world.names.processed):
        offsets[out.key].append(out.source[1])
    assert len(offsets) == 5
    for key, found in offsets.items():
        assert found == sorted(found), f"{key!r}, seed {story.seed}"


def test_g6_events_control_and_journal_explain_where_every_event_is(story: Story) -> None:
    logs = logs_of(story)
    assert any(logs.held), f"nothing was ever held; seed {story.seed}"
    for p in range(story.world.partitions):
        explained = Explained(logs, p)
        explained.check()
        explained.check_nothing_is_open()


def logs_of(story: Story) -> Kafka:
    """The flow's topics as lists, as the model of the gate's own tests knows them."""
    world, logs = story.world, Kafka(story.world.partitions)
    for message in world.read(world.names.events):
        p, at = message.partition() or 0, message.offset() or 0
        logs.events[p] += [None] * (at - len(logs.events[p]))
        logs.send(p, message.key())
    for message in world.read(world.names.control, partitions=1):
        logs.ask(decode_command(message.key(), message.value()))
    for message in world.read(world.names.journal):
        record = decode_journal(message.key(), message.value())
        logs.journal[message.partition() or 0].append(record)
    for name, lists in ((world.names.processed, logs.processed), (world.names.dlq, logs.dlq)):
        for out in world.out(name):
            lists[out.source[0]].append(out.source[1])
    for out in world.out(world.names.held):
        row = HeldRow(0, out.source[1], 0, out.timestamp, None)
        logs.held[out.partition].append((out.key or b"", row))
    for p, position in enumerate(story.positions):
        logs.committed[p] = position
        logs.status[p].append(position)
    return logs


def test_hold_and_release_on_an_idle_flow_act_without_events(world: World) -> None:
    with running(world):
        world.flow.hold("a", reason="disputed").wait(DEADLINE_S)
        eventually(lambda: world.flow.status("a").state is KeyState.HELD, "held in status")
        world.send(b"a", b"1", b"2")
        world.send(b"b", b"3")
        eventually(lambda: world.processed() == [b"3"], "the other key's event")
        world.wait_until_taken()
        eventually(lambda: world.flow.status("a").events == 2, "the count in status")
        world.flow.release("a").wait(DEADLINE_S)
        eventually(lambda: world.processed(b"a") == [b"1", b"2"], "the held events")
        world.wait_for(Outcome.DRAINED, b"a")
        world.send(b"a", b"4")
        eventually(lambda: world.processed(b"a") == [b"1", b"2", b"4"], "the next event")
        eventually(lambda: world.flow.status("a").state is KeyState.ACTIVE, "active in status")
    world.check_each_event_once()


def test_g3_event_sent_after_an_acknowledged_hold_is_held(world: World) -> None:
    """Thousands of times while other keys flow: sent the moment the hold is acknowledged."""
    count = 2_000
    with running(world):
        for i in range(count):
            command = Hold(id=f"h{i}", actor="ana", at=1, key=b"k%d" % i)
            key, value = encode_command(command)
            world.producer.produce(world.names.events, b"other", b"o%d" % (i % 50))
            world.producer.produce(world.names.control, value, key)
            world.producer.flush(DEADLINE_S)
            world.producer.produce(world.names.events, b"must not pass", command.key)
        world.producer.flush(DEADLINE_S)
        world.wait_until_taken()
    out = world.out(world.names.processed)
    assert [o.key for o in out if o.value == b"must not pass"] == []
    assert len(out) == count
    world.check_each_event_once()


def test_g4_held_events_come_out_before_newer_ones(world: World) -> None:
    """Events that arrive while the key drains queue behind."""
    with running(world):
        world.flow.hold("k").wait(DEADLINE_S)
        world.send(b"k", *(b"%d" % i for i in range(30)))
        world.wait_until_taken()
        world.flow.release("k", pace=40).wait(DEADLINE_S)
        for i in range(30, 60):
            world.send(b"k", b"%d" % i)
        world.wait_for(Outcome.DRAINED, b"k")
        world.send(b"k", b"60")
        eventually(lambda: len(world.processed(b"k")) == 61, "all events")
    assert world.processed(b"k") == [b"%d" % i for i in range(61)]


def test_a_hold_stops_a_drain_at_an_exact_event(world: World) -> None:
    with running(world):
        world.flow.hold("k").wait(DEADLINE_S)
        world.send(b"k", *(b"%d" % i for i in range(40)))
        world.wait_until_taken()
        world.flow.release("k", pace=20).wait(DEADLINE_S)
        eventually(lambda: len(world.processed(b"k")) >= 3, "a drain that has begun")
        world.flow.hold("k", reason="again").wait(DEADLINE_S)
        stopped = [r for r in world.journal() if r.outcome is Outcome.HELD][-1].drained_through
        out = world.out(world.names.processed)
        assert max(o.source[1] for o in out) == stopped
        world.send(b"k", b"40")
        world.wait_until_taken()
        assert len(world.processed(b"k")) == len(out)
        world.flow.release("k").wait(DEADLINE_S)
        eventually(lambda: len(world.processed(b"k")) == 41, "the rest")
    assert world.processed(b"k") == [b"%d" % i for i in range(41)]
    world.check_each_event_once()


def test_g5_verbs_are_idempotent_and_report_their_outcome(world: World) -> None:
    with running(world):
        assert world.flow.release("k").wait(DEADLINE_S).outcome is Outcome.NOTHING_TO_DO
        assert world.flow.hold("k", command_id="one").wait(DEADLINE_S).outcome is Outcome.HELD
        world.flow.hold("k", command_id="one")
        world.wait_for(Outcome.DUPLICATE, b"k")
        assert world.flow.hold("k", reason="new").wait(DEADLINE_S).outcome is Outcome.UPDATED
        (_, entry), *_ = world.flow.status("k").entries
        assert entry.reason == "new"
        assert world.flow.release("k").wait(DEADLINE_S).outcome is Outcome.RELEASED
        world.wait_for(Outcome.DRAINED, b"k")


def test_hold_expires_without_new_events_and_releases_its_events(world: World) -> None:
    with running(world):
        world.flow.hold("k", expires_in=1.5).wait(DEADLINE_S)
        world.send(b"k", b"1", b"2")
        world.wait_for(Outcome.EXPIRED, b"k")
        eventually(lambda: world.processed(b"k") == [b"1", b"2"], "the held events")
    assert world.outcomes(b"k") == [Outcome.HELD, Outcome.EXPIRED, Outcome.DRAINED]


def test_dead_lettered_events_leave_and_later_ones_follow_the_state(world: World) -> None:
    with running(world):
        world.flow.hold("k").wait(DEADLINE_S)
        world.send(b"k", b"1", b"2")
        world.wait_until_taken()
        world.flow.dead_letter("k", reason="broken").wait(DEADLINE_S)
        eventually(lambda: len(world.out(world.names.dlq)) == 2, "the dead letters")
        world.send(b"k", b"3")
        world.wait_until_taken()
        assert world.processed(b"k") == []
        world.flow.release("k").wait(DEADLINE_S)
        eventually(lambda: world.processed(b"k") == [b"3"], "the later event")
    world.check_each_event_once()


def test_g7_at_the_limit_a_blocking_flow_takes_no_more_and_continues_after_a_release(
    kafka: BrokerProcess,
) -> None:
    world = World(kafka, partitions=1, limits=Limits(key_events=5))
    with running(world) as gate:
        world.flow.hold("k").wait(DEADLINE_S)
        world.send(b"k", *(b"%d" % i for i in range(8)))
        eventually(gate.blocked, "a flow that is blocked")
        world.send(b"other", b"waits")
        world.flow.release("k").wait(DEADLINE_S)
        eventually(lambda: len(world.processed()) == 9, "all events")
    assert world.processed(b"k") == [b"%d" % i for i in range(8)]
    assert Outcome.OVERFLOW_BEGUN in world.outcomes(b"k")
    world.check_each_event_once()


def test_g7_at_the_limit_a_dead_lettering_flow_continues(kafka: BrokerProcess) -> None:
    world = World(kafka, partitions=1, limits=Limits(key_events=3), overflow="dead-letter")
    with running(world):
        world.flow.hold("k").wait(DEADLINE_S)
        world.send(b"k", *(b"%d" % i for i in range(3)))
        world.wait_until_taken()
        world.send(b"k", b"over")
        world.send(b"other", b"passes")
        eventually(lambda: world.processed() == [b"passes"], "the other key")
        world.wait_until_taken()
    (dead,) = world.out(world.names.dlq)
    assert dead.value == b"over"
    assert dict(dead.headers)["holdfast-error"] == b"overflow"
    world.check_each_event_once()


def test_events_of_a_held_key_in_a_foreign_partition_are_held_there(world: World) -> None:
    with running(world):
        world.flow.hold("k").wait(DEADLINE_S)
        for partition in range(world.partitions):
            world.send(b"k", b"p%d" % partition, partition=partition)
        world.wait_until_taken()
        assert world.processed(b"k") == []
        world.flow.release("k").wait(DEADLINE_S)
        eventually(
            lambda: Counter(world.processed(b"k")) == Counter([b"p0", b"p1"]), "both partitions"
        )
        eventually(lambda: world.flow.status("k").state is KeyState.ACTIVE, "no entry left")
    world.check_each_event_once()


def test_g8_an_unreadable_command_stops_the_gate_until_it_is_voided(world: World) -> None:
    with running(world) as gate:
        world.producer.produce(world.names.control, b"not a command", b"k")
        world.producer.flush(DEADLINE_S)
        eventually(lambda: "cannot be read" in str(gate.trouble), "a gate that says why")
        world.send(b"a", b"1")
        assert world.processed() == []
        world.flow.void(0, reason="a mistake")
        eventually(lambda: world.processed() == [b"1"], "the event, once it is voided")
    assert {Outcome.UNREADABLE, Outcome.VOIDED} <= {r.outcome for r in world.journal()}


def test_held_events_of_a_key_are_read_in_pages(world: World) -> None:
    with running(world):
        world.flow.hold("k").wait(DEADLINE_S)
        world.send(b"k", *(b"%d" % i for i in range(7)), headers=[("x", b"1")])
        world.send(b"other", b"passes")
        world.wait_until_taken()
        pages: list[list[bytes | None]] = []
        start: HeldPosition | None = None
        while True:
            page = world.flow.held_events("k", start=start, limit=3)
            pages.append([event.value for event in page.events])
            if page.following is None:
                break
            start = HeldPosition.parse(str(page.following))
        assert pages == [[b"0", b"1", b"2"], [b"3", b"4", b"5"], [b"6"]]
        assert page.events[0].headers == (("x", b"1"),)
        world.flow.release("k").wait(DEADLINE_S)
        world.wait_for(Outcome.DRAINED, b"k")
        assert world.flow.held_events("k").events == ()


def test_a_page_of_held_events_looks_at_a_bounded_number_of_rows(kafka: BrokerProcess) -> None:
    world = World(kafka, partitions=1)
    with running(world):
        world.flow.hold("many").wait(DEADLINE_S)
        world.flow.hold("k").wait(DEADLINE_S)
        world.send(b"many", *[b"-"] * 10)
        world.send(b"k", b"1", b"2")
        world.wait_until_taken()
        entries = world.flow.status("k").entries
        pages: list[list[bytes | None]] = []
        start = None
        while not pages or start is not None:
            found = read_held(world.connection, world.names, entries, start=start, look_at=4)
            pages.append([event.value for event in found.events])
            start = found.following
        assert [value for page in pages for value in page] == [b"1", b"2"]
        assert len(pages) == 3


def test_command_line_lists_held_events_of_a_key(world: World) -> None:
    def held(*arguments: str) -> str:
        command = [sys.executable, "-m", "holdfast.cli", "held", world.flow.name, *arguments]
        return subprocess.run(
            [*command, "-b", world.kafka.bootstrap],
            capture_output=True, text=True, timeout=DEADLINE_S, check=True,
        ).stdout  # fmt: skip

    with running(world):
        world.flow.hold("k").wait(DEADLINE_S)
        world.send(b"k", b"1", b"2", None, headers=[("x", b"y")])
        world.wait_until_taken()
        eventually(lambda: world.flow.status("k").events == 3, "the count in status")
        home = world.home(b"k")
        page = json.loads(held("k", "--events", "-n", "2", "-o", "json"))
        assert [(e["source"], e["value"]) for e in page["events"]] == [
            (f"{home}:0", "1"),
            (f"{home}:1", "2"),
        ]
        assert page["events"][0]["headers"] == ["x=y"]
        rest = json.loads(held("k", "--events", "--after", page["next"], "-o", "json"))
        assert [e["value"] for e in rest["events"]] == [None]
        assert rest["next"] is None
        (row,) = json.loads(held("k", "-o", "json"))
        assert (row["key"], row["state"], row["events"], row["bytes"]) == ("k", "HELD", 3, 5)
        assert row["oldest"] is not None
        assert held("active") == ""
