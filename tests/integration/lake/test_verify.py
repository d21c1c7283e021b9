"""Verify: clean on real histories, red with the coordinates on each fault that was planted."""

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.integration.lake.history import (
    HELD,
    Sent,
    Story,
    contents,
    faults,
    lake_without,
    of_key,
    rewritten,
    source,
)

from holdfast.client.source import SOURCE
from holdfast.pipeline.lake.audit.verification import Fault

pytestmark = pytest.mark.spark


def test_a_real_history_is_clean_and_every_event_is_accounted_for(
    story: Story, spark: SparkSession
) -> None:
    found = story.verify(spark, full=True)
    world = story.world
    assert faults(found) == {}
    assert found.clean
    assert found.events == len(world.read(world.names.events)) == found.landed
    assert found.processed == len(world.read(world.names.processed))
    assert found.dead == len(world.read(world.names.dlq))
    assert found.events == found.processed + found.dead + found.held
    assert found.held > 0
    assert not any(check.not_looked_at for check in found.checks)
    json.dumps(found.document())


def test_a_lost_event_is_found(story: Story, spark: SparkSession) -> None:
    lost: list[tuple[int, int]] = []

    def lose(records: list[Sent]) -> list[Sent]:
        lost.append(source(records.pop(of_key(records, b"k2")[1])))
        return records

    with rewritten(story.world, story.world.names.processed, lose):
        found = story.verify(spark, full=True)
    assert not found.clean
    assert faults(found) == {Fault.LOST: lost}


def test_a_doubled_event_is_found(story: Story, spark: SparkSession) -> None:
    doubled: list[tuple[int, int]] = []

    def double(records: list[Sent]) -> list[Sent]:
        records.append(records[of_key(records, b"k2")[1]])
        doubled.append(source(records[-1]))
        return records

    with rewritten(story.world, story.world.names.processed, double):
        found = story.verify(spark, full=True)
    assert faults(found) == {Fault.DOUBLED: doubled}


def test_two_swapped_events_are_found(story: Story, spark: SparkSession) -> None:
    swapped: list[tuple[int, int]] = []

    def swap(records: list[Sent]) -> list[Sent]:
        first, second = of_key(records, b"k2")[1:3]
        records[first], records[second] = records[second], records[first]
        swapped.append(source(records[first]))
        return records

    with rewritten(story.world, story.world.names.processed, swap):
        found = story.verify(spark, full=True)
    assert faults(found) == {Fault.SWAPPED: swapped}


def test_an_event_let_through_a_hold_is_found(story: Story, spark: SparkSession) -> None:
    """It passed as if nobody held its key, so held does not have it."""
    world = story.world
    through: list[Sent] = []

    def take(records: list[Sent]) -> list[Sent]:
        through.append(records.pop(of_key(records, b"stays")[0]))
        return records

    with rewritten(world, world.names.held, take):
        with rewritten(world, world.names.processed, lambda records: [*records, *through]):
            found = story.verify(spark, full=True)
    assert faults(found)[Fault.LET_THROUGH] == [source(through[0])]
    assert Fault.LOST not in faults(found)
    assert Fault.DOUBLED not in faults(found)


def test_a_held_event_that_came_out_before_its_release_is_found(
    story: Story, spark: SparkSession
) -> None:
    world = story.world
    held = next(sent for sent in contents(world, world.names.held) if sent[0] == b"stays")
    with rewritten(world, world.names.processed, lambda records: [*records, held]):
        found = story.verify(spark, full=True)
    assert faults(found) == {Fault.TOO_EARLY: [source(held)]}


def test_a_held_event_that_came_out_before_a_release_that_followed_is_found(
    story: Story, spark: SparkSession
) -> None:
    """Each in its place but for the time: an event that passed below the release's cut lies behind
    the first held one, and the order of the key is kept."""
    world = story.world
    early: list[tuple[int, int]] = []

    def hurry(records: list[Sent]) -> list[Sent]:
        mine = of_key(records, b"released")
        first, (partition, begin) = mine[0], source(records[mine[0]])
        _, end = source(records[mine[-2]])  # the first that was sent after the release
        passed = [
            index
            for index, record in enumerate(records)
            if record[0] not in (*HELD, b"foreign")
            and record[4] == records[first][4]
            and source(record) > (partition, begin)
            and source(record) < (partition, end)
        ]
        assert passed[-1] < first
        records.insert(passed[-1], records.pop(first))
        early.append((partition, begin))
        return records

    with rewritten(world, world.names.processed, hurry):
        found = story.verify(spark, full=True)
    assert faults(found) == {Fault.TOO_EARLY: early}


def test_an_event_missing_in_the_raw_zone_is_found(
    story: Story, spark: SparkSession, tmp_path: Path
) -> None:
    with lake_without(story, spark, tmp_path, "partition = 1 AND offset = 5") as spoilt:
        found = spoilt.verify(spark, full=True)
    assert faults(found) == {Fault.RAW_MISSING: [(1, 5)]}


def test_a_changed_value_and_a_record_from_nowhere_are_found(
    story: Story, spark: SparkSession
) -> None:
    world = story.world
    changed: list[tuple[int, int]] = []

    def spoil(records: list[Sent]) -> list[Sent]:
        index = of_key(records, b"k3")[0]
        key, _, *rest = records[index]
        changed.append(source(records[index]))
        records[index] = (key, b'{"n": 666}', *rest)
        nowhere = (b"k3", b"{}", [(SOURCE, b"0:1000000")], 1, 0)
        return [*records, nowhere, (b"k3", b"{}", [], 1, 0)]

    with rewritten(world, world.names.processed, spoil):
        found = faults(story.verify(spark, full=True))
    assert found[Fault.ALTERED] == changed
    assert (0, 1_000_000) in found[Fault.STRAY]
    assert len(found[Fault.STRAY]) == 2


def test_an_unanswered_command_is_found(story: Story, spark: SparkSession) -> None:
    world = story.world

    def forget(records: list[Sent]) -> list[Sent]:
        answer = next(i for i, r in enumerate(records) if b'"nothing-to-do"' in (r[1] or b""))
        return records[:answer] + records[answer + 1 :]

    with rewritten(world, world.names.journal, forget):
        found = faults(story.verify(spark, full=True))
    assert list(found) == [Fault.UNANSWERED]
