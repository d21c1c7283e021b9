"""Events of one partition as columns: from Arrow to Python's own lists in bulk, not one by one."""

import json
from binascii import a2b_base64
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from holdfast.client.source import Header

COLUMNS = pa.schema(
    [
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.int64()),  # milliseconds
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("headers", pa.string()),  # as JSON, values in base64; null: there are none
        ("invalid", pa.string()),  # why the event violates the flow's schema; null: it does not
    ]
)

INVALID = "invalid"
TOO_LARGE = "too-large"


TOO_LARGE_WHY = (
    "The record is larger than the topic takes that it should have gone to. Its value is left out "
    "here; it stands at its source."
)


class Flaw(NamedTuple):
    """Why an event goes to the dead letters whatever its key's state is."""

    kind: str
    why: str


class KeySet:
    """Keys to be looked for in columns of keys."""

    __slots__ = ("_values",)

    def __init__(self, keys: Collection[bytes]) -> None:
        self._values = pa.array(list(keys), pa.binary())

    def find(self, keys: pa.Array) -> list[int]:
        """The indexes of those that are in the set."""
        if not len(self._values):
            return []
        found: list[int] = pc.indices_nonzero(pc.is_in(keys, value_set=self._values)).tolist()
        return found


@dataclass(frozen=True, slots=True)
class Events:
    """Events of one partition, in the order of their offsets."""

    offsets: list[int] = field(default_factory=list)
    timestamps: list[int] = field(default_factory=list)
    keys: list[bytes | None] = field(default_factory=list)
    values: list[bytes | None] = field(default_factory=list)
    headers: list[list[Header]] | None = None
    """None: no event has any."""
    flaws: dict[int, Flaw] = field(default_factory=dict)
    """By index."""
    interesting: list[int] = field(default_factory=list)
    """Indexes of the valid events that need a decision; all others pass."""

    def __len__(self) -> int:
        return len(self.offsets)

    def size(self, index: int) -> int:
        return len(self.keys[index] or b"") + len(self.values[index] or b"")

    @classmethod
    def of(cls, rows: pa.Table, interest: KeySet) -> "Events":
        """The events in these rows, which are of one partition and sorted by offset."""
        keys = _one_chunk(rows["key"])
        flaws = _flaws(_one_chunk(rows["invalid"]))
        return cls(
            offsets=_one_chunk(rows["offset"]).tolist(),
            timestamps=_timestamps(_one_chunk(rows["timestamp"])),
            keys=_objects(keys),
            values=_objects(_one_chunk(rows["value"])),
            headers=_headers(_one_chunk(rows["headers"])),
            flaws=flaws,
            interesting=[i for i in interest.find(keys) if i not in flaws],
        )

    def without(self, too_large: Collection[int]) -> "Events":
        """The same, but that the events at these offsets are too large to be written."""
        found = [i for i, offset in enumerate(self.offsets) if offset in too_large]
        if not found:
            return self
        flaws = {**self.flaws, **dict.fromkeys(found, Flaw(TOO_LARGE, TOO_LARGE_WHY))}
        interesting = [i for i in self.interesting if i not in flaws]
        return replace(self, flaws=flaws, interesting=interesting)


def rows_of(rows: pa.Table, partition: int, start: int, end: int) -> pa.Table:
    """Those rows of one partition that lie from `start` up to, and without, `end`."""
    mask = pc.and_(
        pc.equal(rows["partition"], partition),
        pc.and_(pc.greater_equal(rows["offset"], start), pc.less(rows["offset"], end)),
    )
    return rows.filter(mask)


def rows_from(rows: pa.Table, start: int) -> pa.Table:
    """The rows of one partition from `start` on; they are sorted, so nothing is copied."""
    if not rows.num_rows or rows["offset"][0].as_py() >= start:
        return rows
    return rows.slice(int(rows["offset"].to_numpy().searchsorted(start)))


def _one_chunk(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _objects(column: pa.Array) -> list[bytes | None]:
    # `tolist` makes a scalar of each element on the way: ten times slower.
    values: list[bytes | None] = column.to_numpy(zero_copy_only=False).tolist()
    return values


def _flaws(column: pa.Array) -> dict[int, Flaw]:
    if column.null_count == len(column):
        return {}
    indexes = pc.indices_nonzero(column.is_valid())
    reasons = column.take(indexes).tolist()
    return {i: Flaw(INVALID, why) for i, why in zip(indexes.tolist(), reasons, strict=True)}


def _timestamps(column: pa.Array) -> list[int]:
    times: list[int] = column.tolist()
    # librdkafka takes 0 for "now"; the next millisecond is as near as it lets us come.
    return [time or 1 for time in times] if 0 in times else times


def _headers(column: pa.Array) -> list[list[Header]] | None:
    if column.null_count == len(column):
        return None
    texts = pc.fill_null(column, "[]").to_numpy(zero_copy_only=False)
    return [
        [(pair["key"], a2b_base64(pair["value"]) if "value" in pair else None) for pair in pairs]
        for pairs in json.loads(f"[{','.join(texts)}]")  # one text, read by one call
    ]
