"""Held rows, read ahead of the step that gives them out.

Rows of held never change, so what was read stays true whatever happens to the entries meanwhile:
only `Backlog.read` and the step need the lock, the pass over held between them does not. The step
looks at the entry as it is then, and takes only the rows that the entry says are next.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from holdfast.flows.status import Entry
from holdfast.gate.pacing import rows_ahead
from holdfast.gate.state import PartitionState
from holdfast.gate.transitions import leaves_through

Payload = TypeVar("Payload")


class HeldRow(NamedTuple, Generic[Payload]):
    """One row of held: where it is there, the event's source offset, and the event itself."""

    offset: int
    source: int
    size: int
    timestamp: int
    payload: Payload


@dataclass(slots=True)
class _Queue(Generic[Payload]):
    """All rows of one key that held has below `cursor`, but for those that have left held."""

    cursor: int
    rows: deque[HeldRow[Payload]] = field(default_factory=deque)
    size: int = 0

    def append(self, row: HeldRow[Payload]) -> None:
        self.rows.append(row)
        self.size += row.size

    def drop_through(self, source: int) -> None:
        while self.rows and self.rows[0].source <= source:
            self.size -= self.rows.popleft().size

    def lacks(self, entry: Entry) -> bool:
        """Whether held has rows that are to leave it, and are not here."""
        return not self.rows or self.rows[-1].source < leaves_through(entry)

    def paced(self, entry: Entry) -> int:
        """How many rows here wait for their pace; dead letters do not."""
        return sum(row.source > entry.dead_through for row in self.rows)


class Reading(Generic[Payload]):
    """One pass over held from `start`: the caller gives it rows of `keys`, in order, until it is
    `done` or the log ends there, and then tells how far it came."""

    __slots__ = ("_ahead", "_bytes", "_open", "_rows", "start")

    def __init__(
        self,
        start: int,
        open_: dict[bytes, tuple[_Queue[Payload], Entry]],
        rows: int,
        size: int,
    ) -> None:
        self.start = start
        self._open = open_
        self._ahead = {
            key: rows_ahead(entry.pace, rows) - queue.paced(entry)
            for key, (queue, entry) in open_.items()
        }
        self._rows = rows
        self._bytes = size

    @property
    def keys(self) -> set[bytes]:
        """Rows of other keys need not be given."""
        return set(self._open)

    @property
    def done(self) -> bool:
        """No more rows are wanted from this pass."""
        return not self._open or self._rows <= 0 or self._bytes <= 0

    def take(self, key: bytes, row: HeldRow[Payload]) -> None:
        """The next row, if its key is still wanted; the others are read by a later pass."""
        queue, entry = self._open.get(key, (None, None))
        if queue is None or entry is None or row.offset < queue.cursor:
            return
        queue.cursor = row.offset + 1
        if row.source <= entry.drained_through:
            return
        queue.append(row)
        self._rows -= 1
        self._bytes -= row.size
        self._ahead[key] -= row.source > entry.dead_through
        if not queue.lacks(entry) or self._ahead[key] <= 0:
            del self._open[key]

    def end(self, offset: int) -> None:
        """All rows below `offset` were given. The log's end is no proof that there are no more:
        whether a key has rows left is for its entry to say."""
        for queue, _ in self._open.values():
            queue.cursor = max(queue.cursor, offset)


class Backlog(Generic[Payload]):
    """The rows read ahead for one partition: of all keys no more rows and bytes than given, or one
    row, and of each paced key a second's worth."""

    __slots__ = ("_bytes", "_queues", "_rows")

    def __init__(self, *, rows: int = 50_000, size: int = 64 * 1024**2) -> None:
        self._rows = rows
        self._bytes = size
        self._queues: dict[bytes, _Queue[Payload]] = {}

    def read(self, state: PartitionState) -> Reading[Payload] | None:
        """What to read next; None if every key that gives out rows has some here."""
        wanted = {key: state.entries[key] for key in state.outgoing}
        self._queues = {key: queue for key, queue in self._queues.items() if key in wanted}
        starts = []
        for key, entry in wanted.items():
            queue = self._queues.setdefault(key, _Queue(entry.held_from))
            queue.cursor = max(queue.cursor, entry.held_from)
            queue.drop_through(entry.drained_through)
            if not queue.rows:
                starts.append(queue.cursor)
        if not starts:
            return None
        start = min(starts)
        open_ = {
            key: (queue, entry)
            for key, entry in wanted.items()
            if (queue := self._queues[key]).cursor >= start
            and queue.lacks(entry)
            and queue.paced(entry) < rows_ahead(entry.pace, self._rows)
        }
        unpaced = [self._queues[key] for key, entry in wanted.items() if entry.pace is None]
        rows = self._rows - sum(len(queue.rows) for queue in unpaced)
        size = self._bytes - sum(queue.size for queue in unpaced)
        return Reading(start, open_, max(1, rows), max(1, size))

    def rows(self, entry: Entry) -> Iterator[HeldRow[Payload]]:
        """The key's next rows, as far as they were read."""
        queue = self._queues.get(entry.key)
        if queue is None:
            return
        for row in queue.rows:
            if row.source > entry.drained_through:
                yield row

    def waiting(self) -> list[bytes]:
        """The keys with rows here, fewest first."""
        filled = [(len(queue.rows), key) for key, queue in self._queues.items() if queue.rows]
        return [key for _, key in sorted(filled)]
