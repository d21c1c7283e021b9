"""What was asked of a flow and what came of it: the newest of control log and journal, joined."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from holdfast.errors import InvalidArgumentError, InvalidRecordError
from holdfast.flows.commands import Command, DeadLetter, Hold, Release, Void, decode_command
from holdfast.flows.journal import JournalRecord, Outcome, decode_journal

WINDOW = 20_000
"""Rows of each log that are kept; older ones are read from the log when somebody asks."""
MAX_PAGE = 500

Log = Literal["control", "journal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """One record of the control log (what was requested) or of the journal (what is effective)."""

    log: Log
    partition: int
    offset: int
    at: int
    """When the broker or the gate wrote it, in milliseconds since 1970."""
    key: bytes | None = None
    command_id: str = ""
    command: str = ""
    """hold, release, dead-letter or void; empty where no command was behind it."""
    command_offset: int | None = None
    """Where the command stands on the control log."""
    actor: str = ""
    reason: str = ""
    expires_at: int | None = None
    pace: float | None = None
    outcome: Outcome | None = None
    """Of the journal alone."""
    cut: int | None = None
    """The source offset from which it acts."""
    drained_through: int | None = None
    superseded_by: int | None = None
    first: int | None = None
    note: str = ""
    """What else there is to say; of a record that cannot be read: why."""

    @property
    def place(self) -> tuple[int, str, int, int]:
        """Sorts rows of all logs by time."""
        return self.at, self.log, self.partition, self.offset


@dataclass(frozen=True, slots=True)
class HistoryItem:
    """A command with what came of it, or an outcome that no command asked for."""

    requested: AuditRow | None
    effective: tuple[AuditRow, ...]

    @property
    def at(self) -> int:
        return self.requested.at if self.requested else self.effective[0].at

    @property
    def pending(self) -> bool:
        return not self.effective


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditQuery:
    """Which rows, newest first. Empty fields ask for nothing in particular."""

    key: bytes | None = None
    actor: str = ""
    command: str = ""
    command_id: str = ""
    outcome: Outcome | None = None
    log: Log | None = None
    search: str = ""
    """Text that key, actor, reason or note contains, whatever its case."""
    since: int | None = None
    until: int | None = None
    limit: int = 100
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Rows, newest first."""

    rows: tuple[AuditRow, ...]
    cursor: str | None
    """Where the next page begins; None if there is none."""
    stopped_early: bool = False
    """The search took too long, or read too much: the cursor goes on from there."""
    older: bool = False
    """There may be older rows that only the logs have, not the view."""


def requested(offset: int, at: int, key: bytes | None, value: bytes | None) -> AuditRow:
    """The row of a record of the control log."""
    try:
        command = decode_command(key, value)
    except InvalidRecordError as error:
        return AuditRow(
            log="control", partition=0, offset=offset, at=at, key=key, command_offset=offset,
            note=str(error),
        )  # fmt: skip
    return _of_command(command, offset, at)


def _of_command(command: Command, offset: int, at: int) -> AuditRow:
    return AuditRow(
        log="control",
        partition=0,
        offset=offset,
        at=at,
        key=None if isinstance(command, Void) else command.key,
        command_id=command.id,
        command=command.name,
        command_offset=offset,
        actor=command.actor,
        reason=command.reason if isinstance(command, Hold | DeadLetter | Void) else "",
        expires_at=command.expires_at if isinstance(command, Hold) else None,
        pace=command.pace if isinstance(command, Release) else None,
        note=f"Lets offset {command.offset} pass." if isinstance(command, Void) else "",
    )


def effective(
    partition: int, offset: int, at: int, key: bytes | None, value: bytes | None
) -> AuditRow:
    """The row of a record of the journal."""
    try:
        record = decode_journal(key, value)
    except InvalidRecordError as error:
        return AuditRow(
            log="journal", partition=partition, offset=offset, at=at, key=key, note=str(error)
        )
    return _of_record(record, partition, offset)


def _of_record(record: JournalRecord, partition: int, offset: int) -> AuditRow:
    command = record.command
    return AuditRow(
        log="journal",
        partition=partition,
        offset=offset,
        at=record.at,
        key=record.key,
        command_id=command.id if command else "",
        command=command.name if command else "",
        command_offset=command.offset if command else None,
        outcome=record.outcome,
        cut=record.cut,
        drained_through=record.drained_through,
        superseded_by=record.superseded_by,
        first=record.first,
        note=record.note or record.settings,
    )


