"""Verify while a flow runs, after the gate was killed, and again from where it was."""

import json
import random
import subprocess
import sys
from pathlib import Path
from threading import Event, Thread

import pytest
from confluent_kafka import TopicPartition
from delta.tables import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql import functions as sql
from tests.brokers import BrokerProcess, EmbeddedBroker
from tests.clients import DEADLINE_S, admin, done
from tests.integration.lake.history import (
    Sent,
    Story,
    contents,
    faults,
    lake_without,
    land,
    of_key,
    produce,
    rewritten,
    send,
    source,
)
from tests.integration.pipeline.processes import GateProcess, gates
from tests.integration.pipeline.world import World, eventually, running

from holdfast.errors import ConflictError
from holdfast.flows.journal import Outcome
from holdfast.pipeline.audit.checkpoint import CheckpointStore
from holdfast.pipeline.audit.seal_chain import SealChain
from holdfast.pipeline.audit.seals import Contents, Seal
from holdfast.pipeline.audit.verification import Fault

pytestmark = pytest.mark.spark


def record_story(world: World, folder: Path) -> Story:
    return Story(world, str(folder / "lake"))


def test_a_running_flow_can_be_verified_at_any_time(
    kafka: BrokerProcess, spark: SparkSession, tmp_path: Path
) -> None:
    story = record_story(World(kafka), tmp_path)
    world, stop, seed = story.world, Event(), random.randrange(2**32)
    chance = random.Random(seed)

    def bustle() -> None:
        while not stop.wait(0.05):  # all the time, and yet the audit gets a share of two cores
            send(world, *(b"k%d" % chance.randrange(5) for _ in range(20)))
            key = f"k{chance.randrange(5)}"
            match chance.randrange(3):
                case 0:
                    world.flow.hold(key, expires_in=chance.choice((None, 0.3)))
                case 1:
                    world.flow.release(key, pace=chance.choice((None, 200.0)))
                case 2:
                    world.flow.dead_letter(key)

    with running(world):
        traffic = Thread(target=bustle)
        traffic.start()
        try:
            eventually(world.processed, "traffic that flows")
            found = [story.verify(spark, raw_zone=False) for _ in range(2)]
        finally:
            stop.set()
            traffic.join()
        world.wait_until_taken()
    found.append(story.verify(spark, raw_zone=False))
    assert [faults(each) for each in found] == [{}] * 3, f"seed {seed}"
    assert [each.incremental for each in found] == [False, True, True]
    assert 0 < found[0].events < found[1].events < found[2].events
    last = found[2]
    assert last.events == len(world.read(world.names.events))
    assert last.events == last.processed + last.dead + last.held
    raw_zone = next(check for check in last.checks if check.name == "raw zone complete")
    assert raw_zone.not_looked_at


def test_a_complete_raw_zone_shows_lost_events(
    embedded_broker: EmbeddedBroker, spark: SparkSession, tmp_path: Path
) -> None:
    """Events need not be read then; and in the partition where one is missing, they are."""
    story = record_story(World(embedded_broker), tmp_path)
    world = story.world
    with running(world):
        send(world, *(b"k%d" % (i % 7) for i in range(60)))
        world.wait_until_taken()
    land(story, spark, tmp_path)
    found = story.verify(spark)
    assert (faults(found), found.events, found.landed) == ({}, 60, 60)
    with lake_without(story, spark, tmp_path / "3", "partition = 0 AND offset = 3") as spoilt:
        again = spoilt.verify(spark)  # what was verified lies beside the table, and is copied
    assert again.incremental
    assert list(faults(again)) == [Fault.RAW_MISSING]
    gone: list[tuple[int, int]] = []

    def lose(records: list[Sent]) -> list[Sent]:
        gone.append(source(records.pop(of_key(records, b"k2")[1])))
        return records

    with rewritten(world, world.names.processed, lose):
        with lake_without(story, spark, tmp_path / "2", "partition = 0 AND offset = 3") as spoilt:
            assert faults(spoilt.verify(spark, full=True)) == {
                Fault.LOST: gone,
                Fault.RAW_MISSING: [(0, 3)],
            }


def test_the_audit_is_clean_after_two_kills_of_the_gate(
    embedded_broker: EmbeddedBroker, spark: SparkSession, tmp_path: Path
) -> None:
    story = record_story(World(embedded_broker), tmp_path)
    world = story.world
    world.flow.hold("k1")
    with gates() as started:
        for point in ("mid-produce@2", "after-commit@4"):
            killed = GateProcess(world, tmp_path / point, fault=point, most=5)
            started.append(killed)
            send(world, *(b"k%d" % (i % 7) for i in range(30)))
            killed.wait_at_fault()
            killed.kill()
        started.append(GateProcess(world, tmp_path / "last", most=5))
        world.wait_until_taken()
        world.flow.release("k1").wait(DEADLINE_S)
        eventually(world.all_out, "all events out")
    found = story.verify(spark, raw_zone=False)
    assert faults(found) == {}
    assert (found.events, found.processed, found.held) == (60, 60, 0)


