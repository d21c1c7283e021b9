"""A batch of events that nobody can read: what is before it is taken, and a command skips it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession
from tests.brokers import BrokerProcess
from tests.clients import DEADLINE_S
from tests.conftest import KINDS
from tests.integration.pipeline.world import World, eventually, gate_of
from tests.spoil import Spoil, flipped_bit, garbage, spoil, unknown_codec

from holdfast.errors import GateStoppedError, TimedOutError
from holdfast.flows.journal import Outcome
from holdfast.kafka.cluster import ClusterClient
from holdfast.kafka.fetch import (
    UnreadableRecordsError,
    follow,
    read_ranges,
    unreadable_at,
)
from holdfast.pipeline.audit.verify import VerifyOptions, verify
from holdfast.pipeline.gate.driver_path import take_rows
from holdfast.pipeline.gate.flow_gate import FlowGate
from holdfast.pipeline.gate.intake import Intake
from holdfast.pipeline.gate.keeper import Keeper
from holdfast.pipeline.parts.metrics import Metrics
from holdfast.pipeline.raw_zone.zone import RawZone, RawZoneSettings, table_location

pytestmark = pytest.mark.spark

SLOW_S = 400.0
KEYS = [b"a", b"b", b"c", b"d", b"e"]


@dataclass(slots=True)
class Spoilt:
    """A flow with a batch in one of its partitions that cannot be read."""

    world: World
    partition: int
    first: int
    last: int
    before: list[bytes]
    """Values in that partition, below the batch."""
    after: list[bytes]
    elsewhere: list[bytes]
    """Values in other partitions, sent before and after."""

    def processed(self) -> list[bytes]:
        return [o.value or b"" for o in self.world.out(self.world.names.processed)]

    def came_out(self, values: list[bytes]) -> bool:
        return set(values) <= set(self.processed())


def make_world(broker: BrokerProcess, **definition: Any) -> World:
    """Events in three batches in each partition, of 20 events each."""
    world = World(broker, partitions=2, **definition)
    producer = Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": 200})
    for batch in range(3):
        for p in range(2):
            for i in range(20):
                value = b'{"n": %d}' % (1000 * p + 100 * batch + i)
                producer.produce(world.names.events, value, KEYS[i % 5], partition=p)
        assert producer.flush(DEADLINE_S) == 0
    return world


def values_of(world: World, partition: int) -> dict[int, bytes]:
    messages = world.read(world.names.events)
    return {m.offset() or 0: m.value() or b"" for m in messages if m.partition() == partition}


WORLDS: dict[str, tuple[dict[str, Any], Spoil]] = {
    "driver": ({}, garbage),
    "driver-crc": ({}, flipped_bit),
    "tasks": ({}, unknown_codec),
    "schema": ({"schema": "n INT NOT NULL"}, garbage),
    "schema-tasks": ({"schema": "n INT NOT NULL"}, garbage),
    "before-start": ({}, garbage),
    "uncertain-False": ({}, garbage),
    "uncertain-True": ({}, garbage),
    "control": ({}, garbage),
    "raw": ({}, garbage),
}


@pytest.fixture(scope="module", params=list(KINDS))
def spoilt(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Spoilt]]:
    """Flows on a broker that was stopped for as long as it takes to spoil them all."""
    with KINDS[request.param](tmp_path_factory.mktemp(f"spoilt-{request.param}")) as broker:
        worlds = {name: make_world(broker, **given) for name, (given, _) in WORLDS.items()}
        values = {name: [values_of(world, p) for p in (0, 1)] for name, world in worlds.items()}
        for key in ("first", "second", "last"):
            worlds["control"].flow.hold(key)
        broker.stop()
        spoil(broker, worlds["control"].names.control, 0, 1)
        found = {
            name: spoil(broker, world.names.events, 1, 25, WORLDS[name][1])
            for name, world in worlds.items()
        }
        broker.start()
        for world in worlds.values():
            world.reconnect()
        yield {
            name: Spoilt(
                world,
                1,
                *found[name],
                before=[v for o, v in values[name][1].items() if o < found[name][0]],
                after=[v for o, v in values[name][1].items() if o > found[name][1]],
                elsewhere=list(values[name][0].values()),
            )
            for name, world in worlds.items()
        }


@contextmanager
def querying(
    world: World, spark: SparkSession, folder: Path, *, small: bool | None
) -> Iterator[tuple[FlowGate, Intake]]:
    with gate_of(world) as gate:
        keeper, intake = Keeper(gate), Intake(lambda: spark, gate, small=small)
        keeper.start()
        intake.start()
        try:
            yield gate, intake
        finally:
            intake.stop()
            keeper.stop()
        assert intake.failure() is None
        assert keeper.error is None


@contextmanager
def running_without_feeder(world: World) -> Iterator[FlowGate]:
    with gate_of(world) as gate:
        keeper = Keeper(gate)
        keeper.start()
        try:
            yield gate
        finally:
            keeper.stop()
        assert keeper.error is None


@pytest.mark.parametrize(
    ("name", "small"),
    [
        ("driver", True),
        ("driver-crc", True),
        ("tasks", False),
        ("schema", True),
        ("schema-tasks", False),
    ],
)
def test_events_before_an_unreadable_batch_come_out_and_those_after_it_once_it_is_skipped(
    spoilt: dict[str, Spoilt], spark: SparkSession, tmp_path: Path, name: str, small: bool
) -> None:
    flow = spoilt[name]
    world, names = flow.world, f"partition 1, offsets {flow.first} to {flow.last}"
    with querying(world, spark, tmp_path, small=small) as (_, intake):
        eventually(lambda: names in str(intake.waits_for), "a gate that says where", SLOW_S)
        eventually(lambda: flow.came_out(flow.before), "what is before", SLOW_S)
        eventually(lambda: flow.came_out(flow.elsewhere), "other partitions", SLOW_S)
        assert not set(flow.after) & set(flow.processed())
        # Offsets that are not those of the batch have no effect, and the answer says so.
        wrong = world.flow.skip(1, flow.first, flow.last + 1).wait(SLOW_S)
        assert (wrong.outcome, f"to {flow.last}: name exactly these" in wrong.record.note) == (
            Outcome.NOTHING_TO_DO,
            True,
        )
        skipped = world.flow.skip(1, flow.first, flow.last, reason="rubbish").wait(SLOW_S)
        assert (skipped.outcome, skipped.cut, skipped.record.lost_until) == (
            Outcome.SKIPPED,
            flow.first,
            flow.last + 1,
        )
        eventually(lambda: flow.came_out(flow.after), "what is after", SLOW_S)
        eventually(lambda: intake.waits_for is None, "a gate that goes on", SLOW_S)
        world.send(b"a", b'{"n": 5007}')
        eventually(lambda: b'{"n": 5007}' in flow.processed(), "what is sent later", SLOW_S)
    out = world.out(world.names.processed)
    sources = [o.source for o in out]
    assert (
        len(set(sources)) == len(sources) == len([*flow.before, *flow.after, *flow.elsewhere, b""])
    )
    assert world.out(world.names.dlq) == []
    world._check_order(out)


def test_skip_that_was_sent_while_no_gate_ran_acts_at_the_next_start(
    spoilt: dict[str, Spoilt], spark: SparkSession, tmp_path: Path
) -> None:
    flow = spoilt["before-start"]
    world = flow.world
    with querying(world, spark, tmp_path, small=True) as (_, intake):
        eventually(lambda: "cannot be read" in str(intake.waits_for), "a gate that waits", SLOW_S)
    receipt = world.flow.skip(1, flow.first, flow.last)
    with querying(world, spark, tmp_path, small=True):
        assert receipt.wait(SLOW_S).outcome is Outcome.SKIPPED
        eventually(lambda: flow.came_out(flow.after), "what is after", SLOW_S)
    with querying(world, spark, tmp_path, small=True) as (_, intake):
        world.send(b"a", b'{"n": 5007}')
        eventually(lambda: b'{"n": 5007}' in flow.processed(), "what is sent later", SLOW_S)
        assert intake.waits_for is None
    assert [r.outcome for r in world.journal()].count(Outcome.SKIPPED) == 1


def test_offsets_of_an_unreadable_batch_are_the_same_for_every_reader(
    spoilt: dict[str, Spoilt],
) -> None:
    for name, flow in spoilt.items():
        cluster, events = ClusterClient(flow.world.settings), flow.world.names.events
        read = read_ranges(cluster, events, {1: (0, flow.last + 5), 0: (0, 5)})
        assert read is not None
        bad = read.unreadable[1]
        assert (bad.start, bad.end - 1) == (flow.first, flow.last), name
        assert [row for row in read.rows["partition"].to_pylist() if row == 0] == [0] * 5
        assert unreadable_at(cluster, events, 1, flow.first) == bad
        assert unreadable_at(cluster, events, 1, flow.last + 1) is None
        assert unreadable_at(cluster, events, 1, flow.last) == replace(bad, start=flow.last)
        following = follow(cluster, events, 1, 0)  # as held is read
        assert next(following)[1] == flow.first
        with pytest.raises(UnreadableRecordsError, match=f"{events} cannot be read: partition 1"):
            next(following)
        cluster.forget()


@pytest.mark.parametrize("committed", [False, True])
def test_skip_whose_commit_is_uncertain_happens_once(
    spoilt: dict[str, Spoilt], committed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The transaction fails before, or its answer is lost after it was committed."""
    flow = spoilt[f"uncertain-{committed}"]
    world = flow.world
    failures = 0

    with gate_of(world) as gate:
        cluster = ClusterClient(world.settings)
        read = read_ranges(cluster, world.names.events, {1: (0, flow.first)})
        assert read is not None
        take_rows(
            gate,
            {1: (0, flow.first)},
            read.rows,
            gate.settings,
            gate.epochs(),
        )
        cluster.forget()
        transactions = gate._exclusive.committer.transactions
        commit = transactions.commit

        def fail_once(*given: Any) -> None:
            nonlocal failures
            failures += 1
            if committed or failures > 1:
                commit(*given)
            if failures == 1:
                raise TimedOutError("no answer")

        receipt = world.flow.skip(1, flow.first, flow.last)
        monkeypatch.setattr(transactions, "commit", fail_once)
        keeper = Keeper(gate)
        keeper.start()
        assert receipt.wait(SLOW_S).outcome is Outcome.SKIPPED
        place = gate.positions()[1]
        eventually(lambda: gate.positions()[1].offset == flow.last + 1, f"past {place}")
        keeper.stop()
        assert failures >= 1
    assert [r.outcome for r in world.journal()].count(Outcome.SKIPPED) == 1


