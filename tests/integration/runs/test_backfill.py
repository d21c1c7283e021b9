"""Backfill: what is missing in the raw zone, and nothing twice."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from tests.integration.runs.stack import FlowUnderTest, Stack

from holdfast.flows.runs import RunState
from holdfast.flows.work import Backfill, OffsetRange

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]


def with_a_gap(stack: Stack, count: int = 100) -> FlowUnderTest:
    """A flow of which every third event has vanished from the raw zone."""
    flow = stack.flow("gap")
    flow.send((f"key-{n}", b"%d" % n) for n in range(count))
    flow.wait_until_landed(count)
    stack.kill()
    table = DeltaTable(flow.location)
    table.alter.set_table_properties({"delta.appendOnly": "false"})
    table.delete("offset % 3 = 1")
    table.alter.set_table_properties({"delta.appendOnly": "true"})
    assert len(flow.raw()) < count
    return flow


def test_a_backfill_fills_the_gap_and_a_second_one_adds_nothing(embedded_stack: Stack) -> None:
    flow = with_a_gap(embedded_stack)
    missing = 100 - len(flow.raw())
    first = flow.run(Backfill())
    assert (first["added"], first["looked_at"]) == (missing, 100)
    assert flow.run(Backfill())["added"] == 0
    rows = flow.raw()
    events = flow.records("events")
    assert [(r["partition"], r["offset"], r["key"], r["value"]) for r in rows] == [
        (e.partition, e.offset, e.key, e.value)
        for e in sorted(events, key=lambda e: (e.partition, e.offset))
    ]
    flow.send([("later", b"later")])
    flow.wait_until_landed(101)
    assert len(flow.raw()) == 101, "the stream goes on where it was"


@pytest.mark.parametrize("point", ["backfill-before-commit", "backfill-after-commit"])
def test_killed_around_the_commit_it_adds_each_event_once(
    embedded_stack: Stack, point: str
) -> None:
    flow = with_a_gap(embedded_stack)
    embedded_stack.start(fault=f"{point}@1")
    run = flow.ask(Backfill(offsets=(OffsetRange(0, 0), OffsetRange(1, 0, 10_000))))
    embedded_stack.wait_at_fault()
    flow.send([("meanwhile", b"x")] * 5)
    embedded_stack.kill()
    embedded_stack.finish(run)
    flow.wait_until_landed(105)
    places = [(row["partition"], row["offset"]) for row in flow.raw()]
    assert len(places) == len(set(places)) == 105


def test_files_land_once_by_their_content_whatever_they_are_called(
    embedded_stack: Stack, tmp_path: Path
) -> None:
    flow = embedded_stack.flow("files")
    flow.send([("a", b"1"), ("b", b"2")])
    flow.wait_until_landed(2)
    lines = tmp_path / "orders.jsonl"
    events = [{"id": n, "at": 1_700_000_000_000 + n, "name": f"o-{n}"} for n in range(50)]
    lines.write_text("\n".join(json.dumps(event) for event in events) + "\n\n")
    work = Backfill(files=(str(tmp_path / "*.jsonl"),), key_from="$.name", time_from="$.at")
    assert flow.run(work)["added"] == 50
    lines.rename(tmp_path / "renamed.jsonl")
    assert flow.run(work)["added"] == 0, "the same content is the same file"

    table = pa.table({"name": ["x", "y"], "amount": [1, 2]})
    pq.write_table(table, tmp_path / "amounts.parquet")
    parquet = Backfill(files=(str(tmp_path / "amounts.parquet"),), key_from="name")
    assert flow.run(parquet)["added"] == 2

    rows = [row for row in flow.raw() if row["topic"].startswith("file:")]
    of_lines = sorted((r for r in rows if r["key"].startswith(b"o-")), key=lambda r: r["offset"])
    assert [json.loads(row["value"]) for row in of_lines] == events
    assert [round(r["timestamp"].timestamp() * 1000) for r in of_lines] == [
        event["at"] for event in events
    ]
    of_parquet = {r["key"]: json.loads(r["value"]) for r in rows if r not in of_lines}
    assert of_parquet == {b"x": {"name": "x", "amount": 1}, b"y": {"name": "y", "amount": 2}}
    assert {row["partition"] for row in rows} == {-1}


def test_records_that_were_exported_fill_the_places_that_they_came_from(
    embedded_stack: Stack, tmp_path: Path
) -> None:
    flow = with_a_gap(embedded_stack, count=30)
    exported = tmp_path / "export.jsonl"
    with exported.open("w") as file:
        for e in flow.records("events"):
            record = {
                "topic": e.topic, "partition": e.partition, "offset": e.offset,
                "timestamp": e.timestamp_ms, "key": (e.key or b"").decode(),
                "value": (e.value or b"").decode(), "headers": [],
            }  # fmt: skip
            file.write(json.dumps(record) + "\n")
    missing = 30 - len(flow.raw())
    assert flow.run(Backfill(files=(str(exported),)))["added"] == missing
    assert flow.run(Backfill())["added"] == 0, "nothing is missing after it"
    assert len(flow.raw()) == 30


def test_a_file_that_is_not_there_fails_the_run_in_words(embedded_stack: Stack) -> None:
    flow = embedded_stack.flow("nofile")
    flow.send([("a", b"1")])
    flow.wait_until_landed(1)
    run = flow.ask(Backfill(files=("/nowhere/*.jsonl",)))
    ended = embedded_stack.finish(run, RunState.FAILED)
    assert ended.progress is not None
    assert ended.progress.note == "The pipeline finds no file '/nowhere/*.jsonl'."
