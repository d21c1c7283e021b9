"""Who pauses which partition.

A partition is paused while any owner pauses it. An owner lets go only of its own pauses, and all
pauses of a partition end when it is revoked.
"""

from abc import abstractmethod
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from typing import Generic

from arroyo.backends.abstract import Consumer
from arroyo.types import BrokerValue, Partition, TStrategyPayload

Owner = Hashable

CALLER: Owner = "caller"
"""Whoever calls `pause` and `resume` without a name: everybody who knows Arroyo's interface."""


class PauseTable:
    """Pauses by owner, for partitions that are assigned."""

    __slots__ = ("_owners",)

    def __init__(self) -> None:
        self._owners: dict[Partition, set[Owner]] = {}

    def pause(self, owner: Owner, partitions: Iterable[Partition]) -> None:
        for partition in partitions:
            self._owners.setdefault(partition, set()).add(owner)

    def resume(self, owner: Owner, partitions: Iterable[Partition]) -> None:
        for partition in partitions:
            owners = self._owners.get(partition)
            if owners is not None:
                owners.discard(owner)
                if not owners:
                    del self._owners[partition]

    def revoke(self, partitions: Iterable[Partition]) -> None:
        for partition in partitions:
            self._owners.pop(partition, None)

    def paused(self, owner: Owner | None = None) -> list[Partition]:
        """What `owner` pauses; without an owner, what anybody pauses."""
        if owner is None:
            return [*self._owners]
        return [p for p, owners in self._owners.items() if owner in owners]

    def paused_by_others(self, owner: Owner) -> list[Partition]:
        """What somebody else than `owner` pauses, whether or not `owner` does too."""
        return [p for p, owners in self._owners.items() if owners - {owner}]

    def __contains__(self, partition: Partition) -> bool:
        return partition in self._owners


class OwnedPausesConsumer(Consumer[TStrategyPayload]):
    """A consumer whose `pause` and `resume` may name an owner.

    Pausing keeps what was fetched, and costs next to nothing.
    """

    @abstractmethod
    def pause(self, partitions: Sequence[Partition], owner: Owner = CALLER) -> None: ...

    @abstractmethod
    def resume(self, partitions: Sequence[Partition], owner: Owner = CALLER) -> None: ...

    @abstractmethod
    def paused(self, owner: Owner | None = None) -> Sequence[Partition]: ...

    @abstractmethod
    def at_hand(self, seconds: float) -> Iterator[BrokerValue[TStrategyPayload]]:
        """Messages that are there already, each handed out when it is taken, for so long.

        Never waits, and runs no callbacks.
        """


class OwnPauses(Generic[TStrategyPayload]):
    """One owner's pauses on a consumer that tells owners apart."""

    def __init__(self, consumer: OwnedPausesConsumer[TStrategyPayload], owner: Owner) -> None:
        self._consumer = consumer
        self._owner = owner

    def pause(self, partitions: Collection[Partition]) -> bool:
        """Pause them. -> whether that changed anything"""
        new = [*set(partitions).difference(self._consumer.paused(self._owner))]
        if new:
            self._consumer.pause(new, self._owner)
        return bool(new)

    def resume(self, partitions: Collection[Partition]) -> None:
        mine = [*self.paused().intersection(partitions)]
        if mine:
            self._consumer.resume(mine, self._owner)

    def paused(self) -> set[Partition]:
        return set(self._consumer.paused(self._owner))

    def revoked(self, partitions: Iterable[Partition]) -> None:
        """Nothing to do: the consumer ends the pauses of what it loses."""


class ForeignPauses(Generic[TStrategyPayload]):
    """One owner's pauses on a consumer that knows only paused and not paused.

    A partition that was paused already stays somebody else's, and is never resumed from here.
    When somebody pauses a partition that is ours, that cannot be told apart: our `resume` resumes
    it. When somebody resumes one that is ours, it is no longer ours.
    """

    def __init__(self, consumer: Consumer[TStrategyPayload]) -> None:
        self._consumer = consumer
        self._mine: set[Partition] = set()

    def pause(self, partitions: Collection[Partition]) -> bool:
        """Pause them. -> whether that changed anything"""
        new = [*set(partitions).difference(self._consumer.paused())]
        if new:
            self._consumer.pause(new)
            self._mine.update(new)
        return bool(new)

    def resume(self, partitions: Collection[Partition]) -> None:
        mine = [*self.paused().intersection(partitions)]
        if mine:
            self._consumer.resume(mine)
        self._mine.difference_update(partitions)

    def paused(self) -> set[Partition]:
        # What the consumer reports is the truth: others may have resumed some.
        return self._mine.intersection(self._consumer.paused()) if self._mine else set()

    def revoked(self, partitions: Iterable[Partition]) -> None:
        self._mine.difference_update(partitions)


def pauses_on(
    consumer: Consumer[TStrategyPayload], owner: Owner
) -> OwnPauses[TStrategyPayload] | ForeignPauses[TStrategyPayload]:
    """The pauses of `owner` on `consumer`, told apart from those of others as far as it can."""
    if isinstance(consumer, OwnedPausesConsumer):
        return OwnPauses(consumer, owner)
    return ForeignPauses(consumer)
