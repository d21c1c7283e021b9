"""Keys are searched, sorted and paged without gap or repeat, whatever changes between pages."""

import random
from dataclasses import replace
from itertools import pairwise

import pytest

from holdfast.errors import InvalidArgumentError
from holdfast.flows.status import Entry, KeyState
from holdfast.views.keys import KeyQuery, KeyRow, KeySort, combine, page_of


def entry(key: bytes, state: KeyState = KeyState.HELD, **fields: object) -> Entry:
    given = {
        "command_id": "c", "command_offset": 1, "actor": "ana", "since": 10, "cut": 0,
        "held_from": 0, "drained_through": -1, **fields,
    }  # fmt: skip
    return Entry(key=key, state=state, **given)  # type: ignore[arg-type]


def some_rows(seed: int, count: int = 200) -> list[KeyRow]:
    chance = random.Random(seed)
    return [
        KeyRow(
            key=bytes(chance.randrange(256) for _ in range(chance.randrange(1, 6))) + b"%d" % n,
            state=chance.choice([KeyState.HELD, KeyState.DRAINING]),
            actor=chance.choice(["ana", "Bo", ""]),
            reason=chance.choice(["Fraud", "disputed", ""]),
            since=chance.randrange(5),
            expires_at=chance.choice([None, 5, 6]),
            events=chance.randrange(4),
            oldest=chance.choice([None, 1, 2]),
        )
        for n in range(count)
    ]


def all_pages(rows: list[KeyRow], query: KeyQuery) -> list[KeyRow]:
    found: list[KeyRow] = []
    cursor = None
    while True:
        page = page_of(rows, replace(query, cursor=cursor))
        found += page.rows
        assert page.total == len(page_of(rows, query).rows) or page.total >= len(page.rows)
        if page.cursor is None:
            return found
        cursor = page.cursor


@pytest.mark.parametrize("sort", KeySort)
@pytest.mark.parametrize("descending", [True, False])
def test_pages_have_every_row_once_in_one_order(sort: KeySort, descending: bool) -> None:
    seed = random.randrange(10**9)
    rows = some_rows(seed)
    query = KeyQuery(sort=sort, descending=descending, limit=7)
    paged = all_pages(rows, query)
    assert len(paged) == len(rows), f"seed {seed}"
    assert {row.key for row in paged} == {row.key for row in rows}, f"seed {seed}"
    whole = page_of(rows, KeyQuery(sort=sort, descending=descending, limit=500)).rows
    assert list(whole) == paged, f"seed {seed}"


@pytest.mark.parametrize("sort", KeySort)
@pytest.mark.parametrize("descending", [True, False])
def test_previous_pages_are_the_same_and_the_first_is_full(sort: KeySort, descending: bool) -> None:
    seed = random.randrange(10**9)
    rows = some_rows(seed, count=random.Random(seed).randrange(8, 60))
    query = KeyQuery(sort=sort, descending=descending, limit=7)
    pages = [page_of(rows, query)]
    while pages[-1].cursor is not None:
        pages.append(page_of(rows, replace(query, cursor=pages[-1].cursor)))
    assert pages[0].previous is None, f"seed {seed}"
    for before, page in pairwise(pages):
        assert page.previous is not None, f"seed {seed}"
        back = page_of(rows, replace(query, cursor=page.previous))
        assert back == before, f"seed {seed}"


def test_previous_page_tolerates_added_and_removed_rows() -> None:
    rows = [KeyRow(key=b"%03d" % n, since=n) for n in range(100)]
    query = KeyQuery(sort=KeySort.SINCE, descending=False, limit=10)
    second = page_of(rows, replace(query, cursor=page_of(rows, query).cursor))
    third = page_of(rows, replace(query, cursor=second.cursor))
    changed = [row for row in rows if row.since != 20]  # the row that the cursor names
    back = page_of([*changed, KeyRow(key=b"new", since=19)], replace(query, cursor=third.previous))
    assert [row.since for row in back.rows] == [*range(11, 20), 19]
    fewer = page_of(changed[15:], replace(query, cursor=third.previous))
    assert [row.since for row in fewer.rows] == [*range(15, 20), *range(21, 26)]
    assert fewer.previous is None


def test_page_after_the_last_row_has_no_previous_page() -> None:
    rows = [KeyRow(key=b"%d" % n, since=n) for n in range(4)]
    query = KeyQuery(sort=KeySort.SINCE, descending=False, limit=2)
    cursor = page_of(rows, query).cursor
    left = page_of(rows[:2], replace(query, cursor=cursor))
    assert (left.rows, left.cursor, left.previous) == ((), None, None)


def test_rows_that_come_and_go_between_pages_move_no_other_row() -> None:
    rows = [KeyRow(key=b"%03d" % n, since=n) for n in range(100)]
    query = KeyQuery(sort=KeySort.SINCE, descending=False, limit=10)
    first = page_of(rows, query)
    without = [*rows[5:], KeyRow(key=b"new", since=0)]
    second = page_of(without, replace(query, cursor=first.cursor))
    assert [row.since for row in second.rows] == list(range(10, 20))


def test_rows_without_the_value_come_last_in_either_direction() -> None:
    rows = [KeyRow(key=b"never"), KeyRow(key=b"soon", expires_at=1)]
    for descending in (True, False):
        found = page_of(rows, KeyQuery(sort=KeySort.EXPIRES, descending=descending)).rows
        assert [row.key for row in found] == [b"soon", b"never"]


@pytest.mark.parametrize(
    ("search", "found"), [("CUSTOMER", 1), ("fraud", 1), ("Ana", 1), ("nobody", 0), ("", 2)]
)
def test_search_looks_at_key_reason_and_actor_in_any_case(search: str, found: int) -> None:
    rows = [
        KeyRow(key=b"customer-7", reason="Fraud check", actor="ana"),
        KeyRow(key=bytes([255, 254])),
    ]
    assert page_of(rows, KeyQuery(search=search)).total == found


@pytest.mark.parametrize("cursor", ["", "x", "e30", "bnVsbA", "W10", "🦊", "A" * 999])
def test_invalid_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidArgumentError, match="cursor"):
        page_of([], KeyQuery(cursor=cursor))


def test_cursor_of_another_sorting_is_refused() -> None:
    rows = [KeyRow(key=b"a", since=1), KeyRow(key=b"b", since=2)]
    cursor = page_of(rows, KeyQuery(sort=KeySort.SINCE, limit=1)).cursor
    with pytest.raises(InvalidArgumentError, match="sorting"):
        page_of(rows, KeyQuery(sort=KeySort.EVENTS, cursor=cursor))


def test_key_is_held_as_long_as_one_partition_holds_it() -> None:
    row = combine(
        b"k",
        {
            0: entry(b"k", KeyState.DRAINING, events=2, bytes=5, oldest=9, command_offset=7),
            1: entry(b"k", events=3, bytes=1, oldest=4, reason="why", foreign=True),
        },
        ["release"],
    )
    assert (row.state, row.events, row.bytes, row.oldest) == (KeyState.HELD, 5, 6, 4)
    assert (row.reason, row.partitions, row.foreign, row.pending) == (
        "why", (0, 1), True, ("release",),
    )  # fmt: skip


def test_key_without_entries_is_active() -> None:
    assert combine(b"k", {}).state is KeyState.ACTIVE
