"""How far the last audit came, so that the next one continues there and misses nothing in between.

The checkpoint is a Delta table beside the flow's others. Its rows are the events that were still
held, the records of the journal that later ones depend on, and the seals of all verified stretches;
its commit metadata contains how far each log was read. All are one commit, so an audit that is
killed leaves the old checkpoint. A later output of an event below the checkpoint is either one of
the held events, or a duplicate.

Seals are in the lake and not in Kafka, because a checkpoint without its seal, or a seal without its
checkpoint, would be worth nothing: so they must be stored at once.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

import pyarrow as pa
from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from holdfast.errors import ConflictError
from holdfast.pipeline.audit.seals import Seal, decode
from holdfast.pipeline.spark.delta_log import newest_commits
from holdfast.pipeline.spark.few_rows import local_rows
from holdfast.pipeline.spark.hadoop_files import HadoopFiles

COLUMNS = ("p", "k", "o", "body", "head", "time", "flags")
"""The columns of a held event: its coordinate, and the content that must be output."""
HELD, JOURNAL, SEAL = "held", "journal", "seal"
"""The kinds of rows."""
_FORM = 4
_RECENT = 20
_DELETE_EVERY = 20
"""Seals between two deletions of files that were replaced more than a week ago."""


@dataclass(frozen=True, slots=True)
class OutputCheckpoint:
    """How far an output log was read, by partition.

    A running flow writes records of later events before the log's end is read. These were not
    accounted for, so the next audit starts where they may begin (`settled`), and skips records
    before `end` of events that were accounted for.
    """

    settled: Mapping[int, int]
    end: Mapping[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """How far was verified, by partition: source offsets, and offsets of the logs."""

    topic_id: str
    """The id of the topic of events: a recreated topic has other events at its offsets."""
    events: Mapping[int, int]
    control: Mapping[int, int]
    journal: Mapping[int, int]
    """Records of the journal below these offsets are not read again, but for those in the table."""
    outputs: Mapping[str, "OutputCheckpoint"]
    """By topic: held, processed, dlq."""
    raw: Mapping[int, int]
    """Source offsets below which the raw zone was complete."""
    raw_rows: int
    """The number of its rows below these offsets."""
    totals: Mapping[str, int]
    """The counts of all coordinates below the checkpoint."""


class CheckpointStore:
    """Stores the checkpoint of one flow."""

    def __init__(
        self,
        session: SparkSession,
        lake: str,
        flow: str,
        keep: Callable[[DataFrame], DataFrame] = lambda rows: rows,
    ) -> None:
        """`keep`: keeps rows that are used more than once."""
        self._session = session
        self._keep = keep
        self._kept: DataFrame | None = None
        self.location = f"{lake.rstrip('/')}/verified/{flow}"
        self._loaded: int | None = None
        """The version of the table that was loaded."""
        self._checkpoint: Checkpoint | None = None

    def load(self) -> Checkpoint | None:
        """The last checkpoint, or None if there is no usable one."""
        commits = list(islice(newest_commits(self._session, self.location), _RECENT))
        self._loaded = commits[0][0] if commits else None
        notes = (json.loads(info.get("userMetadata") or "{}") for _, info in commits)
        borders = (note["border"] for note in notes if note.get("verified") == _FORM)
        self._checkpoint = next(map(_checkpoint, borders), None)
        return self._checkpoint

    def still_held(self) -> DataFrame:
        """The events that were held at the checkpoint: see `COLUMNS`."""
        return self._rows(HELD).select(*COLUMNS)

    def journal(self) -> DataFrame:
        """The records of the journal below the checkpoint that are still needed."""
        return self._rows(JOURNAL).select(
            "p", sql.col("o").alias("journal_offset"), "key", "value", "appended_at"
        )

    def seals(self) -> list[tuple[Seal, str]]:
        """All seals, in order, each with the digest that it had when it was stored. To be called
        after `load`."""
        if self._checkpoint is None:
            return []
        rows = self._rows(SEAL).select("value").collect()
        return sorted((decode(row["value"]) for row in rows), key=lambda each: each[0].number)

    def keep(
        self, held: DataFrame, journal: DataFrame, seals: Sequence[Seal], checkpoint: Checkpoint
    ) -> None:
        """Store all of it in one commit. `seals` are those from before and the new one.

        Raises ConflictError, with nothing stored, if another audit has stored one since `load`.
        """
        note = {"verified": _FORM, "border": asdict(checkpoint)}
        encoded = [{"kind": SEAL, "o": seal.number, "value": seal.encode()} for seal in seals]
        sealed = local_rows(self._session, pa.Table.from_pylist(encoded))
        rows = (
            held.select(sql.lit(HELD).alias("kind"), *COLUMNS)
            .unionByName(
                journal.withColumnRenamed("journal_offset", "o").withColumn(
                    "kind", sql.lit(JOURNAL)
                ),
                allowMissingColumns=True,
            )
            .unionByName(sealed, allowMissingColumns=True)
        )
        with self._only_writer():
            newest, _ = next(newest_commits(self._session, self.location), (None, None))
            if newest != self._loaded:
                raise ConflictError(
                    "Another audit of this flow has ended meanwhile. This one is not sealed."
                )
            (
                rows.coalesce(1)
                .write.format("delta")
                .mode("overwrite")
                .option("overwriteSchema", "true")
                .option("userMetadata", json.dumps(note, separators=(",", ":")))
                .save(self.location)
            )
            if seals[-1].number % _DELETE_EVERY == 0:
                DeltaTable.forPath(self._session, self.location).vacuum()

    def _rows(self, kind: str) -> DataFrame:
        if self._kept is None:
            self._kept = self._keep(self._session.read.format("delta").load(self.location))
        return self._kept.where(sql.col("kind") == kind)

    @contextmanager
    def _only_writer(self) -> Iterator[None]:
        files = HadoopFiles(self._session)
        if not files.is_local(self.location):
            yield
            return
        lock = files.lock(f"{self.location}.lock")
        if lock is None:
            raise ConflictError("Another audit of this flow is being sealed. Verify again later.")
        try:
            yield
        finally:
            lock.release()


def _checkpoint(fields: dict[str, Any]) -> Checkpoint:
    return Checkpoint(
        topic_id=fields["topic_id"],
        events=_by_partition(fields["events"]),
        control=_by_partition(fields["control"]),
        journal=_by_partition(fields["journal"]),
        outputs={
            topic: OutputCheckpoint(_by_partition(seen["settled"]), _by_partition(seen["end"]))
            for topic, seen in fields["outputs"].items()
        },
        raw=_by_partition(fields["raw"]),
        raw_rows=fields["raw_rows"],
        totals=fields["totals"],
    )


def _by_partition(offsets: dict[str, int]) -> dict[int, int]:
    return {int(p): offset for p, offset in offsets.items()}
