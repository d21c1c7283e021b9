"""The raw zone keeps its table small, and nobody who reads it notices."""

import json
import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from bench.month import ROWS, Month, live
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from tests.brokers import EmbeddedBroker
from tests.clients import producer, send, wait_until
from tests.integration.raw_zone.conftest import LANDS_WITHIN_S, Zone

from holdfast.pipeline.raw_zone.table import RawTable
from holdfast.pipeline.raw_zone.upkeep import Upkeep

pytestmark = pytest.mark.spark

MakeZone = Callable[..., Zone]
NOTHING = timedelta(0)
NEW_YEAR = 1_767_225_600.0
"""Of 2026."""


def land_one_by_one(
    zone: Zone, spark: SparkSession, count: int, *, files: int | None = None, **settings: Any
) -> None:
    """One commit for each event; and then, until the table is said to have that many files."""
    part, client = zone.part(spark, **settings), producer(zone.broker)
    try:
        part.start()
        first = zone.end()
        for number in range(first, first + count):
            send(client, zone.topic, [b"%d" % number])
            zone.wait_for(part, number + 1)
        if files is not None:
            wait_until(lambda: shown_files(zone) == files, f"{files} files", LANDS_WITHIN_S)
        assert part.failure() is None
    finally:
        part.stop()


def shown_files(zone: Zone) -> float | None:
    labels = {"flow": zone.flow.name}
    return zone.metrics.registry.get_sample_value("holdfast_raw_zone_files", labels)


def compactions(zone: Zone) -> list[list[dict[str, Any]]]:
    """The actions of each commit that has compacted files."""
    log = sorted(Path(zone.location, "_delta_log").glob("*.json"))
    commits = [[json.loads(line) for line in entry.read_text().splitlines()] for entry in log]
    return [
        actions
        for actions in commits
        if any(action.get("commitInfo", {}).get("operation") == "OPTIMIZE" for action in actions)
    ]


def test_small_files_become_one_and_no_row_changes(
    embedded_broker: EmbeddedBroker, spark: SparkSession, make_zone: MakeZone
) -> None:
    zone = make_zone(embedded_broker)
    land_one_by_one(zone, spark, 4, files=1, compact_files=4)
    assert len(DeltaTable(zone.location).file_uris()) == 1
    assert zone.offsets() == [(0, number) for number in range(4)]
    (actions,) = compactions(zone)
    changes = [action[kind] for action in actions for kind in ("add", "remove") if kind in action]
    assert len(changes) == 5
    assert not any(change["dataChange"] for change in changes), "a stream would read rows twice"
    before = DeltaTable(zone.location, version=2).to_pyarrow_table()
    assert sorted(before["offset"].to_pylist()) == [0, 1], "the history can be read"

    land_one_by_one(zone, spark, 1)  # a new start goes on at the position before the compaction
    assert zone.offsets() == [(0, number) for number in range(5)]


def test_files_and_log_entries_older_than_the_history_are_deleted(
    embedded_broker: EmbeddedBroker, spark: SparkSession, make_zone: MakeZone
) -> None:
    zone = make_zone(embedded_broker)
    land_one_by_one(zone, spark, 3)
    spark.sql(
        f"ALTER TABLE delta.`{zone.location}` SET TBLPROPERTIES ('delta.checkpointInterval' = '1')"
    )
    reader = DeltaTable(zone.location).to_pyarrow_dataset()
    Upkeep(spark, zone.location, timedelta(hours=1)).run()
    assert reader.to_table().num_rows == 3, "within the history nothing is taken from a reader"
    Upkeep(spark, zone.location, NOTHING).delete_old()
    live = DeltaTable(zone.location).file_uris()
    assert len(live) == 1
    for kept in ("date=*/*.parquet", "date=*/.*.parquet.crc"):
        assert len(list(Path(zone.location).glob(kept))) == 1
    landed = RawTable(spark, zone.location).landed()
    assert landed.positions == {0: 3}, "it can still be found, or computed from the rows"
    land_one_by_one(zone, spark, 2)
    assert zone.offsets() == [(0, number) for number in range(5)]


def test_table_stays_small_however_many_commits_there_are(
    spark: SparkSession, tmp_path: Path
) -> None:
    """`python -m bench.month`, of some hours."""
    month = Month(spark, tmp_path / "month", NOTHING)
    live(month, rounds=4, commits=25)
    entries = sorted((tmp_path / "month" / "_delta_log").iterdir())
    for second, entry in enumerate(entries):  # of files of the same time Delta deletes none
        os.utime(entry, (NEW_YEAR + second, NEW_YEAR + second))
    month.upkeep.delete_old()
    assert month.upkeep.count_files() == 1
    assert month.files_on_disk() == 1
    assert month.log_files() < 20, "of 105 commits"
    assert spark.read.format("delta").load(str(tmp_path / "month")).count() == 101 * ROWS
    assert month.table.landed().positions == {0: 101 * ROWS}
