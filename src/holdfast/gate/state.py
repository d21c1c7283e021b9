"""The state of one source partition: its position, an entry for every key that is not ACTIVE, and
the holds of prefixes and of the whole flow.

A step never modifies it. The step returns `Changes`, which are applied only after the commit. The
cost depends on the number of changes, not on the number of held keys.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import ceil

from holdfast.errors import StaleStateError
from holdfast.flows.holds import WHOLE_FLOW, StandingHold
from holdfast.flows.registry import Limits
from holdfast.flows.status import Active, Entry, KeyState, Position, ScopeStatus
from holdfast.gate.change_history import ChangeHistory
from holdfast.gate.transitions import count_in, gives_out

_FEW = 10
"""The history keeps changes of at least this size, also for a state with few entries."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """A paced key's tokens at a time of the monotonic clock: one per row, at most a second's worth.
    It starts empty, so a restart gives no rows away."""

    tokens: float
    at: int

    def filled(self, pace: float, now: int) -> "Bucket":
        """The bucket at `now`."""
        earned = pace * max(0, now - self.at) / 1000
        # A pace below one a second still has to reach one whole token.
        return Bucket(min(self.tokens + earned, max(1.0, pace)), now)

    def take(self, count: int) -> "Bucket":
        return Bucket(self.tokens - count, self.at)

    def ready_at(self, pace: float) -> int:
        """When there is a whole token."""
        return self.at + max(0, ceil((1 - self.tokens) * 1000 / pace))


class Deadlines:
    """A heap of (time, key). An outdated pair stays until it reaches the top, so the caller must
    check every key that it gets."""

    __slots__ = ("_heap",)

    def __init__(self) -> None:
        self._heap: list[tuple[int, bytes]] = []

    def add(self, at: int, key: bytes) -> None:
        heappush(self._heap, (at, key))

    def due(self, now: int) -> Iterator[bytes]:
        """The keys due at `now`, in no order. They stay in the heap: the step may still fail."""
        heap = self._heap
        nodes = [0]
        while nodes:
            node = nodes.pop()
            if node < len(heap) and heap[node][0] <= now:
                yield heap[node][1]
                nodes += (2 * node + 1, 2 * node + 2)

    def first(self, is_valid: Callable[[int, bytes], bool]) -> int | None:
        """The earliest valid time; outdated ones before it are dropped."""
        heap = self._heap
        while heap and not is_valid(*heap[0]):
            heappop(heap)
        return heap[0][0] if heap else None


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes that committed steps (mostly one) make to a partition's state. They are small:
    tasks send them to the driver."""

    position: Position
    entries: Mapping[bytes, Entry | None]
    uncounted: Mapping[bytes, int]
    """Keys whose counts are not in status, each with the held offset where its new rows begin."""
    buckets: Mapping[bytes, Bucket]
    limits: Limits
    scopes: Mapping[bytes, ScopeStatus] = field(default_factory=dict)
    """Scopes whose holds have changed."""
    steps: int = 1

    @property
    def only_count(self) -> bool:
        """Returns True if only the counts of keys that were already held have changed."""
        counts = self.entries.keys() == self.uncounted.keys()
        return counts and not self.buckets and not self.scopes

    def then(self, later: "Changes") -> "Changes":
        """These changes and those of the next step, merged; both only count."""
        return Changes(
            later.position,
            {**self.entries, **later.entries},
            # Earlier uncounted keys stay first, with their old offsets.
            {**self.uncounted, **later.uncounted, **self.uncounted},
            {},
            later.limits,
            steps=self.steps + later.steps,
        )


