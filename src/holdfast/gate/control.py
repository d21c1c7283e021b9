"""The control log as the gate reads it: every record in order, each answered by one partition.

The log alone decides if a record is a duplicate and if an unreadable one may be passed, so every
process that reads the log gets the same result.
"""

from bisect import bisect_left
from dataclasses import dataclass
from operator import attrgetter

from holdfast.errors import GateStoppedError, InvalidRecordError
from holdfast.flows.commands import Command, KeyCommand, Skip, Void, decode_command
from holdfast.flows.keys import partition_of

DUPLICATE_WINDOW = 100_000
"""A command is a duplicate if its id appears within this many control offsets before it. So a log
that is read from (lowest `control` - window) gives the same result as one read from its start."""

ANSWERS_FOR_NO_KEY = 0
"""The partition that journals records without a key: `void`, and unreadable records. Of commands
about a prefix or the whole flow, which every partition answers, it journals duplicates."""

_OFFSET = attrgetter("offset")


class UnreadableCommandError(GateStoppedError):
    """A record of the control log cannot be read. It may be a hold, so no event passes."""

    def __init__(self, offset: int, why: str) -> None:
        super().__init__(
            f"The gate has stopped: the record at offset {offset} of the control log cannot be "
            f"read. {why} It may have been a hold. Find out what it was, send that command again, "
            f"and then send 'void' for offset {offset}."
        )
        self.offset = offset


@dataclass(frozen=True, slots=True)
class ControlEntry:
    """One record of the control log."""

    offset: int
    home: int
    """The partition that must answer: the one that murmur2 gives to the key. A `ScopeCommand` is
    answered by all."""
    command: Command | None
    """None if it cannot be read."""
    first: int | None = None
    """For a duplicate: the offset of the first command with this id. A duplicate has no effect."""
    voids: bool = False
    """For a `void`: it names an unreadable record, and is the first to do so."""
    why: str = ""
    """Why it cannot be read."""


class ControlLog:
    """The control records of a flow from offset `start` on. They are appended in log order."""

    __slots__ = ("_entries", "_ids", "_partitions", "_unreadable", "end", "start")

    def __init__(self, partitions: int, start: int = 0) -> None:
        self.start = start
        """The first offset that is known."""
        self.end = start
        """The offset up to which the log was read."""
        self._partitions = partitions
        self._entries: list[ControlEntry] = []
        self._ids: dict[str, tuple[int, int]] = {}  # id: its first offset, its last
        self._unreadable: dict[int, int | None] = {}  # offset: that of its void

    def append(self, offset: int, key: bytes | None, value: bytes | None, time: int) -> None:
        """Append the next record of the log, readable or not."""
        try:
            command = decode_command(key, value, time)
        except InvalidRecordError as error:
            self._unreadable[offset] = None
            self._take(ControlEntry(offset, ANSWERS_FOR_NO_KEY, None, why=str(error)))
        else:
            self.append_command(offset, command)

    def append_unreadable(self, offset: int, end: int, why: str) -> None:
        """Append an unreadable batch of the log that ends at `end`. It counts as one record, so one
        `void` passes it."""
        self._unreadable[offset] = None
        self._take(ControlEntry(offset, ANSWERS_FOR_NO_KEY, None, why=why))
        self.advance(end)

    def append_command(self, offset: int, command: Command) -> None:
        """Append the next record of the log, already decoded."""
        first = self._first_with_id(command.id, offset)
        if isinstance(command, Void):
            voids = first is None and self._void(command, offset)
            self._take(ControlEntry(offset, ANSWERS_FOR_NO_KEY, command, first, voids))
        elif isinstance(command, Skip):
            exists = command.partition < self._partitions
            home = command.partition if exists else ANSWERS_FOR_NO_KEY
            self._take(ControlEntry(offset, home, command, first))
        elif isinstance(command, KeyCommand):
            home = partition_of(command.key, self._partitions)
            self._take(ControlEntry(offset, home, command, first))
        else:
            self._take(ControlEntry(offset, ANSWERS_FOR_NO_KEY, command, first))

    def advance(self, end: int) -> None:
        """The log was read up to `end`, with or without records."""
        self.end = max(self.end, end)

    def between(self, control: int, end: int) -> list[ControlEntry]:
        """The records that a partition at offset `control` must take to get to `end`.

        Raises GateStoppedError if some of them are not known, or if one is unreadable and no
        `void` below `end` names it.
        """
        if not self.start <= control <= end <= self.end:
            raise GateStoppedError(
                f"The gate has stopped: it needs the control log from {control} to {end}, but the "
                f"log has {self.start} to {self.end}. Commands may be missing, and with them holds."
            )
        for offset, void in self._unreadable.items():
            if control <= offset < end and (void is None or void >= end):
                raise UnreadableCommandError(offset, self._entries[self._index(offset)].why)
        return self._entries[self._index(control) : self._index(end)]

    def since(self, offset: int) -> list[ControlEntry]:
        """All known records from `offset` on, readable or not."""
        return self._entries[self._index(offset) :]

    def forget(self, below: int) -> None:
        """Drop the records below offset `below`: every partition has taken them."""
        if below <= self.start:
            return
        del self._entries[: self._index(below)]
        self.start = below
        self._unreadable = {u: v for u, v in self._unreadable.items() if u >= below}
        if len(self._ids) > 2 * DUPLICATE_WINDOW:
            oldest = below - DUPLICATE_WINDOW
            self._ids = {i: seen for i, seen in self._ids.items() if seen[1] >= oldest}

    def _take(self, entry: ControlEntry) -> None:
        if entry.offset < self.end:
            raise GateStoppedError(
                f"The gate has stopped: offset {entry.offset} of the control log was read after "
                f"{self.end - 1}. The topic seems to have been deleted and created again."
            )
        self._entries.append(entry)
        self.end = entry.offset + 1

    def _first_with_id(self, identity: str, offset: int) -> int | None:
        first, last = self._ids.get(identity, (offset, offset))
        if last < offset - DUPLICATE_WINDOW:
            first = offset
        self._ids[identity] = (first, offset)
        return None if first == offset else first

    def _void(self, command: Void, offset: int) -> bool:
        if self._unreadable.get(command.offset, offset) is not None:
            return False
        self._unreadable[command.offset] = offset
        return True

    def _index(self, offset: int) -> int:
        return bisect_left(self._entries, offset, key=_OFFSET)
