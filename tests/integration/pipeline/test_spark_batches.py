"""Batches as Spark plans and runs them, in the driver and in tasks."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession
from pyspark.sql import functions as sql
from tests.brokers import BrokerProcess
from tests.clients import DEADLINE_S
from tests.integration.pipeline.world import Out, WallClock, World, eventually, gate_of

from holdfast.flows.journal import Outcome
from holdfast.flows.registry import Limits
from holdfast.kafka.watch import Watches
from holdfast.pipeline.gate.flow_gate import FlowGate
from holdfast.pipeline.gate.intake import Intake
from holdfast.pipeline.gate.keeper import Keeper
from holdfast.pipeline.gate.part import GatePart
from holdfast.pipeline.parts.clock import PipelineClock
from holdfast.pipeline.parts.metrics import Metrics
from holdfast.pipeline.parts.ticket import Ticket
from holdfast.pipeline.spark.validation import plain_json, why_invalid

pytestmark = pytest.mark.spark

AN_HOUR_AGO = round(time.time() * 1000) - 3_600_000
SLOW_S = 400.0
"""A first batch starts workers and warms a JVM up."""


@contextmanager
def querying(
    world: World, spark: SparkSession, folder: Path, *, small: bool | None
) -> Iterator[FlowGate]:
    with gate_of(world) as gate:
        keeper, intake = Keeper(gate), Intake(lambda: spark, gate, small=small)
        keeper.start()
        intake.start()
        try:
            yield gate
        finally:
            intake.stop()
            keeper.stop()
        assert intake.failure() is None
        assert keeper.error is None


def fill(world: World) -> None:
    """Equal events for every world, with everything that may be odd about one."""
    producer = world.producer
    for i in range(400):
        key = [b"a", b"b", b"c", b"\x00\xff", None][i % 5]
        value = None if i % 7 == 3 else b"%d" % i
        headers: list[tuple[str, Any]] = [("n", b"%d" % i), ("n", None)] if i % 3 else []
        partition: dict[str, Any] = {} if key else {"partition": i % world.partitions}
        when = AN_HOUR_AGO + i
        producer.produce(
            world.names.events, value, key, timestamp=when, headers=headers, **partition
        )
    assert producer.flush(DEADLINE_S) == 0


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

            def all_taken(gate: FlowGate = gate) -> bool:
                return gate.counts.taken == 400

            eventually(all_taken, "all events", SLOW_S)
            assert (gate.counts.held, gate.counts.passed) == (80, 320)
        world.check_each_event_once()
        found[small] = contents(world)
    assert found[True] == found[False]
    assert len(found[True]["held"]) == 80


@pytest.mark.parametrize("inline_bytes", [0, 1_000_000], ids=["broadcast", "with the job"])
def test_replicas_in_workers_follow_commands_and_the_keeper(
    kafka: BrokerProcess,
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    inline_bytes: int,
) -> None:
    monkeypatch.setattr("holdfast.pipeline.gate.replicas._INLINE_BYTES", inline_bytes)
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
            assert world.producer.flush(DEADLINE_S) == 0
            eventually(world.is_taken, f"the events of round {round_}", SLOW_S)
        eventually(lambda: len(world.processed()) == 8 * 40 - 15 - 10 - 5, "the drains", SLOW_S)
    for number, key in enumerate(keys):
        released = number + 3 < 8
        expected = range(40 if released else 5 * number)
        assert [int(v or b"") for v in world.processed(key.encode())] == list(expected), key
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
            assert writer.flush(DEADLINE_S) == 0  # an abort would take back what was not sent yet
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


def test_event_that_violates_the_schema_is_a_dead_letter(
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
    assert Counter(o.value for o in dead) == Counter([*invalid, invalid[0]])
    headers = dict(dead[0].headers)
    assert headers["holdfast-error"] == b"invalid"
    assert headers["holdfast-error-message"].startswith(b"The ")
    assert world.processed(b"a") == [valid, None, invalid[0]]
    assert sum(record.outcome is Outcome.CHANGED for record in world.journal()) >= 4
    world.check_each_event_once()


def test_the_gate_as_a_part_of_the_pipeline_counts_what_it_does_and_changes_while_it_runs(
    kafka: BrokerProcess, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wall = WallClock(monkeypatch)
    world, metrics = World(kafka), Metrics()
    ticket = Ticket(world.connection.settings)
    watches = Watches(world.connection.settings)
    part = GatePart(
        spark, world.connection, world.flow.describe(), metrics, ticket, PipelineClock(), watches
    )

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
        eventually(
            lambda: "reached the limit of held events of a key" in str(part.trouble()),
            "a full key",
            SLOW_S,
        )
        assert part.failure() is None
        world.flow.release("k").wait(SLOW_S)
        eventually(lambda: world.processed(b"k") == [b"1", b"2", b"4"], "the held events", SLOW_S)
        eventually(lambda: part.trouble() is None, "room again", SLOW_S)
        eventually(lambda: (value("holdfast_events_drained_total") or 0) >= 2, "drained", SLOW_S)
        wall.ahead = -3_000
        eventually(lambda: "jumped back by 3000 s" in str(part.trouble()), "the jump")
        assert value("holdfast_clock_jumps_total") == 1
        assert part.failure() is None
    finally:
        part.stop()
        watches.stop()
    world.check_each_event_once()


def test_values_accepted_without_spark_are_valid_to_spark(spark: SparkSession) -> None:
    schema = (
        "id BIGINT NOT NULL, small TINYINT, name STRING, price DOUBLE, ratio FLOAT, paid BOOLEAN, "
        "to STRUCT<city: STRING NOT NULL>, tags ARRAY<STRING>"
    )
    members = [
        f'"id": {number}'
        for number in ("0", "-0", "9223372036854775807", "9223372036854775808", "1.0", "1e2", '"1"')
    ]
    values = [
        '"small": 127', '"small": -128', '"small": 128', '"name": "\\u00e4\\n\\ud83d\\ude00"',
        '"name": "\\ud800"', '"name": 5', '"name": null', '"name": {"a": 1}', '"price": 1',
        '"price": 1e400', '"price": -1.5E-7', '"price": 12345678901234567890', '"price": "NaN"',
        '"ratio": 3.4e38', '"ratio": 0.1', '"paid": false', '"paid": "true"', '"to": {}',
        '"to": {"city": "x", "more": [1, 2]}', '"to": {"city": null}', '"to": null',
        '"tags": ["a", "b"]', '"tags": ["a", null]', '"tags": "a"', '"extra": [{"deep": [[[1]]]}]',
        '"extra": 01', '"extra": "\t"', '"id": 2', '"extra": 1e999999', '"extra": -',
    ]  # fmt: skip
    samples = [f"{{{member}}}".encode() for member in members]
    samples += [f'{{"id": 1, {value}}}'.encode() for value in values]
    samples += [b'  {"id":1}\r\n', b'{"id":1}{"id":2}', b'{"id":1},', b"[]", b"1", b"", b"\xff"]
    column = sql.col("value")
    rows = spark.createDataFrame([(sample,) for sample in samples], "value BINARY")
    found = {
        bytes(row["value"]): row["why"]
        for row in rows.select("value", why_invalid(column, schema).alias("why")).collect()
    }
    plain = plain_json(schema)
    certain = [sample for sample in samples if plain.certainly_fits(sample)]
    assert [sample for sample in certain if found[sample] is not None] == []
    assert len(certain) > len(samples) // 3
