"""The keys of a flow that are not ACTIVE or have pending commands: searched, sorted, paged."""

import base64
import binascii
import heapq
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from operator import attrgetter
from typing import Any

from holdfast.errors import InvalidArgumentError
from holdfast.flows.holds import GUARD, StandingHold, held_until, reasons_of
from holdfast.flows.keys import key_from_json, key_to_json
from holdfast.flows.status import Entry, KeyState, KeyStatus

MAX_PAGE = 500


class KeySort(StrEnum):
    KEY = "key"
    STATE = "state"
    SINCE = "since"
    EXPIRES = "expires"
    EVENTS = "events"
    BYTES = "bytes"
    OLDEST = "oldest"
    ACTOR = "actor"
    REASON = "reason"
    ATTEMPTS = "attempts"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRow:
    """One key over all its partitions. ACTIVE only with a pending command, or if looked up."""

    key: bytes
    state: KeyState = KeyState.ACTIVE
    actor: str = ""
    reason: str = ""
    since: int | None = None
    expires_at: int | None = None
    """When its last hold expires; None if one of them never does."""
    pace: float | None = None
    events: int = 0
    bytes: int = 0
    oldest: int | None = None
    """The timestamp of the first event that is still held."""
    overflow: bool = False
    """At its limit."""
    foreign: bool = False
    """Some of its events came by another partitioner than murmur2."""
    partitions: tuple[int, ...] = ()
    holds: tuple[StandingHold, ...] = ()
    """The holds that stand, newest first."""
    attempts: int = 0
    """Of a guard: how often its first event has failed."""
    next_try: int | None = None
    """Of a guard: when its first event is tried again, unless another hold stands."""
    error: str = ""
    """Of a guard: the last failure of its first event, with the end of the traceback."""
    pending: tuple[str, ...] = ()
    """Names of the commands that were requested and are not effective yet, oldest first."""

    @property
    def text(self) -> str:
        """The key as people read it."""
        return self.key.decode(errors="replace")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyQuery:
    """Selects keys, their order, and the page."""

    states: frozenset[KeyState] = frozenset()
    """Keys in one of these states; all if empty."""
    pending: bool | None = None
    """Only those with (or without) commands that are not effective yet."""
    search: str = ""
    """Text that the key, the reason or the actor contains, whatever its case."""
    sort: KeySort = KeySort.SINCE
    descending: bool = True
    limit: int = 100
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class KeyPage:
    """A page of keys; `total` counts the matching keys of all pages."""

    rows: tuple[KeyRow, ...]
    total: int
    cursor: str | None
    """The cursor of the next page; None if this is the last."""
    previous: str | None
    """The cursor of the page before; None if this is the first."""


def combine(key: bytes, entries: Mapping[int, Entry], pending: Iterable[str] = ()) -> KeyRow:
    """The key's entries of all partitions as one row."""
    waiting = tuple(pending)
    if not entries:
        return KeyRow(key=key, pending=waiting)
    status = KeyStatus.of(key, entries)
    holds = status.holds
    # The newest command of that state is the one that people look for.
    newest = max(
        [entry for entry in entries.values() if entry.state is status.state],
        key=attrgetter("command_offset"),
    )
    return KeyRow(
        key=key,
        state=status.state,
        actor=newest.actor,
        reason=reasons_of(holds) or newest.reason,
        since=newest.since,
        expires_at=held_until(holds),
        pace=newest.pace,
        events=status.events,
        bytes=status.bytes,
        oldest=status.oldest,
        overflow=any(entry.overflow for entry in entries.values()),
        foreign=any(entry.foreign for entry in entries.values()),
        partitions=tuple(sorted(entries)),
        holds=holds,
        **_failure(entries.values(), holds),
        pending=waiting,
    )


def _failure(entries: Iterable[Entry], holds: Iterable[StandingHold]) -> dict[str, Any]:
    """What a guard knows of the event that has failed. A key is in one partition, as a rule."""
    failed = max(entries, key=attrgetter("attempts"))
    return {
        "attempts": failed.attempts,
        "next_try": next((hold.expires_at for hold in holds if hold.name == GUARD), None),
        "error": failed.error,
    }


def page_of(rows: Iterable[KeyRow], query: KeyQuery) -> KeyPage:
    """The rows that the query selects. InvalidArgumentError for an invalid cursor."""
    if not 1 <= query.limit <= MAX_PAGE:
        raise InvalidArgumentError(f"A page has 1 to {MAX_PAGE} keys, not {query.limit}.")
    matching = [row for row in rows if _matches(row, query)]
    if query.cursor is None:
        return _following(matching, matching, query)
    cursor = _read_cursor(query)
    beyond = _beyond(matching, query, cursor)
    if not cursor.backwards:
        return _following(matching, beyond, query)
    if len(beyond) <= query.limit:  # that is the beginning: its page is whole, too
        return _following(matching, matching, query)
    return _preceding(matching, beyond, query)


def _following(matching: list[KeyRow], rest: list[KeyRow], query: KeyQuery) -> KeyPage:
    """The first page of `rest`, the last part of the matching rows."""
    shown = _first(rest, query, query.limit)
    return KeyPage(
        tuple(shown),
        len(matching),
        cursor=_write_cursor(query, shown[-1]) if len(rest) > len(shown) else None,
        previous=_write_cursor(query, shown[0], backwards=True)
        if shown and len(rest) < len(matching)
        else None,
    )


