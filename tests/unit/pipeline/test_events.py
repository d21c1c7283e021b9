"""Columns of events, from Arrow."""

from typing import Any

import pyarrow as pa
import pytest

from holdfast.pipeline.events import COLUMNS, INVALID, TOO_LARGE, Events, KeySet, rows_from, rows_of


def rows(*events: dict[str, Any]) -> pa.Table:
    empty = {"partition": 0, "timestamp": 5, "key": None, "value": None, "headers": None,
             "invalid": None}  # fmt: skip
    return pa.Table.from_pylist(
        [{**empty, "offset": i, **e} for i, e in enumerate(events)], COLUMNS
    )


def test_bytes_and_nulls_are_kept_as_they_are() -> None:
    events = Events.of(
        rows({"key": b"\x00\xff", "value": b""}, {"key": b"", "value": None}, {}), KeySet([])
    )
    assert events.keys == [b"\x00\xff", b"", None]
    assert events.values == [b"", None, None]
    assert events.offsets == [0, 1, 2]
    assert events.at([0, 1, 2])[2] == [2, 0, 0]


def test_headers_keep_their_order_repeats_and_nulls() -> None:
    three = '[{"key":"a","value":"MQ=="},{"key":"a"},{"key":"\\"ü,","value":""}]'  # Spark's to_json
    table = rows({"headers": three}, {}, {}, {"headers": '[{"key":"a","value":"Af8="}]'})
    expected = [[("a", b"1"), ("a", None), ('"ü,', b"")], [], [], [("a", b"\x01\xff")]]
    assert Events.of(table, KeySet([])).headers == expected
    assert Events.of(table.slice(3), KeySet([])).headers == expected[3:]
    assert Events.of(table.slice(1, 2), KeySet([])).headers is None


def test_only_valid_events_of_wanted_keys_need_a_decision() -> None:
    table = rows({"key": b"a"}, {"key": b"b"}, {"key": b"a", "invalid": "why"}, {})
    events = Events.of(table, KeySet([b"a", b"c"]))
    assert events.interesting == [0]
    assert events.flaws == {2: (INVALID, "why")}


def test_what_is_too_large_is_decided_no_more() -> None:
    table = rows({"key": b"a"}, {"key": b"a"}, {"key": b"b"})
    events = Events.of(table, KeySet([b"a"]))
    smaller = events.without({1, 77})
    assert smaller.interesting == [0]
    assert smaller.flaws[1].kind == TOO_LARGE
    assert events.without({77}) is events


def test_a_timestamp_of_zero_is_not_taken_for_now() -> None:
    events = Events.of(rows({"timestamp": 0}, {"timestamp": -1}, {"timestamp": 7}), KeySet([]))
    assert events.timestamps == [1, -1, 7]


def test_rows_are_of_one_partition_and_range() -> None:
    table = rows({}, {"partition": 1}, {}, {}, {})
    assert rows_of(table, 0, 2, 4)["offset"].to_pylist() == [2, 3]
    assert rows_of(table, 1, 0, 9)["offset"].to_pylist() == [1]
    assert rows_of(table, 2, 0, 9).num_rows == 0


def test_rows_from_an_offset_on() -> None:
    table = rows({"offset": 3}, {"offset": 5}, {"offset": 9})
    assert rows_from(table, 2)["offset"].to_pylist() == [3, 5, 9]
    assert rows_from(table, 4)["offset"].to_pylist() == [5, 9]
    assert rows_from(table, 9)["offset"].to_pylist() == [9]
    assert rows_from(table, 10).num_rows == 0


@pytest.mark.parametrize("few", [0, 10], ids=["many", "few"])
def test_keys_are_found_however_many_are_looked_for(
    monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr("holdfast.pipeline.events._FEW_KEYS", few)
    column = pa.array([b"a", None, b"b", b"", b"a", b"c", None], pa.binary())
    assert KeySet([b"a", b"", b"z"]).find(column) == [0, 3, 4]
    assert KeySet([b"z"]).find(column) == []
    assert KeySet([b"c", b"b"]).find(column.slice(2, 4)) == [0, 3]
    assert KeySet([b"a"]).find(pa.array([], pa.binary())) == []
