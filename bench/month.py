"""A month of commits to one raw zone: its table must stay small and quick.

    python -m bench.month                  # thirty days, a commit each ten seconds: about an hour
    python -m bench.month --days 0.1       # to see that it works, in a minute

The commits are copies of a real one, written without Spark: a quarter of a million real ones would
take a day. After each hundred of them the pipeline's own upkeep runs, as it does in a raw zone. Its
history is shortened as much as the days are.

The last line printed is one line of JSON. `files` are those of the table, `files_on_disk` also
those of its history, `log_files` those of Delta's log; `open_s` is the time to open the table and
count its rows with Spark, `open_other_s` with delta-rs; `landing` is the time of a commit over that
of a commit to an empty table.
"""

import argparse
import json
import statistics
import tempfile
import time
import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from holdfast.pipeline.raw_zone.table import COLUMNS, Landed, RawTable
from holdfast.pipeline.raw_zone.upkeep import COMPACT_FILES, Upkeep, properties
from holdfast.pipeline.spark.session import create_session

COMMITS_A_DAY = 8_640
ROWS = 100
"""Rows of a commit."""
DELETE_ROUNDS = 4
"""Compactions between two deletions of old files: of forty minutes in the pipeline."""
TRIALS = 10

Figures = dict[str, float]


class Month:
    """The table of a raw zone, and many commits to it."""

    def __init__(self, session: SparkSession, location: Path, history: timedelta) -> None:
        self._session = session
        self._location = location
        self.table = RawTable(session, str(location), properties(history))
        self.upkeep = Upkeep(session, str(location), history)
        self.landed = self.table.open()
        self.commit()
        self._template = self._entry(self.landed.version).read_text().splitlines()
        (file,) = location.glob("date=*/*.parquet")
        self._rows_file = file.read_bytes()

    def commit(self) -> float:
        """One real commit. Returns its seconds."""
        start = self.landed.positions.get(0, 0)
        began = time.monotonic()
        self.landed = self.table.append(self._rows(start), self.landed, {0: start + ROWS}, "bench")
        return time.monotonic() - began

    def copy_commits(self, count: int) -> None:
        """As many commits as the first one, one after the other."""
        last = self.landed.version
        while self._entry(last + 1).exists():  # compactions
            last += 1
        for version in range(last + 1, last + 1 + count):
            end = self.landed.positions[0] + ROWS
            entry = "\n".join(self._copied(line, version, end) for line in self._template)
            self._entry(version).write_text(entry)
            self.landed = Landed(version, {0: end}, "bench", rows=ROWS, files=1)

    def checkpoint(self) -> None:
        """What Delta does after every fiftieth commit of its own."""
        log = self.upkeep._log()
        nothing = self._session.sparkContext._jvm.scala.Option.empty()  # type: ignore[union-attr]
        log.checkpoint(log.update(False, nothing, nothing), nothing)

    def files_on_disk(self) -> int:
        return sum(1 for _ in self._location.glob("date=*/*.parquet"))

    def log_files(self) -> int:
        """Without the checksum files of a local folder."""
        return sum(1 for _ in (self._location / "_delta_log").glob("[!.]*.*"))

    def _entry(self, version: int) -> Path:
        return self._location / "_delta_log" / f"{version:020d}.json"

    def _copied(self, line: str, version: int, end: int) -> str:
        action: dict[str, Any] = json.loads(line)
        now = round(time.time() * 1000)
        if "add" in action:
            add = action["add"]
            add["path"] = f"{Path(add['path']).parent}/part-{uuid.uuid4()}.parquet"
            add["modificationTime"] = now
            (self._location / add["path"]).write_bytes(self._rows_file)
        elif "txn" in action:
            action["txn"]["version"] = version
        elif "commitInfo" in action:
            note = json.loads(action["commitInfo"]["userMetadata"])
            note |= {"commit": str(uuid.uuid4()), "positions": {"0": end}}
            action["commitInfo"] |= {"timestamp": now, "userMetadata": json.dumps(note)}
        return json.dumps(action)

    def _rows(self, start: int) -> DataFrame:
        numbers = self._session.range(start, start + ROWS, 1, 1)
        return numbers.select(
            sql.lit("bench.events").alias("topic"),
            sql.lit(0).alias("partition"),
            sql.col("id").alias("offset"),
            sql.lit("2026-01-01 00:00:00").cast("timestamp").alias("timestamp"),
            sql.lit(b"key").alias("key"),
            sql.lit(b"v" * 100).alias("value"),
            sql.lit(None).cast(COLUMNS["headers"]).alias("headers"),
            sql.lit("2026-01-01").cast("date").alias("date"),
        )


def live(month: Month, rounds: int, commits: int = COMPACT_FILES) -> None:
    """As many times: commits, and the upkeep after them."""
    for number in range(1, rounds + 1):
        month.copy_commits(commits)
        month.checkpoint()
        month.upkeep.compact()
        if number % DELETE_ROUNDS == 0:
            month.upkeep.delete_old()
        if number % 50 == 0:
            print(f"  {number} of {rounds}: {month.files_on_disk()} files", flush=True)


def measure(session: SparkSession, folder: Path, days: float) -> Figures:
    rounds = max(2, round(days * COMMITS_A_DAY / COMPACT_FILES))
    trial = Month(session, folder / "trial", timedelta(hours=1))
    began = time.monotonic()
    live(trial, 2)
    a_day = (time.monotonic() - began) / 2 * COMMITS_A_DAY / COMPACT_FILES
    history = timedelta(seconds=min(a_day, 86_400))
    print(f"  a day takes {a_day:.0f} s; the history is as long", flush=True)
    month = Month(session, folder / "month", history)
    live(month, rounds)
    empty = Month(session, folder / "empty", history)
    pairs = [(month.commit(), empty.commit()) for _ in range(TRIALS)]
    location = str(folder / "month")
    began = time.monotonic()
    other = DeltaTable(location)
    other.to_pyarrow_dataset().count_rows()
    open_other = time.monotonic() - began
    session.sparkContext._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()  # type: ignore[union-attr]
    began = time.monotonic()
    rows = session.read.format("delta").load(location).count()
    opened = time.monotonic() - began
    expected = (1 + COMPACT_FILES * rounds + TRIALS) * ROWS
    if rows != expected:
        raise RuntimeError(f"{rows:,} of {expected:,} rows are in the table")
    return {
        "commits": 1 + COMPACT_FILES * rounds,
        "files": month.upkeep.count_files(),
        "files_on_disk": month.files_on_disk(),
        "log_files": month.log_files(),
        "open_s": opened,
        "open_other_s": open_other,
        "landing": statistics.median(m for m, _ in pairs) / statistics.median(e for _, e in pairs),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--days", type=float, default=30.0, help="30 unless given")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as name:
        session = create_session(Path(name) / "spark", master="local[2]")
        figures = measure(session, Path(name), options.days)
        session.stop()
    print(json.dumps({name: round(value, 3) for name, value in figures.items()}))


if __name__ == "__main__":
    main()
