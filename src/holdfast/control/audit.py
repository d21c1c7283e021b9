"""The whole audit: from the view, and older records from the logs."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from holdfast.access.roles import Actor
from holdfast.client.connection import Connection
from holdfast.control.filters import Filter
from holdfast.control.records import Browse, Seen, browse
from holdfast.control.services import Services
from holdfast.flows.registry import FlowDefinition
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
    """One page, newest first. Records that the view no longer has are read from the control log and
    the journal. Such a page may stop early; its cursor continues from there."""
    page = view.audit(query)
    if not page.older:
        return page
    if len(page.rows) == query.limit:
        return replace(page, cursor=write_cursor(page.rows[-1]))
    rest = await asyncio.to_thread(
        _of_logs,
        services.connection,
        view.definition,
        query,
        view.audit_floor + 1,
        query.limit - len(page.rows),
        actor,
    )
    return replace(rest, rows=page.rows + rest.rows)


_SortKey = tuple[int, str, int, int]
_END_OF_TIME = 253_402_300_799_000
"""The last second of the year 9999."""


@dataclass(frozen=True, slots=True)
class FlowRow:
    """A row, and the flow whose it is."""

    flow: str
    row: AuditRow

    @property
    def sort_key(self) -> tuple[_SortKey, str]:
        return self.row.sort_key, self.flow


@dataclass(frozen=True, slots=True)
class FlowsPage:
    """Rows of several flows, newest first. The other fields are as in AuditPage."""

    rows: tuple[FlowRow, ...]
    cursor: str | None
    stopped_early: bool = False


async def audit_of_flows(
    services: Services, views: Sequence[FlowView], query: AuditQuery, actor: Actor
) -> FlowsPage:
    """One page of the audits of all these flows, newest first."""
    pages = await asyncio.gather(
        *(
            audit_page(services, view, replace(query, cursor=_cursor_in(query, view.name)), actor)
            for view in views
        )
    )
    return merged({v.name: page for v, page in zip(views, pages, strict=True)}, query.limit)


def logged_audit_of_flows(
    connection: Connection, flows: Sequence[FlowDefinition], query: AuditQuery, actor: Actor
) -> FlowsPage:
    """As `audit_of_flows`, read from the logs alone. Blocks for some seconds for each flow."""
    pages = {
        flow.name: logged_audit(
            connection, flow, replace(query, cursor=_cursor_in(query, flow.name)), actor
        )
        for flow in flows
    }
    return merged(pages, query.limit)


def merged(pages: Mapping[str, AuditPage], limit: int) -> FlowsPage:
    """One page of several flows' pages."""
    rows = sorted(
        (FlowRow(flow, row) for flow, page in pages.items() for row in page.rows),
        key=lambda found: found.sort_key,
        reverse=True,
    )
    # A flow whose page ended may have newer rows than the others' below that point.
    ends = [(read_cursor(page.cursor), flow) for flow, page in pages.items() if page.cursor]
    down_to = max(ends, default=None)
    if down_to is not None:
        rows = [found for found in rows if found.sort_key >= down_to]
    shown = tuple(rows[:limit])
    if len(rows) > limit or (shown and shown[-1].sort_key == down_to):
        return FlowsPage(shown, f"{write_cursor(shown[-1].row)}.{shown[-1].flow}")
    if down_to is None:
        return FlowsPage(shown, None)
    end = ".".join(map(str, down_to[0]))
    return FlowsPage(shown, f"{end}.{down_to[1]}", stopped_early=True)


def _cursor_in(query: AuditQuery, flow: str) -> str | None:
    """The cursor of one flow. Rows of equal times are sorted by flow, downwards."""
    if query.cursor is None:
        return None
    own, _, last = query.cursor.rpartition(".")
    at, log, partition, offset = read_cursor(own)
    return f"{at}.{log}.{partition}.{offset + (flow < last)}"


@dataclass(frozen=True, slots=True)
class _Read:
    """Rows of one log, newest first: all rows from `down_to` on."""

    rows: tuple[AuditRow, ...]
    down_to: _SortKey | None
    """None: all rows."""


def logged_audit(
    connection: Connection, flow: FlowDefinition, query: AuditQuery, actor: Actor
) -> AuditPage:
    """One page, read from the logs alone. Blocks for some seconds. An outcome has an actor only if
    its command is on the page, too."""
    page = _of_logs(connection, flow, query, _END_OF_TIME, query.limit, actor)
    commands = {row.command_id: row for row in page.rows if row.log == "control"}
    rows = tuple(
        replace(row, actor=known.actor, reason=known.reason)
        if not row.actor and row.command_id and (known := commands.get(row.command_id))
        else row
        for row in page.rows
    )
    return replace(page, rows=rows)


def _of_logs(
    connection: Connection,
    flow: FlowDefinition,
    query: AuditQuery,
    end: int,
    limit: int,
    actor: Actor,
) -> AuditPage:
    """Rows that are older than `end`."""
    before: _SortKey = (end, "control", 0, 0)
    if query.cursor is not None:
        before = min(before, read_cursor(query.cursor))
    partitions = tuple(range(flow.partitions))
    names = flow.names
    reads = (
        _read(connection, names.control, (0,), query, before, limit, actor, _of_control),
        _read(connection, names.journal, partitions, query, before, limit, actor, _of_journal),
    )
    rows = sorted(
        (row for read in reads for row in read.rows), key=lambda row: row.sort_key, reverse=True
    )
    # Below the offset that one log was read down to, that log may have newer rows.
    down_to = max((read.down_to for read in reads if read.down_to is not None), default=None)
    if down_to is not None:
        rows = [row for row in rows if row.sort_key >= down_to]
    page = tuple(rows[:limit])
    if len(rows) > limit or (page and page[-1].sort_key == down_to):
        return AuditPage(page, write_cursor(page[-1]))
    if down_to is None:
        return AuditPage(page, None)
    return AuditPage(page, ".".join(map(str, down_to)), stopped_early=True)


def _read(
    connection: Connection,
    topic: str,
    partitions: tuple[int, ...],
    query: AuditQuery,
    before: _SortKey,
    limit: int,
    actor: Actor,
    row_of: Callable[[Seen], AuditRow],
) -> _Read:
    def wanted(seen: Seen) -> bool:
        row = row_of(seen)
        return row.sort_key < before and matches(row, query)

    # One millisecond more: rows of the same millisecond are ordered by their offsets.
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
        return _Read(rows, rows[-1].sort_key)
    return _Read(rows, (page.reached + 1, "control", 0, 0))


def _of_control(seen: Seen) -> AuditRow:
    return requested(seen.record.offset, seen.time, seen.record.key, seen.record.value)


def _of_journal(seen: Seen) -> AuditRow:
    record = seen.record
    return effective(record.partition, record.offset, seen.time, record.key, record.value)
