"""An audit of logs with unreadable batches, and of a raw zone without rows."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.brokers import EmbeddedBroker
from tests.integration.lake.history import Story, faults, send
from tests.integration.pipeline.world import World, eventually, running
from tests.spoil import Spoil, flipped_bit, garbage, spoil, unknown_codec

from holdfast.cli.runs import verdict_code
from holdfast.flows.journal import Outcome
from holdfast.pipeline.audit.verification import Example, Fault, Verdict, Verification
from holdfast.pipeline.raw_zone.table import RawTable
from holdfast.pipeline.raw_zone.zone import table_location

pytestmark = pytest.mark.spark


COMMANDS = 6
EVENTS = (b"free", b"released", b"dead", b"free", b"stays", b"later")


def live(world: World) -> None:
    """Events in every log, and in `held` rows before and behind released ones."""
    for key in ("released", "stays", "dead"):
        world.flow.hold(key)
    with running(world):
        world.flow.hold("later").wait()
        send(world, *EVENTS[:3])
        eventually(world.is_taken, "the first events")
        world.flow.release("released")
        world.flow.dead_letter("dead")
        world.wait_for(Outcome.DRAINED, b"released")
        world.wait_for(Outcome.DEAD_LETTERED, b"dead")
        eventually(lambda: world.read(world.names.dlq), "a dead letter")
        send(world, *EVENTS[3:])
        eventually(world.is_taken, "the last events")


LOGS: dict[str, tuple[int, Spoil]] = {
    "control": (1, garbage),
    "journal": (2, flipped_bit),
    "status": (3, garbage),
    "held": (3, unknown_codec),
    "processed": (1, garbage),
    "dlq": (0, flipped_bit),
    "events": (1, garbage),
}
"""For each log an offset to spoil, and how."""


def examples(found: Verification, fault: Fault) -> list[Example]:
    return [
        example
        for check in found.checks
        for each in check.found
        if each.fault is fault
        for example in each.examples
    ]


def test_batches_that_cannot_be_read_are_named_and_the_rest_of_each_log_is_verified(
    spark: SparkSession, tmp_path: Path
) -> None:
    with EmbeddedBroker(tmp_path / "broker") as broker:
        every, waiting = World(broker, partitions=1), World(broker, partitions=1)
        for world in (every, waiting):
            live(world)
        send(waiting, b"free", b"free")
        broker.stop()
        spoilt = {
            (name, *spoil(broker, f"{every.flow.name}.{name}", 0, offset, how))
            for name, (offset, how) in LOGS.items()
        }
        command, _ = spoil(broker, waiting.names.control, 0, 1)
        spoil(broker, waiting.names.events, 0, len(EVENTS))
        broker.start()
        for world in (every, waiting):
            world.reconnect()

        found = Story(every, str(tmp_path)).verify(spark, raw_zone=False)
        damaged = examples(found, Fault.DAMAGED)
        assert {(each.log, each.offset, each.detail.partition(":")[0]) for each in damaged} == {
            (log, first, f"up to offset {last}") for log, first, last in spoilt
        }
        assert (found.verdict, verdict_code(found.verdict)) == (Verdict.NOT_CLEAN, 1)
        assert (found.events, found.commands) == (
            len(EVENTS) - sum(last - first + 1 for log, first, last in spoilt if log == "events"),
            COMMANDS - sum(last - first + 1 for log, first, last in spoilt if log == "control"),
        )

        # The gate waits at events that cannot be read. It has not taken them, so they are no fault.
        found = Story(waiting, str(tmp_path)).verify(spark, raw_zone=False)
        assert faults(found) == {Fault.DAMAGED: [(0, command)]}
        assert (found.verdict, found.events) == (Verdict.NOT_CLEAN, len(EVENTS))


def test_raw_zone_without_rows_is_incomplete_where_events_exist(
    embedded_broker: EmbeddedBroker, spark: SparkSession, tmp_path: Path
) -> None:
    story = Story(World(embedded_broker, partitions=1), str(tmp_path))
    world = story.world
    with running(world):
        send(world, b"a", b"b", b"a")
        eventually(world.is_taken, "the events")
    table = RawTable(spark, table_location(story.lake, world.flow.name))
    table.open()
    table.close()
    found = story.verify(spark)
    assert faults(found) == {}
    assert found.missing == ("The raw zone has none of 3 events.",)
    assert (found.verdict, verdict_code(found.verdict)) == (Verdict.INCOMPLETE, 5)
    checks = {check.name: check.verdict for check in found.checks}
    assert checks["raw zone complete"] == "nothing to check"
