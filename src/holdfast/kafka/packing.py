"""Columns as record batches: the records of many batches by a few passes over whole columns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from holdfast.kafka.columns import (
    Part,
    data_of,
    edges_of,
    grid_column,
    joined,
    lengths,
    scalar,
    slices,
)
from holdfast.kafka.varints import Grid, Numbers, read_varints, varint_sizes
from holdfast.wire.records.record import Record, encode_record, write_varint

_RECORD_OVERHEAD = 32
"""More than the length, the deltas and the sizes of a record take."""


@dataclass(frozen=True, slots=True)
class Packed:
    """The records of one batch, and the values of its header."""

    records: memoryview
    count: int
    first_timestamp: int
    last_timestamp: int
    """The highest."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Records to be packed."""

    timestamps: Numbers
    keys: pa.Array
    values: pa.Array
    headers: pa.Array
    added: pa.Array
    """Packed headers to append to those of each record. See `header_column`."""
    added_counts: Numbers | int = 1
    """The number of appended headers."""

    def __len__(self) -> int:
        return len(self.timestamps)

    def take(self, indexes: Numbers) -> "Rows":
        wanted, counts = pa.array(indexes), self.added_counts
        return Rows(
            self.timestamps[indexes],
            self.keys.take(wanted),
            self.values.take(wanted),
            self.headers.take(wanted),
            self.added.take(wanted),
            counts if isinstance(counts, int) else counts[indexes],
        )


def header_column(name: bytes, prefix: bytes, numbers: pa.Array) -> pa.Array:
    """For each number the header `name: <prefix><number>`, as it stands in a record."""
    digits = numbers.cast(pa.string()).cast(pa.binary())
    sizes = _numbers(lengths(digits, 0) + len(prefix))
    return joined(scalar(_named(name)), sizes, scalar(prefix), digits)


def header(name: bytes, value: bytes) -> bytes:
    """One header as it stands in a record."""
    output = bytearray(_named(name))
    write_varint(output, len(value))
    return bytes(output + value)


def _named(name: bytes) -> bytes:
    output = bytearray()
    write_varint(output, len(name))
    return bytes(output + name)


def pack(rows: Rows, *, batch_bytes: int) -> Iterator[Packed]:
    """The rows in batches of at most this size. A larger record has a batch of its own."""
    if not len(rows):
        return
    sizes = most_bytes(rows)
    firsts = _cut(sizes, batch_bytes)
    counts = np.diff([*firsts, len(rows)])
    records = _records(rows, np.repeat(firsts, counts), np.repeat(rows.timestamps[firsts], counts))
    edges = np.frombuffer(records.buffers()[1], np.int32)[records.offset :]
    data = memoryview(records.buffers()[2])
    highest = np.maximum.reduceat(rows.timestamps, firsts)
    for first, count, last in zip(firsts, counts.tolist(), highest.tolist(), strict=True):
        yield Packed(
            data[edges[first] : edges[first + count]], count, int(rows.timestamps[first]), last
        )


def pack_each(records: Sequence[Record], *, batch_bytes: int) -> Iterator[Packed]:
    """Packs a few records, one by one."""
    waiting: list[Record] = []
    size = 0
    for record in records:
        more = _RECORD_OVERHEAD + sum(map(len, filter(None, (record.key, record.value))))
        more += sum(len(name) + len(value or b"") + 10 for name, value in record.headers)
        if waiting and size + more > batch_bytes:
            yield _packed(waiting)
            waiting, size = [], 0
        waiting.append(record)
        size += more
    if waiting:
        yield _packed(waiting)


def _packed(records: Sequence[Record]) -> Packed:
    output, first = bytearray(), records[0].timestamp
    for index, record in enumerate(records):
        encode_record(output, record._replace(offset=index), 0, first)
    highest = max(record.timestamp for record in records)
    return Packed(memoryview(output), len(records), first, highest)


def most_bytes(rows: Rows) -> Numbers:
    """No less than each record will take in its batch."""
    total = np.full(len(rows), _RECORD_OVERHEAD, np.int64)
    for column in (rows.keys, rows.values, rows.headers, rows.added):
        if column.null_count < len(column):
            total += lengths(column, 0)
    return total


def _cut(sizes: Numbers, batch_bytes: int) -> list[int]:
    """The index of each batch's first record."""
    ends = np.cumsum(sizes)
    firsts, first, before = [0], 0, 0
    while True:
        first = max(first + 1, int(np.searchsorted(ends, before + batch_bytes, side="right")))
        if first >= len(sizes):
            return firsts
        firsts.append(first)
        before = int(ends[first - 1])


def _records(rows: Rows, firsts: Numbers, base_timestamps: Numbers) -> pa.Array:
    """Each record as it stands in its batch."""
    indexes = np.arange(len(rows)) - firsts
    deltas = rows.timestamps - base_timestamps
    key_sizes, value_sizes = lengths(rows.keys, -1), lengths(rows.values, -1)
    counts, rests = _headers(rows)
    sizes = (
        1
        + varint_sizes(deltas)
        + varint_sizes(indexes)
        + varint_sizes(key_sizes)
        + np.maximum(key_sizes, 0)
        + varint_sizes(value_sizes)
        + np.maximum(value_sizes, 0)
        + lengths(rows.added, 0)
        + (lengths(counts, 0) if isinstance(counts, pa.Array) else 1)
        + (0 if rests is None else lengths(rests, 0))
    )
    front = Grid(len(rows))
    front.varint(sizes)
    front.constant(0)  # attributes: unused by the protocol
    front.varint(deltas)
    front.varint(indexes)
    front.varint(key_sizes)
    parts = [grid_column(front), rows.keys, _numbers(value_sizes), rows.values, counts]
    return joined(*parts, *([] if rests is None else [rests]), rows.added)


def _headers(rows: Rows) -> tuple[Part, pa.Array | None]:
    """How many headers each record will have, and those that it has."""
    headers, added = rows.headers, rows.added_counts
    counts = np.zeros(len(headers), np.int64)
    if headers.null_count == len(headers):
        if isinstance(added, int):
            return scalar(bytes([2 * added])), None
        return _numbers(counts + added), None
    edges = edges_of(headers).astype(np.int64)
    starts, ends = edges[:-1].copy(), edges[1:]
    some = np.flatnonzero(headers.is_valid().to_numpy(zero_copy_only=False))
    counts[some], starts[some] = read_varints(data_of(headers), starts[some])
    return _numbers(counts + added), slices(headers.buffers()[2], starts, ends - starts)


def _numbers(values: Numbers) -> pa.Array:
    grid = Grid(len(values))
    grid.varint(values)
    return grid_column(grid)
