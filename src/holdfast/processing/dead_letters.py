"""Sends messages that a strategy reports as invalid to the dead-letter producer, up to a limit."""

import logging
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic

from arroyo.backends.abstract import ProducerFuture
from arroyo.dlq import DlqLimit, DlqLimitState, DlqPolicy, InvalidMessage
from arroyo.types import BrokerValue, Partition, TStrategyPayload

from holdfast.errors import TerminalError
from holdfast.processing.metrics import LoopMetrics

logger = logging.getLogger(__name__)

MAX_PENDING_PER_PARTITION = 2000
"""Unacknowledged dead letters before the loop waits for the oldest (Arroyo's limit)."""


class DlqLimitExceededError(TerminalError, RuntimeError):
    """More invalid messages than the policy allows. The consumer stops before this message."""


@dataclass(slots=True)
class InvalidCounts:
    """Valid and invalid messages of one partition since it was assigned, by their offsets."""

    next_offset: int
    run_start: int
    valid: int = 0
    invalid: int = 0

    @classmethod
    def starting_at(cls, offset: int) -> "InvalidCounts":
        return cls(next_offset=offset, run_start=offset)

    @property
    def consecutive(self) -> int:
        return self.next_offset - self.run_start

    def record(self, offset: int) -> None:
        """Count `offset` as invalid. All offsets since the last invalid one were valid."""
        self.invalid += 1
        if offset >= self.next_offset:
            if offset > self.next_offset:
                self.valid += offset - self.next_offset
                self.run_start = offset
            self.next_offset = offset + 1
        else:  # out of order: it was counted as valid
            self.valid = max(0, self.valid - 1)
            if offset == self.run_start - 1:
                self.run_start = offset

    def allowed_by(self, limit: DlqLimit) -> bool:
        if limit.max_invalid_ratio is not None and (
            # If no message at all is valid, the problem is probably not the messages.
            self.valid == 0 or self.invalid / self.valid > limit.max_invalid_ratio
        ):
            return False
        return (
            limit.max_consecutive_count is None or self.consecutive <= limit.max_consecutive_count
        )


@dataclass(slots=True)
class _PartitionState(Generic[TStrategyPayload]):
    counts: InvalidCounts
    custom_counts: DlqLimitState | None
    in_flight: deque[BrokerValue[TStrategyPayload]] = field(default_factory=deque)
    settled: set[int] = field(default_factory=set)
    pending: deque[
        tuple[BrokerValue[TStrategyPayload], ProducerFuture[BrokerValue[TStrategyPayload]]]
    ] = field(default_factory=deque)


