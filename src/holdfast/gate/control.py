"""The control log as the gate reads it: every record in order, answered for by one partition.

Whether a record is a duplicate, and whether an unreadable one may be passed, follows from the log
alone, so every process that reads it comes to the same answer.
"""

from bisect import bisect_left
from dataclasses import dataclass
from operator import attrgetter

from holdfast.errors import GateStoppedError, InvalidRecordError
from holdfast.flows.commands import Command, Void, decode_command
from holdfast.flows.keys import partition_of

DUPLICATE_WINDOW = 100_000
"""A command is a duplicate if its id is among so many control offsets before it: a log that is
read from (lowest `control` - window) on decides as one that is read from its beginning."""

ANSWERS_FOR_NO_KEY = 0
"""The partition that journals what is about no key: `void`, and what cannot be read."""

_OFFSET = attrgetter("offset")


class UnreadableCommandError(GateStoppedError):
    """A record of the control log cannot be read: it may be a hold, so nothing passes."""

    def __init__(self, offset: int, why: str) -> None:
        super().__init__(
            f"The gate has stopped: the record at offset {offset} of the control log cannot be "
            f"read. {why} It may have been a hold. Find out what it meant, send that command anew, "
            f"and then send 'void' for offset {offset}."
        )
        self.offset = offset


@dataclass(frozen=True, slots=True)
class Asked:
    """One record of the control log."""

    offset: int
    home: int
    """The partition that must answer: the one that murmur2 gives to the key."""
    command: Command | None
    """None: it cannot be read."""
    first: int | None = None
    """Of a duplicate: the offset of the first command with this id. It has no effect."""
    voids: bool = False
    """Of a `void`: the record that it names is unreadable, and this is the first to name it."""
    why: str = ""
    """Why it cannot be read."""


class ControlLog:
    """What was asked of a flow, from `start` on. Records are appended in the order of the log."""

    __slots__ = ("_asked", "_ids", "_partitions", "_unreadable", "end", "start")

    def __init__(self, partitions: int, start: int = 0) -> None:
        self.start = start
        """Below this nothing is known."""
        self.end = start
        """The log was read up to here."""
        self._partitions = partitions
        self._asked: list[Asked] = []
        self._ids: dict[str, tuple[int, int]] = {}  # id: its first offset, its last
        self._unreadable: dict[int, int | None] = {}  # offset: that of its void

    def append(self, offset: int, key: bytes | None, value: bytes | None) -> None:
        """Take the next record of the log, readable or not."""
        try:
            command = decode_command(key, value)
        except InvalidRecordError as error:
            self._unreadable[offset] = None
            self._take(Asked(offset, ANSWERS_FOR_NO_KEY, None, why=str(error)))
        else:
            self.ask(offset, command)

    def ask(self, offset: int, command: Command) -> None:
        """Take the next record of the log, a readable one."""
        first = self._first_with_id(command.id, offset)
        if isinstance(command, Void):
            voids = first is None and self._void(command, offset)
            self._take(Asked(offset, ANSWERS_FOR_NO_KEY, command, first, voids))
        else:
            self._take(Asked(offset, partition_of(command.key, self._partitions), command, first))

    def advance(self, end: int) -> None:
        """The log was read up to `end`, whether or not there were records."""
        self.end = max(self.end, end)

    def between(self, control: int, end: int) -> list[Asked]:
        """The commands that a partition at `control` has to take to be at `end`.

        Raises GateStoppedError if they are not all known, or one cannot be read and no `void`
        below `end` names it.
        """
        if not self.start <= control <= end <= self.end:
            raise GateStoppedError(
                f"The gate has stopped: it needs the control log from {control} to {end}, but the "
                f"log has {self.start} to {self.end}. Commands may be missing, and with them holds."
            )
        for offset, void in self._unreadable.items():
            if control <= offset < end and (void is None or void >= end):
                raise UnreadableCommandError(offset, self._asked[self._index(offset)].why)
        return self._asked[self._index(control) : self._index(end)]

    def since(self, offset: int) -> list[Asked]:
        """All that is known from `offset` on, whether or not it can be read."""
        return self._asked[self._index(offset) :]

    def forget(self, below: int) -> None:
        """Every partition's control is at `below` or higher: older records are not asked for."""
        if below <= self.start:
            return
        del self._asked[: self._index(below)]
        self.start = below
        self._unreadable = {u: v for u, v in self._unreadable.items() if u >= below}
        if len(self._ids) > 2 * DUPLICATE_WINDOW:
            oldest = below - DUPLICATE_WINDOW
            self._ids = {i: seen for i, seen in self._ids.items() if seen[1] >= oldest}

    def _take(self, asked: Asked) -> None:
        if asked.offset < self.end:
            raise GateStoppedError(
                f"The gate has stopped: offset {asked.offset} of the control log was read after "
                f"{self.end - 1}. The topic seems to be another one than before."
            )
        self._asked.append(asked)
        self.end = asked.offset + 1

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
        return bisect_left(self._asked, offset, key=_OFFSET)
