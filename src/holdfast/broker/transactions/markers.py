"""Markers: the control records that end a transaction in each of its partitions."""

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Protocol

from holdfast.broker.log.errors import RecordsRejected
from holdfast.broker.transactions.transaction import Producer, TopicPartition, Transaction
from holdfast.broker.work import begin_in_turns

log = logging.getLogger(__name__)

OFFSETS = TopicPartition("__consumer_offsets", 0)
"""The partition with the offsets of all groups, also those committed in transactions."""
COORDINATOR_EPOCH = 0
"""There is one coordinator, and it never moves."""


class PartitionsOfTransactions(Protocol):
    """The partitions that transactions write to."""

    def exists(self, topic: str, partition: int) -> bool: ...

    def producer_epoch(self, topic: str, partition: int, producer_id: int) -> int: ...

    def has_open_transaction(self, topic: str, partition: int, producer_id: int) -> bool: ...

    def open_transactions(self) -> Iterable[tuple[str, int, int, int]]:
        """Topic, partition, producer id and epoch of each transaction without its marker."""

    def write_marker(
        self, partition: TopicPartition, producer: Producer, commit: bool
    ) -> "asyncio.Future[None]":
        """Resolves when the marker is durable."""


class Markers:
    """Writes markers, and notifies the groups when theirs is durable."""

    def __init__(
        self, partitions: PartitionsOfTransactions, groups_marker: Callable[[int, bool], None]
    ) -> None:
        self._partitions = partitions
        self._groups_marker = groups_marker

    def exists(self, partition: TopicPartition) -> bool:
        return self._partitions.exists(*partition)

    def producer_epoch(self, partition: TopicPartition, producer_id: int) -> int:
        return self._partitions.producer_epoch(*partition, producer_id)

    def is_open(self, partition: TopicPartition, producer_id: int) -> bool:
        """Returns True if the partition has records of the producer without a marker."""
        return self._partitions.has_open_transaction(*partition, producer_id)

    def open_transactions(self) -> list[tuple[TopicPartition, Producer]]:
        return [
            (TopicPartition(topic, index), Producer(producer_id, epoch))
            for topic, index, producer_id, epoch in self._partitions.open_transactions()
        ]

    async def write(self, partition: TopicPartition, producer: Producer, commit: bool) -> None:
        """Ends the producer's transaction in one partition. Returns when the marker is durable."""
        await self._partitions.write_marker(partition, producer, commit)
        if partition == OFFSETS:
            self._groups_marker(producer.id, commit)

    async def write_missing(self, decision: Transaction, missing: set[TopicPartition]) -> None:
        """Writes a marker to each partition in `missing`, and removes those that are durable.

        Partitions whose marker cannot be written now stay in `missing`.
        """
        # Start all before waiting for one, so that one sync of the disk covers them.
        await begin_in_turns([self._mark(p, decision, missing) for p in sorted(missing)])

    async def _mark(
        self, partition: TopicPartition, decision: Transaction, missing: set[TopicPartition]
    ) -> None:
        try:
            if self.exists(partition):  # the topic may have been deleted meanwhile
                await self.write(partition, decision.producer, decision.commits)
        except RecordsRejected as error:
            log.warning("Marker of %s for %s-%d: %s", decision.transactional_id, *partition, error)
            if self.is_open(partition, decision.producer_id):
                return  # the transaction is complete only when no partition has it open
        except Exception as error:  # a durable decision is retried after any error
            log.error("Marker of %s for %s-%d: %s", decision.transactional_id, *partition, error)
            return
        missing.discard(partition)