def matches(row: AuditRow, query: AuditQuery) -> bool:
    """Whether the query asks for the row; its cursor and limit aside."""
    if query.key is not None and row.key != query.key:
        return False
    if query.since is not None and row.at < query.since:
        return False
    if query.until is not None and row.at >= query.until:
        return False
    pairs = (
        (query.log, row.log), (query.actor, row.actor), (query.command, row.command),
        (query.command_id, row.command_id), (query.outcome, row.outcome),
    )  # fmt: skip
    if any(wanted and wanted != found for wanted, found in pairs):
        return False
    if not query.search:
        return True
    wanted = query.search.casefold()
    key = (row.key or b"").decode(errors="replace")
    return any(wanted in text.casefold() for text in (key, row.actor, row.reason, row.note))


def write_cursor(row: AuditRow) -> str:
    """Names the place right before the row, in time."""
    return f"{row.at}.{row.log}.{row.partition}.{row.offset}"


def read_cursor(cursor: str) -> tuple[int, str, int, int]:
    """The reverse, or InvalidArgumentError."""
    parts = cursor.split(".")
    numbers = [part for index, part in enumerate(parts) if index != 1]
    if (
        len(parts) != 4
        or parts[1] not in ("control", "journal")
        or not all(n.isascii() and n.isdigit() and len(n) < 20 for n in numbers)
    ):
        raise InvalidArgumentError("This cursor cannot be used: take it from the page before.")
    return int(parts[0]), parts[1], int(parts[2]), int(parts[3])


def check_limit(limit: int) -> None:
    if not 1 <= limit <= MAX_PAGE:
        raise InvalidArgumentError(f"A page has 1 to {MAX_PAGE} rows, not {limit}.")


class AuditWindow:
    """The newest rows of both logs. Not safe for threads: its owner has the lock."""

    def __init__(self, capacity: int = WINDOW) -> None:
        self._capacity = capacity
        self._logs: dict[Log, deque[AuditRow]] = {"control": deque(), "journal": deque()}
        self._by_key: dict[bytes | None, deque[AuditRow]] = {}
        self._by_id: dict[str, list[AuditRow]] = {}
        self._skipped: set[tuple[Log, int]] = set()
        self.floor = 0
        """Rows that are older than this, or as old, may not be here; 0: all are."""

    def skip(self, log: Log, partition: int) -> None:
        """This log has rows before the first that will be appended."""
        self._skipped.add((log, partition))

    def append(self, row: AuditRow) -> AuditRow:
        """Keep the row. -> the same, a journal row signed by who asked for it"""
        row = self._signed(row)
        if (row.log, row.partition) in self._skipped:
            self._skipped.remove((row.log, row.partition))
            self.floor = max(self.floor, row.at)
        rows = self._logs[row.log]
        rows.append(row)
        self._by_key.setdefault(row.key, deque()).append(row)
        if row.command_id:
            self._by_id.setdefault(row.command_id, []).append(row)
        if len(rows) > self._capacity:
            self._drop(rows.popleft())
        return row

    def rows(self) -> list[AuditRow]:
        return [*self._logs["control"], *self._logs["journal"]]

    def of_key(self, key: bytes) -> list[AuditRow]:
        return list(self._by_key.get(key, ()))

    def of_command(self, command_id: str) -> list[AuditRow]:
        """The command as often as it was appended, and its outcomes, in their order."""
        return list(self._by_id.get(command_id, ()))

    def _signed(self, row: AuditRow) -> AuditRow:
        if row.log == "control" or not row.command_id:
            return row
        for known in self._by_id.get(row.command_id, ()):
            if known.log == "control":
                return replace(row, actor=known.actor, reason=known.reason)
        return row

    def _drop(self, row: AuditRow) -> None:
        self.floor = max(self.floor, row.at)
        _remove(self._by_key, row.key, row)
        if row.command_id:
            _remove(self._by_id, row.command_id, row)


def _remove(index: dict, name: object, row: AuditRow) -> None:  # type: ignore[type-arg]
    rows = index[name]
    rows.remove(row)
    if not rows:
        del index[name]


def history_of(rows: Iterable[AuditRow]) -> tuple[HistoryItem, ...]:
    """Rows of one key as commands with their outcomes, newest first."""
    commands: dict[int, AuditRow] = {}
    outcomes: dict[int, list[AuditRow]] = {}
    alone: list[HistoryItem] = []
    for row in rows:
        if row.log == "control":
            commands[row.offset] = row
        elif row.command_offset is None or row.outcome is Outcome.EXPIRED:
            # An expiry names the hold that it ends, but nobody asked for it at that time.
            alone.append(HistoryItem(None, (row,)))
        else:
            outcomes.setdefault(row.command_offset, []).append(row)
    items = [*alone, *_joined(commands, outcomes)]
    return tuple(sorted(items, key=lambda item: item.at, reverse=True))


def _joined(
    commands: dict[int, AuditRow], outcomes: dict[int, list[AuditRow]]
) -> Iterator[HistoryItem]:
    for offset in commands.keys() | outcomes.keys():
        yield HistoryItem(commands.get(offset), tuple(outcomes.get(offset, ())))