def _preceding(matching: list[KeyRow], rest: list[KeyRow], query: KeyQuery) -> KeyPage:
    """The last page of `rest`, the first part of the matching rows, which has more rows."""
    shown = _last(rest, query, query.limit)
    return KeyPage(
        tuple(shown),
        len(matching),
        cursor=_write_cursor(query, shown[-1]) if len(rest) < len(matching) else None,
        previous=_write_cursor(query, shown[0], backwards=True),
    )


# The order: by value, and by key between equals; rows without the value come last, by key, in
# either direction. No pair is kept for each row: ten thousand of them, again and again, would set
# off full garbage collections, and those are the slow listings.


def _first(rows: list[KeyRow], query: KeyQuery, count: int) -> list[KeyRow]:
    valued, without = _apart(rows, query)
    pick = heapq.nlargest if query.descending else heapq.nsmallest
    page = pick(count, valued, key=_sort_key(query))
    return page + heapq.nsmallest(count - len(page), without, key=lambda row: row.key)


def _last(rows: list[KeyRow], query: KeyQuery, count: int) -> list[KeyRow]:
    valued, without = _apart(rows, query)
    pick = heapq.nsmallest if query.descending else heapq.nlargest
    page = heapq.nlargest(count, without, key=lambda row: row.key)
    return [*page, *pick(count - len(page), valued, key=_sort_key(query))][::-1]


def _beyond(rows: list[KeyRow], query: KeyQuery, cursor: "_Cursor") -> list[KeyRow]:
    """The rows after the cursor, or before it if it goes backwards."""
    valued, without = _apart(rows, query)
    sort_key, at = _sort_key(query), (cursor.value, cursor.key)
    if cursor.value is None:
        if cursor.backwards:
            return valued + [row for row in without if row.key < cursor.key]
        return [row for row in without if row.key > cursor.key]
    if cursor.backwards is query.descending:
        beyond = [row for row in valued if sort_key(row) > at]
    else:
        beyond = [row for row in valued if sort_key(row) < at]
    return beyond if cursor.backwards else beyond + without


def _apart(rows: list[KeyRow], query: KeyQuery) -> tuple[list[KeyRow], list[KeyRow]]:
    """Those that have the value that is sorted by, and those that have none."""
    value = _ORDERS[query.sort]
    return (
        [row for row in rows if value(row) is not None],
        [row for row in rows if value(row) is None],
    )


def _sort_key(query: KeyQuery) -> Callable[[KeyRow], tuple[Any, bytes]]:
    value = _ORDERS[query.sort]
    return lambda row: (value(row), row.key)


_ORDERS: dict[KeySort, Any] = {
    KeySort.KEY: lambda row: "",  # keys themselves decide between equals
    KeySort.STATE: lambda row: row.state.value,
    KeySort.SINCE: lambda row: row.since,
    KeySort.EXPIRES: lambda row: row.expires_at,
    KeySort.EVENTS: lambda row: row.events,
    KeySort.BYTES: lambda row: row.bytes,
    KeySort.OLDEST: lambda row: row.oldest,
    KeySort.ACTOR: lambda row: row.actor.casefold() or None,
    KeySort.REASON: lambda row: row.reason.casefold() or None,
    KeySort.ATTEMPTS: lambda row: row.attempts or None,
}


def _matches(row: KeyRow, query: KeyQuery) -> bool:
    if query.states and row.state not in query.states:
        return False
    if query.pending is not None and bool(row.pending) is not query.pending:
        return False
    if not query.search:
        return True
    text = query.search.casefold()
    return (
        text in row.text.casefold() or text in row.reason.casefold() or text in row.actor.casefold()
    )


@dataclass(frozen=True, slots=True)
class _Cursor:
    """A position between two rows: after the named row, or before it if it goes backwards."""

    value: Any
    key: bytes
    backwards: bool


def _write_cursor(query: KeyQuery, row: KeyRow, *, backwards: bool = False) -> str:
    fields = {"sort": query.sort, "value": _ORDERS[query.sort](row), **key_to_json(row.key)}
    if backwards:
        fields["backwards"] = True
    return base64.urlsafe_b64encode(json.dumps(fields).encode()).decode().rstrip("=")


def _read_cursor(query: KeyQuery) -> _Cursor:
    text = query.cursor or ""
    try:
        fields = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        key = key_from_json(fields)
        value = fields["value"]
        if fields["sort"] != query.sort or key is None:
            raise ValueError
        # A value of the wrong kind would fail in a comparison much later.
        expected = int if query.sort in _NUMBERS else str
        if value is not None and not isinstance(value, expected):
            raise ValueError
        return _Cursor(value, key, fields.get("backwards") is True)
    except (ValueError, KeyError, TypeError, AttributeError, binascii.Error, RecursionError):
        raise InvalidArgumentError(
            "This cursor cannot be used: take it from the page before, with the same sorting."
        ) from None


_NUMBERS = frozenset(
    {KeySort.SINCE, KeySort.EXPIRES, KeySort.EVENTS, KeySort.BYTES, KeySort.OLDEST}
)
