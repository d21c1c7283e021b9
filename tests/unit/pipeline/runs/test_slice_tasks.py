"""Portions: rows of several slices, cut into transactions."""

import pyarrow as pa
import pytest

from holdfast.pipeline.runs import slice_tasks
from holdfast.pipeline.runs.slice_tasks import portions


def batch(*rows: tuple[int, int]) -> pa.RecordBatch:
    numbers, offsets = zip(*rows, strict=True)
    return pa.record_batch({"slice": pa.array(numbers, pa.int32()), "offset": pa.array(offsets)})


def test_a_portion_is_of_one_slice_and_keeps_the_order() -> None:
    batches = [batch((0, 1), (0, 2), (2, 5)), batch((2, 6)), batch((3, 0), (7, 1), (7, 9))]
    found = [(number, rows["offset"].to_pylist()) for number, rows in portions(iter(batches))]
    assert found == [(0, [1, 2]), (2, [5, 6]), (3, [0]), (7, [1, 9])]


def test_a_portion_is_not_larger_than_a_transaction_should_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(slice_tasks, "STEP_ROWS", 2)
    batches = [batch((0, n)) for n in range(5)]
    assert [rows.num_rows for _, rows in portions(iter(batches))] == [2, 2, 1]


def test_no_rows_are_no_portion() -> None:
    empty = batch((0, 0)).slice(0, 0)
    assert list(portions(iter([empty]))) == []
