"""Backfill from files: Parquet and JSON lines.

A row with its source coordinate (topic, partition and offset of the flow's own events, as in the
raw zone or in the output of `holdfast consume -o json`) lands under that coordinate, if it is
missing. Any other row lands under the topic `file:<SHA-256 of the file>` and its row number, so the
same content lands only once, whatever the file's name. A file is one commit: it lands completely or
not at all.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql

from holdfast.errors import InvalidArgumentError, NotFoundError
from holdfast.flows.run_specs import Backfill
from holdfast.pipeline.runs.backfill import Filler
from holdfast.pipeline.runs.execution import Execution
from holdfast.pipeline.spark.hadoop_files import HadoopFiles

OF_A_FILE = -1
"""The partition number of rows without a source coordinate."""

LISTED = 1_000
"""The maximum number of files in the run's result."""

_COORDINATE = {"topic", "partition", "offset"}
_ONE_TASK = str(2**62)
_RECORD = """
    topic STRING, partition INT, offset LONG, timestamp LONG, key STRING, key_base64 STRING,
    value STRING, value_base64 STRING,
    headers ARRAY<STRUCT<name: STRING, value: STRING, value_base64: STRING>>
"""


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file and the hash of its content."""

    path: str
    digest: str

    @property
    def topic(self) -> str:
        return f"file:{self.digest}"


class FileBackfill:
    """Lands the rows of files."""

    def __init__(self, filler: Filler, execution: Execution) -> None:
        work = execution.run.request.spec
        assert isinstance(work, Backfill)
        self._filler = filler
        self._execution = execution
        self._work = work
        self._files = HadoopFiles(filler.session)

    def carry_out(self) -> Mapping[str, Any]:
        """Returns the run's result."""
        paths = [path for pattern in self._work.files for path in self._find(pattern)]
        self._execution.begin({"unit": "files"}, len(paths))
        results, added = [], 0
        for done, path in enumerate(paths, 1):
            self._filler.landed(self._execution)
            file = InputFile(path, self._files.sha256(path))
            landed = self._land(file)
            added += landed
            results.append({"file": path, "sha256": file.digest, "added": landed})
            self._execution.reach(done)
        return {"added": added, "files": len(results), "each": results[:LISTED]}

    def _find(self, pattern: str) -> list[str]:
        paths = self._files.find(pattern)
        if not paths:
            raise NotFoundError(
                f"No file matches {pattern!r} on the pipeline's machine. Check the path."
            )
        return paths

    def _land(self, file: InputFile) -> int:
        rows = self._rows(file)
        events = self._filler.flow.names.events
        if "offset" not in rows.columns:
            existing = self._filler.table().where(sql.col("topic") == file.topic)
            if existing.limit(1).count():
                return 0
            numbered = rows.withColumns(
                {
                    "topic": sql.lit(file.topic),
                    "partition": sql.lit(OF_A_FILE),
                    "offset": sql.col("row"),
                }
            )
            return self._filler.add(numbered)
        self._check_source(file, rows, events)
        return self._filler.add_missing(
            self._before_the_stream(rows),
            self._filler.table().where(sql.col("topic") == events),
        )

    def _before_the_stream(self, rows: DataFrame) -> DataFrame:
        """The rows before the stream's position: the stream lands later events itself."""
        ends = self._filler.landed(self._execution).positions
        within = sql.lit(False)
        for partition, end in ends.items():
            within |= (sql.col("partition") == partition) & (sql.col("offset") < end)
        return rows.where(within)

    @staticmethod
    def _check_source(file: InputFile, rows: DataFrame, events: str) -> None:
        other = rows.where(sql.col("topic") != events).select("topic").first()
        if other is not None:
            raise InvalidArgumentError(
                f"{file.path} contains events of {other['topic']}, but this flow's topic is "
                f"{events}."
            )

    def _rows(self, file: InputFile) -> DataFrame:
        if file.path.endswith(".parquet"):
            return _of_parquet(self._filler.session, file.path, self._work)
        return _of_json_lines(self._filler.session, file.path, self._work)


