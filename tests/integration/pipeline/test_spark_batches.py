"""Batches as Spark plans and runs them, in the driver and in tasks."""

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession
from tests.brokers import BrokerProcess
from tests.integration.pipeline.world import Out, World, eventually, gate_of

from holdfast.flows.journal import Outcome
from holdfast.flows.registry import Limits
from holdfast.pipeline.batches import GateQuery
from holdfast.pipeline.flow_gate import FlowGate
from holdfast.pipeline.gate_part import GatePart
from holdfast.pipeline.keeper import Keeper
from holdfast.pipeline.metrics import Metrics
from holdfast.pipeline.ticket import Ticket

pytestmark = pytest.mark.spark

AN_HOUR_AGO = round(time.time() * 1000) - 3_600_000
SLOW_S = 120.0
"""A first batch starts workers and warms a JVM up."""


@contextmanager
def querying(
    world: World, spark: SparkSession, folder: Path, *, small: bool | None
) -> Iterator[FlowGate]:
    with gate_of(world) as gate:
        keeper, query = Keeper(gate), GateQuery(spark, gate, str(folder), small=small)
        keeper.start()
        query.start()
        try:
            yield gate
        finally:
            query.stop()
            keeper.stop()
        assert query.failure() is None
        assert keeper.error is None


def fill(world: World) -> None:
    """The same events for every world, with all that may be odd about one."""
    producer = world.producer
    for i in range(400):
        key = [b"a", b"b", b"c", b"\x00\xff", None][i % 5]
        value = None if i % 7 == 3 else b"%d" % i
        headers: list[tuple[str, Any]] = [("n", b"%d" % i), ("n", None)] if i % 3 else []
        partition = {} if key else {"partition": i % world.partitions}
        when = AN_HOUR_AGO + i
        producer.produce(
            world.names.events, value, key, timestamp=when, headers=headers, **partition
        )
    assert producer.flush(30) == 0


def contents(world: World) -> dict[str, list[tuple[Any, ...]]]:
    names = world.names
    return {
        part: [_of(o) for o in world.out(topic)]
        for part, topic in (
            ("processed", names.processed),
            ("held", names.held),
            ("dlq", names.dlq),
        )
    }


def _of(out: Out) -> tuple[Any, ...]:
    return out.partition, out.key, out.value, out.source, out.timestamp, tuple(out.headers)


def test_driver_and_tasks_write_the_same_records_in_the_same_order(
    kafka: BrokerProcess, spark: SparkSession, tmp_path: Path
) -> None:
    found = {}
    for small in (True, False):
        world = World(kafka)
        world.flow.hold("b", command_id="1")
        fill(world)
        with querying(world, spark, tmp_path / str(small), small=small) as gate:
            eventually(lambda g=gate: g.counts.taken == 400, "all events", SLOW_S)
            assert (gate.counts.held, gate.counts.passed) == (80, 320)
        world.check_each_event_once()
        found[small] = contents(world)
    assert found[True] == found[False]
    assert len(found[True]["held"]) == 80


@pytest.mark.parametrize("inline_bytes", [0, 1_000_000], ids=["broadcast", "with the job"])
def test_what_workers_keep_from_batch_to_batch_follows_commands_and_the_keeper(
    kafka: BrokerProcess,
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    inline_bytes: int,
) -> None:
    monkeypatch.setattr("holdfast.pipeline.copies._INLINE_BYTES", inline_bytes)
    world = World(kafka)
    keys = [f"key {number}" for number in range(8)]
    held: list[str] = []
    with querying(world, spark, tmp_path, small=False):
        for round_ in range(8):
            if round_ >= 3:
                world.flow.release(held[round_ - 3])
            world.flow.hold(keys[round_])
            held.append(keys[round_])
            for key in keys:
                for number in range(5):
                    value = b"%d" % (5 * round_ + number)
                    world.producer.produce(world.names.events, value, key.encode())
            assert world.producer.flush(30) == 0
            eventually(world.is_taken, f"the events of round {round_}", SLOW_S)
        eventually(lambda: len(world.processed()) == 8 * 40 - 15 - 10 - 5, "the drains", SLOW_S)
    for number, key in enumerate(keys):
        released = number + 3 < 8
        expected = range(40 if released else 5 * number)
        assert [int(v or b"") for v in world.processed(key.encode())] == list(expected), key
    world.check_each_event_once()


def copied(folder: Path, copy: Path) -> bool:
    try:
        shutil.copytree(folder, copy, dirs_exist_ok=True)
    except shutil.Error:
        return False
    return True


def removed(folder: Path) -> bool:
    """Spark may be writing a file there."""
    try:
        shutil.rmtree(folder)
    except OSError:
        return not folder.exists()
    return True


def test_a_checkpoint_that_is_deleted_or_restored_from_an_older_copy_costs_and_doubles_nothing(
    kafka: BrokerProcess, spark: SparkSession, tmp_path: Path
) -> None:
    world = World(kafka)
    world.flow.hold("b")
    checkpoints, copy = tmp_path / "checkpoints", tmp_path / "copy"

    def send(first: int) -> None:
        for i in range(first, first + 20):
            world.producer.produce(world.names.events, b"%d" % i, b"abc"[i % 3 : i % 3 + 1])
        assert world.producer.flush(30) == 0

    with querying(world, spark, checkpoints, small=True):
        send(0)
        eventually(world.is_taken, "the first events", SLOW_S)
        eventually(lambda: copied(checkpoints, copy), "a copy, no file of which vanished meanwhile")
        send(20)
        eventually(world.is_taken, "more events", SLOW_S)
        eventually(lambda: removed(checkpoints), "an end of it")  # under a query that runs
        send(40)
        eventually(world.is_taken, "the events after that", SLOW_S)
    shutil.rmtree(checkpoints, ignore_errors=True)
    shutil.copytree(copy, checkpoints)
    send(60)
    with querying(world, spark, checkpoints, small=True):
        eventually(world.is_taken, "the events after a start from the copy", SLOW_S)
    for key, rest in ((b"a", 0), (b"c", 2)):
        assert [int(v or b"") for v in world.processed(key)] == list(range(rest, 80, 3))
    assert world.processed(b"b") == []
    world.check_each_event_once()


