"""The copy on which a step decides: what it has changed, over a state that stays as it is."""

from typing import Any

from holdfast.flows.journal import JournalRecord, Outcome
from holdfast.flows.status import Entry, KeyState
from holdfast.gate.pacing import Bucket
from holdfast.gate.state import PartitionState
from holdfast.gate.transitions import has_rows


class Draft:
    """Entries, buckets and journal as they will be if the step is committed."""

    __slots__ = ("buckets", "changed", "cut", "held_end", "journal", "now", "state")

    def __init__(self, state: PartitionState, *, now: int, held_end: int) -> None:
        self.state = state
        self.now = now
        self.cut = state.position.offset
        """The first source offset that this step's decisions apply to."""
        self.held_end = held_end
        self.changed: dict[bytes, Entry | None] = {}
        self.buckets: dict[bytes, Bucket] = {}
        self.journal: list[JournalRecord] = []

    def entry(self, key: bytes) -> Entry | None:
        if key in self.changed:
            return self.changed[key]
        return self.state.entries.get(key)

    def put(self, entry: Entry) -> None:
        self.changed[entry.key] = entry

    def note(self, outcome: Outcome, key: bytes | None = None, **fields: Any) -> None:
        """Journal an outcome of this step."""
        self.journal.append(
            JournalRecord(
                outcome=outcome,
                key=key,
                cut=self.cut,
                step=self.state.position.step + 1,
                at=self.now,
                **fields,
            )
        )

    def settle(self, entry: Entry) -> None:
        """Put a draining entry, or end it: a key without rows is ACTIVE from the cut on."""
        if entry.state is KeyState.DRAINING and not has_rows(entry):
            self._end(entry)
            return
        self.put(entry)

    def bucket(self, key: bytes) -> Bucket:
        if key in self.buckets:
            return self.buckets[key]
        return self.state.buckets.get(key, Bucket(0.0, self.now))

    def flag_overflow(self, entry: Entry, over: bool) -> None:
        """Journal that a key has come to its limit, or away from it."""
        self.note(Outcome.OVERFLOW_BEGUN if over else Outcome.OVERFLOW_ENDED, entry.key)
        self.put(entry._replace(overflow=over))

    def _end(self, entry: Entry) -> None:
        if entry.overflow:
            self.note(Outcome.OVERFLOW_ENDED, entry.key)
        self.note(Outcome.DRAINED, entry.key, drained_through=entry.drained_through)
        self.changed[entry.key] = None
        self.buckets.pop(entry.key, None)
