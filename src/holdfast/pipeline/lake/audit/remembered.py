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


@dataclass(frozen=True, slots=True, kw_only=True)
class Border:
    """How far was verified, by partition: source offsets, and offsets of the logs."""

    topic_id: str
    """Of the events: offsets of a topic that was made anew mean others."""
    events: Mapping[int, int]
    control: Mapping[int, int]
    held: Mapping[int, int]
    processed: Mapping[int, int]
    dlq: Mapping[int, int]
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
    by_partition = {
        name: {int(p): int(offset) for p, offset in fields[name].items()}
        for name in ("events", "control", "held", "processed", "dlq", "raw")
    }
    return Border(
        topic_id=fields["topic_id"],
        raw_rows=fields["raw_rows"],
        totals=fields["totals"],
        **by_partition,
    )
