"""Varints a column at a time, against those of the plain codec."""

import random
from itertools import pairwise

import numpy as np
import pytest

from holdfast.kafka.varints import Grid, read_varints, varint_sizes
from holdfast.wire.records.compression import UndecodableRecords
from holdfast.wire.records.record import write_varint

EDGES = sorted(
    {
        sign * (1 << bits) + more
        for bits in range(63)
        for sign in (1, -1)
        for more in (-1, 0, 1)
    }
    | {2**63 - 1, -(2**63)}
)  # fmt: skip


def plain(values: list[int]) -> tuple[bytes, list[int]]:
    """All of them, one behind the other, and where each begins."""
    output, starts = bytearray(), []
    for value in values:
        starts.append(len(output))
        write_varint(output, value)
    return bytes(output), starts


def columns() -> list[list[int]]:
    seed = random.randrange(2**32)
    print("seed", seed)
    chance = random.Random(seed)
    mixed = [chance.randrange(-(1 << bits), 1 << bits) for bits in range(64) for _ in range(5)]
    chance.shuffle(mixed)
    # One alone, all of one byte, all of more, and some of each: these go different ways.
    return [EDGES, mixed, [0], [-64, 63], [64, -65, 8191], [0, 64], [2**63 - 1], []]


def test_numbers_of_every_magnitude_are_read() -> None:
    for values in columns():
        data, starts = plain(values)
        raw = np.frombuffer(data + b"\xff", np.uint8)
        found, after = read_varints(raw, np.array(starts, np.int64))
        assert found.tolist() == values
        assert after.tolist() == [*starts[1:], *([len(data)] if values else [])]


def test_numbers_of_every_magnitude_are_written() -> None:
    for values in columns():
        data, starts = plain(values)
        grid = Grid(len(values))
        grid.varint(np.array(values, np.int64))
        written, edges = grid.flatten()
        assert written.tobytes() == data
        assert edges.tolist() == [*starts, len(data)]


def test_the_bytes_that_a_number_will_take_are_known_before() -> None:
    for values in columns():
        data, starts = plain(values)
        sizes = varint_sizes(np.array(values, np.int64))
        assert sizes.tolist() == np.diff([*starts, len(data)]).tolist()


def test_packed_constants_are_repeated_between_varints() -> None:
    values = [0, 300, -1, 70_000]
    grid = Grid(len(values))
    grid.varint(np.array(values, np.int64))
    grid.constant(7)
    grid.varint(np.array(values[::-1], np.int64))
    written, edges = grid.flatten()
    pairs = zip(values, values[::-1], strict=True)
    expected = [plain([a])[0] + b"\x07" + plain([b])[0] for a, b in pairs]
    assert [written[a:b].tobytes() for a, b in pairwise(edges)] == expected


def test_a_number_that_does_not_end_is_an_error() -> None:
    with pytest.raises(UndecodableRecords):
        read_varints(np.full(20, 0xFF, np.uint8), np.array([0], np.int64))
    with pytest.raises(IndexError):
        read_varints(np.full(3, 0xFF, np.uint8), np.array([1], np.int64))
