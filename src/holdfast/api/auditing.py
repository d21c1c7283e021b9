"""The audit all the way back: from the view as far as that goes, then from the logs."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from holdfast.access.roles import Actor
from holdfast.api.browsing import Browse, Seen, browse
from holdfast.api.matching import Filter
from holdfast.api.services import Services
from holdfast.client.connection import Connection
from holdfast.views.audit import (
    AuditPage,
    AuditQuery,
    AuditRow,
    effective,
    matches,
    read_cursor,
    requested,
    write_cursor,
)
from holdfast.views.flow_view import FlowView


async def audit_page(
    services: Services, view: FlowView, query: AuditQuery, actor: Actor
) -> AuditPage:
    """One page, newest first. What the view does not have any more is read from control log and
    journal; such a page may stop early, and its cursor then goes on from there."""
    page = view.audit(query)
    if not page.older:
        return page
    if len(page.rows) == query.limit:
        return replace(page, cursor=write_cursor(page.rows[-1]))
    rest = await asyncio.to_thread(
        _older, services.connection, view, query, query.limit - len(page.rows), actor
    )
    return replace(rest, rows=page.rows + rest.rows)


_Place = tuple[int, str, int, int]


@dataclass(frozen=True, slots=True)
class _Read:
    """Rows of one log, newest first; all that there are from `down_to` on."""

    rows: tuple[AuditRow, ...]
    down_to: _Place | None
    """None: all that there are."""


def _older(
    connection: Connection, view: FlowView, query: AuditQuery, limit: int, actor: Actor
) -> AuditPage:
    before: _Place = (view.audit_floor + 1, "control", 0, 0)
    if query.cursor is not None:
        before = min(before, read_cursor(query.cursor))
    partitions = tuple(range(view.definition.partitions))
    names = view.names
    reads = (
        _read(connection, names.control, (0,), query, before, limit, actor, _of_control),
        _read(connection, names.journal, partitions, query, before, limit, actor, _of_journal),
    )
    rows = sorted(
        (row for read in reads for row in read.rows), key=lambda row: row.place, reverse=True
    )
    # Below the place that one log was read down to, that log may have rows that come first.
    down_to = max((read.down_to for read in reads if read.down_to is not None), default=None)
    if down_to is not None:
        rows = [row for row in rows if row.place >= down_to]
    page = tuple(rows[:limit])
    if len(rows) > limit or (page and page[-1].place == down_to):
        return AuditPage(page, write_cursor(page[-1]))
    if down_to is None:
        return AuditPage(page, None)
    return AuditPage(page, ".".join(map(str, down_to)), stopped_early=True)


def _read(
    connection: Connection,
    topic: str,
    partitions: tuple[int, ...],
    query: AuditQuery,
    before: _Place,
    limit: int,
    actor: Actor,
    row_of: Callable[[Seen], AuditRow],
) -> _Read:
    def wanted(seen: Seen) -> bool:
        row = row_of(seen)
        return row.place < before and matches(row, query)

    # One millisecond more: rows of the same one are told apart by their places.
    until = before[0] + 1 if query.until is None else min(before[0] + 1, query.until)
    page = browse(
        connection,
        Browse(
            topic=topic,
            partitions=partitions,
            since=query.since,
            until=until,
            filter=Filter(key=query.key),
            wanted=wanted,
            limit=limit,
        ),
        (),
        actor,
    )
    rows = tuple(row_of(seen) for seen in page.records)
    if page.cursor is None:
        return _Read(rows, None)
    if len(rows) == limit:
        return _Read(rows, rows[-1].place)
    return _Read(rows, (page.reached + 1, "control", 0, 0))


def _of_control(seen: Seen) -> AuditRow:
    return requested(seen.record.offset, seen.time, seen.record.key, seen.record.value)


def _of_journal(seen: Seen) -> AuditRow:
    record = seen.record
    return effective(record.partition, record.offset, seen.time, record.key, record.value)
