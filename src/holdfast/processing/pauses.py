"""Pauses of partitions, by owner.

A partition is paused while any owner pauses it. An owner can only end its own pauses, and all
pauses of a partition end when it is revoked.
"""

from abc import abstractmethod
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from typing import Generic

from arroyo.backends.abstract import Consumer
from arroyo.types import BrokerValue, Partition, TStrategyPayload

Owner = Hashable

CALLER: Owner = "caller"
"""The owner of calls to `pause` and `resume` without an owner, as in Arroyo's interface."""


class PauseTable:
    """Pauses of assigned partitions, by owner."""

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
        """The partitions that `owner` pauses; without an owner, all paused partitions."""
        if owner is None:
            return [*self._owners]
        return [p for p, owners in self._owners.items() if owner in owners]

    def paused_by_others(self, owner: Owner) -> list[Partition]:
        """The partitions that another owner pauses, whether or not `owner` does too."""
        return [p for p, owners in self._owners.items() if owners - {owner}]

    def __contains__(self, partition: Partition) -> bool:
        return partition in self._owners


class OwnedPausesConsumer(Consumer[TStrategyPayload]):
    """A consumer whose `pause` and `resume` take an owner.

    A pause keeps fetched messages, so it is cheap.
    """

    @abstractmethod
    def pause(self, partitions: Sequence[Partition], owner: Owner = CALLER) -> None: ...

    @abstractmethod
    def resume(self, partitions: Sequence[Partition], owner: Owner = CALLER) -> None: ...

    @abstractmethod
    def paused(self, owner: Owner | None = None) -> Sequence[Partition]: ...

    @abstractmethod
    def at_hand(self, seconds: float) -> Iterator[BrokerValue[TStrategyPayload]]:
        """Fetched messages, for up to `seconds`. Each counts as returned when it is taken.

        Never waits, and runs no callbacks.
        """


class OwnPauses(Generic[TStrategyPayload]):
    """One owner's pauses on a consumer with pauses by owner."""

    def __init__(self, consumer: OwnedPausesConsumer[TStrategyPayload], owner: Owner) -> None:
        self._consumer = consumer
        self._owner = owner

    def pause(self, partitions: Collection[Partition]) -> bool:
        """Pause these partitions. Returns True if one of them was not paused before."""
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
        """Nothing to do: the consumer ends the pauses of revoked partitions."""


class ForeignPauses(Generic[TStrategyPayload]):
    """One owner's pauses on a consumer without owners.

    A partition that was already paused belongs to another owner, and is never resumed here. If
    another owner also pauses a partition that is ours, that cannot be detected: our `resume`
    resumes it. If another owner resumes a partition that is ours, it is no longer ours.
    """

    def __init__(self, consumer: Consumer[TStrategyPayload]) -> None:
        self._consumer = consumer
        self._mine: set[Partition] = set()

    def pause(self, partitions: Collection[Partition]) -> bool:
        """Pause these partitions. Returns True if one of them was not paused before."""
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
        # The consumer's own report counts: other owners may have resumed some.
        return self._mine.intersection(self._consumer.paused()) if self._mine else set()

    def revoked(self, partitions: Iterable[Partition]) -> None:
        self._mine.difference_update(partitions)


def pauses_on(
    consumer: Consumer[TStrategyPayload], owner: Owner
) -> OwnPauses[TStrategyPayload] | ForeignPauses[TStrategyPayload]:
    """The pauses of `owner` on `consumer`, separate from those of other owners if possible."""
    if isinstance(consumer, OwnedPausesConsumer):
        return OwnPauses(consumer, owner)
    return ForeignPauses(consumer)
