"""Which keys of a flow are held at a point of the control log, whatever their partition.

A producer with another partitioner puts a key's events where the key's hold is not known. So every
step is given the holds of the whole flow, and not only those of its partition.
"""

from collections.abc import Collection, Iterable, Iterator

from holdfast.flows.commands import Hold, Release
from holdfast.flows.status import KeyState
from holdfast.gate.control import Asked, ControlLog
from holdfast.gate.deadlines import Deadlines
from holdfast.gate.latest import Latest
from holdfast.gate.state import PartitionState
from holdfast.gate.transitions import Order

OrderChange = tuple[bytes, Order | None]

_FEW = 100
"""Changes that are as quickly sent as all orders of a flow that has hardly any."""


class FlowHolds:
    """The holds that stand at control offset `through` and time `now`, neither of which goes back.

    They follow from the control log and the clock alone, not from what steps commit: a step that
    is thrown away leaves nothing to undo here.
    """

    __slots__ = ("_deadlines", "_orders", "latest", "now", "through")

    def __init__(self, through: int = 0) -> None:
        self.through = through
        self.now = 0
        self.latest: Latest[OrderChange] = Latest()
        """The last changes, for copies of these holds. None of them is about `through` or `now`."""
        self._orders: dict[bytes, Order] = {}
        self._deadlines = Deadlines()

    @classmethod
    def build(cls, states: Iterable[PartitionState], control: ControlLog) -> "FlowHolds":
        """From the entries of each key's own partition, and the commands that it has not taken."""
        states = list(states)
        holds = cls(max(state.position.control for state in states))
        for state in states:
            for entry in state.entries.values():
                if entry.state is KeyState.HELD and not entry.foreign:
                    holds._give(entry.key, Order.kept(entry))
        taken = {state.partition: state.position.control for state in states}
        for asked in control.between(min(taken.values()), holds.through):
            if asked.offset >= taken[asked.home]:
                holds._follow(asked)
        return holds

    def advance(self, control: ControlLog, end: int, now: int) -> None:
        """Take the commands up to `end`, if that is further, and drop what has expired."""
        self.now = max(self.now, now)
        if end > self.through:
            for asked in control.between(self.through, end):
                self._follow(asked)
            self.through = end
        for key in list(self._deadlines.due(self.now)):
            order = self._orders.get(key)
            if order is not None and not order.stands(self.now):
                self._take_back(key)
        self._deadlines.first(self._expires)

    def get(self, key: bytes | None) -> Order | None:
        return None if key is None else self._orders.get(key)

    def __contains__(self, key: object) -> bool:
        return key in self._orders

    def __len__(self) -> int:
        return len(self._orders)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._orders)

    def _follow(self, asked: Asked) -> None:
        if asked.first is not None:
            return
        match asked.command:
            case Hold() as command:
                self._give(command.key, Order.given(command, asked.offset))
            case Release() as command:
                self._take_back(command.key)

    def apply(self, change: OrderChange) -> None:
        """One key's hold is another now, or none."""
        key, order = change
        if order is None:
            del self._orders[key]
        else:
            self._orders[key] = order
            if order.expires_at is not None:
                self._deadlines.add(order.expires_at, key)
        most = max(_FEW, len(self._orders) // 2)
        self.latest.add(change, to=self.latest.end + 1, size=1, most=most)

    def _give(self, key: bytes, order: Order) -> None:
        self.apply((key, order))

    def _take_back(self, key: bytes) -> None:
        if key in self._orders:
            self.apply((key, None))

    def _expires(self, at: int, key: bytes) -> bool:
        order = self._orders.get(key)
        return order is not None and order.expires_at == at


class KeysOfInterest(Collection[bytes]):
    """The keys whose events need a decision; all others pass, whatever the step's commands are.

    True for every step from these states with these holds, also as they change. There may be a
    million, so nothing goes through them but who asks for it.
    """

    __slots__ = ("_groups",)

    def __init__(self, states: Iterable[PartitionState], holds: FlowHolds) -> None:
        self._groups: list[Collection[bytes]] = [holds, *(state.entries for state in states)]

    def __contains__(self, key: object) -> bool:
        return any(key in group for group in self._groups)

    def __iter__(self) -> Iterator[bytes]:
        return iter(set[bytes]().union(*self._groups))

    def __len__(self) -> int:
        """At most so many: a key may be held in several places."""
        return sum(map(len, self._groups))
