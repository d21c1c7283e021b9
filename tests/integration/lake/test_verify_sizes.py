"""Verify judges dead letters 'too-large' by the limits that the gate had, whatever they are now."""

from pathlib import Path

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession
from tests.brokers import BrokerProcess
from tests.clients import connection
from tests.integration.lake.history import faults
from tests.integration.pipeline.feeder import Feeder
from tests.integration.pipeline.world import World, gate_of

from holdfast.client.source import SOURCE
from holdfast.flows.journal import Outcome
from holdfast.pipeline.audit.verification import Fault, Verification
from holdfast.pipeline.audit.verify import VerifyOptions, verify
from holdfast.pipeline.gate.events import TOO_LARGE, TOO_LARGE_WHY
from holdfast.pipeline.gate.writer import reason_headers

pytestmark = pytest.mark.spark

LIMIT = "max.message.bytes"
LARGE, TEN_MIB = b"x" * 50_000, 10 * 1024**2


@pytest.fixture
def world(kafka: BrokerProcess) -> World:
    return World(kafka, partitions=1)


def limit_outputs(world: World, size: int) -> None:
    for topic in (world.names.processed, world.names.held, world.names.dlq):
        world.client.topics.set_config(topic, {LIMIT: str(size)})


def take(world: World) -> None:
    with gate_of(world) as gate:
        Feeder(world.connection, gate).batch()


def audit(world: World, spark: SparkSession, lake: Path) -> Verification:
    options = VerifyOptions(lake=str(lake), raw_zone=False, full=True)
    return verify(spark, world.connection, world.flow.describe(), options)


def plant_letter(world: World, offset: int) -> None:
    producer = Producer({**connection(world.kafka), "message.max.bytes": TEN_MIB})
    headers: list[tuple[str, str | bytes | None]] = [
        (SOURCE, b"0:%d" % offset),
        *reason_headers(TOO_LARGE, TOO_LARGE_WHY),
    ]
    producer.produce(world.names.dlq, None, b"k", partition=0, headers=headers)
    producer.flush()


def test_limit_that_was_raised_later_makes_no_dead_letter_wrong(
    world: World, spark: SparkSession, tmp_path: Path
) -> None:
    limit_outputs(world, 20_000)
    world.send(b"k", b"1", LARGE, b"3")
    take(world)
    (journalled,) = [each for each in world.journal() if each.outcome is Outcome.OVERSIZED]
    assert journalled.settings == '{"limit": 20000, "first": 1, "until": 2}'
    limit_outputs(world, 100_000)
    assert audit(world, spark, tmp_path).clean
    world.send(b"k", LARGE)
    take(world)
    plant_letter(world, 3)
    assert faults(audit(world, spark, tmp_path))[Fault.NOT_TOO_LARGE] == [(0, 3)]


def test_large_event_that_fits_is_no_dead_letter(
    world: World, spark: SparkSession, tmp_path: Path
) -> None:
    limit_outputs(world, TEN_MIB)
    world.client.topics.set_config(world.names.events, {LIMIT: str(TEN_MIB)})
    producer = Producer({**connection(world.kafka), "message.max.bytes": TEN_MIB})
    producer.produce(world.names.events, b"x" * 3_000_000, b"k", partition=0)
    producer.flush()
    take(world)
    plant_letter(world, 0)
    assert Fault.NOT_TOO_LARGE in faults(audit(world, spark, tmp_path))
