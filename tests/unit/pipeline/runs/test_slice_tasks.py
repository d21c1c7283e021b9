"""Rows of several slices, cut into transactions."""

import pyarrow as pa
import pytest

from holdfast.pipeline.runs.slice_tasks import slice_transactions
from holdfast.pipeline.spark import tasks


def batch(*rows: tuple[int, int]) -> pa.RecordBatch:
    numbers, offsets = zip(*rows, strict=True)
    return pa.record_batch({"slice": pa.array(numbers, pa.int32()), "offset": pa.array(offsets)})


def test_transaction_has_rows_of_one_slice_in_order() -> None:
    batches = [batch((0, 1), (0, 2), (2, 5)), batch((2, 6)), batch((3, 0), (7, 1), (7, 9))]
    found = [(number, rows["offset"].to_pylist()) for number, rows in slice_transactions(batches)]
    assert found == [(0, [1, 2]), (2, [5, 6]), (3, [0]), (7, [1, 9])]


def test_rows_of_a_transaction_stay_within_its_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tasks, "STEP_ROWS", 2)
    batches = [batch((0, n)) for n in range(5)]
    assert [rows.num_rows for _, rows in slice_transactions(batches)] == [2, 2, 1]


def test_empty_batch_yields_no_transaction() -> None:
    empty = batch((0, 0)).slice(0, 0)
    assert list(slice_transactions([empty])) == []
