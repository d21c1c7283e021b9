"""An eventful flow, run by the real parts of the pipeline, and ways to spoil what it left."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from confluent_kafka import Message, Producer, TopicPartition
from confluent_kafka.admin import NewTopic
from delta.tables import DeltaTable
from pyspark.sql import SparkSession
from tests.clients import DEADLINE_S, admin, done
from tests.integration.pipeline.world import World, eventually, gate_of

from holdfast.client.positions import Offsets, Partition
from holdfast.client.source import SOURCE, headers_of, source_of
from holdfast.errors import TransientError
from holdfast.flows.journal import Outcome
from holdfast.flows.topics import flow_topics
from holdfast.pipeline.audit.verification import Fault, Verification
from holdfast.pipeline.audit.verify import VerifyOptions, verify
from holdfast.pipeline.gate.flow_gate import FlowGate
from holdfast.pipeline.gate.intake import Intake
from holdfast.pipeline.gate.keeper import Keeper
from holdfast.pipeline.parts.metrics import Metrics
from holdfast.pipeline.raw_zone.table import RawTable
from holdfast.pipeline.raw_zone.zone import RawZone, RawZoneSettings, table_location

SLOW_S = 400.0
"""A first batch starts workers and warms a JVM up."""

Sent = tuple[bytes | None, bytes | None, list[tuple[str, Any]], int, int]
"""Key, value, headers, timestamp, partition."""


class Story(NamedTuple):
    """A flow with a past, and the lake that its raw zone is in."""

    world: World
    lake: str

    def verify(self, spark: SparkSession, **options: Any) -> Verification:
        chosen = VerifyOptions(**{"lake": self.lake, **options})
        world = self.world
        return verify(spark, world.connection, world.flow.describe(), chosen)

    def landed(self, spark: SparkSession) -> bool:
        """Returns True if the raw zone has all events."""
        location = table_location(self.lake, self.world.flow.name)
        if not DeltaTable.isDeltaTable(spark, location):
            return False
        ends = self.world.ends(self.world.names.events)
        return RawTable(spark, location).landed().positions == ends


@contextmanager
def pipeline(story: Story, spark: SparkSession, folder: Path) -> Iterator[FlowGate]:
    """Gate, keeper and raw zone of one flow."""
    world = story.world
    settings = RawZoneSettings(lake=story.lake, seconds=0.2)
    zone = RawZone(spark, world.connection, world.flow.describe(), settings, Metrics())
    with gate_of(world) as gate:
        keeper, intake = Keeper(gate), Intake(lambda: spark, gate)
        keeper.start()
        intake.start()
        zone.start()
        try:
            yield gate
            eventually(lambda: story.landed(spark), "all events landed", SLOW_S)
            assert zone.failure() is None
        finally:
            zone.stop()
            intake.stop()
            keeper.stop()
        assert intake.failure() is None
        assert keeper.error is None


def land(story: Story, spark: SparkSession, folder: Path) -> None:
    """Run the raw zone until all events have landed."""
    world = story.world
    settings = RawZoneSettings(lake=story.lake, seconds=0.2)
    zone = RawZone(spark, world.connection, world.flow.describe(), settings, Metrics())
    zone.start()
    try:
        eventually(lambda: story.landed(spark), "all events landed", SLOW_S)
    finally:
        zone.stop()


def live_through(world: World, gate: FlowGate) -> None:
    """Holds, releases, expiry, paced drains, dead letters, strangers and mistakes."""
    flow, names = world.flow, world.names
    send(world, *(b"k%d" % (i % 7) for i in range(70)))
    eventually(world.is_taken, "the first events", SLOW_S)
    world.producer.produce(names.control, b"not a command", b"k")
    assert world.producer.flush(DEADLINE_S) == 0
    flow.void(0, reason="a mistake")
    flow.release("active").wait(DEADLINE_S)
    flow.hold("twice", command_id="one")
    flow.hold("twice", command_id="one")
    flow.hold("released").wait(DEADLINE_S)
    flow.hold("expiring", expires_in=1.5).wait(DEADLINE_S)
    flow.hold("dead").wait(DEADLINE_S)
    flow.hold("paced").wait(DEADLINE_S)
    flow.hold("stays").wait(DEADLINE_S)
    flow.hold("foreign").wait(DEADLINE_S)
    gate.change(world.definition_with(schema="n BIGINT"))
    send(world, *(key for key in HELD for _ in range(8)))
    for partition in range(world.partitions):
        send(world, b"foreign", partition=partition)
    world.send(b"stays", b"not JSON")
    world.send(None, b'{"n": 1}', None, partition=0)
    abort(world)
    replayed = [(SOURCE, b"0:1"), ("holdfast-run", b"r1")]
    send(world, b"stays", b"k1", b"released", headers=replayed)
    send(world, *(b"k%d" % i for i in range(7)))
    eventually(world.is_taken, "the held events", SLOW_S)
    flow.dead_letter("dead", reason="broken").wait(DEADLINE_S)
    flow.release("paced", pace=20).wait(DEADLINE_S)
    flow.release("released").wait(DEADLINE_S)
    flow.release("foreign").wait(DEADLINE_S)
    eventually(lambda: len(world.processed(b"paced")) >= 2, "a drain that has begun")
    flow.hold("paced", reason="again").wait(DEADLINE_S)
    send(world, b"paced", b"dead", b"released", b"foreign")
    world.wait_for(Outcome.EXPIRED, b"expiring")
    world.wait_for(Outcome.DRAINED, b"released")
    eventually(world.is_taken, "the last events", SLOW_S)
    send(world, *(b"k%d" % (i % 7) for i in range(14)), b"expiring", b"released")
    eventually(world.is_taken, "the events behind", SLOW_S)
    world.wait_for(Outcome.DRAINED, b"expiring")
    world.wait_for(Outcome.DRAINED, b"foreign", times=world.partitions)


HELD = (b"released", b"expiring", b"dead", b"paced", b"stays", b"twice")


def send(world: World, *keys: bytes, **record: Any) -> None:
    for number, key in enumerate(keys):
        world.producer.produce(world.names.events, b'{"n": %d}' % number, key, **record)
    assert world.producer.flush(DEADLINE_S) == 0


def produce(world: World, topic: str, record: Sent) -> None:
    key, value, headers, timestamp, partition = record
    world.producer.produce(
        topic, value, key, headers=headers, timestamp=timestamp, partition=partition
    )
    assert world.producer.flush(DEADLINE_S) == 0


def abort(world: World) -> None:
    """Events that were never there: they leave gaps of offsets behind."""
    writer = Producer(
        {"bootstrap.servers": world.kafka.bootstrap, "transactional.id": world.flow.name}
    )
    writer.init_transactions(30)
    writer.begin_transaction()
    for partition in range(world.partitions):
        writer.produce(world.names.events, b'{"n": 0}', b"gone", partition=partition)
    writer.flush(DEADLINE_S)
    writer.abort_transaction(30)


@contextmanager
def rewritten(
    world: World, topic: str, change: Callable[[list[Sent]], list[Sent]]
) -> Iterator[None]:
    """Recreates the topic with other contents, and at the end with the original ones."""
    before = contents(world, topic)
    starts = _starts(world, topic)
    try:
        _rewrite(world, topic, starts, change(list(before)))
        yield
    finally:
        _rewrite(world, topic, starts, before)


def contents(world: World, topic: str) -> list[Sent]:
    return [_sent(message) for message in world.read(topic)]


def _starts(world: World, topic: str) -> dict[int, int]:
    places = [Partition(topic, p) for p in range(world.partitions)]
    return {p.number: start for p, start in Offsets(world.connection).starts(places).items()}


def _sent(message: Message) -> Sent:
    return (
        message.key(), message.value(), headers_of(message), message.timestamp()[1],
        message.partition() or 0,
    )  # fmt: skip


def _rewrite(world: World, topic: str, starts: dict[int, int], records: list[Sent]) -> None:
    """Delete again the records that were deleted from a log before."""
    client = admin(world.kafka)
    done(client.delete_topics([topic]))
    plan = next(p for p in flow_topics(world.flow.describe(), 1) if p.name == topic)
    eventually(lambda: topic not in client.list_topics(timeout=10).topics, "the topic gone")
    done(client.create_topics([NewTopic(topic, plan.partitions, 1, config=dict(plan.config))]))
    eventually(lambda: _is_served(world, topic), "the topic served again")
    for partition, start in starts.items():
        for _ in range(start):
            world.producer.produce(topic, b"let go", partition=partition)
    assert world.producer.flush(DEADLINE_S) == 0
    done(client.delete_records([TopicPartition(topic, p, start) for p, start in starts.items()]))
    for key, value, headers, timestamp, partition in records:
        world.producer.produce(
            topic, value, key, headers=headers, timestamp=timestamp, partition=partition
        )
    assert world.producer.flush(DEADLINE_S) == 0


def _is_served(world: World, topic: str) -> bool:
    try:
        return bool(world.ends(topic))
    except TransientError:
        return False


def of_key(records: list[Sent], key: bytes) -> list[int]:
    """The indexes of a key's records."""
    return [index for index, record in enumerate(records) if record[0] == key]


def source(record: Sent) -> tuple[int, int]:
    found = source_of(record[2])
    assert found is not None
    return found


@contextmanager
def lake_without(story: Story, spark: SparkSession, folder: Path, where: str) -> Iterator[Story]:
    """The flow with a copy of its lake that lacks some rows."""
    shutil.copytree(story.lake, folder / "lake")
    spoilt = story._replace(lake=str(folder / "lake"))
    location = table_location(spoilt.lake, story.world.flow.name)
    spark.sql(f"ALTER TABLE delta.`{location}` SET TBLPROPERTIES ('delta.appendOnly' = 'false')")
    DeltaTable.forPath(spark, location).delete(where)
    yield spoilt


def faults(found: Verification) -> dict[Fault, list[tuple[int, int]]]:
    """The findings, with coordinates."""
    return {
        each.fault: [(example.partition, example.offset) for example in each.examples]
        for check in found.checks
        for each in check.found
    }
