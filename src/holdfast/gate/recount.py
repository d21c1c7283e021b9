"""Counting, at start, the held rows that the entries in status have not counted.

Status is not written for every held event. So after a restart the rows beyond an entry's
`counted_through` are counted in held itself, before anything is decided: a release of a key whose
rows were overlooked would let new events pass in front of them.
"""

from collections.abc import Iterable

from holdfast.flows.status import Entry, Position
from holdfast.gate.transitions import count_in


class Recount:
    """Takes all rows of held/p from `start` on, in order, until it is `complete`."""

    __slots__ = ("_entries", "_last", "complete", "counted", "start")

    def __init__(self, position: Position, entries: Iterable[Entry]) -> None:
        self._entries = {entry.key: entry for entry in entries}
        self._last = position.last_held
        self.start = position.counted_from
        """Where in held to begin; nothing has to be read if `complete` at once."""
        self.complete = position.counted_from < 0
        """The row of the last held event was seen: the log's end would prove nothing, since what
        was just committed may not be readable yet."""
        self.counted: set[bytes] = set()

    def take(self, source: int, key: bytes, size: int, timestamp: int) -> None:
        """The next row: its source offset, its key, the bytes of its key and value, its time."""
        entry = self._entries.get(key)
        if entry is not None and entry.counted_through < source <= self._last:
            self._entries[key] = count_in(entry, events=1, size=size, oldest=timestamp, last=source)
            self.counted.add(key)
        if source >= self._last:
            self.complete = True

    def entries(self) -> Iterable[Entry]:
        """The entries with every row counted."""
        if not self.complete:
            raise RuntimeError("Rows of held are still to be counted.")
        return self._entries.values()
