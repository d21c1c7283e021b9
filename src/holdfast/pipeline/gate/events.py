"""Events of one partition as columns: from Arrow to Python's own lists in bulk, not one by one."""

import json
from binascii import a2b_base64
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from holdfast.client.source import SOURCE, Header
from holdfast.kafka.record_size import wire_size
from holdfast.pipeline.gate.sizes import FRAMING
from holdfast.wire.records.record import pack_headers, unpack_headers

_WRITTEN = ("offset", "timestamp", "key", "value", "headers")

COLUMNS = pa.schema(
    [
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.int64()),  # milliseconds
        ("key", pa.binary()),
        ("value", pa.binary()),
        # As JSON, values in base64, as Spark gives them; or, in binary, as they stand in a record.
        # Null: there are none.
        ("headers", pa.string()),
        ("invalid", pa.string()),  # why the event violates the flow's schema; null: it does not
    ]
)

_NONE = pa.RecordBatch.from_pylist([], pa.schema([COLUMNS.field(name) for name in _WRITTEN]))

_FEW_KEYS = 20_000
_LONGEST_PATTERN = 64
"""Bytes of a prefix that are looked for at once. A hundred long ones would make a slow pattern; a
key that only begins like one of them passes later."""

INVALID = "invalid"
TOO_LARGE = "too-large"


TOO_LARGE_WHY = (
    "The record is larger than the topic takes that it should have gone to. Its value is left out "
    "here, and so are its headers and its key if even they are too large. All of it stands at its "
    "source."
)
"""The message of a dead letter of the kind `TOO_LARGE`."""


class Flaw(NamedTuple):
    """Why an event goes to the dead letters whatever its key's state is."""

    kind: str
    why: str


class KeySet:
    """Keys to be looked for in columns of keys."""

    __slots__ = ("_few", "_keys", "_prefixes")

    def __init__(self, keys: Collection[bytes], prefixes: Collection[bytes] = ()) -> None:
        self._keys = keys
        self._few = pa.array(list(keys), pa.binary()) if len(keys) <= _FEW_KEYS else None
        self._prefixes = _pattern(prefixes)

    def find(self, keys: pa.Array) -> list[int]:
        """The indexes of those that are in the set or have one of its prefixes; of very long
        prefixes the beginning is enough."""
        if not self._keys and self._prefixes is None:
            return []
        known = self._known(keys)
        if self._prefixes is not None:
            known = pc.or_(known, self._with_prefix(keys))
        found: list[int] = pc.indices_nonzero(known).tolist()
        return found

    def _with_prefix(self, keys: pa.Array) -> pa.Array:
        return pc.fill_null(pc.match_substring_regex(keys, self._prefixes), False)

    def _known(self, keys: pa.Array) -> pa.Array:
        if self._few is not None:
            return pc.is_in(keys, value_set=self._few)
        # Of a million keys Arrow would make a table in each call. Here each key is looked up once.
        encoded = keys.dictionary_encode()
        known = [key in self._keys for key in _list(encoded.dictionary)]
        return pa.array(known, pa.bool_()).take(encoded.indices)


def _pattern(prefixes: Collection[bytes]) -> str | None:
    """A regular expression for keys with one of the prefixes: one pass over the keys, however many
    there are."""
    if not prefixes:
        return None
    heads = sorted({prefix[:_LONGEST_PATTERN] for prefix in prefixes})
    return r"(?s)\A(?:" + "|".join("".join(f"\\x{b:02x}" for b in head) for head in heads) + ")"


