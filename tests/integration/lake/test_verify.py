"""Verify: clean over a real history, and red on each fault that is planted in it."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field

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
from holdfast.pipeline.audit.verification import Fault, Verification

pytestmark = pytest.mark.spark

Place = tuple[int, int]


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


@dataclass
class Spoilt:
    """The history with faults in it, each of another key, and what one audit found."""

    planted: dict[Fault, list[Place]] = field(default_factory=dict)
    verification: Verification | None = None

    def found(self, fault: Fault) -> list[Place]:
        assert self.verification is not None
        return faults(self.verification).get(fault, [])

    def processed(self, records: list[Sent]) -> list[Sent]:
        """Lose, double, swap, change and hurry; and two records from nowhere."""
        lost = of_key(records, b"k2")[1]
        self.planted[Fault.LOST] = [source(records[lost])]
        doubled = records[of_key(records, b"k3")[1]]
        self.planted[Fault.DOUBLED] = [source(doubled)]
        first, second = of_key(records, b"k4")[1:3]
        records[first], records[second] = records[second], records[first]
        self.planted[Fault.SWAPPED] = [source(records[first])]
        changed = of_key(records, b"k5")[0]
        right = records[changed]
        records[changed] = (right[0], b'{"n": 666}', *right[2:])
        self.planted[Fault.ALTERED] = [source(records[changed])]
        nowhere = (b"k3", b"{}", [(SOURCE, b"0:1000000")], 1, 0)
        del records[lost]
        self._hurry(records)
        return [*records, doubled, nowhere, (b"k3", b"{}", [], 1, 0)]

    def _hurry(self, records: list[Sent]) -> None:
        """An event that was held and released comes out before one that passed below the cut of
        the release, and all else is as it should be: the order of its key, too."""
        mine = of_key(records, b"released")
        first, (partition, begin) = mine[0], source(records[mine[0]])
        _, end = source(records[mine[-2]])  # the first that was sent after the release
        passed = [
            index
            for index, record in enumerate(records)
            if record[0] not in (*HELD, b"foreign")
            and record[4] == records[first][4]
            and (partition, begin) < source(record) < (partition, end)
        ]
        assert passed[-1] < first
        records.insert(passed[-1], records.pop(first))
        self.planted[Fault.TOO_EARLY] = [(partition, begin)]


@pytest.fixture(scope="module")
def spoilt(
    story: Story, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Spoilt]:
    """One audit finds them all: what takes the time is Spark, not the faults."""
    world, names = story.world, story.world.names
    made = Spoilt()
    out: list[Sent] = []

    def let_through(records: list[Sent]) -> list[Sent]:
        """It passed as if its key were not held, so it is not in held."""
        out.append(records.pop(of_key(records, b"stays")[0]))
        return records

    def forget(records: list[Sent]) -> list[Sent]:
        answer = next(i for i, r in enumerate(records) if b'"nothing-to-do"' in (r[1] or b""))
        return records[:answer] + records[answer + 1 :]

    with ExitStack() as stack:
        unreleased = next(sent for sent in contents(world, names.held) if sent[0] == b"twice")
        stack.enter_context(rewritten(world, names.held, let_through))
        stack.enter_context(rewritten(world, names.journal, forget))
        stack.enter_context(
            rewritten(
                world,
                names.processed,
                lambda records: [*made.processed(records), *out, unreleased],
            )
        )
        made.planted[Fault.LET_THROUGH] = [source(out[0])]
        made.planted[Fault.TOO_EARLY].append(source(unreleased))
        folder = tmp_path_factory.mktemp("spoilt")
        lake = lake_without(story, spark, folder, "partition = 1 AND offset = 5")
        made.planted[Fault.RAW_MISSING] = [(1, 5)]
        made.verification = stack.enter_context(lake).verify(spark, full=True)
        yield made


@pytest.mark.parametrize(
    "fault",
    [
        Fault.LOST, Fault.DOUBLED, Fault.SWAPPED, Fault.ALTERED, Fault.LET_THROUGH,
        Fault.TOO_EARLY, Fault.RAW_MISSING,
    ],
)  # fmt: skip
def test_a_planted_fault_is_found_at_its_coordinate(spoilt: Spoilt, fault: Fault) -> None:
    assert sorted(spoilt.found(fault)) == sorted(spoilt.planted[fault])


def test_records_without_a_source_event_are_found(spoilt: Spoilt) -> None:
    assert (0, 1_000_000) in spoilt.found(Fault.STRAY)
    assert len(spoilt.found(Fault.STRAY)) == 2


def test_an_unanswered_command_is_found(spoilt: Spoilt) -> None:
    assert len(spoilt.found(Fault.UNANSWERED)) == 1


def test_the_audit_finds_only_planted_faults(spoilt: Spoilt) -> None:
    assert spoilt.verification is not None
    assert not spoilt.verification.clean
    assert set(faults(spoilt.verification)) == {*spoilt.planted, Fault.STRAY, Fault.UNANSWERED}
