"""Markers: the control records that end a transaction in each of its partitions."""

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol

from holdfast.broker.log.errors import RecordsRejected
from holdfast.broker.transactions.transaction import Producer, TopicPartition, Transaction

log = logging.getLogger(__name__)

OFFSETS = TopicPartition("__consumer_offsets", 0)
"""Where the offsets of every group are, those committed in transactions among them."""
COORDINATOR_EPOCH = 0
"""There is one coordinator, and it never moves."""


class PartitionsOfTransactions(Protocol):
    """The partitions that transactions write to."""

    def exists(self, topic: str, partition: int) -> bool: ...

    def write_marker(
        self,
        topic: str,
        partition: int,
        producer_id: int,
        producer_epoch: int,
        commit: bool,
        coordinator_epoch: int,
    ) -> "asyncio.Future[None]":
        """Resolves when the marker is durable."""


class Markers:
    """Writes markers, and tells the groups when theirs is durable."""

    def __init__(
        self, partitions: PartitionsOfTransactions, groups_marker: Callable[[int, bool], None]
    ) -> None:
        self._partitions = partitions
        self._groups_marker = groups_marker

    def exists(self, partition: TopicPartition) -> bool:
        return self._partitions.exists(*partition)

    async def write(
        self,
        partition: TopicPartition,
        producer: Producer,
        commit: bool,
        coordinator_epoch: int = COORDINATOR_EPOCH,
    ) -> None:
        """Ends the producer's transaction in one partition. Returns when that is durable."""
        await self._partitions.write_marker(*partition, *producer, commit, coordinator_epoch)
        if partition == OFFSETS:
            self._groups_marker(producer.id, commit)

    async def write_missing(self, decision: Transaction, missing: set[TopicPartition]) -> None:
        """Writes the decision to each partition of `missing`, and takes out what is durable.

        What cannot be written now stays in `missing`.
        """
        # All begin before any is waited for, so that one sync of the disk covers them.
        await asyncio.gather(*(self._mark(p, decision, missing) for p in sorted(missing)))

    async def _mark(
        self, partition: TopicPartition, decision: Transaction, missing: set[TopicPartition]
    ) -> None:
        try:
            if self.exists(partition):  # else deleted meanwhile: nobody is left to be told
                await self.write(partition, decision.producer, decision.commits)
        except RecordsRejected as error:
            # An administrator ended it there under a later epoch: nothing of ours is left open.
            log.warning("Marker of %s for %s-%d: %s", decision.transactional_id, *partition, error)
        except Exception as error:  # whatever it is, a decision that was made is not given up
            log.error("Marker of %s for %s-%d: %s", decision.transactional_id, *partition, error)
            return
        missing.discard(partition)
