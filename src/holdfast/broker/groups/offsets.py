"""Committed offsets: those that everybody sees, and those of open transactions. No I/O.

Every change has a position, its place in the log. Of two offsets for one partition the one further
on in the log counts, whichever was completed first: so it is after a restart, and after compaction.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from holdfast.broker.groups.records import CommittedOffset, TopicPartition


class Placed(NamedTuple):
    position: int
    committed: CommittedOffset


Offsets = Mapping[TopicPartition, CommittedOffset]
_Pending = dict[TopicPartition, list[Placed]]


class OffsetStore:
    """The offsets of all groups."""

    def __init__(self) -> None:
        self._committed: dict[str, dict[TopicPartition, Placed]] = {}
        self._pending: dict[str, dict[int, _Pending]] = {}
        """By group and producer id."""
        self._arriving: dict[str, Counter[TopicPartition]] = {}
        """In the log, but not durable: nobody sees them, and a deletion must not pass them over."""

    def groups(self) -> set[str]:
        return self._committed.keys() | self._pending.keys() | self._arriving.keys()

    def partitions(self, group_id: str) -> set[TopicPartition]:
        """Those with an offset in the log: a committed one, or one that may come to be."""
        committed, arriving = self._committed.get(group_id, ()), self._arriving.get(group_id, ())
        return self.unstable(group_id).union(committed, arriving)

    def of(self, group_id: str) -> Iterator[tuple[TopicPartition, CommittedOffset]]:
        for at, placed in self._committed.get(group_id, {}).items():
            yield at, placed.committed

    def get(self, group_id: str, at: TopicPartition) -> CommittedOffset | None:
        placed = self._committed.get(group_id, {}).get(at)
        return None if placed is None else placed.committed

    def unstable(self, group_id: str) -> set[TopicPartition]:
        """The partitions whose offset an open transaction may still change."""
        transactions = self._pending.get(group_id, {}).values()
        return {at for pending in transactions for at in pending}

    # plain

    def announce(self, group_id: str, offsets: Offsets) -> None:
        """They are in the log, and will be committed, or recalled."""
        self._arriving.setdefault(group_id, Counter()).update(offsets.keys())

    def recall(self, group_id: str, offsets: Offsets) -> None:
        """What was announced has arrived, or never will."""
        arriving = self._arriving[group_id]
        arriving.subtract(offsets.keys())
        self._arriving[group_id] = +arriving
        if not self._arriving[group_id]:
            del self._arriving[group_id]

    def commit(self, group_id: str, offsets: Offsets, position: int) -> None:
        for at, committed in offsets.items():
            self._place(group_id, at, Placed(position, committed))

    def delete(self, group_id: str, partitions: Iterable[TopicPartition], position: int) -> None:
        """Take away what was committed before `position`, in open transactions too."""
        for at in partitions:
            of_group = self._committed.get(group_id, {})
            if of_group.pop(at, None) is not None and not of_group:
                del self._committed[group_id]
            for producer_id in list(self._pending.get(group_id, {})):
                self._keep_pending(group_id, producer_id, at, after=position)

    # transactional

    def hold(self, producer_id: int, group_id: str, offsets: Offsets, position: int) -> None:
        """They count once the producer's transaction is committed."""
        pending = self._pending.setdefault(group_id, {}).setdefault(producer_id, {})
        for at, committed in offsets.items():
            pending.setdefault(at, []).append(Placed(position, committed))

    def settle(self, producer_id: int, group_id: str, offsets: Offsets, position: int) -> None:
        """What was held at `position` is durable, so what it replaces is not needed any more."""
        for at in offsets:
            self._keep_pending(group_id, producer_id, at, after=position - 1)

    def withdraw(self, producer_id: int, group_id: str, offsets: Offsets, position: int) -> None:
        """What was held at `position` never became durable."""
        for at in offsets:
            self._keep_pending(group_id, producer_id, at, but=position)

    def complete(self, producer_id: int, commit: bool) -> None:
        """The producer's transaction has ended."""
        for group_id in [
            g for g, by_producer in self._pending.items() if producer_id in by_producer
        ]:
            pending = self._pending[group_id].pop(producer_id)
            if not self._pending[group_id]:
                del self._pending[group_id]
            if commit:
                for at, held in pending.items():
                    self._place(group_id, at, held[-1])

    # inside

    def _place(self, group_id: str, at: TopicPartition, placed: Placed) -> None:
        of_group = self._committed.setdefault(group_id, {})
        present = of_group.get(at)
        if present is None or present.position < placed.position:
            of_group[at] = placed

    def _keep_pending(
        self, group_id: str, producer_id: int, at: TopicPartition, after: int = -1, but: int = -1
    ) -> None:
        """Drop what is held for `at` at or before `after`, and at `but`."""
        by_producer = self._pending.get(group_id, {})
        pending = by_producer.get(producer_id, {})
        held = [p for p in pending.get(at, ()) if p.position > after and p.position != but]
        if held:
            pending[at] = held
            return
        pending.pop(at, None)
        if not pending and by_producer.pop(producer_id, None) is not None and not by_producer:
            del self._pending[group_id]
