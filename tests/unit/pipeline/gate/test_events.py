"""Columns of events, from Arrow."""

from typing import Any

import pyarrow as pa
import pytest

from holdfast.pipeline.gate.events import (
    COLUMNS,
    INVALID,
    TOO_LARGE,
    Events,
    KeySet,
    rows_from,
    rows_of,
)


def rows(*events: dict[str, Any]) -> pa.Table:
    empty = {"partition": 0, "timestamp": 5, "key": None, "value": None, "headers": None,
             "invalid": None}  # fmt: skip
    return pa.Table.from_pylist(
        [{**empty, "offset": i, **e} for i, e in enumerate(events)], COLUMNS
    )


def test_bytes_and_nulls_are_unchanged() -> None:
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


def test_only_valid_events_of_keys_of_interest_need_a_decision() -> None:
    table = rows({"key": b"a"}, {"key": b"b"}, {"key": b"a", "invalid": "why"}, {})
    events = Events.of(table, KeySet([b"a", b"c"]))
    assert events.interesting == [0]
    assert events.flaws == {2: (INVALID, "why")}


def test_events_of_keys_with_a_prefix_of_interest_need_a_decision() -> None:
    """Of a long prefix the beginning is enough: the step decides."""
    keys = (b"t/1", b"t", b"xt/1", b"\xff\n.", b"\xfe", b"a", b"l" * 64 + b"m")
    table = rows(*({"key": key} for key in keys), {})
    interest = KeySet([b"a"], [b"t/", b"\xff\n", b"l" * 100])
    assert Events.of(table, interest).interesting == [0, 3, 5, 6]
    many = KeySet([b"%d" % number for number in range(30_000)], [b"t/"])
    assert Events.of(table, many).interesting == [0]


def test_events_marked_as_too_large_are_not_decided_again() -> None:
    table = rows({"key": b"a"}, {"key": b"a"}, {"key": b"b"})
    events = Events.of(table, KeySet([b"a"]))
    smaller = events.without([1])
    assert smaller.interesting == [0]
    assert smaller.flaws[1].kind == TOO_LARGE
    assert smaller.has_oversized
    assert not events.has_oversized


def test_a_timestamp_of_zero_is_not_replaced_by_the_current_time() -> None:
    events = Events.of(rows({"timestamp": 0}, {"timestamp": -1}, {"timestamp": 7}), KeySet([]))
    assert events.timestamps == [1, -1, 7]


def test_rows_are_selected_by_partition_and_range() -> None:
    table = rows({}, {"partition": 1}, {}, {}, {})
    assert rows_of(table, 0, 2, 4)["offset"].to_pylist() == [2, 3]
    assert rows_of(table, 1, 0, 9)["offset"].to_pylist() == [1]
    assert rows_of(table, 2, 0, 9).num_rows == 0


def test_rows_are_selected_from_an_offset_on() -> None:
    table = rows({"offset": 3}, {"offset": 5}, {"offset": 9})
    assert rows_from(table, 2)["offset"].to_pylist() == [3, 5, 9]
    assert rows_from(table, 4)["offset"].to_pylist() == [5, 9]
    assert rows_from(table, 9)["offset"].to_pylist() == [9]
    assert rows_from(table, 10).num_rows == 0


@pytest.mark.parametrize("few", [0, 10], ids=["many", "few"])
def test_keys_are_found_in_sets_of_any_size(monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    monkeypatch.setattr("holdfast.pipeline.gate.events._FEW_KEYS", few)
    column = pa.array([b"a", None, b"b", b"", b"a", b"c", None], pa.binary())
    assert KeySet([b"a", b"", b"z"]).find(column) == [0, 3, 4]
    assert KeySet([b"z"]).find(column) == []
    assert KeySet([b"c", b"b"]).find(column.slice(2, 4)) == [0, 3]
    assert KeySet([b"a"]).find(pa.array([], pa.binary())) == []
