"""Held rows, read ahead of the step that drains them.

Rows of held never change, so a row that was read stays correct whatever happens to its entry.
`Backlog.read` and the step need the lock; the pass over held between them does not. The step takes
only the rows that the current entry still has.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import ceil, inf
from typing import Any, Generic, NamedTuple, TypeVar

from holdfast.flows.status import Entry
from holdfast.gate.state import PartitionState
from holdfast.gate.transitions import leaves_through

Payload = TypeVar("Payload")

_AHEAD_MS = 1_000


class HeldRow(NamedTuple, Generic[Payload]):
    """One row of held: its offset in held, the event's source offset, and the event itself."""

    offset: int
    source: int
    size: int
    """Bytes of key and value, as the limits count them."""
    timestamp: int
    payload: Payload
    weight: int = 0
    """Upper bound of the whole record's bytes, headers included."""

    @property
    def room(self) -> int:
        """Bytes that it takes in the backlog."""
        return max(self.size, self.weight)


@dataclass(slots=True)
class Room:
    """A limit in bytes for all rows of a flow that were read ahead, over all partitions."""

    size: int
    used: int = 0

    def fits(self, row: HeldRow[Any]) -> bool:
        """Returns True if there is room for the row. A row above the limit fits if it is alone."""
        return not self.used or self.used + row.room <= self.size


@dataclass(slots=True)
class _Queue(Generic[Payload]):
    """All rows of one key below offset `cursor` of held, without those that have left held."""

    cursor: int
    rows: deque[HeldRow[Payload]] = field(default_factory=deque)
    size: int = 0

    def append(self, row: HeldRow[Payload]) -> None:
        self.rows.append(row)
        self.size += row.room

    def drop_through(self, source: int) -> None:
        while self.rows and self.rows[0].source <= source:
            self.size -= self.rows.popleft().room

    def lacks(self, entry: Entry) -> bool:
        """Returns True if held has rows that should leave it and are not in this queue."""
        return not self.rows or self.rows[-1].source < leaves_through(entry)

    def paced(self, entry: Entry) -> int:
        """The number of rows here that are paced; dead letters are not."""
        return sum(row.source > entry.dead_through for row in self.rows)


class Reading(Generic[Payload]):
    """One pass over held from `start`. The caller passes in rows of `keys`, in order, until it is
    `done`, the log ends or the caller stops, and then calls `end` with the offset reached."""

    __slots__ = ("_ahead", "_open", "_room", "_rows", "_shares", "start")

    def __init__(
        self,
        start: int,
        open_: dict[bytes, tuple[_Queue[Payload], Entry]],
        rows: int,
        room: Room,
        shares: dict[bool, Room],
    ) -> None:
        """`shares`: the room for the partition's paced keys (True), and for its other keys."""
        self.start = start
        self._open = open_
        self._ahead = {
            key: _rows_ahead(entry.pace, rows) - queue.paced(entry)
            for key, (queue, entry) in open_.items()
        }
        self._rows = rows
        self._room = room
        self._shares = shares

    @property
    def keys(self) -> set[bytes]:
        """The keys whose rows this pass needs."""
        return set(self._open)

    @property
    def done(self) -> bool:
        """Returns True if this pass needs no more rows."""
        return not self._open or self._rows <= 0

    def next_from(self, offset: int) -> int:
        """The first offset from `offset` on where a needed row may be."""
        return max(offset, min([queue.cursor for queue, _ in self._open.values()], default=offset))

    def take(self, key: bytes, row: HeldRow[Payload]) -> None:
        """Add the next row, if this pass still reads its key; a later pass reads the others."""
        queue, entry = self._open.get(key, (None, None))
        if queue is None or entry is None or row.offset < queue.cursor:
            return
        if row.source <= entry.drained_through:
            queue.cursor = row.offset + 1
            return
        paced = entry.pace is not None
        share = self._shares[paced]
        if not self._room.fits(row):
            self._close(row.offset, (True, False))
            return
        if not share.fits(row):
            self._close(row.offset, (paced,))
            return
        queue.cursor = row.offset + 1
        queue.append(row)
        self._rows -= 1
        self._room.used += row.room
        share.used += row.room
        self._ahead[key] -= row.source > entry.dead_through
        if not queue.lacks(entry) or self._ahead[key] <= 0:
            del self._open[key]

    def _close(self, offset: int, kinds: tuple[bool, ...]) -> None:
        """There is no room for the row at `offset`: a later pass over these kinds of keys (paced or
        not) begins with it."""
        for key, (queue, entry) in list(self._open.items()):
            if (entry.pace is not None) in kinds:
                queue.cursor = max(queue.cursor, offset)
                del self._open[key]

    def end(self, offset: int) -> None:
        """All rows below `offset` were passed in. The end of the log does not prove that a key has
        no more rows: only its entry does."""
        for queue, _ in self._open.values():
            queue.cursor = max(queue.cursor, offset)


