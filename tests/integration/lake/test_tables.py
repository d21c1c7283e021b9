"""Silver, quarantine and gold: typed, each event once, whatever is repeated or lost on the way."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import psutil
import pytest
from deltalake import DeltaTable
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from tests.brokers import DIES_WITH_PARENT
from tests.clients import DEADLINE_S, wait_until

from holdfast.errors import ConflictError, InvalidArgumentError, NotFoundError
from holdfast.faults import VARIABLE
from holdfast.flows.registry import FlowDefinition
from holdfast.pipeline.raw_zone.table import COLUMNS, RawTable
from holdfast.pipeline.raw_zone.upkeep import Upkeep
from holdfast.pipeline.raw_zone.zone import table_location
from holdfast.pipeline.spark.errors import root_cause
from holdfast.pipeline.tables.delta import (
    checkpoint_location,
    gold_location,
    quarantine_location,
    silver_location,
)
from holdfast.pipeline.tables.gold import refresh_gold, tables_of
from holdfast.pipeline.tables.silver import refresh_silver
from holdfast.up.demo import FLOWS

pytestmark = pytest.mark.spark

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DOCUMENT = Path(__file__).parents[3] / "docs" / "tables.md"


class Lake:
    """A lake with one flow, whose raw zone is written as the pipeline writes it."""

    def __init__(self, spark: SparkSession, folder: Path, **flow: Any) -> None:
        self.spark = spark
        self.path = str(folder / "lake")
        self.flow = FlowDefinition(name="orders", partitions=1, created_at=0, **flow)
        self._next = 0

    def land(
        self,
        values: Iterable[bytes | None],
        *,
        at: datetime = NOON,
        first: int = -1,
        topic: str = "orders.events",
        partition: int = 0,
    ) -> None:
        """Land values, a minute apart; with `first`, at these offsets once more."""
        begin = self._next if first < 0 else first
        rows: list[tuple[Any, ...]] = [
            (
                topic, partition, begin + number, at + timedelta(minutes=number),
                b"customer-%d" % (number % 3), value, [], at.date(),
            )
            for number, value in enumerate(values)
        ]  # fmt: skip
        self._next = max(self._next, begin + len(rows))
        table = RawTable(self.spark, table_location(self.path, "orders"))
        before = table.open()
        try:
            ddl = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
            frame = self.spark.createDataFrame(rows, ddl)
            table.append(frame, before, {0: self._next}, "topic")
        finally:
            table.close()

    def silver(self) -> list[dict[str, Any]]:
        rows = read(silver_location(self.path, "orders"))
        return sorted(rows, key=lambda row: (row["source_partition"], row["source_offset"]))

    def quarantine(self) -> list[dict[str, Any]]:
        return read(quarantine_location(self.path, "orders"))

    def refresh(self, **options: Any) -> tuple[int, int]:
        done = refresh_silver(self.spark, self.flow, self.path, **options)
        return done.rows, done.quarantined


def read(location: str) -> list[dict[str, Any]]:
    """The rows that another engine than Spark reads."""
    rows: list[dict[str, Any]] = DeltaTable(location).to_pyarrow_table().to_pylist()
    return rows


def order(number: int, status: str, total: float = 10.0) -> bytes:
    return (
        b'{"order": "o-%d", "items": [{"article": "tea", "quantity": 1, "price": 5.4}], '
        b'"total": %.2f, "currency": "EUR", "status": "%s"}'
    ) % (number, total, status.encode())


ORDERS = FLOWS[0]


def test_silver_is_typed_and_failures_are_quarantined_with_a_reason(
    spark: SparkSession, tmp_path: Path
) -> None:
    lake = Lake(spark, tmp_path, schema=ORDERS.schema)
    lake.land([order(1, "placed", 12.5), b"no JSON", b'{"order": "o-2"}', None])
    assert lake.refresh() == (1, 3)
    (row,) = lake.silver()
    assert (row["order"], row["total"], row["status"]) == ("o-1", 12.5, "placed")
    assert row["items"] == [{"article": "tea", "quantity": 1, "price": 5.4}]
    assert (row["source_partition"], row["source_offset"], row["key"]) == (0, 0, "customer-0")
    assert row["date"] == date(2026, 3, 1)
    reasons = {each["source_offset"]: each["reason"] for each in lake.quarantine()}
    assert reasons[1] == "The value is not JSON of the flow's schema."
    assert "missing" in reasons[2]
    assert reasons[3] == "The value is null."


def test_repeated_lost_or_killed_writes_create_no_duplicates(
    spark: SparkSession, tmp_path: Path
) -> None:
    lake = Lake(spark, tmp_path, schema=ORDERS.schema)
    lake.land([order(1, "placed"), order(2, "placed"), b"no JSON"])
    assert lake.refresh() == (2, 1)
    assert lake.refresh() == (0, 0)
    lake.land([order(1, "placed"), order(2, "placed"), b"no JSON"], first=0)  # once more
    lake.land([order(3, "placed")])
    assert lake.refresh() == (1, 0)
    # As after kill -9 between the rows and the checkpoint: the batch is taken once more.
    checkpoint = Path(checkpoint_location(lake.path, "silver", "orders"))
    last = max(int(each.name) for each in (checkpoint / "commits").iterdir() if each.name.isdigit())
    for each in (checkpoint / "commits").glob(f"*{last}*"):
        each.unlink()
    assert lake.refresh() == (0, 0)
    shutil.rmtree(checkpoint)
    assert lake.refresh() == (0, 0)
    assert [row["order"] for row in lake.silver()] == ["o-1", "o-2", "o-3"]


def test_silver_goes_on_after_the_versions_that_it_has_not_read_are_gone(
    spark: SparkSession, tmp_path: Path
) -> None:
    """It was refreshed more rarely than the history of the raw zone lasts."""
    lake = Lake(spark, tmp_path, schema=ORDERS.schema)
    lake.land([order(1, "placed"), order(2, "placed")])
    assert lake.refresh() == (2, 0)
    for number in (3, 4):
        lake.land([order(number, "placed")])
    upkeep = Upkeep(spark, table_location(lake.path, "orders"), timedelta(0))
    upkeep.compact()
    upkeep.delete_old()
    assert lake.refresh() == (2, 0)
    assert [row["order"] for row in lake.silver()] == ["o-1", "o-2", "o-3", "o-4"]


def test_silver_has_each_event_once_after_a_kill_during_a_write(
    spark: SparkSession, tmp_path: Path
) -> None:
    """kill -9, when the quarantine has its rows, and silver has not."""
    lake = Lake(spark, tmp_path, schema=ORDERS.schema)
    lake.land([order(1, "placed"), b"no JSON", order(2, "placed")])
    reached = tmp_path / "reached"
    process = subprocess.Popen(
        [*DIES_WITH_PARENT, sys.executable, "-m", "tests.integration.lake.refreshing",
         str(tmp_path / "spark"), lake.path, str(ORDERS.schema)],
        env={**os.environ, VARIABLE: f"silver-mid-write={reached}"},
    )  # fmt: skip
    try:
        wait_until(
            lambda: reached.exists() or process.poll() is not None, "the point of the kill", 150
        )
        assert process.poll() is None
    finally:
        children = psutil.Process(process.pid).children(recursive=True)
        for child in children:
            child.kill()
        process.kill()
        process.wait()
        psutil.wait_procs(children, 20)
    assert (len(lake.silver()), len(lake.quarantine())) == (0, 1)
    lake.land([order(3, "placed")])
    assert lake.refresh() == (3, 0)
    assert [row["order"] for row in lake.silver()] == ["o-1", "o-2", "o-3"]
    assert [row["source_offset"] for row in lake.quarantine()] == [1]


def test_events_with_the_same_id_are_one_row_also_after_a_rebuild(
    spark: SparkSession, tmp_path: Path
) -> None:
    schema = "id STRING, n BIGINT"
    lake = Lake(spark, tmp_path, schema=schema, event_id="id")
    lake.land([b'{"id": "a", "n": 1}', b'{"id": "a", "n": 2}', b'{"id": "b", "n": 3}'])
    lake.refresh()
    lake.land([b'{"id": "b", "n": 4}', b'{"n": 5}', b'{"n": 6}'], at=NOON + timedelta(days=2))
    lake.refresh()
    once = [(row["id"], row["n"]) for row in lake.silver()]
    assert once == [("a", 1), ("b", 3), (None, 5), (None, 6)]
    # Out of a file, as a backfill lands it: what silver has by its id is not there twice.
    again = [b'{"id": "b", "n": 3}', b'{"id": "c", "n": 7}', b'{"n": 5}']
    lake.land(again, at=NOON + timedelta(days=3), topic="file:5e1f", partition=-1, first=0)
    assert lake.refresh() == (2, 0)
    once = [(row["id"], row["n"]) for row in lake.silver()]
    assert once == [("c", 7), (None, 5), ("a", 1), ("b", 3), (None, 5), (None, 6)]
    lake.refresh(rebuild=True)
    assert [(row["id"], row["n"]) for row in lake.silver()] == once
    lake.flow = replace(lake.flow, schema="id STRING")
    with pytest.raises(ConflictError, match="table rebuild orders silver"):
        lake.refresh()
    lake.refresh(rebuild=True)
    assert {row["id"] for row in lake.silver()} == {"a", "b", "c", None}


def test_the_error_for_silver_without_a_schema_explains_how_to_set_one(
    spark: SparkSession, tmp_path: Path
) -> None:
    with pytest.raises(InvalidArgumentError, match="--schema"):
        Lake(spark, tmp_path).refresh()


def test_flow_with_the_name_of_a_demo_flow_and_another_schema_has_no_gold(
    spark: SparkSession, tmp_path: Path
) -> None:
    lake = Lake(spark, tmp_path, schema="id STRING")
    assert lake.flow.name == "orders"
    assert tables_of(lake.flow) == {}
    assert set(tables_of(replace(lake.flow, schema="status STRING"))) == {"orders_per_minute"}
    with pytest.raises(NotFoundError, match="no gold tables"):
        refresh_gold(spark, lake.flow, lake.path)


def test_error_of_a_batch_function_is_named_without_its_traceback(
    spark: SparkSession, tmp_path: Path
) -> None:
    def fail(rows: DataFrame, _: int) -> None:
        rows.select("missing")

    query = (
        spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
        .writeStream.option("checkpointLocation", str(tmp_path)).foreachBatch(fail).start()
    )  # fmt: skip
    with pytest.raises(StreamingQueryException) as failed:
        query.awaitTermination(int(DEADLINE_S))
    assert root_cause(failed.value).startswith("[UNRESOLVED_COLUMN")


@pytest.fixture(scope="module")
def gold(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """Orders of two days, taken into silver and gold in two turns."""
    lake = Lake(spark, tmp_path_factory.mktemp("gold"), schema=ORDERS.schema)
    lake.land([order(1, "placed"), order(1, "paid", 10.0), order(2, "placed"), order(3, "placed")])
    lake.refresh()
    refresh_gold(spark, lake.flow, lake.path)
    tomorrow = NOON + timedelta(days=1)
    lake.land([order(2, "paid", 2.5), order(3, "cancelled")], at=NOON + timedelta(minutes=1))
    lake.land([order(4, "placed"), order(4, "paid", 7.0)], at=tomorrow)
    lake.refresh()
    refresh_gold(spark, lake.flow, lake.path)
    return lake


def test_gold_follows_silver_and_a_rebuild_gives_the_same_table(
    spark: SparkSession, gold: Lake
) -> None:
    location = gold_location(gold.path, "orders_per_day")
    minutes = gold_location(gold.path, "orders_per_minute")

    def figures() -> tuple[list[Any], list[Any]]:
        days = sorted(
            (row["day"].day, row["orders"], row["revenue"], row["cancelled"], row["failure_rate"])
            for row in read(location)
        )
        return days, sorted((row["minute"], row["orders"], row["events"]) for row in read(minutes))

    found = figures()
    assert found[0] == [(1, 3, 12.5, 1, 0.3333), (2, 1, 7.0, 0, 0.0)]
    assert sum(events for _, _, events in found[1]) == 8
    assert len(found[1]) == 6
    refresh_gold(spark, gold.flow, gold.path, rebuild=True)
    assert figures() == found


@pytest.mark.parametrize("library", ["DuckDB", "Polars", "pandas"])
def test_documented_table_reads_work(
    gold: Lake, library: str, capsys: pytest.CaptureFixture[str]
) -> None:
    section = DOCUMENT.read_text().partition(f"## {library}\n")[2]
    code = re.search(r"^```python\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    assert code is not None
    assert "holdfast-data/lake" in code[1]
    exec(code[1].replace("holdfast-data/lake", gold.path), {})
    assert capsys.readouterr().out.strip()
