"""The keys of a flow that are held at an offset of the control log, in any partition; without those
that only a prefix holds, which every partition has in its state.

A producer with another partitioner writes a key's events to a partition that has no entry for the
key. So every step gets the holds of the whole flow, not only those of its own partition.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence

from holdfast.flows.commands import Hold, PrefixHold, Release
from holdfast.flows.holds import WHOLE_FLOW, StandingHold
from holdfast.flows.keys import partition_of
from holdfast.gate.change_history import ChangeHistory
from holdfast.gate.control import ControlEntry, ControlLog
from holdfast.gate.state import Deadlines, PartitionState
from holdfast.gate.transitions import add_hold, hold_of

HoldChange = tuple[bytes, tuple[StandingHold, ...]]
"""A key, and all its holds after the change."""

_FEW = 100
"""The history keeps at least this many changes, also for a flow with few holds."""


class FlowHolds:
    """The holds requested up to control offset `through`, without those that a committed step has
    expired. `StandingHold.stands` also checks the time.

    They follow from the control log and the committed states, so there is nothing to undo after a
    step that failed, even if the clock was ahead during that step.
    """

    __slots__ = ("_deadlines", "_holds", "_looked_at", "history", "through")

    def __init__(self, through: int = 0) -> None:
        self.through = through
        self._looked_at = 0
        """The wall clock at the last `advance`."""
        self.history: ChangeHistory[HoldChange] = ChangeHistory()
        """The last changes, for copies of these holds. Changes of `through` are not included."""
        self._holds: dict[bytes, tuple[StandingHold, ...]] = {}
        self._deadlines = Deadlines()

    @classmethod
    def build(cls, states: Iterable[PartitionState], control: ControlLog) -> "FlowHolds":
        """The holds from the entries of each key's home partition, and from the commands that the
        partition has not taken yet."""
        states = list(states)
        holds = cls(max(state.position.control for state in states))
        for state in states:
            for entry in state.entries.values():
                own = tuple(hold for hold in entry.holds if not hold.prefix)
                if own and not entry.foreign:
                    holds.apply((entry.key, own))
        taken = {state.partition: state.position.control for state in states}
        for record in control.between(min(taken.values()), holds.through):
            if record.offset >= taken[record.home]:
                holds._apply_command(record)
        return holds

    def advance(
        self, control: ControlLog, end: int, now: int, states: Sequence[PartitionState]
    ) -> None:
        """Drop expired holds, and apply the commands up to `end`, unless that was done before.

        In this order: a hold that the key's home partition has expired must not count when the
        number of its holds decides if there may be another one.

        `now`: the wall clock, which may have been set back. `states`: the committed states of all
        partitions, in order.
        """
        # Steps since the last call used that call's time, which may be later than `now`.
        for key in list(self._deadlines.due(max(now, self._looked_at))):
            holds = self.get(key)
            self._put(key, tuple(hold for hold in holds if not _is_over(key, hold, states)))
        self._looked_at = now
        if end > self.through:
            for record in control.between(self.through, end):
                self._apply_command(record)
            self.through = end
        self._deadlines.first(self._expires)

    def get(self, key: bytes) -> tuple[StandingHold, ...]:
        """The holds of a key; none if it is not held."""
        return self._holds.get(key, ())

    def __contains__(self, key: object) -> bool:
        return key in self._holds

    def __len__(self) -> int:
        return len(self._holds)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._holds)

    def _apply_command(self, record: ControlEntry) -> None:
        if record.first is not None:
            return
        match record.command:
            case Hold() as command:
                hold = hold_of(command, record.offset)
                self._put(command.key, add_hold(self.get(command.key), hold))
            case Release() as command:
                holds = self.get(command.key)
                self._put(command.key, tuple(h for h in holds if not command.ends(h)))

    def apply(self, change: HoldChange) -> None:
        """Replace one key's holds."""
        key, holds = change
        known = self._holds.pop(key, ())
        if holds:
            self._holds[key] = holds
        for hold in holds:
            if hold.expires_at is not None and hold not in known:
                self._deadlines.add(hold.expires_at, key)
        most = max(_FEW, len(self._holds) // 2)
        self.history.add(change, to=self.history.end + 1, size=1, most=most)

    def _put(self, key: bytes, holds: tuple[StandingHold, ...]) -> None:
        if holds != self.get(key):
            self.apply((key, holds))

    def _expires(self, at: int, key: bytes) -> bool:
        return any(hold.expires_at == at for hold in self.get(key))


def _is_over(key: bytes, hold: StandingHold, states: Sequence[PartitionState]) -> bool:
    """Returns True if the key's home partition has taken this hold and no longer has it."""
    home = states[partition_of(key, len(states))]
    entry = home.entries.get(key)
    stands = entry is not None and any(each.offset == hold.offset for each in entry.holds)
    return hold.offset < home.position.control and not stands


class KeysOfInterest(Collection[bytes]):
    """The keys whose events need a decision; events of all other keys pass in any step.

    They are the keys of this collection, and all keys with one of `prefixes`. A live view of these
    states and holds; the prefixes are those of the states and of the commands that they are to take
    next. There may be a million keys: avoid iterating.
    """

    __slots__ = ("_groups", "prefixes")

    def __init__(
        self,
        states: Iterable[PartitionState],
        holds: FlowHolds,
        commands: Iterable[ControlEntry] = (),
    ) -> None:
        states = list(states)
        self._groups: list[Collection[bytes]] = [holds, *(state.entries for state in states)]
        requested = (record.command for record in commands)
        self.prefixes = {scope for state in states for scope in state.scopes} - {WHOLE_FLOW}
        self.prefixes |= {each.prefix for each in requested if isinstance(each, PrefixHold)}

    def __contains__(self, key: object) -> bool:
        return any(key in group for group in self._groups)

    def __iter__(self) -> Iterator[bytes]:
        return iter(set[bytes]().union(*self._groups))

    def __len__(self) -> int:
        """An upper bound: a key may be in several of the groups."""
        return sum(map(len, self._groups))
