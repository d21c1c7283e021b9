"""The keys of a flow that are not simply ACTIVE: searched, sorted, and given out in pages."""

import base64
import binascii
import heapq
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from holdfast.errors import InvalidArgumentError
from holdfast.flows.keys import key_from_json, key_to_json
from holdfast.flows.status import Entry, KeyState

MAX_PAGE = 500


class KeySort(StrEnum):
    """What keys are sorted by."""

    KEY = "key"
    STATE = "state"
    SINCE = "since"
    EXPIRES = "expires"
    EVENTS = "events"
    BYTES = "bytes"
    OLDEST = "oldest"
    ACTOR = "actor"
    REASON = "reason"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRow:
    """One key over all its partitions. ACTIVE only where a command is pending, or it was asked
    for by name."""

    key: bytes
    state: KeyState = KeyState.ACTIVE
    actor: str = ""
    reason: str = ""
    since: int | None = None
    expires_at: int | None = None
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
    pending: tuple[str, ...] = ()
    """Names of the commands that were requested and are not effective yet, oldest first."""

    @property
    def text(self) -> str:
        """The key as people read it."""
        return self.key.decode(errors="replace")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyQuery:
    """Which keys, in which order, from where on."""

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
    """Keys in their order; `total` counts all that match, on this page or not."""

    rows: tuple[KeyRow, ...]
    total: int
    cursor: str | None
    """Where the next page begins; None if this is the last."""


def combine(key: bytes, entries: Mapping[int, Entry], pending: Iterable[str] = ()) -> KeyRow:
    """The key's entries of all partitions as one row."""
    waiting = tuple(pending)
    if not entries:
        return KeyRow(key=key, pending=waiting)
    held = [entry for entry in entries.values() if entry.state is KeyState.HELD]
    # What a person asked for last is what they look for: the newest command tells why.
    told = max(held or entries.values(), key=lambda entry: entry.command_offset)
    return KeyRow(
        key=key,
        state=KeyState.HELD if held else KeyState.DRAINING,
        actor=told.actor,
        reason=told.reason,
        since=told.since,
        expires_at=told.expires_at,
        pace=told.pace,
        events=sum(entry.events for entry in entries.values()),
        bytes=sum(entry.bytes for entry in entries.values()),
        oldest=min((e.oldest for e in entries.values() if e.oldest is not None), default=None),
        overflow=any(entry.overflow for entry in entries.values()),
        foreign=any(entry.foreign for entry in entries.values()),
        partitions=tuple(sorted(entries)),
        pending=waiting,
    )


def page_of(rows: Iterable[KeyRow], query: KeyQuery) -> KeyPage:
    """The rows that the query asks for. InvalidArgumentError for a cursor that is none."""
    if not 1 <= query.limit <= MAX_PAGE:
        raise InvalidArgumentError(f"A page has 1 to {MAX_PAGE} keys, not {query.limit}.")
    value = _ORDERS[query.sort]

    def place(row: KeyRow) -> tuple[Any, bytes]:
        return value(row), row.key

    # No pair is kept for each row: ten thousand of them, again and again, would set off full
    # garbage collections, and those are the slow listings.
    found = [row for row in rows if _matches(row, query)]
    # Rows without the value that is sorted by come last, in either direction.
    valued = [row for row in found if value(row) is not None]
    without = [row for row in found if value(row) is None]
    if query.cursor is not None:
        after = _read_cursor(query)
        if after[0] is None:
            valued, without = [], [row for row in without if row.key > after[1]]
        elif query.descending:
            valued = [row for row in valued if place(row) < after]
        else:
            valued = [row for row in valued if place(row) > after]
    pick = heapq.nlargest if query.descending else heapq.nsmallest
    page = pick(query.limit + 1, valued, key=place)
    page += heapq.nsmallest(query.limit + 1 - len(page), without, key=lambda row: row.key)
    shown = page[: query.limit]
    cursor = _write_cursor(query, shown[-1]) if len(page) > query.limit else None
    return KeyPage(tuple(shown), len(found), cursor)


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
}


def _matches(row: KeyRow, query: KeyQuery) -> bool:
    if query.states and row.state not in query.states:
        return False
    if query.pending is not None and bool(row.pending) is not query.pending:
        return False
    if not query.search:
        return True
    wanted = query.search.casefold()
    return (
        wanted in row.text.casefold()
        or wanted in row.reason.casefold()
        or wanted in row.actor.casefold()
    )


def _write_cursor(query: KeyQuery, last: KeyRow) -> str:
    fields = {"sort": query.sort, "value": _ORDERS[query.sort](last), **key_to_json(last.key)}
    return base64.urlsafe_b64encode(json.dumps(fields).encode()).decode().rstrip("=")


def _read_cursor(query: KeyQuery) -> tuple[Any, bytes]:
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
    except (ValueError, KeyError, TypeError, AttributeError, binascii.Error, RecursionError):
        raise InvalidArgumentError(
            "This cursor cannot be used: take it from the page before, with the same sorting."
        ) from None
    return value, key


_NUMBERS = frozenset(
    {KeySort.SINCE, KeySort.EXPIRES, KeySort.EVENTS, KeySort.BYTES, KeySort.OLDEST}
)
