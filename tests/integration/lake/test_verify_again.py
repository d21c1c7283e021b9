"""Verify while a flow runs, after the gate was killed, and again from where it was."""

import json
import random
import subprocess
import sys
from pathlib import Path
from threading import Event, Thread

import pytest
from pyspark.sql import SparkSession
from tests.brokers import BrokerProcess, EmbeddedBroker
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

from holdfast.flows.journal import Outcome
from holdfast.pipeline.lake.audit.verification import Fault

pytestmark = pytest.mark.spark


def told(world: World, folder: Path) -> Story:
    return Story(world, str(folder / "lake"))


def test_a_flow_that_runs_is_verified_at_any_moment(
    kafka: BrokerProcess, spark: SparkSession, tmp_path: Path
) -> None:
    story = told(World(kafka), tmp_path)
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


def test_where_the_raw_zone_has_every_offset_it_tells_what_is_lost(
    embedded_broker: EmbeddedBroker, spark: SparkSession, tmp_path: Path
) -> None:
    """Events need not be read then; and in the partition where one is missing, they are."""
    story = told(World(embedded_broker), tmp_path)
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


def test_after_the_gate_was_killed_twice_the_verdict_is_clean(
    embedded_broker: EmbeddedBroker, spark: SparkSession, tmp_path: Path
) -> None:
    story = told(World(embedded_broker), tmp_path)
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
        world.flow.release("k1").wait(30)
        eventually(world.all_out, "all events out")
    found = story.verify(spark, raw_zone=False)
    assert faults(found) == {}
    assert (found.events, found.processed, found.held) == (60, 60, 0)


def test_what_comes_out_later_is_one_of_those_that_were_held_or_too_much(
    embedded_broker: EmbeddedBroker, spark: SparkSession, tmp_path: Path
) -> None:
    """Across the border of two runs: a doubled event, and one that a release has let out."""
    story = told(World(embedded_broker), tmp_path)
    world = story.world
    with running(world):
        world.flow.hold("held").wait(30)
        send(world, b"held", b"held", b"free", b"free")
        world.wait_until_taken()
        first = story.verify(spark, raw_zone=False)
        world.flow.release("held").wait(30)
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
    story = told(World(embedded_broker), tmp_path)
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