def _of_parquet(session: SparkSession, path: str, work: Backfill) -> DataFrame:
    """Rows with the raw zone's columns if there is a column `value`; otherwise each row is an event
    whose value is the row as JSON."""
    rows = session.read.parquet(path).select("*", sql.col("_metadata.row_index").alias("row"))
    names = set(rows.columns) - {"row"}
    if "value" in names and not work.key_from and not work.time_from:
        kept = ["row", *(_COORDINATE if names >= _COORDINATE else ())]
        return rows.select(
            *kept,
            _column(names, "timestamp", "timestamp", sql.current_timestamp()),
            _column(names, "key", "binary"),
            _column(names, "value", "binary"),
            _column(names, "headers", "array<struct<key:string,value:binary>>"),
        )
    for name in filter(None, (work.key_from, work.time_from)):
        if name not in names:
            raise InvalidArgumentError(
                f"{path} has no column {name!r}. It has: {', '.join(sorted(names))}."
            )
    key = sql.col(work.key_from).cast("string") if work.key_from else sql.lit(None)
    time = sql.col(work.time_from).cast("timestamp") if work.time_from else sql.lit(None)
    value = sql.to_json(sql.struct(*(sql.col(name) for name in rows.columns if name != "row")))
    return _events(rows, key, value, time)


def _of_json_lines(session: SparkSession, path: str, work: Backfill) -> DataFrame:
    """Each line is an event, or a record as `holdfast consume -o json` prints it."""
    lines = numbered_lines(session, path)
    line = sql.col("line")
    if work.key_from or work.time_from or not _are_records(lines):
        key = sql.get_json_object(line, work.key_from) if work.key_from else sql.lit(None)
        time = sql.get_json_object(line, work.time_from) if work.time_from else sql.lit(None)
        number = sql.timestamp_millis(time.try_cast("bigint"))
        return _events(lines, key, line, sql.coalesce(number, time.try_cast("timestamp")))
    record = sql.from_json(line, _RECORD)
    headers = sql.transform(
        record["headers"],
        lambda header: sql.struct(header["name"].alias("key"), _bytes(header, "value")),
    )
    return lines.select(
        "row",
        *(record[name].alias(name) for name in _COORDINATE),
        sql.timestamp_millis(record["timestamp"]).alias("timestamp"),
        _bytes(record, "key"),
        _bytes(record, "value"),
        sql.when(sql.size(headers) > 0, headers).alias("headers"),
    )


def numbered_lines(session: SparkSession, path: str) -> DataFrame:
    """The non-empty lines, each with its number from 0 on: columns row and line."""
    sibling = session.newSession()  # with its own settings: one task must count all lines
    sibling.conf.set("spark.sql.files.maxPartitionBytes", _ONE_TASK)
    sibling.conf.set("spark.sql.files.minPartitionNum", "1")
    lines = sibling.read.option("lineSep", "\n").text(path)
    return lines.mapInArrow(_number, "row long, line string").where("trim(line) != ''")


def _number(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    row = 0
    for batch in batches:
        numbers = pa.array(range(row, row + batch.num_rows), pa.int64())
        row += batch.num_rows
        yield pa.RecordBatch.from_arrays([numbers, batch.column(0)], ["row", "line"])


def _are_records(lines: DataFrame) -> bool:
    first = lines.orderBy("row").limit(1)
    names = first.select(sql.json_object_keys("line").alias("names")).collect()
    fields = set(names[0]["names"] or ()) if names else set()
    return fields >= _COORDINATE and bool(fields & {"value", "value_base64"})


def _events(rows: DataFrame, key: Column, value: Column, time: Column) -> DataFrame:
    return rows.select(
        "row",
        sql.coalesce(time.cast("timestamp"), sql.current_timestamp()).alias("timestamp"),
        key.cast("string").cast("binary").alias("key"),
        value.cast("binary").alias("value"),
        sql.lit(None).cast("array<struct<key:string,value:binary>>").alias("headers"),
    )


def _column(names: set[str], name: str, kind: str, default: Column | None = None) -> Column:
    column = sql.col(name) if name in names else (sql.lit(None) if default is None else default)
    return column.cast(kind).alias(name)


def _bytes(parent: Column, name: str) -> Column:
    text, encoded = parent[name], parent[f"{name}_base64"]
    return sql.coalesce(text.cast("binary"), sql.unbase64(encoded)).alias(name)
