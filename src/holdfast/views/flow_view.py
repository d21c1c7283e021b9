"""One flow as it is now."""

from collections import deque
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from threading import Lock
from time import time

from holdfast.flows.keys import partition_of
from holdfast.flows.names import FlowNames
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.reports import Report
from holdfast.flows.status import Active, Entry, KeyState, Position
from holdfast.views.audit import (
    AuditPage,
    AuditQuery,
    AuditRow,
    AuditWindow,
    HistoryItem,
    Log,
    check_limit,
    history_of,
    matches,
    read_cursor,
    write_cursor,
)
from holdfast.views.changes import ChangeKind, Changes
from holdfast.views.health import HealthState, PipelineHealth, health_of
from holdfast.views.keys import KeyPage, KeyQuery, KeyRow, combine, page_of
from holdfast.views.series import Sample, Series
from holdfast.views.waiting import Waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowSummary:
    """A flow at a glance."""

    definition: FlowDefinition
    held_keys: int
    draining_keys: int
    pending_commands: int
    held_events: int
    held_bytes: int
    now: Sample | None
    """The newest rates and lag."""
    health: PipelineHealth


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyView:
    """One key: its state, its entry in each partition, and what was asked and came of it."""

    row: KeyRow
    entries: tuple[tuple[int, Entry], ...]
    history: tuple[HistoryItem, ...]
    """Newest first."""
    history_since: int
    """What is older than this time is not in the history; 0: nothing is missing."""