@dataclass(frozen=True)
class Events:
    """Events of one partition, in the order of their offsets: as columns, and as lists for code
    that goes through them one by one."""

    rows: pa.RecordBatch = field(default_factory=lambda: _NONE)
    flaws: Mapping[int, Flaw] = field(default_factory=dict)
    """By index."""
    interesting: Sequence[int] = ()
    """Indexes of the valid events that need a decision; all others pass."""

    def __len__(self) -> int:
        count: int = self.rows.num_rows
        return count

    @classmethod
    def of(cls, rows: pa.Table, interest: KeySet) -> "Events":
        """The events in these rows, which are of one partition and sorted by offset."""
        columns = {name: _one_chunk(rows[name]) for name in _WRITTEN}
        flaws = _flaws(_one_chunk(rows["invalid"])) if "invalid" in rows.column_names else {}
        found = interest.find(columns["key"])
        return cls(
            pa.RecordBatch.from_pydict(columns),
            flaws,
            [i for i in found if i not in flaws] if flaws else found,
        )

    def without(self, too_large: Collection[int]) -> "Events":
        """These events, with those at the given indexes marked as too large to be written."""
        flaws = {**self.flaws, **dict.fromkeys(too_large, Flaw(TOO_LARGE, TOO_LARGE_WHY))}
        return Events(self.rows, flaws, [i for i in self.interesting if i not in flaws])

    @property
    def has_oversized(self) -> bool:
        return any(map(self.is_oversized, self.flaws))

    def is_oversized(self, index: int) -> bool:
        """Returns True if the event was marked as too large to be written."""
        return index in self.flaws and self.flaws[index].kind == TOO_LARGE

    def larger_than(self, limit: int, partition: int) -> list[tuple[int, int]]:
        """Index and size of each event that is larger, with the header that the gate adds, than a
        topic with this limit takes."""
        found = pc.indices_nonzero(pc.greater(self.weights, limit)).tolist()
        sizes = ((i, self.wire_size(i, partition)) for i in found)
        return [(i, size) for i, size in sizes if size > limit]

    @cached_property
    def weights(self) -> pa.Array:
        """No less than each event takes in a batch of its own. (Headers as text are longer than
        as they stand in a record.)"""
        rows = self.rows
        bodies = pc.add(_sizes(rows["key"]), _sizes(rows["value"]))
        # In 64 bits: a key and a value may have two gigabytes between them.
        return pc.add(pc.add(bodies.cast(pa.int64()), _sizes(rows["headers"])), FRAMING)

    def wire_size(self, index: int, partition: int) -> int:
        """The exact size of a batch that has this event alone, with the header that is added."""
        one = Events(self.rows.slice(index, 1))
        own = one.headers[0] if one.headers else []
        source = (SOURCE, b"%d:%d" % (partition, one.offsets[0]))
        return wire_size(one.keys[0], one.values[0], [*own, source])

    def at(
        self, indexes: Sequence[int]
    ) -> tuple[list[bytes | None], list[int], list[int], list[int]]:
        """Keys, offsets, sizes and timestamps of some."""
        some = Events(self.rows.take(pa.array(indexes, pa.int32())))
        sizes = pc.add(_sizes(some.rows["key"]), _sizes(some.rows["value"])).tolist()
        return some.keys, some.offsets, sizes, some.timestamps

    @cached_property
    def offsets(self) -> list[int]:
        return _list(self.rows["offset"])

    @cached_property
    def timestamps(self) -> list[int]:
        return _list(self.times)

    @cached_property
    def times(self) -> pa.Array:
        """librdkafka takes 0 for "now"; the next millisecond is as near as it lets us come."""
        times = self.rows["timestamp"]
        zero = pc.equal(times, 0)
        return pc.if_else(zero, 1, times) if pc.any(zero).as_py() else times

    @cached_property
    def keys(self) -> list[bytes | None]:
        return _list(self.rows["key"])

    @cached_property
    def values(self) -> list[bytes | None]:
        return _list(self.rows["value"])

    @cached_property
    def headers(self) -> list[list[Header]] | None:
        """None: no event has any."""
        column = self.rows["headers"]
        if column.null_count == len(column):
            return None
        return _from_text(column) if column.type == pa.string() else _from_bytes(column)

    @cached_property
    def packed_headers(self) -> pa.Array:
        """As they stand in a record: their number, and they; null: there are none."""
        column = self.rows["headers"]
        if column.type == pa.binary() or self.headers is None:
            return column.cast(pa.binary())
        return pa.array(
            [pack_headers(_encoded(each)) if each else None for each in self.headers], pa.binary()
        )


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


def _list(column: pa.Array) -> list[Any]:
    # `tolist` makes a scalar of each element on the way: ten times slower.
    values: list[Any] = column.to_numpy(zero_copy_only=False).tolist()
    return values


def _sizes(column: pa.Array) -> pa.Array:
    return pc.fill_null(pc.binary_length(column), 0)


def _flaws(column: pa.Array) -> dict[int, Flaw]:
    if column.null_count == len(column):
        return {}
    indexes = pc.indices_nonzero(column.is_valid())
    reasons = column.take(indexes).tolist()
    return {i: Flaw(INVALID, why) for i, why in zip(indexes.tolist(), reasons, strict=True)}


def _from_text(column: pa.Array) -> list[list[Header]]:
    texts = pc.fill_null(column, "[]").to_numpy(zero_copy_only=False)
    return [
        [(pair["key"], a2b_base64(pair["value"]) if "value" in pair else None) for pair in pairs]
        for pairs in json.loads(f"[{','.join(texts)}]")  # one text, read by one call
    ]


def _from_bytes(column: pa.Array) -> list[list[Header]]:
    return [
        [] if each is None else [(_name(name), value) for name, value in unpack_headers(each)]
        for each in _list(column)
    ]


def _name(name: bytes) -> str:
    """Names are UTF-8; one that is not is shown, since librdkafka could not send it."""
    return name.decode(errors="replace")


def _encoded(headers: list[Header]) -> list[tuple[bytes, bytes | None]]:
    return [
        (name.encode(), value.encode() if isinstance(value, str) else value)
        for name, value in headers
    ]
