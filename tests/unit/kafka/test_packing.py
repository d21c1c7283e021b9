"""Rows packed a column at a time, against the plain codec."""

import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from holdfast.kafka.packing import (
    Packed,
    Rows,
    header,
    header_column,
    pack,
    pack_each,
)
from holdfast.wire.records.record import Record, decode_records, pack_headers, unpack_headers

SOURCE = b"holdfast-source"
PARTITION = 17
COUNTS = [0, 0, 1, 2, 61, 62, 63, 64, 126, 127, 128, 200]
"""Of headers: with one more, some take another byte."""


@pytest.fixture(params=range(12))
def chance(request: pytest.FixtureRequest) -> random.Random:
    seed = random.randrange(2**32) + request.param
    print("seed", seed)
    return random.Random(seed)


def some_bytes(chance: random.Random) -> bytes | None:
    size = chance.choice([None, 0, 1, 5, 62, 63, 64, 127, 128, 200, 9000])
    return None if size is None else chance.randbytes(size)


def some_records(chance: random.Random, count: int) -> list[Record]:
    when = chance.choice([0, 1_700_000_000_000])
    counts = chance.choice([[0], COUNTS])  # none at all goes a way of its own
    return [
        Record(
            chance.randrange(10 ** chance.randrange(1, 19)),
            when + chance.choice([0, -70, 64, 9_000, -(2**40), 2**61, -(2**61)]),
            some_bytes(chance),
            some_bytes(chance),
            tuple(
                (b"n%d" % i, chance.choice([None, b"", b"v"])) for i in range(chance.choice(counts))
            ),
        )
        for _ in range(count)
    ]


def column(chance: random.Random, values: list[Any], kind: pa.DataType) -> pa.Array:
    """An array of these, which may begin within its buffers."""
    before, after = (values[: chance.randrange(3)] for _ in range(2))
    return pa.array([*before, *values, *after], kind).slice(len(before), len(values))


def rows_of(chance: random.Random, records: list[Record]) -> Rows:
    headers = [pack_headers(r.headers) if r.headers else None for r in records]
    offsets = column(chance, [r.offset for r in records], pa.int64())
    return Rows(
        np.array([r.timestamp for r in records], np.int64),
        column(chance, [r.key for r in records], pa.binary()),
        column(chance, [r.value for r in records], pa.binary()),
        column(chance, headers, pa.binary()),
        header_column(SOURCE, b"%d:" % PARTITION, offsets),
    )


def with_source(record: Record) -> Record:
    return record._replace(
        headers=(*record.headers, (SOURCE, b"%d:%d" % (PARTITION, record.offset)))
    )


def unpacked(batches: list[Packed]) -> list[Record]:
    """All records; their offsets are those within their batch."""
    return [
        record
        for packed in batches
        for record in decode_records(
            packed.records, count=packed.count, compression=0, base_offset=0,
            base_timestamp=packed.first_timestamp, append_time=None,
        )
    ]  # fmt: skip


def without_offset(records: list[Record]) -> list[Record]:
    return [record._replace(offset=-1) for record in records]


def test_rows_come_back_from_their_batches(chance: random.Random) -> None:
    records = some_records(chance, chance.randrange(1, 40))
    batch_bytes = chance.choice([1, 300, 5_000, 10**6])
    batches = list(pack(rows_of(chance, records), batch_bytes=batch_bytes))
    expected = [with_source(record) for record in records]
    assert without_offset(unpacked(batches)) == without_offset(expected)
    for packed in batches:
        inside = unpacked([packed])
        assert [record.offset for record in inside] == list(range(packed.count))
        assert packed.first_timestamp == inside[0].timestamp
        assert packed.last_timestamp == max(record.timestamp for record in inside)
        assert len(packed.records) <= batch_bytes or packed.count == 1


def test_records_packed_one_by_one_are_unpacked_unchanged(chance: random.Random) -> None:
    records = some_records(chance, chance.randrange(1, 40))
    for batch_bytes in (1, 5_000, 10**6):
        batches = list(pack_each(records, batch_bytes=batch_bytes))
        assert without_offset(unpacked(batches)) == without_offset(records)
        for packed in batches:
            assert packed.last_timestamp == max(r.timestamp for r in unpacked([packed]))
            assert len(packed.records) <= batch_bytes or packed.count == 1


def test_batches_are_filled_to_their_limit() -> None:
    records = [Record(i, 5, b"k", b"v" * 68, ()) for i in range(100)]
    chance = random.Random(1)
    counts = [p.count for p in pack(rows_of(chance, records), batch_bytes=1_300)]
    assert sum(counts) == 100
    assert min(counts[:-1]) >= 8


def test_one_record_larger_than_a_batch_goes_alone_among_others() -> None:
    sizes = [10, 10, 50_000, 10, 10]
    records = [Record(i, 5, None, b"v" * size, ()) for i, size in enumerate(sizes)]
    batches = list(pack(rows_of(random.Random(1), records), batch_bytes=1_000))
    assert [packed.count for packed in batches] == [2, 1, 2]


def test_no_rows_yield_no_batch() -> None:
    nothing = pa.array([], pa.binary())
    rows = Rows(np.zeros(0, np.int64), nothing, nothing, nothing, nothing)
    assert list(pack(rows, batch_bytes=100)) == []
    assert list(pack_each([], batch_bytes=100)) == []


def test_some_rows_are_taken_with_all_that_is_theirs(chance: random.Random) -> None:
    records = some_records(chance, 30)
    wanted = sorted(chance.sample(range(30), 7))
    rows = rows_of(chance, records).take(np.array(wanted))
    found = unpacked(list(pack(rows, batch_bytes=10**6)))
    assert without_offset(found) == without_offset([with_source(records[i]) for i in wanted])


def test_rows_may_be_given_a_header_more_than_others(chance: random.Random) -> None:
    records = some_records(chance, 30)
    rows = rows_of(chance, records)
    for choice in ([0], [2], [0, 1, 70]):
        counts = [chance.choice(choice) for _ in records]
        more = [header(b"more", b"m") * count for count in counts]
        given = Rows(
            rows.timestamps, rows.keys, rows.values, rows.headers, pa.array(more, pa.binary()),
            counts[0] if len(choice) == 1 else np.array(counts),
        )  # fmt: skip
        wanted = np.array(sorted(chance.sample(range(30), 20)))
        found = unpacked(list(pack(given.take(wanted), batch_bytes=10**6)))
        expected = [
            records[i]._replace(headers=records[i].headers + ((b"more", b"m"),) * counts[i])
            for i in wanted.tolist()
        ]
        assert without_offset(found) == without_offset(expected)


@pytest.mark.parametrize("size", [0, 1, 63, 64, 200])
def test_packed_header_equals_that_of_a_record(size: int) -> None:
    name, numbers = b"n" * size, [0, 9, 10, 12345, 10**18, 2**63 - 1]
    for prefix in (b"", b"9:", b"p" * 70):
        made = header_column(name, prefix, pa.array(numbers)).to_pylist()
        for found, number in zip(made, numbers, strict=True):
            value = prefix + b"%d" % number
            assert unpack_headers(b"\x02" + found) == ((name, value),)
            assert found == header(name, value)
