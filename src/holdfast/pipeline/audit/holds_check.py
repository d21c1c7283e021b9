"""Checks that a key was released when its last hold had ended, and not before.

A key may have several holds, each with a name. From the names in the journal alone the audit
computes again which of them stood at each record, for each key, each prefix and the whole flow.
`commands` checks that these names are those of the commands.
"""

from base64 import b64decode
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sql

from holdfast.flows.journal import Outcome
from holdfast.pipeline.audit.reading import LogReading
from holdfast.pipeline.audit.verification import Fault

_OUTCOMES = (
    Outcome.HELD, Outcome.ADDED, Outcome.UPDATED, Outcome.RELEASED, Outcome.HOLD_RELEASED,
    Outcome.EXPIRED, Outcome.HOLD_EXPIRED, Outcome.PAUSED, Outcome.RESUMED,
)  # fmt: skip
_BEGINS = (Outcome.HELD, Outcome.PAUSED)
_ENDS = (Outcome.RELEASED, Outcome.EXPIRED, Outcome.RESUMED)
_HOLDS = ("hold", "hold-prefix", "pause")
"""Outcomes after which no hold may stand; after all others one must."""


def faults_of_holds(logs: LogReading, journal: DataFrame) -> DataFrame:
    """Journal records of keys released although a hold stood, or held although none did."""
    records = sql.sort_array(
        sql.collect_list(
            sql.struct("journal_offset", "outcome", "command", "name", "ended", "others", "prefix")
        )
    )
    grouped = (
        journal.where(sql.col("outcome").isin(*_OUTCOMES))
        # Records without a key are about a prefix, or about the whole flow.
        .groupBy("p", "key", sql.when(sql.col("key").isNull(), sql.col("prefix")).alias("scope"))
        .agg(records.alias("records"))
        .select("p", "records")
    )
    return logs.compute(grouped, _find, "p INT, o LONG, detail STRING").select(
        sql.lit(Fault.CUT_SHORT).alias("fault"), sql.lit("journal").alias("log"), "p", "o", "detail"
    )


def _find(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        found = [
            {"p": row["p"], "o": offset, "detail": detail}
            for row in batch.to_pylist()
            for offset, detail in contradictions(row["records"])
        ]
        yield pa.RecordBatch.from_pylist(found, _FOUND)


_FOUND = pa.schema([("p", pa.int32()), ("o", pa.int64()), ("detail", pa.string())])


def contradictions(records: Iterable[Any]) -> Iterator[tuple[int, str]]:
    """Journal offsets of the records of one key that do not agree with its holds, each with the
    reason. The records are in the order of the journal."""
    standing: set[tuple[str, bytes]] = set()
    for record in records:
        outcome, prefix = record["outcome"], bytes(record["prefix"] or b"")
        name = record["name"] or "", prefix
        if outcome in _BEGINS:
            standing = {name}
        elif outcome in (Outcome.ADDED, Outcome.UPDATED) and record["command"] in _HOLDS:
            standing.add(name)
        elif outcome in (Outcome.EXPIRED, Outcome.HOLD_EXPIRED):
            standing.discard(name)
        elif outcome in (Outcome.RELEASED, Outcome.HOLD_RELEASED, Outcome.RESUMED):
            # A journal from before holds had names: its release ended the hold without a name.
            standing -= {(ended, prefix) for ended in record["ended"] or ("",)}
        else:
            continue  # a new pace of a draining key
        if outcome in _BEGINS:
            # A partition that found events of a held key begins with all its holds.
            standing.update(map(_name_of, record["others"] or ()))
        if outcome in _ENDS and standing:
            names = ", ".join(sorted(name or "the hold without a name" for name, _ in standing))
            yield record["journal_offset"], f"{outcome} while held by {names}"
        elif outcome not in _ENDS and not standing:
            yield record["journal_offset"], f"{outcome}, and no hold stands"


def _name_of(hold: Any) -> tuple[str, bytes]:
    prefix = b64decode(hold["prefix_base64"] or "") or (hold["prefix"] or "").encode()
    return hold["name"] or "", prefix
