"""The raw zone's table of one flow: plain Delta, append-only, with its position in its own log.

Each commit stores, in Delta's log, the source offset that it reaches in each partition. Rows and
position are one commit, so the table alone decides where to continue: no checkpoint can be lost,
duplicated or out of step with it.

Two writers cannot both append. A commit also carries Delta's transaction id of one application,
numbered after the version that it builds on. Of two concurrent commits one fails. Delta silently
skips a late commit, so every commit is looked up afterwards. Delta's log is only as atomic as its
files, and in a local folder these are not atomic across processes: there a file lock protects the
table as well.
"""

import json
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from holdfast.errors import ConflictError, InvalidRecordError, StaleStateError
from holdfast.pipeline.spark.delta_log import commit_file, commit_info, newest_commits
from holdfast.pipeline.spark.hadoop_files import FileLock, HadoopFiles

COLUMNS = {
    "topic": "STRING",
    "partition": "INT",
    "offset": "LONG",
    "timestamp": "TIMESTAMP",
    "key": "BINARY",
    "value": "BINARY",
    "headers": "ARRAY<STRUCT<key: STRING, value: BINARY>>",
    "date": "DATE",
}

_PROPERTIES = {
    "delta.appendOnly": "true",
    # delta-rs, DuckDB and Polars can read plain tables.
    "delta.enableDeletionVectors": "false",
    # A reader opens the table with at most this many small files of the log. Each checkpoint lists
    # all files of the table and of its history.
    "delta.checkpointInterval": "50",
}
_APPLICATION = "holdfast.raw-zone"
_RECENT = 20
"""The maximum number of other commits (OPTIMIZE, a changed property) after our last one."""


@dataclass(frozen=True, slots=True)
class Landed:
    """The position of the table: the first source offset of each partition that is not in it."""

    version: int
    positions: Mapping[int, int]
    topic_id: str | None = None
    """The id of the source topic; None if no commit contains it."""
    epochs: Mapping[int, int] = field(default_factory=dict, compare=False)
    """The leader epoch in which each partition was read last, as far as a commit contains it."""
    rows: int = field(default=0, compare=False)
    """The number of rows that the last commit added."""
    files: int = field(default=0, compare=False)
    """The number of files that the last commit added."""


class RawTable:
    """The table at `location`, open for appending by this process alone."""

    def __init__(
        self, session: SparkSession, location: str, properties: Mapping[str, str] | None = None
    ) -> None:
        """`properties`: of the table, if it has to be created."""
        self.location = location
        self._session = session
        self._properties = {**_PROPERTIES, **(properties or {})}
        self._files = HadoopFiles(session)
        self._lock: FileLock | None = None

    def open(self) -> Landed:
        """Create the table if necessary, and return its position.

        Raises ConflictError while another process writes it.
        """
        if self._files.is_local(self.location):
            self._lock = self._files.lock(f"{self.location}.lock")
            if self._lock is None:
                raise ConflictError(
                    f"Another process is writing the table {self.location}. Check if a second "
                    "pipeline is running on this lake."
                )
        self._create()
        return self.landed()

    def append(
        self,
        rows: DataFrame,
        before: Landed,
        reach: Mapping[int, int],
        topic_id: str,
        epochs: Mapping[int, int] | None = None,
    ) -> Landed:
        """Add the rows between the positions `before` and `reach`, in one commit. `epochs`: see
        `Landed`; those of `before` unless given.

        Raises StaleStateError, with nothing added, if the table has changed since `before`.
        """
        commit = str(uuid.uuid4())
        note = {
            "holdfast": 1,
            "commit": commit,
            "topic_id": topic_id,
            "positions": {str(p): reach[p] for p in sorted(reach)},
            "epochs": {str(p): e for p, e in (epochs or before.epochs).items()},
        }
        (
            rows.write.format("delta")
            .mode("append")
            .option("txnAppId", _APPLICATION)
            .option("txnVersion", before.version + 1)
            .option("userMetadata", json.dumps(note, separators=(",", ":")))
            .save(self.location)
        )
        committed = self._find(commit, above=before.version)
        if committed is None:
            raise StaleStateError(
                f"Another process has written to {self.location} since it was read, so nothing was "
                "added. It must be read again."
            )
        return committed.landed()

    def close(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _create(self) -> None:
        builder = DeltaTable.createIfNotExists(self._session).location(self.location)
        for name, kind in COLUMNS.items():
            builder = builder.addColumn(name, kind)
        for name, value in self._properties.items():
            builder = builder.property(name, value)
        builder.partitionedBy("date").execute()

    def landed(self) -> Landed:
        """The position of the table, which must exist."""
        newest = -1
        for commit in self._history():
            newest = max(newest, commit.version)
            if commit.note:
                topic_id = commit.note.get("topic_id")
                return Landed(newest, commit.positions, topic_id, commit.epochs)
        # No recent commit has positions: compute them from the rows. Slow on a large table.
        events = self._table().toDF().where(sql.col("partition") >= 0)  # -1: from a file
        ends = events.groupBy("partition").agg(sql.max("offset").alias("last"))
        positions = {row["partition"]: row["last"] + 1 for row in ends.collect()}
        return Landed(newest, positions)

    def _find(self, commit: str, above: int) -> "_Commit | None":
        """Our commit, or None if it was not made. Reading Delta's log files avoids the Spark job
        that `history` needs."""
        version = above + 1
        while self._files.exists(entry := commit_file(self.location, version)):
            candidate = _Commit.of(version, commit_info(self._files.read_text(entry)))
            if candidate.note.get("commit") == commit:
                return candidate
            version += 1
        return None

    def _history(self) -> Iterator["_Commit"]:
        for version, info in islice(newest_commits(self._session, self.location), _RECENT):
            yield _Commit.of(version, info)

    def _table(self) -> DeltaTable:
        return DeltaTable.forPath(self._session, self.location)


@dataclass(frozen=True, slots=True)
class _Commit:
    version: int
    note: Mapping[str, Any]
    rows: int
    files: int

    @classmethod
    def of(cls, version: int, info: Mapping[str, Any]) -> "_Commit":
        counts = info.get("operationMetrics") or {}
        rows, files = (int(counts.get(name, 0)) for name in ("numOutputRows", "numFiles"))
        return cls(version, _note(info.get("userMetadata")), rows, files)

    @property
    def positions(self) -> dict[int, int]:
        return {int(p): int(offset) for p, offset in self.note["positions"].items()}

    @property
    def epochs(self) -> dict[int, int]:
        return {int(p): int(epoch) for p, epoch in self.note.get("epochs", {}).items()}

    def landed(self) -> Landed:
        topic_id = self.note["topic_id"]
        return Landed(self.version, self.positions, topic_id, self.epochs, self.rows, self.files)


def _note(text: str | None) -> Mapping[str, Any]:
    """Our metadata of a commit; empty if the commit is not ours."""
    try:
        note = json.loads(text or "null")
    except ValueError:
        return {}
    if not isinstance(note, dict) or "holdfast" not in note:
        return {}
    if note["holdfast"] != 1:
        raise InvalidRecordError(
            f"The raw zone's table was written by a newer Holdfast (format {note['holdfast']!r}). "
            "Update this one."
        )
    return note