@pytest.mark.parametrize("small", [True, False], ids=["driver", "tasks"])
def test_aborted_events_never_pass_and_a_range_of_markers_moves_the_position(
    kafka: BrokerProcess, spark: SparkSession, tmp_path: Path, small: bool
) -> None:
    world = World(kafka)
    names = world.names
    writer = Producer(
        {"bootstrap.servers": kafka.bootstrap, "transactional.id": names.flow, "acks": "all"}
    )
    writer.init_transactions(30)
    with querying(world, spark, tmp_path, small=small):
        for value, commit in ((b"gone", False), (b"kept", True), (b"gone too", False)):
            writer.begin_transaction()
            for partition in range(world.partitions):
                writer.produce(names.events, value, b"k%d" % partition, partition=partition)
            assert writer.flush(30) == 0  # an abort would take back what was not sent yet
            if commit:
                writer.commit_transaction(30)
            else:
                writer.abort_transaction(30)
        # Each is a record and a marker, which Apache Kafka writes after its answer.
        eventually(lambda: set(world.ends(names.events).values()) == {6}, "all markers", SLOW_S)
        # The last ranges have no visible row at all.
        eventually(world.is_taken, "the position behind the last marker", SLOW_S)
        assert set(world.processed()) == {b"kept"}
        # A hold still acts there, at a cut that lies behind the markers.
        world.flow.hold("k0").wait(SLOW_S)
        world.send(b"k0", b"held")
        eventually(world.is_taken, "the event behind the markers", SLOW_S)
    assert set(world.processed()) == {b"kept"}
    world.check_each_event_once()


def test_what_violates_the_schema_is_a_dead_letter_and_the_flow_goes_on(
    kafka: BrokerProcess, spark: SparkSession, tmp_path: Path
) -> None:
    world = World(kafka)
    valid, invalid = b'{"id": 1, "to": {"city": "x"}}', [b"{", b'{"id": "x"}', b'{"to": null}', b""]
    definition = world.definition_with(schema="id BIGINT NOT NULL, to STRUCT<city: STRING>")
    with querying(world, spark, tmp_path, small=True) as gate:
        world.flow.hold("held").wait(SLOW_S)
        gate.change(definition)
        world.send(b"a", *invalid, valid, None)
        world.send(b"held", invalid[0], valid)
        eventually(lambda: gate.counts.taken == 8, "all events", SLOW_S)
        gate.change(world.flow.describe())
        world.send(b"a", invalid[0])
        eventually(lambda: gate.counts.taken == 9, "the event without a schema", SLOW_S)
    dead = world.out(world.names.dlq)
    # Held key or not: validation comes first.
    assert sorted(o.value for o in dead) == sorted([*invalid, invalid[0]])
    headers = dict(dead[0].headers)
    assert headers["holdfast-error"] == b"invalid"
    assert headers["holdfast-error-message"].startswith(b"The ")
    assert world.processed(b"a") == [valid, None, invalid[0]]
    assert sum(record.outcome is Outcome.CHANGED for record in world.journal()) >= 4
    world.check_each_event_once()


def test_the_gate_as_a_part_of_the_pipeline_counts_what_it_does_and_changes_while_it_runs(
    kafka: BrokerProcess, spark: SparkSession, tmp_path: Path
) -> None:
    world, metrics = World(kafka), Metrics()
    ticket = Ticket(world.connection.settings)
    part = GatePart(spark, world.connection, world.flow.describe(), str(tmp_path), metrics, ticket)

    def value(name: str) -> float | None:
        part.measure()
        return metrics.registry.get_sample_value(name, {"flow": world.flow.name})

    part.start()
    try:
        world.flow.hold("k").wait(SLOW_S)
        world.send(b"k", b"1", b"2")
        world.send(b"o", b"3")
        eventually(lambda: value("holdfast_events_in_total") == 3, "three events counted", SLOW_S)
        eventually(lambda: value("holdfast_held_events") == 2, "two events held", SLOW_S)
        assert value("holdfast_events_out_total") == 1
        assert value("holdfast_held_keys") == 1
        part.change(world.definition_with(limits=Limits(key_events=2)))
        world.send(b"k", b"4")
        eventually(lambda: "as much as a key may" in str(part.trouble()), "a full key", SLOW_S)
        assert part.failure() is None
        world.flow.release("k").wait(SLOW_S)
        eventually(lambda: world.processed(b"k") == [b"1", b"2", b"4"], "the held events", SLOW_S)
        eventually(lambda: part.trouble() is None, "room again", SLOW_S)
        eventually(lambda: (value("holdfast_events_drained_total") or 0) >= 2, "drained", SLOW_S)
        assert part.failure() is None
    finally:
        part.stop()
    world.check_each_event_once()
