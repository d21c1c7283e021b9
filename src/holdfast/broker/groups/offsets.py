"""Committed offsets: visible ones, and those of open transactions. No I/O.

Every change has its position in the log. Of two offsets for one partition, the later one in the log
counts, whichever transaction ended first. A restart or a compaction has the same result.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from holdfast.broker.groups.budget import ALL_OFFSET_BYTES, GROUP_OFFSET_BYTES
from holdfast.broker.groups.records import CommittedOffset, TopicPartition


class LoggedOffset(NamedTuple):
    """A committed offset with its position in the log."""

    position: int
    committed: CommittedOffset


Offsets = Mapping[TopicPartition, CommittedOffset]
_Pending = dict[TopicPartition, list[LoggedOffset]]


_OFFSET_BYTES = 300
"""Memory of one offset without its texts."""


def _weight(at: TopicPartition, committed: CommittedOffset) -> int:
    """Bytes that are counted for one offset."""
    return _OFFSET_BYTES + len(at.topic) + len(committed.metadata)


class OffsetStore:
    """The offsets of all groups."""

    def __init__(self) -> None:
        self._committed: dict[str, dict[TopicPartition, LoggedOffset]] = {}
        self._pending: dict[str, dict[int, _Pending]] = {}
        """By group and producer id."""
        self._bytes: Counter[str] = Counter()
        """Bytes of each group, with those of open transactions."""
        self._all_bytes = 0
        self._arriving: dict[str, Counter[TopicPartition]] = {}
        """In the log, but not durable: not visible yet, but a deletion must include them."""

    def has_room_for(self, group_id: str, offsets: Offsets) -> bool:
        """Returns True if the offsets may be committed. Offsets that need no more room than those
        they replace always may."""
        kept = self._committed.get(group_id, {})
        growth = sum(
            _weight(at, offset) - (_weight(at, kept[at].committed) if at in kept else 0)
            for at, offset in offsets.items()
        )
        return growth <= 0 or (
            self._bytes[group_id] + growth <= GROUP_OFFSET_BYTES
            and self._all_bytes + growth <= ALL_OFFSET_BYTES
        )

    def groups(self) -> set[str]:
        return self._committed.keys() | self._pending.keys() | self._arriving.keys()

    def partitions(self, group_id: str) -> set[TopicPartition]:
        """Partitions with an offset in the log: committed, or about to be."""
        committed, arriving = self._committed.get(group_id, ()), self._arriving.get(group_id, ())
        return self.unstable(group_id).union(committed, arriving)

    def of(self, group_id: str) -> Iterator[tuple[TopicPartition, CommittedOffset]]:
        for at, logged in self._committed.get(group_id, {}).items():
            yield at, logged.committed

    def visible(self, group_id: str) -> Iterable[TopicPartition]:
        """Partitions with a committed offset."""
        return self._committed.get(group_id, {}).keys()

    def get(self, group_id: str, at: TopicPartition) -> CommittedOffset | None:
        logged = self._committed.get(group_id, {}).get(at)
        return None if logged is None else logged.committed

    def unstable(self, group_id: str) -> set[TopicPartition]:
        """Partitions whose offset an open transaction may change."""
        transactions = self._pending.get(group_id, {}).values()
        return {at for pending in transactions for at in pending}

    # plain

    def announce(self, group_id: str, offsets: Offsets) -> None:
        """Registers offsets that are in the log and not durable yet."""
        self._arriving.setdefault(group_id, Counter()).update(offsets.keys())

    def recall(self, group_id: str, offsets: Offsets) -> None:
        """Ends `announce`: the offsets are durable, or never will be."""
        arriving = self._arriving[group_id]
        arriving.subtract(offsets.keys())
        self._arriving[group_id] = +arriving
        if not self._arriving[group_id]:
            del self._arriving[group_id]

    def commit(self, group_id: str, offsets: Offsets, position: int) -> None:
        for at, committed in offsets.items():
            self._put(group_id, at, LoggedOffset(position, committed))

    def delete(self, group_id: str, partitions: Iterable[TopicPartition], position: int) -> None:
        """Deletes offsets that were committed before `position`, also in open transactions."""
        for at in partitions:
            of_group = self._committed.get(group_id, {})
            gone = of_group.pop(at, None)
            if gone is not None:
                self._count(group_id, -_weight(at, gone.committed))
                if not of_group:
                    del self._committed[group_id]
            for producer_id in list(self._pending.get(group_id, {})):
                self._keep_pending(group_id, producer_id, at, after=position)

    # transactional

    def hold(self, producer_id: int, group_id: str, offsets: Offsets, position: int) -> None:
        """Adds offsets that become visible when the producer's transaction commits."""
        pending = self._pending.setdefault(group_id, {}).setdefault(producer_id, {})
        for at, committed in offsets.items():
            pending.setdefault(at, []).append(LoggedOffset(position, committed))
            self._count(group_id, _weight(at, committed))

    def settle(self, producer_id: int, group_id: str, offsets: Offsets, position: int) -> None:
        """Drops the offsets that durable ones at `position` replace."""
        for at in offsets:
            self._keep_pending(group_id, producer_id, at, after=position - 1)

    def withdraw(self, producer_id: int, group_id: str, offsets: Offsets, position: int) -> None:
        """Drops offsets at `position` that never became durable."""
        for at in offsets:
            self._keep_pending(group_id, producer_id, at, but=position)

    def complete(self, producer_id: int, commit: bool) -> None:
        """Ends the producer's transaction."""
        for group_id in [
            g for g, by_producer in self._pending.items() if producer_id in by_producer
        ]:
            pending = self._pending[group_id].pop(producer_id)
            if not self._pending[group_id]:
                del self._pending[group_id]
            for at, held in pending.items():
                self._count(group_id, -sum(_weight(at, p.committed) for p in held))
                if commit:
                    self._put(group_id, at, held[-1])

    # inside

    def _put(self, group_id: str, at: TopicPartition, logged: LoggedOffset) -> None:
        of_group = self._committed.setdefault(group_id, {})
        present = of_group.get(at)
        if present is None or present.position < logged.position:
            of_group[at] = logged
            relogged = 0 if present is None else _weight(at, present.committed)
            self._count(group_id, _weight(at, logged.committed) - relogged)

    def _count(self, group_id: str, growth: int) -> None:
        self._all_bytes += growth
        self._bytes[group_id] += growth
        if not self._bytes[group_id]:
            del self._bytes[group_id]

    def _keep_pending(
        self, group_id: str, producer_id: int, at: TopicPartition, after: int = -1, but: int = -1
    ) -> None:
        """Drops pending offsets of `at` with a position up to `after`, and the one at `but`."""
        by_producer = self._pending.get(group_id, {})
        pending = by_producer.get(producer_id, {})
        before = pending.get(at, [])
        held = [p for p in before if p.position > after and p.position != but]
        if len(held) < len(before):
            gone = sum(_weight(at, p.committed) for p in before if p not in held)
            self._count(group_id, -gone)
        if held:
            pending[at] = held
            return
        pending.pop(at, None)
        if not pending and by_producer.pop(producer_id, None) is not None and not by_producer:
            del self._pending[group_id]