def test_unreadable_control_batch_stops_the_gate_until_one_void(
    spoilt: dict[str, Spoilt],
) -> None:
    world = spoilt["control"].world
    with pytest.raises(GateStoppedError, match="offset 1 of the control log cannot be read"):
        with gate_of(world):
            pass
    assert world.journal() == []
    world.flow.void(1, reason="rubbish")
    with running_without_feeder(world):
        eventually(
            lambda: {"held", "unreadable", "voided"} <= {r.outcome for r in world.journal()},
            "commands before and after",
        )
    states = [world.flow.status(key).state for key in ("first", "second", "last")]
    assert states == ["HELD", "ACTIVE", "HELD"]


def test_raw_zone_lands_readable_events_and_continues_after_a_skip(
    spoilt: dict[str, Spoilt], spark: SparkSession, tmp_path: Path
) -> None:
    flow = spoilt["raw"]
    world, definition = flow.world, flow.world.flow.describe()
    settings = RawZoneSettings(lake=str(tmp_path / "lake"), seconds=0.5)

    def landed() -> list[tuple[int, bytes]]:
        table = spark.read.format("delta").load(table_location(settings.lake, definition.name))
        rows = table.orderBy("partition", "offset").collect()
        return [(row["partition"], bytes(row["value"])) for row in rows]

    def fails() -> bool:
        return "offsets 20 to 39" in str(zone.failure())

    zone = RawZone(spark, world.connection, definition, settings, Metrics())
    zone.start()
    eventually(fails, "a raw zone that says where", SLOW_S)
    zone.stop()
    elsewhere = [(0, value) for value in flow.elsewhere]
    assert landed() == [*elsewhere, *((1, value) for value in flow.before)]
    with querying(world, spark, tmp_path, small=True):
        receipt = world.flow.skip(1, flow.first, flow.last)
        if receipt.wait(SLOW_S).outcome is not Outcome.SKIPPED:  # the gate had not come to it yet
            eventually(lambda: flow.came_out(flow.before), "what is before", SLOW_S)
            assert world.flow.skip(1, flow.first, flow.last).wait().outcome is Outcome.SKIPPED
        zone = RawZone(spark, world.connection, definition, settings, Metrics())
        zone.start()
        after = [(1, value) for value in flow.after]
        eventually(lambda: landed()[-len(after) :] == after, "what is after", SLOW_S)
        eventually(lambda: flow.came_out(flow.after), "what comes out", SLOW_S)
        world.send(b"a", b'{"n": 5007}')
        eventually(lambda: b'{"n": 5007}' in {v for _, v in landed()}, "what is sent later", SLOW_S)
        assert zone.failure() is None
        zone.stop()
        world.wait_until_taken()
    values = [value for _, value in landed()]
    expected = [*flow.elsewhere, *flow.before, *flow.after, b'{"n": 5007}']
    assert sorted(values) == sorted(expected)
    found = verify(spark, world.connection, definition, VerifyOptions(lake=settings.lake))
    assert found.clean, found.document()
    assert found.skipped == ((1, flow.first, flow.last + 1),)
    assert (found.events, found.landed) == (len(expected), len(expected))
