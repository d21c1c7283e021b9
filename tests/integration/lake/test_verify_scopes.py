"""Verify accounts for held prefixes and pauses, and finds what a gate that ignored them did."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.brokers import EmbeddedBroker
from tests.clients import DEADLINE_S
from tests.integration.lake.history import Sent, faults, rewritten
from tests.integration.pipeline.world import World, eventually, running

from holdfast.flows.journal import Outcome
from holdfast.pipeline.audit.verification import Fault, Verification
from holdfast.pipeline.audit.verify import VerifyOptions, verify

pytestmark = pytest.mark.spark


def live(world: World) -> None:
    """A prefix that is held, updated and released, beside a hold of one of its keys; one that still
    is; and two pauses, of which one still stands."""
    flow = world.flow
    flow.hold_prefix("t/", actor="ana").wait(DEADLINE_S)
    flow.hold("t/1", actor="ana").wait(DEADLINE_S)
    for key in (b"t/1", b"t/2", b"x"):
        world.send(key, b"1", b"2")
    world.wait_until_taken()
    flow.hold_prefix("t/", actor="ana", reason="more").wait(DEADLINE_S)
    flow.hold_prefix(b"\xff", expires_in=0.5).wait(DEADLINE_S)
    flow.pause(actor="ana", command_id="once").wait(DEADLINE_S)
    flow.pause(actor="ana", command_id="once").wait(DEADLINE_S)
    world.send(b"t/2", b"3")
    world.send(b"\xff\x00", b"4")
    flow.resume(actor="ana").wait(DEADLINE_S)
    world.wait_until_taken()
    flow.release_prefix("t/", actor="ana").wait(DEADLINE_S)
    world.wait_for(Outcome.DRAINED, b"t/2")
    world.send(b"t/2", b"5")
    world.wait_until_taken()
    flow.hold_prefix("t/2", actor="ben").wait(DEADLINE_S)
    world.send(b"t/2", b"6")
    world.wait_until_taken()
    eventually(lambda: [each.prefix for each in flow.prefixes()] == [b"t/2"], "the other expired")
    flow.pause(actor="ben").wait(DEADLINE_S)
    world.send(b"x", b"7")


def test_prefixes_and_pauses_are_verified(
    embedded_broker: EmbeddedBroker, spark: SparkSession, tmp_path: Path
) -> None:
    world = World(embedded_broker)
    with running(world):
        live(world)

    def audit() -> Verification:
        options = VerifyOptions(lake=str(tmp_path), raw_zone=False, full=True)
        return verify(spark, world.connection, world.flow.describe(), options)

    clean = audit()
    assert clean.clean, faults(clean)
    processed = {out.source: out.key for out in world.out(world.names.processed)}

    def spoil(records: list[Sent]) -> list[Sent]:
        records = [r for r in records if not _is_release(r) or r[4] != 1]
        return changed(records, lambda fields: _earlier_pause(_other_prefix(fields)))

    with rewritten(world, world.names.journal, spoil):
        found = faults(audit())
    # As if "x" had been held: its events have passed.
    assert {processed[at] for at in found[Fault.LET_THROUGH]} == {b"x"}
    assert Fault.CUT_SHORT in found
    assert found[Fault.TAKEN_WHILE_PAUSED]
    assert Fault.UNANSWERED in found, "partition 1 did not answer the release of the prefix"


Fields = dict[str, Any]


def changed(records: list[Sent], change: Callable[[Fields], Fields]) -> list[Sent]:
    return [
        (record[0], json.dumps(change(json.loads(record[1] or b"{}"))).encode(), *record[2:])
        for record in records
    ]


def _other_prefix(fields: Fields) -> Fields:
    if "key" not in fields and fields.get("prefix") == "t/":
        fields["prefix"] = "x"
    return fields


def _earlier_pause(fields: Fields) -> Fields:
    """The last pause began before the events that were taken last."""
    if fields["outcome"] == Outcome.PAUSED and fields["cut"] > 0:
        fields["cut"] -= 1
    return fields


def _is_release(record: Sent) -> bool:
    fields = json.loads(record[1] or b"{}")
    return "key" not in fields and fields.get("command") == "release-prefix"
