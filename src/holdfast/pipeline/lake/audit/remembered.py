"""What was verified before, so that the next run begins there and misses nothing at the border.

A Delta table beside the flow's others. Its rows are the events that were still held; the commit
that wrote them says how far each log was looked at. Rows and bounds are one commit, so a run that
is killed leaves what the run before it left. What comes out later is either one of those rows, or
too much.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession

COLUMNS = {"p": "INT", "k": "LONG", "o": "LONG"}
_FORM = 1
_RECENT = 20


@dataclass(frozen=True, slots=True)
class Seen:
    """How far a log of what came out was looked at, by partition.

    A flow that runs writes records of later events before the log's end is read. They were not
    accounted for, so the next run begins where they may begin (`settled`), and leaves out what it
    finds before `end` of events that were.
    """

    settled: Mapping[int, int]
    end: Mapping[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Border:
    """How far was verified, by partition: source offsets, and offsets of the logs."""

    topic_id: str
    """Of the events: offsets of a topic that was made anew mean others."""
    events: Mapping[int, int]
    control: Mapping[int, int]
    outputs: Mapping[str, "Seen"]
    """By topic: held, processed, dlq."""
    raw: Mapping[int, int]
    """Source offsets below which the raw zone was complete."""
    raw_rows: int
    """How many rows it had below them."""
    totals: Mapping[str, int]
    """What was counted below the border."""


class Remembered:
    """The border of one flow."""

    def __init__(self, session: SparkSession, lake: str, flow: str) -> None:
        self._session = session
        self.location = f"{lake.rstrip('/')}/verified/{flow}"

    def border(self) -> Border | None:
        """The last one, or None if there is none that can be gone on from."""
        if not DeltaTable.isDeltaTable(self._session, self.location):
            return None
        table = DeltaTable.forPath(self._session, self.location)
        for row in table.history(_RECENT).select("userMetadata").collect():
            note = json.loads(row["userMetadata"] or "{}")
            if note.get("verified") == _FORM:
                return _border(note["border"])
        return None

    def still_held(self) -> DataFrame:
        """The events that were held at the border: partition, key, offset."""
        return self._session.read.format("delta").load(self.location)

    def keep(self, held: DataFrame, border: Border) -> None:
        """In place of what was kept before."""
        note = {"verified": _FORM, "border": asdict(border)}
        (
            held.select(*COLUMNS)
            .write.format("delta")
            .mode("overwrite")
            .option("userMetadata", json.dumps(note, separators=(",", ":")))
            .save(self.location)
        )


def _border(fields: dict[str, Any]) -> Border:
    return Border(
        topic_id=fields["topic_id"],
        events=_by_partition(fields["events"]),
        control=_by_partition(fields["control"]),
        outputs={
            topic: Seen(_by_partition(seen["settled"]), _by_partition(seen["end"]))
            for topic, seen in fields["outputs"].items()
        },
        raw=_by_partition(fields["raw"]),
        raw_rows=fields["raw_rows"],
        totals=fields["totals"],
    )


def _by_partition(offsets: dict[str, int]) -> dict[int, int]:
    return {int(p): offset for p, offset in offsets.items()}
