"""The state of one source partition: its position, and an entry for every key that is not ACTIVE.

A step never changes it. A step's decisions become `Changes`, which replace the state's parts only
after the commit, at a cost that depends on what changed and not on how many keys are held.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from holdfast.errors import StaleStateError
from holdfast.flows.registry import Limits
from holdfast.flows.status import Active, Entry, KeyState, Position
from holdfast.gate.deadlines import Deadlines
from holdfast.gate.latest import Latest
from holdfast.gate.pacing import Bucket
from holdfast.gate.settings import key_is_over
from holdfast.gate.transitions import gives_out

_FEW = 10
"""Changes that are as quickly sent as the entries of a state that has hardly any."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What committed steps, mostly one, make of a partition's state. Small, and sent from tasks to
    the driver."""

    position: Position
    entries: Mapping[bytes, Entry | None]
    uncounted: Mapping[bytes, int]
    """Entries whose counts are not in status, and where in held their new rows begin."""
    buckets: Mapping[bytes, Bucket]
    limits: Limits
    steps: int = 1

    @property
    def only_count(self) -> bool:
        """Whether all that has changed is how much is held of keys that were held before."""
        return self.entries.keys() == self.uncounted.keys() and not self.buckets

    def then(self, later: "Changes") -> "Changes":
        """These and those of the next step, as one; both only count."""
        return Changes(
            later.position,
            {**self.entries, **later.entries},
            # What was uncounted before stays first, and where it was.
            {**self.uncounted, **later.uncounted, **self.uncounted},
            {},
            later.limits,
            self.steps + later.steps,
        )


class PartitionState:
    """What is known of partition `partition` after the step `position.step`.

    All but `position` and `entries` is derived from them, so that no step has to look at every
    entry; buckets are the exception: they are not stored, and begin empty.
    """

    __slots__ = (
        "_deadlines",
        "buckets",
        "bytes",
        "entries",
        "events",
        "flagged",
        "latest",
        "limits",
        "outgoing",
        "over",
        "partition",
        "position",
        "uncounted",
    )

    def __init__(self, partition: int, position: Position) -> None:
        self.partition = partition
        self.position = position
        self.entries: dict[bytes, Entry] = {}
        self.events = 0
        self.bytes = 0
        self.outgoing: dict[bytes, None] = {}
        """Keys with rows that are to leave held, longest waiting first."""
        self.uncounted: dict[bytes, int] = {}
        """See `Changes.uncounted`; oldest first, so the first has the lowest offset."""
        self.buckets: dict[bytes, Bucket] = {}
        self.limits = Limits()
        self.over: set[bytes] = set()
        """Keys at their limit."""
        self.flagged: set[bytes] = set()
        """Keys whose overflow is journalled."""
        self.latest: Latest[Changes] = Latest(position.step)
        """The last changes, by step, for copies of this state."""
        self._deadlines = Deadlines()

    @classmethod
    def first(cls, partition: int, offset: int, control: int) -> "PartitionState":
        """Before the first step of all."""
        return cls(partition, Position(offset=offset, control=control, step=0, owner=""))

    @classmethod
    def load(
        cls,
        partition: int,
        position: Position,
        entries: Iterable[Entry],
        *,
        now: int,
        recounted: Iterable[bytes] = (),
    ) -> "PartitionState":
        """The state that status speaks of, its entries counted by a `Recount`."""
        state = cls(partition, position)
        for entry in entries:
            state._put(entry.key, entry)
            if entry.pace is not None:
                state.buckets[entry.key] = Bucket(0.0, now)
        state.uncounted = dict.fromkeys(recounted, position.counted_from)
        return state

    def apply(self, changes: Changes) -> None:
        """The step was committed: its changes are now the state."""
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
        self._deadlines.first(self._expires)
        size, most = 1 + len(changes.entries), max(_FEW, len(self.entries) // 2)
        self.latest.add(changes, to=changes.position.step, size=size, most=most)

    def over_limits(self, limits: Limits) -> set[bytes]:
        """The keys that are at these limits."""
        if limits == self.limits:
            return self.over
        return {key for key, entry in self.entries.items() if key_is_over(entry, limits)}

    def due(self, now: int) -> Iterable[bytes]:
        """Keys of which some hold has an expiry at or before `now`; it may be another's by now."""
        return self._deadlines.due(now)

    def wake_at(self) -> int | None:
        """When there is something to do next by the clock alone: an expiry, or a paced row."""
        times = [self._ready_at(key, bucket) for key, bucket in self.buckets.items()]
        expiry = self._deadlines.first(self._expires)
        if expiry is not None:
            times.append(expiry)
        return min(times, default=None)

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
        _set_member(self.over, key, key_is_over(entry, self.limits))
        _set_member(self.flagged, key, entry.overflow)
        if entry.expires_at is not None and (old is None or old.expires_at != entry.expires_at):
            self._deadlines.add(entry.expires_at, key)

    def _drop(self, key: bytes) -> None:
        self.entries.pop(key, None)
        self.outgoing.pop(key, None)
        self.buckets.pop(key, None)
        self.over.discard(key)
        self.flagged.discard(key)

    def _expires(self, at: int, key: bytes) -> bool:
        entry = self.entries.get(key)
        return entry is not None and entry.state is KeyState.HELD and entry.expires_at == at


def _set_member(keys: set[bytes], key: bytes, member: bool) -> None:
    if member:
        keys.add(key)
    else:
        keys.discard(key)


class StatusReader:
    """Takes the records of status/p in their order and says what they come to."""

    __slots__ = ("entries", "position")

    def __init__(self) -> None:
        self.position: Position | None = None
        self.entries: dict[bytes, Entry] = {}

    def take(self, record: Entry | Position | Active) -> None:
        match record:
            case Entry():
                self.entries[record.key] = record
            case Active():
                self.entries.pop(record.key, None)
            case Position():
                self.position = record

    def is_at(self, step: int) -> bool:
        """Whether the position record of `step` was seen, which is the last that its step writes.

        Not yet: read on. Past it: raises StaleStateError, since someone has committed meanwhile.
        """
        seen = -1 if self.position is None else self.position.step
        if seen > step:
            raise StaleStateError(f"Status is at step {seen}, past step {step}. Compare again.")
        return seen == step
