"""Backfill: what is missing in the raw zone, and nothing twice."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from tests.brokers import EmbeddedBroker
from tests.integration.runs.lake import Lake, running

from holdfast.flows.run_specs import Backfill, OffsetRange, Replay
from holdfast.flows.runs import RunState

pytestmark = pytest.mark.spark


def lose_some(flow: Lake) -> int:
    """Returns the number of events that the raw zone lacks."""
    flow.stop()
    missing = flow.lose_from_the_raw_zone()
    flow.start()
    return missing


def test_a_backfill_fills_the_gap_and_a_second_one_adds_nothing(
    embedded_broker: EmbeddedBroker, spark: SparkSession, tmp_path: Path
) -> None:
    with running(embedded_broker, spark, tmp_path) as flow:
        flow.fill(100)
        missing = lose_some(flow)
        whole = flow.raw()
        first = flow.run(Backfill(offsets=(OffsetRange(0, 0), OffsetRange(1, 0, 10))))
        assert 0 < first["added"] < missing
        second = flow.run(Backfill())
        assert (first["added"] + second["added"], second["looked_at"]) == (missing, 100)
        assert flow.run(Backfill())["added"] == 0, "a second run adds nothing"
        assert len(whole) + missing == 100
        assert [(r["partition"], r["offset"], r["key"], r["value"]) for r in flow.raw()] == [
            (e.partition, e.offset, e.key, e.value)
            for e in sorted(flow.records("events"), key=lambda e: (e.partition, e.offset))
        ]
        flow.send([("later", b"later")])
        flow.wait_until_landed(101)
        assert len(flow.raw()) == 101, "the stream goes on where it was"


def test_files_land_once_by_content_regardless_of_their_names(
    embedded_broker: EmbeddedBroker, spark: SparkSession, tmp_path: Path
) -> None:
    with running(embedded_broker, spark, tmp_path) as flow:
        flow.send([("a", b"1"), ("b", b"2")])
        flow.wait_until_landed(2)
        lines = tmp_path / "orders.jsonl"
        events = [{"id": n, "at": 1_700_000_000_000 + n, "name": f"o-{n}"} for n in range(50)]
        lines.write_text("\n".join(json.dumps(event) for event in events) + "\n\n")
        work = Backfill(files=(f"{tmp_path}/*.jsonl",), key_from="$.name", time_from="$.at")
        assert flow.run(work)["added"] == 50
        lines.rename(tmp_path / "renamed.jsonl")
        assert flow.run(work)["added"] == 0, "the same content is the same file"

        table = pa.table({"name": ["x", "y"], "amount": [1, 2]})
        pq.write_table(table, tmp_path / "amounts.parquet")
        parquet = Backfill(files=(f"{tmp_path}/amounts.parquet",), key_from="name")
        assert flow.run(parquet)["added"] == 2

        rows = [row for row in flow.raw() if row["topic"].startswith("file:")]
        assert {row["partition"] for row in rows} == {-1}
        of_lines = [row for row in rows if row["key"].startswith(b"o-")]
        assert [json.loads(row["value"]) for row in of_lines] == events
        times = [round(row["timestamp"].timestamp() * 1000) for row in of_lines]
        assert times == [event["at"] for event in events]
        of_parquet = {r["key"]: json.loads(r["value"]) for r in rows if r not in of_lines}
        assert of_parquet == {b"x": {"name": "x", "amount": 1}, b"y": {"name": "y", "amount": 2}}

        run = flow.ask(Replay(where="topic like 'file:%' and key like 'o-%'"))
        flow.finish(run)
        sent = flow.replayed(run)
        sources = {record.header("holdfast-replay-source") for record in sent}
        assert sources == {f"{row['topic']}:{row['offset']}".encode() for row in of_lines}


def test_exported_records_are_backfilled_at_their_own_offsets(
    embedded_broker: EmbeddedBroker, spark: SparkSession, tmp_path: Path
) -> None:
    with running(embedded_broker, spark, tmp_path) as flow:
        flow.fill(30)
        missing = lose_some(flow)
        exported = tmp_path / "export.jsonl"
        records: list[dict[str, Any]] = [
            {
                "topic": e.topic, "partition": e.partition, "offset": e.offset,
                "timestamp": e.timestamp_ms, "key": (e.key or b"").decode(),
                "value": (e.value or b"").decode(), "headers": [],
            }
            for e in flow.records("events")
        ]  # fmt: skip
        exported.write_text("".join(json.dumps(record) + "\n" for record in records))
        assert flow.run(Backfill(files=(str(exported),)))["added"] == missing
        assert flow.run(Backfill())["added"] == 0, "nothing is missing after it"
        assert len(flow.raw()) == 30
        run = flow.ask(Backfill(files=("/nowhere/*.jsonl",)))
        progress = flow.finish(run, RunState.FAILED).progress
        assert progress is not None
        assert (
            progress.note
            == "No file matches '/nowhere/*.jsonl' on the pipeline's machine. Check the path."
        )