class FlowView:
    """One flow, kept up to date by the threads of `Views`. Safe for threads; nothing in it waits
    for Kafka."""

    def __init__(self, definition: FlowDefinition, *, control_from: int = 0) -> None:
        """`control_from`: where on the control log reading begins."""
        self.changes = Changes()
        self.series = Series()
        self._definition = definition
        self._lock = Lock()
        self._entries: dict[bytes, dict[int, Entry]] = {}
        self._rows: dict[bytes, KeyRow] = {}
        self._positions: dict[int, Position] = {}
        self._pending: dict[bytes, list[AuditRow]] = {}
        self._pending_in: dict[int, deque[AuditRow]] = {}
        """The same by the partition that carries them out, in the order of the control log."""
        self._audit = AuditWindow()
        self._control_end = control_from
        self._reports: dict[str, Report] = {}
        self._told_health: tuple[HealthState, str] | None = None
        self._waiting: set[Waiting] = set()
        self._live = False

    @property
    def name(self) -> str:
        return self._definition.name

    @property
    def names(self) -> FlowNames:
        return self._definition.names

    @property
    def definition(self) -> FlowDefinition:
        return self._definition

    # Looking

    def summary(self) -> FlowSummary:
        with self._lock:
            rows = list(self._rows.values())
            pending = sum(len(waiting) for waiting in self._pending.values())
        return FlowSummary(
            definition=self._definition,
            held_keys=sum(row.state is KeyState.HELD for row in rows),
            draining_keys=sum(row.state is KeyState.DRAINING for row in rows),
            pending_commands=pending,
            held_events=sum(row.events for row in rows),
            held_bytes=sum(row.bytes for row in rows),
            now=self.series.last,
            health=self.health(),
        )

    def keys(self, query: KeyQuery) -> KeyPage:
        """Keys that are not simply ACTIVE, or have commands pending."""
        with self._lock:
            rows = list(self._rows.values())
        return page_of(rows, query)

    def key(self, key: bytes) -> KeyView:
        """One key, whatever its state."""
        with self._lock:
            row = self._rows.get(key) or KeyRow(key=key)
            entries = tuple(sorted(self._entries.get(key, {}).items()))
            rows = self._audit.of_key(key)
            since = self._audit.floor
        return KeyView(row=row, entries=entries, history=history_of(rows), history_since=since)

    def audit(self, query: AuditQuery) -> AuditPage:
        """The newest rows, newest first, as far back as the view has all of them; `audit_page` of
        the API goes on in the logs."""
        check_limit(query.limit)
        before = None if query.cursor is None else read_cursor(query.cursor)
        with self._lock:
            rows = self._audit.rows() if query.key is None else self._audit.of_key(query.key)
            floor = self._audit.floor
        found = [row for row in rows if row.at > floor and matches(row, query)]
        if before is not None:
            found = [row for row in found if row.place < before]
        found.sort(key=lambda row: row.place, reverse=True)
        page = tuple(found[: query.limit])
        more = len(found) > len(page)
        cursor = write_cursor(page[-1]) if more else None
        return AuditPage(page, cursor, older=floor > 0 and not more)

    @property
    def audit_floor(self) -> int:
        """Audit rows that are as old as this are in the logs alone; 0: none are."""
        return self._audit.floor

    def skip(self, log: Log, partition: int) -> None:
        """For the thread that follows: it does not begin at this log's start."""
        self._audit.skip(log, partition)

    def command(self, command_id: str) -> tuple[AuditRow, ...]:
        """The command of that id and its outcomes, as far as the window has them."""
        with self._lock:
            return tuple(self._audit.of_command(command_id))

    def health(self) -> PipelineHealth:
        with self._lock:
            reports = dict(self._reports)
        return health_of(reports, now=round(time() * 1000))

    def positions(self) -> dict[int, Position]:
        """How far the gate is, by partition; empty before its first step."""
        with self._lock:
            return dict(self._positions)

    @asynccontextmanager
    async def waiting(self, command_ids: Iterable[str], control_end: int) -> AsyncIterator[Waiting]:
        """For the outcomes of commands, and until the control log is seen up to that offset."""
        waiting = Waiting(command_ids, control_end)
        with self._lock:
            for command_id in waiting.ids:
                for row in self._audit.of_command(command_id):
                    waiting.take(row)
            waiting.reach(self._control_end)
            waiting.settle()
            self._waiting.add(waiting)
        try:
            yield waiting
        finally:
            with self._lock:
                self._waiting.discard(waiting)

    # Following; for the threads of `Views`

    def go_live(self) -> None:
        """All that was there before has been read: from now on, what comes is a change."""
        self._live = True

    def define(self, definition: FlowDefinition) -> None:
        self._definition = definition
        self._tell(ChangeKind.FLOW, definition)

    def take_status(self, partition: int, record: Entry | Position | Active) -> None:
        """A record of `<flow>.status`."""
        with self._lock:
            match record:
                case Entry():
                    self._entries.setdefault(record.key, {})[partition] = record
                    self._refresh(record.key)
                case Active():
                    entries = self._entries.get(record.key, {})
                    entries.pop(partition, None)
                    if not entries:
                        self._entries.pop(record.key, None)
                    self._refresh(record.key)
                case Position():
                    self._positions[partition] = record
                    self._end_pending(partition, record.control)

    def take_audit(self, row: AuditRow) -> None:
        """A record of `<flow>.control` or `<flow>.journal`."""
        with self._lock:
            row = self._audit.append(row)
            if row.log == "control":
                self._control_end = row.offset + 1
                self._tell(ChangeKind.REQUESTED, row)
                self._begin_pending(row)
            else:
                self._tell(ChangeKind.EFFECTIVE, row)
                for waiting in self._waiting:
                    waiting.take(row)
            for waiting in self._waiting:
                waiting.reach(self._control_end)
                waiting.settle()

    def take_report(self, report: Report) -> None:
        """A record of `holdfast.pipeline`."""
        with self._lock:
            self._reports[report.part] = report

    def changed_health(self) -> PipelineHealth | None:
        """The flow's health if it is another than when this was last asked, and told of then: it
        also changes by the pipeline saying nothing."""
        health = self.health()
        with self._lock:
            if (health.state, health.reason) == self._told_health:
                return None
            self._told_health = health.state, health.reason
        self._tell(ChangeKind.HEALTH, health)
        return health

    def take_sample(self, sample: Sample) -> None:
        self.series.append(sample)
        self._tell(ChangeKind.RATES, sample)

    def counts(self) -> tuple[int, int, int]:
        """Keys that are held or draining, their events, their bytes."""
        with self._lock:
            rows = [row for row in self._rows.values() if row.state is not KeyState.ACTIVE]
        return len(rows), sum(row.events for row in rows), sum(row.bytes for row in rows)

    def report(self, part: str) -> Report | None:
        """The newest report of a part."""
        return self._reports.get(part)

    def _begin_pending(self, row: AuditRow) -> None:
        if row.key is None:
            return
        home = partition_of(row.key, self._definition.partitions)
        position = self._positions.get(home)
        if position is not None and row.offset < position.control:
            return
        self._pending.setdefault(row.key, []).append(row)
        self._pending_in.setdefault(home, deque()).append(row)
        self._refresh(row.key)

    def _end_pending(self, partition: int, control: int) -> None:
        """The partition has carried out all commands below that offset."""
        waiting = self._pending_in.get(partition, deque())
        while waiting and waiting[0].offset < control:
            row = waiting.popleft()
            assert row.key is not None
            self._pending[row.key].remove(row)
            if not self._pending[row.key]:
                del self._pending[row.key]
            self._refresh(row.key)

    def _refresh(self, key: bytes) -> None:
        """Put the key's row together anew, and tell if it is another."""
        entries = self._entries.get(key, {})
        pending = [row.command for row in self._pending.get(key, ())]
        row = combine(key, entries, pending)
        if row == self._rows.get(key):
            return
        if entries or pending:
            self._rows[key] = row
        else:
            self._rows.pop(key, None)
        self._tell(ChangeKind.KEY, row)

    def _tell(self, kind: ChangeKind, item: object) -> None:
        if self._live:
            self.changes.append(kind, self.name, item)