class DeadLetters(Generic[TStrategyPayload]):
    """Sends each invalid message once, as the policy says, and stops at the policy's limit.

    Keeps the messages in flight, because an `InvalidMessage` contains only an offset. Counts last
    while a partition is assigned: an assignment of other partitions does not reset them. Without a
    policy, invalid messages are dropped.
    """

    def __init__(self, policy: DlqPolicy[TStrategyPayload] | None, metrics: LoopMetrics) -> None:
        self._policy = policy
        self._metrics = metrics
        self._partitions: dict[Partition, _PartitionState[TStrategyPayload]] = {}

    @property
    def enabled(self) -> bool:
        """Returns True if there is a policy. Without one, messages in flight are not kept."""
        return self._policy is not None

    def assigned(self, offsets: Mapping[Partition, int]) -> None:
        """These partitions were assigned, starting at these offsets."""
        for partition, offset in offsets.items():
            self._partitions[partition] = _PartitionState(
                InvalidCounts.starting_at(offset), self._custom_counts(partition, offset)
            )

    def _custom_counts(self, partition: Partition, offset: int) -> DlqLimitState | None:
        """The producer's own counts, if it has any. Arroyo's default counts too many as valid."""
        if self._policy is None:
            return None
        state = self._policy.producer.build_initial_state(self._policy.limit, {partition: offset})
        return None if type(state) is DlqLimitState else state

    def revoked(self, partitions: Iterable[Partition]) -> None:
        for partition in partitions:
            self._partitions.pop(partition, None)

    def received(self, message: BrokerValue[TStrategyPayload]) -> None:
        """Keep a message until a commit covers it. Called for every message, only with a policy."""
        state = self._partitions.get(message.partition)
        if state is None or self._policy is None:
            return
        limit = self._policy.max_buffered_messages_per_partition
        if limit is not None and len(state.in_flight) >= limit:
            self._metrics.backend.increment(
                "arroyo.consumer.dlq_buffer.exceeded",
                tags={"partition_id": str(message.partition.index)},
            )
            state.in_flight.popleft()
        state.in_flight.append(message)

    def covered(self, offsets: Mapping[Partition, int]) -> None:
        """Drop the messages below these offsets: they are finished."""
        for partition, offset in offsets.items():
            state = self._partitions.get(partition)
            if state is None:
                continue
            in_flight = state.in_flight
            while in_flight and in_flight[0].offset < offset:
                in_flight.popleft()
            if state.settled:
                state.settled = {o for o in state.settled if o >= offset}

    def rewound(self, partition: Partition, offset: int) -> None:
        """Drop the messages from this offset on: they will be received again."""
        state = self._partitions.get(partition)
        while state and state.in_flight and state.in_flight[-1].offset >= offset:
            state.in_flight.pop()

    def first_unsettled(self, partition: Partition, offset: int) -> int:
        """The first offset from `offset` on that was not dead-lettered."""
        state = self._partitions.get(partition)
        while state and offset in state.settled:
            offset += 1
        return offset

    def reject(self, invalid: InvalidMessage) -> None:
        """Dead-letter a message. A repeated call for the same message does nothing.

        Raises `DlqLimitExceededError` if the limit is exceeded.
        """
        state = self._partitions.get(invalid.partition)
        if state is not None and invalid.offset in state.settled:
            return
        message = self._take(state, invalid.offset)
        if self._policy is not None:
            if state is None or message is None:
                logger.error(
                    "The invalid message %s:%s is not in flight: it cannot be dead-lettered.",
                    invalid.partition,
                    invalid.offset,
                )
                return
            self._check_limit(self._policy, state, message)
            self._produce(self._policy, state, message, invalid.reason)
        if state is not None:
            state.settled.add(invalid.offset)

    def _take(
        self, state: _PartitionState[TStrategyPayload] | None, offset: int
    ) -> BrokerValue[TStrategyPayload] | None:
        if state is not None:
            for index, message in enumerate(state.in_flight):
                if message.offset == offset:
                    del state.in_flight[index]
                    return message
                if message.offset > offset:
                    break
        return None

    def _check_limit(
        self,
        policy: DlqPolicy[TStrategyPayload],
        state: _PartitionState[TStrategyPayload],
        message: BrokerValue[TStrategyPayload],
    ) -> None:
        if state.custom_counts is not None:
            allowed = state.custom_counts.record_invalid_message(message)
        else:
            state.counts.record(message.offset)
            allowed = policy.limit is None or state.counts.allowed_by(policy.limit)
        if not allowed:
            raise DlqLimitExceededError(
                f"The limit on dead letters is reached at {message.partition}, offset "
                f"{message.offset}: {state.counts.invalid} invalid messages since the partition "
                f"was assigned, {state.counts.consecutive} of them in a row. The consumer stops "
                "before this message. Fix the source of the messages or the code that refuses "
                "them, or raise the limit."
            )

    def _produce(
        self,
        policy: DlqPolicy[TStrategyPayload],
        state: _PartitionState[TStrategyPayload],
        message: BrokerValue[TStrategyPayload],
        reason: str | None,
    ) -> None:
        pending = state.pending
        while pending and pending[0][1].done():
            pending.popleft()[1].result()
        while len(pending) >= MAX_PENDING_PER_PARTITION:
            pending.popleft()[1].result()
        try:
            pending.append((message, policy.producer.produce(message, reason)))
        except Exception:
            logger.exception(
                "The dead-letter producer failed for the invalid message %s:%s, which is dropped.",
                message.partition,
                message.offset,
            )
            self._metrics.count("arroyo.consumer.dlq.dropped_messages")

    def flush(self, offsets: Mapping[Partition, int]) -> None:
        """Wait until all dead letters below these offsets are acknowledged; raise if one failed."""
        for partition, offset in offsets.items():
            state = self._partitions.get(partition)
            while state and state.pending and state.pending[0][0].offset < offset:
                state.pending.popleft()[1].result()

    def report(self) -> None:
        """Send the gauges of messages in flight."""
        if self._policy is None:
            return
        backend = self._metrics.backend
        backend.gauge("arroyo.consumer.dlq_buffer.assigned_partitions", len(self._partitions))
        for partition, state in self._partitions.items():
            backend.gauge(
                "arroyo.consumer.dlq_buffer.len",
                len(state.in_flight),
                tags={"partition_index": str(partition.index)},
            )
