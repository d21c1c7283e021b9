"""The logs of one partition of a guard, as far as they belong together.

Status is read first, and everything else after it: what a step has written to status, it has
written to the other logs too. They may have records of later steps, which explain but never accuse.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from confluent_kafka import TIMESTAMP_NOT_AVAILABLE, Message

from holdfast.client.connection import Connection
from holdfast.client.dead_letters import reason_of, split_headers
from holdfast.client.log_reader import LogReader
from holdfast.client.positions import Offsets, Partition
from holdfast.client.source import SOURCE, Header, headers_of, source_of
from holdfast.errors import InvalidRecordError
from holdfast.flows.journal import JournalRecord, decode_journal
from holdfast.flows.names import FlowNames
from holdfast.flows.status import Active, Entry, Position, decode_status


@dataclass(frozen=True, slots=True)
class Copy:
    """A record of held or of the dead letters, or the event that it is a copy of."""

    offset: int
    key: bytes | None
    value: int
    """A hash, as of the headers: events may be large."""
    headers: int
    time: int
    source: tuple[int, int] | None = None
    """Partition and offset of the event that it names."""
    reason: str = ""
    """Of a dead letter: its kind."""
    has_value: bool = True


@dataclass(slots=True)
class PartitionLogs:
    """What the audit of one partition needs. `events` come later, one by one."""

    partition: int
    position: Position | None = None
    """The last one in status."""
    entries: dict[bytes, Entry] = field(default_factory=dict)
    journal: list[JournalRecord] = field(default_factory=list)
    unreadable: list[tuple[str, int]] = field(default_factory=list)
    """Records of the journal and of status that cannot be read: log and offset."""
    held: list[Copy] = field(default_factory=list)
    held_start: int = 0
    letters: list[Copy] = field(default_factory=list)
    journal_start: int = 0
    events_start: int = 0
    events_end: int = 0


class GuardLogs:
    """Reads the logs of a guard. For one thread."""

    def __init__(self, connection: Connection, names: FlowNames) -> None:
        self._names = names
        self._ends = Offsets(connection, committed_only=False)
        self._committed_ends = Offsets(connection)
        self._reader = LogReader(connection, isolation="read_committed")
        self._control = LogReader(connection, isolation="read_uncommitted")

    def close(self) -> None:
        self._reader.close()
        self._control.close()

    def read(self, partition: int) -> PartitionLogs:
        logs, names = PartitionLogs(partition), self._names
        self._read_status(logs)
        logs.journal_start = self._read_journal(logs)
        held = Partition(names.held, partition)
        logs.held_start, end = self._ends.bounds(held)
        logs.held = [_row(m) for ms in self._reader.read(held, logs.held_start, end) for m in ms]
        dlq = Partition(names.dlq, partition)
        logs.letters = [_letter(m) for m in self._all(dlq)]
        source = Partition(names.events, partition)
        # Beyond the position an open transaction may last: its events are not taken yet.
        logs.events_start, logs.events_end = self._committed_ends.bounds(source)
        if logs.position is not None:
            highest = self._ends.ends([source])[source]
            logs.events_end = max(logs.events_end, min(logs.position.offset, highest))
        return logs

    def events(self, logs: PartitionLogs, start: int) -> Iterator[Copy]:
        """The events of the partition from `start` on, in order."""
        source = Partition(self._names.events, logs.partition)
        first = max(start, logs.events_start)
        for messages in self._reader.read(source, first, logs.events_end):
            for message in messages:
                yield _copy(message, headers_of(message))

    def commands(self) -> tuple[int, set[int]]:
        """The first offset of the control log, and the offsets of all commands."""
        control = Partition(self._names.control, 0)
        start, end = self._ends.bounds(control)
        read = self._control.read(control, start, end)
        return start, {m.offset() or 0 for messages in read for m in messages}

    def _all(self, partition: Partition) -> Iterator[Message]:
        for messages in self._reader.read(partition, *self._ends.bounds(partition)):
            yield from messages

    def _read_status(self, logs: PartitionLogs) -> None:
        """Entries count with the position that ends their step: the end of the log may be in the
        middle of a later one."""
        step: list[Entry | Active] = []
        for message in self._all(Partition(self._names.status, logs.partition)):
            try:
                record = decode_status(message.key(), message.value())
            except InvalidRecordError:
                logs.unreadable.append(("status", message.offset() or 0))
                continue
            match record:
                case Entry() | Active():
                    step.append(record)
                case Position():
                    logs.position = record
                    for entry in step:
                        if isinstance(entry, Entry):
                            logs.entries[entry.key] = entry
                        else:
                            logs.entries.pop(entry.key, None)
                    step.clear()

    def _read_journal(self, logs: PartitionLogs) -> int:
        journal = Partition(self._names.journal, logs.partition)
        start, end = self._ends.bounds(journal)
        for messages in self._reader.read(journal, start, end):
            for message in messages:
                try:
                    logs.journal.append(decode_journal(message.key(), message.value()))
                except InvalidRecordError:
                    logs.unreadable.append(("journal", message.offset() or 0))
        return start


def _row(message: Message) -> Copy:
    headers = headers_of(message)
    own = headers[:-1] if headers and headers[-1][0] == SOURCE else headers
    return _copy(message, own, source=source_of(headers))


def _letter(message: Message) -> Copy:
    headers = headers_of(message)
    own, appended = split_headers(headers)
    return _copy(message, own, source=source_of(appended), reason=reason_of(headers).kind)


def _copy(
    message: Message,
    headers: list[Header],
    source: tuple[int, int] | None = None,
    reason: str = "",
) -> Copy:
    kind, time = message.timestamp()
    return Copy(
        offset=message.offset() or 0,
        key=message.key(),
        value=hash(message.value()),
        headers=hash(tuple(headers)),
        time=-1 if kind == TIMESTAMP_NOT_AVAILABLE else time,
        source=source,
        reason=reason,
        has_value=message.value() is not None,
    )
