"""The raw zone's table of one flow: plain Delta, append-only, and its own account of how far it is.

Each commit says, in Delta's own log, up to which source offset it reaches in each partition. Rows
and position are one commit, so the table alone tells where to go on: no checkpoint can be lost,
doubled or out of step with it.

Two writers cannot both append: a commit also carries Delta's transaction mark of one application,
numbered after the version that it builds on. Who commits beside another fails; who comes late is
silently skipped by Delta, so every commit is looked up after it was made. Delta's log is only as
atomic as its files, and those of a local folder are not across processes: there a lock stands guard
as well.
"""

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from holdfast.errors import ConflictError, InvalidRecordError, StaleStateError
from holdfast.pipeline.hadoop_files import FileLock, HadoopFiles

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
    # Plain tables are read by delta-rs, DuckDB and Polars.
    "delta.enableDeletionVectors": "false",
    # A commit every few seconds: a month of them would make opening the table slow.
    "delta.logRetentionDuration": "interval 7 days",
}
_APPLICATION = "holdfast.raw-zone"
_RECENT = 20
"""Commits of others (OPTIMIZE, a changed property) that may lie above our last one."""


@dataclass(frozen=True, slots=True)
class Landed:
    """How far the table is: the first source offset of each partition that is not in it."""

    version: int
    positions: Mapping[int, int]
    topic_id: str | None = None
    """Of the topic that was read; None if no commit says so."""
    rows: int = field(default=0, compare=False)
    """What the last commit added."""


class RawTable:
    """The table at `location`, open for appending by this process alone."""

    def __init__(self, session: SparkSession, location: str) -> None:
        self.location = location
        self._session = session
        self._files = HadoopFiles(session)
        self._lock: FileLock | None = None

    def open(self) -> Landed:
        """Make the table if there is none, and say how far it is.

        Raises ConflictError while another process writes it.
        """
        if self._files.is_local(self.location):
            self._lock = self._files.lock(f"{self.location}.lock")
            if self._lock is None:
                raise ConflictError(
                    f"Another process writes the table {self.location}. Is a second pipeline "
                    "running on this lake?"
                )
        self._create()
        return self.landed()

    def append(
        self, rows: DataFrame, before: Landed, reach: Mapping[int, int], topic_id: str
    ) -> Landed:
        """Add the rows that lead from `before` to `reach`, in one commit.

        Raises StaleStateError, with nothing added, if the table is not as `before` says any more.
        """
        commit = str(uuid.uuid4())
        note = {
            "holdfast": 1,
            "commit": commit,
            "topic_id": topic_id,
            "positions": {str(p): reach[p] for p in sorted(reach)},
        }
        (
            rows.write.format("delta")
            .mode("append")
            .option("txnAppId", _APPLICATION)
            .option("txnVersion", before.version + 1)
            .option("userMetadata", json.dumps(note, separators=(",", ":")))
            .save(self.location)
        )
        made = self._find(commit, above=before.version)
        if made is None:
            raise StaleStateError(
                f"Another process has written to {self.location} since it was read, so nothing was "
                "added to it. It must be read again."
            )
        return made.landed()

    def close(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _create(self) -> None:
        builder = DeltaTable.createIfNotExists(self._session).location(self.location)
        for name, kind in COLUMNS.items():
            builder = builder.addColumn(name, kind)
        for name, value in _PROPERTIES.items():
            builder = builder.property(name, value)
        builder.partitionedBy("date").execute()

    def landed(self) -> Landed:
        """How far the table is, which must exist."""
        history = self._history()
        for commit in history:
            if commit.note:
                return Landed(history[0].version, commit.positions, commit.note.get("topic_id"))
        # No commit speaks of positions any more: the rows do. Slow on a large table, but true.
        events = self._table().toDF().where(sql.col("partition") >= 0)  # others are of files
        ends = events.groupBy("partition").agg(sql.max("offset").alias("last"))
        positions = {row["partition"]: row["last"] + 1 for row in ends.collect()}
        return Landed(history[0].version, positions)

    def _find(self, commit: str, above: int) -> "_Commit | None":
        """A commit of ours, if it was made. Delta's log tells it without the job of Spark's that
        `history` is."""
        version = above + 1
        while self._files.exists(entry := f"{self.location}/_delta_log/{version:020d}.json"):
            made = _Commit.in_log(version, self._files.read_text(entry))
            if made.note.get("commit") == commit:
                return made
            version += 1
        return None

    def _history(self) -> list["_Commit"]:
        columns = ("version", "userMetadata", "operationMetrics")
        rows = self._table().history(_RECENT).select(*columns).collect()
        return [
            _Commit.of(row["version"], row["userMetadata"], row["operationMetrics"]) for row in rows
        ]

    def _table(self) -> DeltaTable:
        return DeltaTable.forPath(self._session, self.location)


@dataclass(frozen=True, slots=True)
class _Commit:
    version: int
    note: Mapping[str, Any]
    rows: int

    @classmethod
    def of(cls, version: int, text: str | None, metrics: Mapping[str, str] | None) -> "_Commit":
        return cls(version, _note(text), int((metrics or {}).get("numOutputRows", 0)))

    @classmethod
    def in_log(cls, version: int, entry: str) -> "_Commit":
        """As a file of Delta's log tells it: an object a line, one of them about the commit."""
        actions = map(json.loads, entry.splitlines())
        info: Mapping[str, Any] = next(
            (action["commitInfo"] for action in actions if "commitInfo" in action), {}
        )
        return cls.of(version, info.get("userMetadata"), info.get("operationMetrics"))

    @property
    def positions(self) -> dict[int, int]:
        return {int(p): int(offset) for p, offset in self.note["positions"].items()}

    def landed(self) -> Landed:
        return Landed(self.version, self.positions, self.note["topic_id"], self.rows)


def _note(text: str | None) -> Mapping[str, Any]:
    """What a commit of ours says; nothing if it is not ours."""
    try:
        note = json.loads(text or "null")
    except ValueError:
        return {}
    if not isinstance(note, dict) or "holdfast" not in note:
        return {}
    if note["holdfast"] != 1:
        raise InvalidRecordError(
            f"The raw zone's table was written by a newer Holdfast (form {note['holdfast']!r})."
        )
    return note