def test_a_later_processed_event_was_held_or_is_a_duplicate(
    embedded_broker: EmbeddedBroker, spark: SparkSession, tmp_path: Path
) -> None:
    """Across the border of two runs: a doubled event, and one that a release has let out."""
    story = record_story(World(embedded_broker), tmp_path)
    world = story.world
    with running(world):
        world.flow.hold("held").wait(DEADLINE_S)
        send(world, b"held", b"held", b"free", b"free")
        world.wait_until_taken()
        first = story.verify(spark, raw_zone=False)
        world.flow.release("held").wait(DEADLINE_S)
        world.wait_for(Outcome.DRAINED, b"held")
        second = story.verify(spark, raw_zone=False)
    assert (first.clean, first.incremental, first.held) == (True, False, 2)
    assert (second.clean, second.incremental, second.held) == (True, True, 0)
    assert (second.events, second.processed) == (4, 4)
    again = contents(world, world.names.processed)[0]
    produce(world, world.names.processed, again)
    for _ in range(2):  # what is wrong is not forgotten
        third = story.verify(spark, raw_zone=False)
        assert third.incremental
        assert faults(third) == {Fault.DOUBLED: [source(again)]}
    limited = story.verify(spark, raw_zone=False, start=source(again)[1] + 1)
    assert limited.clean
    assert not limited.incremental


def test_the_command_exits_with_1_and_names_the_coordinate(
    embedded_broker: EmbeddedBroker, tmp_path: Path
) -> None:
    story = record_story(World(embedded_broker), tmp_path)
    world = story.world
    with running(world):
        send(world, b"a", b"b", b"c")
        world.wait_until_taken()
    twice = contents(world, world.names.processed)[0]
    produce(world, world.names.processed, twice)

    def holdfast(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "holdfast.cli", *arguments, "--lake", story.lake,
             "--bootstrap", embedded_broker.bootstrap],
            capture_output=True, text=True, check=False, cwd=tmp_path,
        )  # fmt: skip

    ended = holdfast("verify", world.flow.name, "--no-raw-zone", "-o", "json")
    assert ended.returncode == 1, ended.stderr
    found = json.loads(ended.stdout)
    (doubled,) = [each for check in found["checks"] for each in check["found"]]
    assert (doubled["fault"], doubled["count"]) == ("doubled", 1)
    place = doubled["examples"][0]
    assert (place["partition"], place["offset"]) == source(twice)
    unknown = holdfast("verify", "no-such-flow")
    assert unknown.returncode == 3
    assert "There is no flow" in unknown.stderr


def test_sealed_records_are_not_read_again_and_may_be_deleted(
    embedded_broker: EmbeddedBroker, spark: SparkSession, tmp_path: Path
) -> None:
    """A hold that began before the seal, and ends after it, is understood without its record."""
    story = record_story(World(embedded_broker), tmp_path)
    world = story.world
    names = world.names
    with running(world):
        world.flow.hold("held").wait(DEADLINE_S)
        world.flow.hold("over").wait(DEADLINE_S)
        send(world, *(b"held", b"over", b"free") * 3)
        world.wait_until_taken()
        world.flow.release("over").wait(DEADLINE_S)
        world.wait_for(Outcome.DRAINED, b"over")
        first = story.verify(spark, raw_zone=False)
        assert (first.clean, first.sealed, first.held) == (True, 1, 3)
        for topic in (names.processed, names.journal):
            delete_all(world, topic)
        send(world, *(b"held", b"over", b"free") * 2)
        world.wait_until_taken()
        world.flow.release("held").wait(DEADLINE_S)
        world.wait_for(Outcome.DRAINED, b"held")
        second = story.verify(spark, raw_zone=False)
    assert (faults(second), second.sealed, second.incremental) == ({}, 2, True)
    assert (second.events, second.processed, second.held) == (15, 15, 0)
    assert second.seal != first.seal
    with pytest.raises(ConflictError, match="no seal covers"):
        story.verify(spark, raw_zone=False, full=True)
    change_seal(story, spark)
    spoilt = story.verify(spark, raw_zone=False)
    assert list(faults(spoilt)) == [Fault.SEAL_BROKEN]
    assert not spoilt.sealed


def test_records_that_differ_from_the_sealed_ones_are_found_by_a_full_audit(
    embedded_broker: EmbeddedBroker, spark: SparkSession, tmp_path: Path
) -> None:
    story = record_story(World(embedded_broker), tmp_path)
    world = story.world
    with running(world):
        send(world, *(b"k%d" % (i % 3) for i in range(9)))
        world.wait_until_taken()
    assert story.verify(spark, raw_zone=False).sealed == 1
    again = story.verify(spark, raw_zone=False, full=True)
    assert (again.clean, again.sealed) == (True, 2)

    chain = [seal for seal, _ in seals(story, spark)]
    assert (chain[0].events.records, chain[1].events.records) == (9, 0)
    broken = SealChain(chain[0].topic_id, [(s, s.digest) for s in chain], "")
    journal = spark.createDataFrame([], "p INT, journal_offset LONG, key BINARY, value BINARY")
    altered = Contents(9, chain[0].events.digest ^ 1)
    assert list(broken.compare(altered, journal)) == [Fault.SEAL_BROKEN]
    assert broken.compare(Contents(8, 1), journal) == {}, "one was deleted since"


def delete_all(world: World, topic: str) -> None:
    """What retention does, to all records that there are."""
    places = [TopicPartition(topic, p, end) for p, end in world.ends(topic).items()]
    client = admin(world.kafka)  # a client that nobody keeps answers nothing
    done(client.delete_records(places))


def seals(story: Story, spark: SparkSession) -> list[tuple[Seal, str]]:
    store = CheckpointStore(spark, story.lake, story.world.flow.name)
    store.load()
    return store.seals()


def change_seal(story: Story, spark: SparkSession) -> None:
    """Change a count of the first seal."""
    location = CheckpointStore(spark, story.lake, story.world.flow.name).location
    table = DeltaTable.forPath(spark, location)
    changed = sql.replace(
        sql.col("value").cast("string"), sql.lit('"records": 9'), sql.lit('"records": 8')
    )
    table.update("kind = 'seal' AND o = 1", {"value": changed.cast("binary")})