class PartitionState:
    """The state of partition `partition` after step `position.step`.

    All other attributes are derived from `position`, `entries` and `scopes`, so that no step has to
    look at every entry. Buckets are the exception: they are not stored anywhere and start empty.
    """

    __slots__ = (
        "_deadlines",
        "buckets",
        "bytes",
        "entries",
        "events",
        "flagged",
        "history",
        "limits",
        "outgoing",
        "over",
        "partition",
        "position",
        "scopes",
        "uncounted",
    )

    def __init__(self, partition: int, position: Position) -> None:
        self.partition = partition
        self.position = position
        self.entries: dict[bytes, Entry] = {}
        self.scopes: dict[bytes, ScopeStatus] = {}
        """By prefix, or `WHOLE_FLOW`. Only those that have holds."""
        self.events = 0
        self.bytes = 0
        self.outgoing: dict[bytes, None] = {}
        """Keys with rows that should leave held, longest waiting first."""
        self.uncounted: dict[bytes, int] = {}
        """See `Changes.uncounted`; oldest first, so the first has the lowest offset."""
        self.buckets: dict[bytes, Bucket] = {}
        self.limits = Limits()
        self.over: set[bytes] = set()
        """Keys at their limit."""
        self.flagged: set[bytes] = set()
        """Keys whose overflow is journalled."""
        self.history: ChangeHistory[Changes] = ChangeHistory(position.step)
        """The last changes, by step, for copies of this state."""
        self._deadlines = Deadlines()

    @classmethod
    def first(cls, partition: int, offset: int, control: int) -> "PartitionState":
        """The state before the very first step."""
        return cls(partition, Position(offset=offset, control=control, step=0, owner=""))

    @classmethod
    def load(
        cls,
        partition: int,
        position: Position,
        entries: Iterable[Entry],
        *,
        now: int,
        scopes: Iterable[ScopeStatus] = (),
        recounted: Iterable[bytes] = (),
    ) -> "PartitionState":
        """The state that status describes, with counts from a `Recount`.

        `now`: the monotonic clock; paced drains continue from it.
        """
        state = cls(partition, position)
        for entry in entries:
            state._put(entry.key, entry)
            if entry.pace is not None:
                state.buckets[entry.key] = Bucket(0.0, now)
        state.scopes = {status.scope: status for status in scopes}
        state.uncounted = dict.fromkeys(recounted, position.counted_from)
        return state

    def apply(self, changes: Changes) -> None:
        """Apply the changes of a committed step."""
        if changes.position.step != self.position.step + changes.steps:
            raise StaleStateError(
                f"Step {changes.position.step} of partition {self.partition} does not follow step "
                f"{self.position.step}."
            )
        self.position = changes.position
        self.over = self.over_limits(changes.limits)
        self.limits = changes.limits
        for key, entry in changes.entries.items():
            self._put(key, entry)
            if key not in changes.uncounted:
                self.uncounted.pop(key, None)
        for key, held_from in changes.uncounted.items():
            self.uncounted.setdefault(key, held_from)
        self.buckets.update(changes.buckets)
        for scope, status in changes.scopes.items():
            self.scopes.pop(scope, None)
            if status.holds:
                self.scopes[scope] = status
        self._deadlines.first(self._expires)
        size, most = (
            1 + len(changes.entries) + len(changes.scopes),
            max(_FEW, len(self.entries) // 2),
        )
        self.history.add(changes, to=changes.position.step, size=size, most=most)

    def over_limits(self, limits: Limits) -> set[bytes]:
        """The keys at these limits."""
        if limits == self.limits:
            return self.over
        return {key for key, entry in self.entries.items() if _key_is_over(entry, limits)}

    def due(self, now: int) -> Iterable[bytes]:
        """Keys with a hold that expires at or before `now`. That hold may have ended otherwise."""
        return self._deadlines.due(now)

    def next_expiry(self) -> int | None:
        """The wall clock time of the next expiry."""
        times = [
            hold.expires_at
            for status in self.scopes.values()
            for hold in status.holds
            if hold.expires_at is not None
        ]
        first = self._deadlines.first(self._expires)
        return min([*times, *([] if first is None else [first])], default=None)

    @property
    def pauses(self) -> tuple[StandingHold, ...]:
        """The pauses of the flow, as of this partition's last step."""
        status = self.scopes.get(WHOLE_FLOW)
        return status.holds if status else ()

    @property
    def drains(self) -> bool:
        """Returns True if rows without a pace may leave held now."""
        return any(key not in self.buckets and self._may_leave(key) for key in self.outgoing)

    def next_paced(self) -> int | None:
        """The monotonic time when the next row of a paced key may leave."""
        paced = [(key, bucket) for key, bucket in self.buckets.items() if self._may_leave(key)]
        return min([self._ready_at(key, bucket) for key, bucket in paced], default=None)

    def _may_leave(self, key: bytes) -> bool:
        """Returns False for a key whose rows wait for the end of a pause. Dead letters do not."""
        entry = self.entries[key]
        return WHOLE_FLOW not in self.scopes or entry.drained_through < entry.dead_through

    def _ready_at(self, key: bytes, bucket: Bucket) -> int:
        entry = self.entries[key]
        if entry.pace is None or entry.drained_through < entry.dead_through:
            return bucket.at  # dead letters need no tokens
        return bucket.ready_at(entry.pace)

    def _put(self, key: bytes, entry: Entry | None) -> None:
        old = self.entries.get(key)
        if old is not None:
            self.events -= old.events
            self.bytes -= old.bytes
        if entry is None:
            self._drop(key)
            return
        self.entries[key] = entry
        self.events += entry.events
        self.bytes += entry.bytes
        if gives_out(entry):
            self.outgoing.setdefault(key)
        else:
            self.outgoing.pop(key, None)
        if entry.pace is None:
            self.buckets.pop(key, None)
        _set_member(self.over, key, _key_is_over(entry, self.limits))
        _set_member(self.flagged, key, entry.overflow)
        expiry = entry.next_expiry
        if expiry is not None and (old is None or old.next_expiry != expiry):
            self._deadlines.add(expiry, key)

    def _drop(self, key: bytes) -> None:
        self.entries.pop(key, None)
        self.outgoing.pop(key, None)
        self.buckets.pop(key, None)
        self.over.discard(key)
        self.flagged.discard(key)

    def _expires(self, at: int, key: bytes) -> bool:
        entry = self.entries.get(key)
        return entry is not None and entry.state is KeyState.HELD and entry.next_expiry == at


def _key_is_over(entry: Entry, limits: Limits) -> bool:
    """Returns True if the key is at its limit in this partition."""
    return entry.events >= limits.key_events or entry.bytes >= limits.key_bytes


def _set_member(keys: set[bytes], key: bytes, member: bool) -> None:
    if member:
        keys.add(key)
    else:
        keys.discard(key)


class StatusReader:
    """Builds a position, entries and scopes from the records of status/p, in log order."""

    __slots__ = ("entries", "position", "scopes")

    def __init__(self) -> None:
        self.position: Position | None = None
        self.entries: dict[bytes, Entry] = {}
        self.scopes: dict[bytes, ScopeStatus] = {}

    def take(self, record: Entry | Position | Active | ScopeStatus) -> None:
        match record:
            case Entry():
                self.entries[record.key] = record
            case Active():
                self.entries.pop(record.key, None)
            case ScopeStatus():
                self.scopes.pop(record.scope, None)
                if record.holds:
                    self.scopes[record.scope] = record
            case Position():
                self.position = record

    def is_at(self, step: int) -> bool:
        """Returns True if the position record of `step` was read: the last record that a step
        writes. If not, read on. Raises StaleStateError if a later step was committed meanwhile.
        """
        latest = -1 if self.position is None else self.position.step
        if latest > step:
            raise StaleStateError(f"Status is at step {latest}, past step {step}. Compare again.")
        return latest == step


class Recount:
    """Counts, at start, the held rows that the entries in status do not include.

    Status is not written for every held event, so the rows above an entry's `counted_through` are
    counted in held itself before any step runs. Otherwise a release of a key with uncounted rows
    would let new events pass ahead of them.

    Takes all rows of held/p from `start` on, in order, until it is `complete`.
    """

    __slots__ = ("_entries", "_last", "complete", "counted", "start")

    def __init__(self, position: Position, entries: Iterable[Entry]) -> None:
        self._entries = {entry.key: entry for entry in entries}
        self._last = position.last_held
        self.start = position.counted_from
        """Where in held to begin. There is nothing to read if `complete` from the start."""
        self.complete = position.counted_from < 0
        """The row of the last held event was read. Reaching the log's end proves nothing: rows that
        were just committed may not be readable yet."""
        self.counted: set[bytes] = set()

    def take(self, source: int, key: bytes, size: int, timestamp: int) -> None:
        """Count the next row. `size`: the bytes of key and value."""
        entry = self._entries.get(key)
        if entry is not None and entry.counted_through < source <= self._last:
            self._entries[key] = count_in(entry, events=1, size=size, oldest=timestamp, last=source)
            self.counted.add(key)
        if source >= self._last:
            self.complete = True

    def entries(self) -> Iterable[Entry]:
        """The entries with every row counted."""
        if not self.complete:
            raise RuntimeError("Not all rows of held have been counted.")
        return self._entries.values()
