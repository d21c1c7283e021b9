"""The audit trail of a flow: the newest records of control log and journal, joined."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from holdfast.errors import InvalidArgumentError, InvalidRecordError
from holdfast.flows.commands import (
    Command,
    DeadLetter,
    Hold,
    Pause,
    PrefixHold,
    PrefixRelease,
    Release,
    Resume,
    Skip,
    Void,
    decode_command,
    key_of,
)
from holdfast.flows.holds import StandingHold, prefix_text
from holdfast.flows.journal import JournalRecord, Outcome, decode_journal

WINDOW = 20_000
"""Rows of each log in memory; older ones are read from the log on demand."""
MAX_PAGE = 500
EXPIRIES = frozenset({Outcome.EXPIRED, Outcome.HOLD_EXPIRED})
"""Outcomes that name a hold, without a command that caused them."""

FIRST_ONLY = "Only the first event."
"""The note of a dead-letter that leaves the others to the guard."""

COMMANDS = (
    "hold", "release", "dead-letter", "hold-prefix", "release-prefix", "pause", "resume", "void",
    "skip",
)  # fmt: skip
"""The names of all commands."""

Log = Literal["control", "journal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """One record of the control log (a request) or of the journal (an effect)."""

    log: Log
    partition: int
    offset: int
    at: int
    """The time at which the broker or the gate wrote it, in milliseconds since 1970."""
    key: bytes | None = None
    command_id: str = ""
    command: str = ""
    """hold, release, dead-letter, void, skip, hold-prefix, release-prefix, pause or resume; empty
    if no command caused it."""
    command_offset: int | None = None
    """The command's offset on the control log."""
    actor: str = ""
    reason: str = ""
    expires_at: int | None = None
    pace: float | None = None
    name: str = ""
    """The name of the hold that it is about."""
    prefix: bytes = b""
    """The prefix that it is about, or whose hold it is about."""
    holds: tuple[str, ...] = ()
    """Of a release: the names of the holds that it is to end; of its outcome, that it has ended."""
    every: bool = False
    """Of a release: it is to end every hold."""
    others: tuple[StandingHold, ...] = ()
    """Of an outcome: the key's other holds, which stand."""
    outcome: Outcome | None = None
    """Only in rows of the journal."""
    cut: int | None = None
    """The source offset from which it applies."""
    drained_through: int | None = None
    superseded_by: int | None = None
    first: int | None = None
    note: str = ""
    """A remark; for an unreadable record, the reason."""

    @property
    def sort_key(self) -> tuple[int, str, int, int]:
        """Sorts rows of all logs by time."""
        return self.at, self.log, self.partition, self.offset


@dataclass(frozen=True, slots=True)
class HistoryItem:
    """A command with its outcomes, or an outcome without a command."""

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
    """Selects rows, newest first. Empty fields match everything."""

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
    """The start of the next page; None if there is none. It is a position, not a time: a command of
    many keys puts thousands of rows into one millisecond."""
    stopped_early: bool = False
    """The search has reached its limit of time or records; the cursor continues it."""
    older: bool = False
    """There may be older rows, in the logs only."""


def requested(offset: int, at: int, key: bytes | None, value: bytes | None) -> AuditRow:
    """The row of a record of the control log."""
    try:
        command = decode_command(key, value, at)
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
        key=key_of(command),
        command_id=command.id,
        command=command.name,
        command_offset=offset,
        actor=command.actor,
        reason=command.reason,
        expires_at=command.expires_at if isinstance(command, Hold | PrefixHold) else None,
        pace=command.pace if isinstance(command, Release | PrefixRelease) else None,
        name=command.hold_name if isinstance(command, Hold | PrefixHold | Pause) else "",
        prefix=command.prefix if isinstance(command, PrefixHold | PrefixRelease) else b"",
        holds=command.holds if isinstance(command, Release | PrefixRelease | Resume) else (),
        every=isinstance(command, Release | PrefixRelease | Resume) and command.every,
        note=note_of_command(command),
    )


def note_of_command(command: Command) -> str:
    """What a command is about, beyond its key."""
    match command:
        case DeadLetter(first=True):
            return FIRST_ONLY
        case PrefixHold() | PrefixRelease():
            return f"All keys with the prefix {prefix_text(command.prefix)}."
        case Void():
            return f"Lets offset {command.offset} pass."
        case Skip():
            return (
                f"Skips events {command.first} to {command.last} of partition {command.partition}."
            )
    return ""


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
        name=record.name,
        prefix=record.prefix,
        holds=record.ended,
        others=record.others,
        note=record.note or record.settings,
    )


def matches(row: AuditRow, query: AuditQuery) -> bool:
    """Returns True if the query selects the row, apart from cursor and limit."""
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
    if any(value and value != actual for value, actual in pairs):
        return False
    if not query.search:
        return True
    text = query.search.casefold()
    key = (row.key or b"").decode(errors="replace")
    return any(text in field.casefold() for field in (key, row.actor, row.reason, row.note))


def write_cursor(row: AuditRow) -> str:
    """The cursor of the page that begins after this row, with the next older one."""
    return f"{row.at}.{row.log}.{row.partition}.{row.offset}"


def read_cursor(cursor: str) -> tuple[int, str, int, int]:
    """The sort key in a cursor, or InvalidArgumentError."""
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
    """The newest rows of both logs. Not thread-safe: its owner holds a lock."""

    def __init__(self, capacity: int = WINDOW) -> None:
        self._capacity = capacity
        self._logs: dict[Log, deque[AuditRow]] = {"control": deque(), "journal": deque()}
        self._by_key: dict[bytes | None, deque[AuditRow]] = {}
        self._by_id: dict[str, list[AuditRow]] = {}
        self._skipped: set[tuple[Log, int]] = set()
        self.floor = 0
        """Rows of this time or older may be missing; 0: none is."""

    def skip(self, log: Log, partition: int) -> None:
        """Note that this log has rows before the first appended one."""
        self._skipped.add((log, partition))

    def append(self, row: AuditRow) -> AuditRow:
        """Add the row. Returns it; a row of the journal gets the command's actor and reason."""
        row = self._with_actor(row)
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
        """All records of the command, and its outcomes, in their order."""
        return list(self._by_id.get(command_id, ()))

    def _with_actor(self, row: AuditRow) -> AuditRow:
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
        elif row.command_offset is None or row.outcome in EXPIRIES:
            # An expiry names the hold that it ends, but no command caused it at that time.
            alone.append(HistoryItem(None, (row,)))
        else:
            outcomes.setdefault(row.command_offset, []).append(row)
    items = [*alone, *_joined(commands, outcomes)]
    return tuple(sorted(items, key=lambda item: item.at, reverse=True))


def _joined(
    commands: dict[int, AuditRow], outcomes: dict[int, list[AuditRow]]
) -> Iterator[HistoryItem]:
    for offset in commands.keys() | outcomes.keys():
        command, rows = commands.get(offset), outcomes.get(offset, ())
        if command is not None and command.key is None:  # not of each key of a prefix
            rows = [row for row in rows if row.key is None]
        yield HistoryItem(command, tuple(rows))
