"""One flow as it is now."""

from collections import deque
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from threading import Lock

from holdfast.clock import now_ms
from holdfast.flows.holds import WHOLE_FLOW, StandingHold, describe_hold, held_until, reasons_of
from holdfast.flows.keys import partition_of
from holdfast.flows.names import FlowNames
from holdfast.flows.registry import FlowDefinition
from holdfast.flows.reports import Report
from holdfast.flows.status import (
    Active,
    Entry,
    KeyState,
    Position,
    ScopeStatus,
    combined_holds,
)
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
from holdfast.views.health import GATE, HealthState, PipelineHealth, guard_health, health_of
from holdfast.views.keys import KeyPage, KeyQuery, KeyRow, combine, page_of
from holdfast.views.series import Sample, Series
from holdfast.views.waiting import Waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowSummary:
    definition: FlowDefinition
    held_keys: int
    draining_keys: int
    pending_commands: int
    held_events: int
    held_bytes: int
    now: Sample | None
    """The newest rates and lag."""
    health: PipelineHealth
    pauses: tuple[StandingHold, ...] = ()
    """The flow takes no events while there is one."""
    failing_keys: int = 0
    """Of a guard: keys whose first event has failed."""
    circuit_open: bool = False
    """Of a guard: a worker takes no events, because what is behind its handler is down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixView:
    """A held prefix, and what it holds."""

    prefix: bytes
    holds: tuple[StandingHold, ...]
    since: int
    keys: int
    events: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyView:
    """One key: its state, its entry in each partition, and its history."""

    row: KeyRow
    entries: tuple[tuple[int, Entry], ...]
    history: tuple[HistoryItem, ...]
    """Newest first."""
    history_since: int
    """The history has no items older than this time; 0: it is complete."""


class FlowView:
    """One flow, updated by the threads of `Views`. Thread-safe; no call waits for Kafka."""

    def __init__(self, definition: FlowDefinition, *, control_from: int = 0) -> None:
        """`control_from`: the first offset of the control log that is read."""
        self.changes = Changes()
        self.series = Series()
        self._definition = definition
        self._lock = Lock()
        self._entries: dict[bytes, dict[int, Entry]] = {}
        self._rows: dict[bytes, KeyRow] = {}
        self._scopes: dict[bytes, dict[int, ScopeStatus]] = {}
        """By prefix (or `WHOLE_FLOW`) and partition; only those that are held."""
        self._positions: dict[int, Position] = {}
        self._pending: dict[bytes, list[AuditRow]] = {}
        self._pending_in: dict[int, deque[AuditRow]] = {}
        """Pending commands by the partition that applies them, in the order of the control log."""
        self._audit = AuditWindow()
        self._control_end = control_from
        self._reports: dict[str, Report] = {}
        self._last_health: tuple[HealthState, str] | None = None
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

    # Reading

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
            pauses=self.pauses(),
            failing_keys=sum(row.attempts > 0 for row in rows),
            circuit_open=self._circuit_open(),
        )

    def _circuit_open(self) -> bool:
        return any(position.circuit for position in self.positions().values())

    def keys(self, query: KeyQuery) -> KeyPage:
        """Keys that are not simply ACTIVE, or have commands pending."""
        with self._lock:
            rows = list(self._rows.values())
        return page_of(rows, query)

    def key(self, key: bytes) -> KeyView:
        """One key, whatever its state."""
        with self._lock:
            row = self._rows.get(key) or self._unseen(key)
            entries = tuple(sorted(self._entries.get(key, {}).items()))
            rows = self._audit.of_key(key)
            since = self._audit.floor
        return KeyView(row=row, entries=entries, history=history_of(rows), history_since=since)

    def pauses(self) -> tuple[StandingHold, ...]:
        """The pauses of the flow, newest first; none if it is not paused."""
        with self._lock:
            return combined_holds(self._scopes.get(WHOLE_FLOW, {}).values())

    def prefixes(self) -> tuple[PrefixView, ...]:
        """The held prefixes, each with what it holds."""
        with self._lock:
            scopes = {
                scope: tuple(statuses.values())
                for scope, statuses in sorted(self._scopes.items())
                if scope != WHOLE_FLOW
            }
            rows = list(self._rows.values()) if scopes else []
        views = []
        for prefix, statuses in scopes.items():
            held = [row for row in rows if any(hold.prefix == prefix for hold in row.holds)]
            views.append(
                PrefixView(
                    prefix=prefix,
                    holds=combined_holds(statuses),
                    since=min(status.since for status in statuses),
                    keys=len(held),
                    events=sum(row.events for row in held),
                    bytes=sum(row.bytes for row in held),
                )
            )
        return tuple(views)

    def _unseen(self, key: bytes) -> KeyRow:
        """A key without an entry: ACTIVE, unless a prefix of it is held."""
        holds = combined_holds(
            status
            for scope, statuses in self._scopes.items()
            if scope != WHOLE_FLOW and key.startswith(scope)
            for status in statuses.values()
        )
        if not holds:
            return KeyRow(key=key)
        return KeyRow(
            key=key,
            state=KeyState.HELD,
            actor=holds[0].actor,
            reason=reasons_of(holds),
            expires_at=held_until(holds),
            holds=holds,
        )

    def audit(self, query: AuditQuery) -> AuditPage:
        """The newest rows, newest first, as far back as the view is complete; `audit_page` of the
        API continues in the logs."""
        check_limit(query.limit)
        before = None if query.cursor is None else read_cursor(query.cursor)
        with self._lock:
            rows = self._audit.rows() if query.key is None else self._audit.of_key(query.key)
            floor = self._audit.floor
        matching = [row for row in rows if row.at > floor and matches(row, query)]
        if before is not None:
            matching = [row for row in matching if row.sort_key < before]
        matching.sort(key=lambda row: row.sort_key, reverse=True)
        page = tuple(matching[: query.limit])
        more = len(matching) > len(page)
        cursor = write_cursor(page[-1]) if more else None
        return AuditPage(page, cursor, older=floor > 0 and not more)

    @property
    def audit_floor(self) -> int:
        """Audit rows of this time or older are only in the logs; 0: the view has all rows."""
        return self._audit.floor

    def skip(self, log: Log, partition: int) -> None:
        """Note that this log is not read from its start. For the following thread."""
        self._audit.skip(log, partition)

    def command(self, command_id: str) -> tuple[AuditRow, ...]:
        """The command of that id and its outcomes, as far as the window has them."""
        with self._lock:
            return tuple(self._audit.of_command(command_id))

    @property
    def control_end(self) -> int:
        """The offset to which the control log is read."""
        with self._lock:
            return self._control_end

    def commands_of(self, stem: str) -> tuple[AuditRow, ...]:
        """The commands of one request and their outcomes: their ids begin with `stem`."""
        with self._lock:
            rows = self._audit.rows()
        return tuple(row for row in rows if row.command_id.startswith(stem))

    def health(self) -> PipelineHealth:
        with self._lock:
            reports = dict(self._reports)
        if self._definition.is_guard:
            health = guard_health(
                reports,
                partitions=self._definition.partitions,
                circuit_open=self._circuit_open(),
                now=now_ms(),
            )
        else:
            health = health_of(reports, now=now_ms())
        pauses = self.pauses()
        if pauses and health.state in (HealthState.RUNNING, HealthState.WAITING):
            reason = f"Paused by {'; by '.join(map(describe_hold, pauses))}."
            return replace(health, state=HealthState.PAUSED, reason=reason)
        return health

    def positions(self) -> dict[int, Position]:
        """The gate's position in each partition; empty before its first step."""
        with self._lock:
            return dict(self._positions)

    @asynccontextmanager
    async def waiting(
        self, command_ids: Iterable[str], control_end: int, partitions: int = 1
    ) -> AsyncIterator[Waiting]:
        """Waits for the outcomes of commands, and until the control log is read to that offset.
        `partitions`: how many must answer each command."""
        waiting = Waiting(command_ids, control_end, partitions)
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
        """All existing records were read: from now on, each record is a change."""
        self._live = True

    def define(self, definition: FlowDefinition) -> None:
        self._definition = definition
        self._publish(ChangeKind.FLOW, definition)

    def take_status(self, partition: int, record: Entry | Position | Active | ScopeStatus) -> None:
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
                case ScopeStatus():
                    self._take_scope(partition, record)
                case Position():
                    self._positions[partition] = record
                    self._end_pending(partition, record.control)

    def take_audit(self, row: AuditRow) -> None:
        """A record of `<flow>.control` or `<flow>.journal`."""
        with self._lock:
            row = self._audit.append(row)
            if row.log == "control":
                self._control_end = row.offset + 1
                self._publish(ChangeKind.REQUESTED, row)
                self._begin_pending(row)
            else:
                self._publish(ChangeKind.EFFECTIVE, row)
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
        """The flow's health, if a report or a missing one has changed it since the last call."""
        health = self.health()
        with self._lock:
            if (health.state, health.reason) == self._last_health:
                return None
            self._last_health = health.state, health.reason
        self._publish(ChangeKind.HEALTH, health)
        return health

    def take_sample(self, sample: Sample) -> None:
        self.series.append(sample)
        self._publish(ChangeKind.RATES, sample)

    def counts(self) -> tuple[int, int, int]:
        """Keys that are held or draining, their events, their bytes."""
        with self._lock:
            rows = [row for row in self._rows.values() if row.state is not KeyState.ACTIVE]
        return len(rows), sum(row.events for row in rows), sum(row.bytes for row in rows)

    def counting_reports(self) -> list[Report]:
        """The newest reports of the parts that count events: the gate, or a guard's partitions."""
        with self._lock:
            guard = self._definition.is_guard
            return [r for part, r in self._reports.items() if guard or part == GATE]

    def _take_scope(self, partition: int, status: ScopeStatus) -> None:
        statuses = self._scopes.setdefault(status.scope, {})
        statuses.pop(partition, None)
        if status.holds:
            statuses[partition] = status
        if not statuses:
            del self._scopes[status.scope]
        if status.scope == WHOLE_FLOW:
            self._publish(ChangeKind.FLOW, self._definition)

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
        """The partition has applied all commands below that offset."""
        waiting = self._pending_in.get(partition, deque())
        while waiting and waiting[0].offset < control:
            row = waiting.popleft()
            assert row.key is not None
            self._pending[row.key].remove(row)
            if not self._pending[row.key]:
                del self._pending[row.key]
            self._refresh(row.key)

    def _refresh(self, key: bytes) -> None:
        """Rebuild the key's row, and publish it if it has changed."""
        entries = self._entries.get(key, {})
        pending = [row.command for row in self._pending.get(key, ())]
        row = combine(key, entries, pending)
        if row == self._rows.get(key):
            return
        if entries or pending:
            self._rows[key] = row
        else:
            self._rows.pop(key, None)
        self._publish(ChangeKind.KEY, row)

    def _publish(self, kind: ChangeKind, item: object) -> None:
        if self._live:
            self.changes.append(kind, self.name, item)