def _rows_ahead(pace: float | None, unpaced: int) -> int:
    """How many rows of a key to read ahead: as many as can leave within a second."""
    return unpaced if pace is None else min(unpaced, max(1, ceil(pace)))


def _is_due(state: PartitionState, entry: Entry, now: float) -> bool:
    """Returns True if a row of the key may leave held within a second. Dead letters are not paced,
    and leave at once."""
    bucket = state.buckets.get(entry.key)
    if entry.pace is None or bucket is None or entry.dead_through > entry.drained_through:
        return True
    return bucket.ready_at(entry.pace) <= now + _AHEAD_MS


class Backlog(Generic[Payload]):
    """The rows read ahead for one partition: at most `rows` rows and `size` bytes (or one row), and
    at most a second's worth of each paced key.

    Paced keys get half of the bytes: their rows wait, while rows of other keys leave at once, and
    neither may use up the other's room. A paced key is read when its next row is due within a
    second, so that slow keys do not use up the room of faster ones.
    """

    __slots__ = ("_bytes", "_queues", "_room", "_rows")

    def __init__(
        self, *, rows: int = 50_000, size: int = 64 * 1024**2, room: Room | None = None
    ) -> None:
        """`room`: shared by the partitions of a flow; at least `size`."""
        self._rows = rows
        self._bytes = size
        self._room = room or Room(size)
        self._queues: dict[bytes, _Queue[Payload]] = {}

    def read(
        self, state: PartitionState, now: float = inf, also: Iterable[bytes] = ()
    ) -> Reading[Payload] | None:
        """The next pass over held; None if every draining key has rows here, or none that is due
        within a second. `now`: the monotonic clock, in milliseconds. `also`: other keys with rows,
        whose first row is needed."""
        draining = {key: state.entries[key] for key in (*state.outgoing, *also)}
        self._drop_left(draining)
        starts = []
        for key, entry in draining.items():
            queue = self._queues.setdefault(key, _Queue(entry.held_from))
            queue.cursor = max(queue.cursor, entry.held_from)
            if not queue.rows and _is_due(state, entry, now):
                starts.append(queue.cursor)
        if not starts:
            return None
        start = min(starts)
        open_ = {
            key: (queue, entry)
            for key, entry in draining.items()
            if (queue := self._queues[key]).cursor >= start
            and queue.lacks(entry)
            and queue.paced(entry) < _rows_ahead(entry.pace, self._rows)
            and _is_due(state, entry, now)
        }
        unpaced = [self._queues[key] for key, entry in draining.items() if entry.pace is None]
        paced = [self._queues[key] for key, entry in draining.items() if entry.pace is not None]
        rows = self._rows - sum(len(queue.rows) for queue in unpaced)
        half = self._bytes // 2
        shares = {
            True: Room(half, sum(queue.size for queue in paced)),
            False: Room(self._bytes - half * bool(paced), sum(queue.size for queue in unpaced)),
        }
        return Reading(start, open_, max(1, rows), self._room, shares)

    def _drop_left(self, draining: Mapping[bytes, Entry]) -> None:
        """Drop the rows that have left held, and those of keys that no longer drain."""
        before = sum(queue.size for queue in self._queues.values())
        self._queues = {key: queue for key, queue in self._queues.items() if key in draining}
        for key, queue in self._queues.items():
            queue.drop_through(draining[key].drained_through)
        self._room.used += sum(queue.size for queue in self._queues.values()) - before

    @property
    def is_empty(self) -> bool:
        return not any(queue.rows for queue in self._queues.values())

    def rows(self, entry: Entry) -> Iterator[HeldRow[Payload]]:
        """The key's next rows, as far as they have been read."""
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
