"""Logs as lists, with transactions over all of them: as much of Kafka as the gate relies on."""

from dataclasses import dataclass, field
from typing import NamedTuple

from holdfast.flows.commands import Command, decode_command, encode_command
from holdfast.flows.journal import JournalRecord, decode_journal, encode_journal
from holdfast.flows.status import (
    Active,
    Entry,
    Position,
    ScopeStatus,
    decode_offset_metadata,
    decode_status,
    encode_offset_metadata,
    encode_position,
    encode_status,
)
from holdfast.gate import Drained, HeldRow, Now


class Event(NamedTuple):
    """A record of events; `asked` is how long the control log was when it was sent."""

    key: bytes | None
    size: int
    timestamp: int
    valid: bool
    asked: int


@dataclass(slots=True)
class Transaction:
    """The input and output of one step: it took the commands from `control` to `through`."""

    partition: int
    start: int
    end: int
    control: int
    through: int
    now: Now
    over: bool
    held_end: int
    passed: list[int] = field(default_factory=list)
    held: list[int] = field(default_factory=list)
    dead: list[int] = field(default_factory=list)
    invalid: list[int] = field(default_factory=list)
    drained: list[Drained[None]] = field(default_factory=list)
    journal: tuple[JournalRecord, ...] = ()
    status: tuple[Entry | Active | ScopeStatus, ...] = ()
    position: Position | None = None


class Kafka:
    """The topics of one flow. With `wire`, records go through their encodings."""

    def __init__(self, partitions: int, *, wire: bool = False) -> None:
        self.partitions = partitions
        self.wire = wire
        every = range(partitions)
        self.events: list[list[Event | None]] = [[] for _ in every]
        self.control: list[Command | None] = []
        self.held: list[list[tuple[bytes, HeldRow[None]]]] = [[] for _ in every]
        self.held_end = [0 for _ in every]
        self.processed: list[list[int]] = [[] for _ in every]
        self.dlq: list[list[int]] = [[] for _ in every]
        self.journal: list[list[JournalRecord]] = [[] for _ in every]
        self.status: list[list[Entry | Active | ScopeStatus | Position]] = [[] for _ in every]
        self.committed: list[Position | None] = [None for _ in every]

    def send(self, partition: int, key: bytes | None, *, size: int = 1, time: int = 0,
             valid: bool = True) -> int:  # fmt: skip
        log = self.events[partition]
        log.append(Event(key, size, time, valid, len(self.control)))
        return len(log) - 1

    def skip(self, partition: int) -> None:
        """An aborted record, or a marker: an offset without a visible event."""
        self.events[partition].append(None)

    def ask(self, command: Command | None) -> int:
        """None: a record that cannot be read."""
        if command is not None and self.wire:
            command = decode_command(*encode_command(command))
        self.control.append(command)
        return len(self.control) - 1

    def commit(self, t: Transaction) -> None:
        assert t.position is not None
        p, events = t.partition, self.events[t.partition]
        for source in t.held:
            event = events[source]
            assert event is not None
            assert event.key is not None
            row = HeldRow(self.held_end[p], source, event.size, event.timestamp, None)
            self.held[p].append((event.key, row))
            self.held_end[p] += 1
        self.held_end[p] += bool(t.held)  # the marker of the transaction
        for each in t.drained:
            (self.dlq if each.verdict else self.processed)[p].append(each.row.source)
        self.processed[p] += t.passed
        self.dlq[p] += [*t.dead, *t.invalid]
        if self.wire:
            self._commit_wire(t, t.position)
            return
        self.journal[p] += t.journal
        self.status[p] += [*t.status, t.position]
        self.committed[p] = t.position

    def _commit_wire(self, t: Transaction, position: Position) -> None:
        p = t.partition
        self.journal[p] += [decode_journal(*encode_journal(record)) for record in t.journal]
        for record in t.status:
            self.status[p].append(decode_status(*encode_status(record)))
        self.status[p].append(decode_status(*encode_position(position)))
        metadata = encode_offset_metadata(position)
        self.committed[p] = decode_offset_metadata(position.offset, metadata)

    def read_held(
        self, partition: int, start: int, lag: int
    ) -> tuple[list[tuple[bytes, HeldRow[None]]], int]:
        """Rows from `start` on, and how far they reach. The last `lag` rows cannot be seen yet."""
        log = self.held[partition]
        if not lag:
            return [pair for pair in log if pair[1].offset >= start], self.held_end[partition]
        visible = log[: max(0, len(log) - lag)]
        end = visible[-1][1].offset + 1 if visible else 0
        return [pair for pair in visible if pair[1].offset >= start], end

    def delete_held(self, partition: int, below: int) -> None:
        self.held[partition] = [pair for pair in self.held[partition] if pair[1].offset >= below]
