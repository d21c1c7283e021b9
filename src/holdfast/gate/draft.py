"""A step's working copy: its changes, kept apart from the state, which stays unchanged."""

from collections.abc import Iterator, Sequence
from typing import Any

from holdfast.flows.holds import WHOLE_FLOW, StandingHold
from holdfast.flows.journal import JournalRecord, Outcome
from holdfast.flows.keys import MAX_KEY_BYTES
from holdfast.flows.status import Entry, KeyState, ScopeStatus
from holdfast.gate.clock import Now
from holdfast.gate.state import Bucket, PartitionState
from holdfast.gate.transitions import has_rows


class Draft:
    """Entries, scopes, buckets and journal as they will be if the step is committed."""

    __slots__ = (
        "buckets",
        "changed",
        "cut",
        "held_end",
        "journal",
        "now",
        "paced_at",
        "scopes",
        "skip_to",
        "state",
    )

    def __init__(self, state: PartitionState, *, now: Now, held_end: int) -> None:
        self.state = state
        self.now = now.wall
        self.paced_at = now.monotonic
        self.cut = state.position.offset
        """The first source offset that this step's decisions apply to."""
        self.held_end = held_end
        self.changed: dict[bytes, Entry | None] = {}
        self.buckets: dict[bytes, Bucket] = {}
        self.scopes: dict[bytes, ScopeStatus] = {}
        """Those that have changed."""
        self.journal: list[JournalRecord] = []
        self.skip_to: int | None = None
        """The offset after the unreadable events that this step skips."""

    def entry(self, key: bytes) -> Entry | None:
        if key in self.changed:
            return self.changed[key]
        return self.state.entries.get(key)

    def put(self, entry: Entry) -> None:
        self.changed[entry.key] = entry

    def entries_with(self, prefix: bytes) -> list[Entry]:
        """The entries of all keys with this prefix."""
        keys = [key for key in self.state.entries if key.startswith(prefix)]
        new = [key for key in self.changed if key.startswith(prefix)]
        found = (self.entry(key) for key in dict.fromkeys([*keys, *new]))
        return [entry for entry in found if entry is not None]

    def scope_holds(self, scope: bytes) -> tuple[StandingHold, ...]:
        """The holds of a prefix, or the pauses of the flow."""
        status = self.scopes.get(scope) or self.state.scopes.get(scope)
        return status.holds if status else ()

    def held_scopes(self) -> Iterator[tuple[bytes, tuple[StandingHold, ...]]]:
        """Each scope that has holds, with these."""
        for scope in dict.fromkeys([*self.state.scopes, *self.scopes]):
            if holds := self.scope_holds(scope):
                yield scope, holds

    def prefix_holds(self, key: bytes) -> list[StandingHold]:
        """The holds of all prefixes of a key. One that is too long for a command is never held."""
        if len(key) > MAX_KEY_BYTES:
            return []
        return [
            hold
            for scope, holds in self.held_scopes()
            if scope != WHOLE_FLOW and key.startswith(scope)
            for hold in holds
        ]

    def put_scope(self, scope: bytes, holds: Sequence[StandingHold]) -> None:
        known = self.scopes.get(scope) or self.state.scopes.get(scope)
        if known is None or not known.holds:
            known = ScopeStatus(scope, since=self.now, cut=self.cut)
        self.scopes[scope] = ScopeStatus(scope, tuple(holds), known.since, known.cut)

    @property
    def paused(self) -> bool:
        """Returns True if the flow takes no events."""
        return bool(self.scope_holds(WHOLE_FLOW))

    def note(self, outcome: Outcome, key: bytes | None = None, **fields: Any) -> None:
        """Journal an outcome of this step."""
        common = {"cut": self.cut, "step": self.state.position.step + 1, "at": self.now}
        self.journal.append(JournalRecord(outcome=outcome, key=key, **(common | fields)))

    def settle(self, entry: Entry) -> None:
        """Store a draining entry, or end it: a key without rows is ACTIVE from the cut on."""
        if entry.state is KeyState.DRAINING and not has_rows(entry):
            self._end(entry)
            return
        self.put(entry)

    def bucket(self, key: bytes) -> Bucket:
        if key in self.buckets:
            return self.buckets[key]
        return self.state.buckets.get(key, Bucket(0.0, self.paced_at))

    def flag_overflow(self, entry: Entry, over: bool) -> None:
        """Journal that a key has reached its limit, or is below it again."""
        self.note(Outcome.OVERFLOW_BEGUN if over else Outcome.OVERFLOW_ENDED, entry.key)
        self.put(entry._replace(overflow=over))

    def _end(self, entry: Entry) -> None:
        if entry.overflow:
            self.note(Outcome.OVERFLOW_ENDED, entry.key)
        self.note(Outcome.DRAINED, entry.key, drained_through=entry.drained_through)
        self.changed[entry.key] = None
        self.buckets.pop(entry.key, None)
