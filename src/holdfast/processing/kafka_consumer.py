"""Arroyo's consumer interface on confluent-kafka, with batched reads."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any

from arroyo.backends.kafka import KafkaPayload
from arroyo.backends.kafka.consumer import InvalidState, KafkaConsumerState
from arroyo.errors import ConsumerError
from arroyo.types import BrokerValue, Partition, Topic
from arroyo.utils.metrics import get_metrics
from arroyo.utils.retries import BasicRetryPolicy
from confluent_kafka import OFFSET_INVALID, KafkaError, KafkaException, TopicPartition
from confluent_kafka import Consumer as LibrdkafkaConsumer

from holdfast.client.leaving import close_member
from holdfast.processing.fetcher import Fetcher
from holdfast.processing.kafka_settings import KafkaSettings
from holdfast.processing.pauses import CALLER, OwnedPausesConsumer, Owner, PauseTable
from holdfast.processing.values import FastPartition

logger = logging.getLogger(__name__)

OnAssign = Callable[[Mapping[Partition, int]], None]
OnRevoke = Callable[[Sequence[Partition]], None]

REQUEST_TIMEOUT_SECONDS = 60.0
"""How long a new assignment waits for its start offsets."""

_COMMIT_AGAIN = {
    KafkaError.REQUEST_TIMED_OUT,
    KafkaError.NOT_COORDINATOR,
    KafkaError._WAIT_COORD,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
}
_GROUP_MOVED_ON = {
    KafkaError.REBALANCE_IN_PROGRESS,
    KafkaError.ILLEGAL_GENERATION,
    KafkaError.UNKNOWN_MEMBER_ID,
}
_UNUSABLE = {KafkaConsumerState.CLOSED, KafkaConsumerState.ERROR}


class KafkaConsumer(OwnedPausesConsumer[KafkaPayload]):
    """Reads the partitions that its consumer group assigns, from their committed offsets on.

    Messages are fetched in batches into a buffer for each partition. A pause withholds the buffer
    and a resume releases it, so nothing is fetched twice. A seek or a revocation drops it. `tell`
    returns the offset of the next message that `poll` returns. `tell`, `pause`, `resume` and
    `paused` may be called from any thread; everything else only from the thread that polls.

    Takes Arroyo's configuration and behaves the same way: explicit start offsets,
    `OffsetOutOfRange` instead of a silent jump, staged offsets, optional automatic commits.
    Rebalances may be eager, cooperative, or the broker's own (KIP-848).
    """

    def __init__(self, configuration: Mapping[str, Any]) -> None:
        self._settings = KafkaSettings.of(configuration)
        if self._settings.auto_commit:
            self._settings.librdkafka["on_commit"] = self._on_auto_commit
        self._metrics = get_metrics()
        self._state = KafkaConsumerState.CONSUMING
        self._closing = False
        self._consumer = LibrdkafkaConsumer(self._settings.librdkafka)
        self._fetcher = Fetcher(self._consumer)
        self._pauses = PauseTable()
        self._assignment_lock = Lock()
        self._staged: dict[Partition, int] = {}
        self._commit_retries = BasicRetryPolicy(
            3, 1, lambda e: isinstance(e, KafkaException) and _code(e) in _COMMIT_AGAIN
        )

    # -- subscription

    def subscribe(
        self,
        topics: Sequence[Topic],
        on_assign: OnAssign | None = None,
        on_revoke: OnRevoke | None = None,
    ) -> None:
        """Subscribe to these topics only. The callbacks run inside `poll`."""
        self._require_consuming()
        self._consumer.subscribe(
            [topic.name for topic in topics],
            on_assign=lambda _, partitions: self._assign(partitions, on_assign),
            on_revoke=lambda _, partitions: self._revoke(partitions, on_revoke),
        )

    def unsubscribe(self) -> None:
        self._require_consuming()
        self._consumer.unsubscribe()

    def _assign(self, partitions: list[TopicPartition], on_assign: OnAssign | None) -> None:
        # A rebalance may end while the consumer closes: its partitions are given up at once, and
        # the coordinator no longer answers.
        if not partitions or self._closing:
            return
        with self._callback(KafkaConsumerState.ASSIGNING):
            try:
                starts = self._starting_offsets(partitions)
                if self._settings.incremental:
                    self._consumer.incremental_assign(starts)
                else:
                    self._consumer.assign(starts)
                # An earlier assignment may have left pauses in librdkafka.
                self._consumer.resume(starts)
            except Exception:
                self._state = KafkaConsumerState.ERROR
                raise
            offsets: dict[Partition, int] = {}
            for start in starts:
                partition = FastPartition(Topic(start.topic), start.partition)
                self._forget(partition)
                with self._assignment_lock:
                    self._fetcher.add(partition, start.offset)
                offsets[partition] = start.offset
            if on_assign is not None:
                on_assign(offsets)

    def _revoke(self, partitions: list[TopicPartition], on_revoke: OnRevoke | None) -> None:
        with self._callback(KafkaConsumerState.REVOKING):
            revoked: list[Partition] = [
                FastPartition(Topic(p.topic), p.partition) for p in partitions
            ]
            try:
                if on_revoke is not None:
                    on_revoke(revoked)
            finally:
                for partition in revoked:
                    self._forget(partition)

    def _forget(self, partition: Partition) -> None:
        with self._assignment_lock:
            self._fetcher.remove(partition)
            self._pauses.revoke([partition])
        if self._staged.pop(partition, None) is not None:
            logger.warning("%s was revoked before its staged offset was committed.", partition)

    @contextmanager
    def _callback(self, state: KafkaConsumerState) -> Iterator[None]:
        self._state = state
        try:
            yield
        finally:
            if self._state is state:
                self._state = KafkaConsumerState.CONSUMING

    def _starting_offsets(self, partitions: list[TopicPartition]) -> list[TopicPartition]:
        committed = self._consumer.committed(partitions, timeout=REQUEST_TIMEOUT_SECONDS)
        return [self._starting_offset(partition) for partition in committed]

    def _starting_offset(self, committed: TopicPartition) -> TopicPartition:
        if committed.error is not None:
            raise KafkaException(committed.error)
        if committed.offset >= 0:
            return committed
        if committed.offset != OFFSET_INVALID:
            raise ConsumerError(f"unexpected committed offset: {committed}")
        if self._settings.start == "error":
            raise ConsumerError(f"{committed.topic}:{committed.partition} has no committed offset")
        low, high = self._consumer.get_watermark_offsets(committed, timeout=REQUEST_TIMEOUT_SECONDS)
        offset = low if self._settings.start == "earliest" else high
        return TopicPartition(committed.topic, committed.partition, offset)

    # -- messages

    def poll(self, timeout: float | None = None) -> BrokerValue[KafkaPayload] | None:
        """The next message, or None if there is none within `timeout` seconds (None: no limit).

        Runs the subscription's callbacks. Raises `TransportError`, `OffsetOutOfRange`,
        `EndOfPartition` (if enabled) and `ConsumerError` as Arroyo's consumer does.
        """
        if self._state is not KafkaConsumerState.CONSUMING:
            raise InvalidState(self._state)
        return self._fetcher.poll(timeout)

    def at_hand(self, seconds: float) -> Iterator[BrokerValue[KafkaPayload]]:
        self._require_consuming()
        return self._fetcher.at_hand(seconds)

    def tell(self) -> Mapping[Partition, int]:
        self._require_usable()
        with self._assignment_lock:
            return self._fetcher.positions()

    def seek(self, offsets: Mapping[Partition, int]) -> None:
        self._require_usable()
        self._require_assigned(offsets, "seek")
        _require_real(offsets)
        self._fetcher.seek(offsets)

    # -- pauses

    def pause(self, partitions: Sequence[Partition], owner: Owner = CALLER) -> None:
        """Withhold these partitions' messages until `owner` resumes them, or they are revoked."""
        self._require_usable()
        with self._assignment_lock:
            self._require_assigned(partitions, "pause")
            self._pauses.pause(owner, partitions)
            self._fetcher.show_paused(partitions, True)

    def resume(self, partitions: Sequence[Partition], owner: Owner = CALLER) -> None:
        """End the pauses of `owner`. A partition with pauses of other owners stays paused."""
        self._require_usable()
        with self._assignment_lock:
            self._require_assigned(partitions, "resume")
            self._pauses.resume(owner, partitions)
            self._fetcher.show_paused([p for p in partitions if p not in self._pauses], False)

    def paused(self, owner: Owner | None = None) -> Sequence[Partition]:
        """The paused partitions: those of `owner`, or of all owners."""
        self._require_usable()
        with self._assignment_lock:
            return self._pauses.paused(owner)

    # -- offsets

    def stage_offsets(self, offsets: Mapping[Partition, int]) -> None:
        """Store offsets for the next `commit_offsets`, or for librdkafka's automatic commits."""
        if not self._settings.auto_commit:
            self._staged.update(offsets)
        elif offsets:
            self._consumer.store_offsets(offsets=_topic_partitions(offsets))

    def commit_offsets(self) -> Mapping[Partition, int] | None:
        """Commit the staged offsets. Returns the committed offsets, or None with automatic commits.

        During a rebalance the coordinator may refuse. Offsets then stay staged for the next call,
        or are dropped with their partitions, whose next owner gets the messages again.
        """
        if self._settings.auto_commit:
            return None
        self._require_usable()
        self._require_assigned(self._staged, "commit")
        _require_real(self._staged)
        if not self._staged:
            return {}
        try:
            committed = self._commit_retries.call(self._commit)
        except KafkaException as error:
            if _code(error) not in _GROUP_MOVED_ON:
                raise
            logger.warning("Offsets could not be committed now: %s", error)
            return {}
        self._staged.clear()
        return committed

    def _commit(self) -> Mapping[Partition, int]:
        result = self._consumer.commit(offsets=_topic_partitions(self._staged), asynchronous=False)
        for each in result:
            if each.error is not None:
                raise KafkaException(each.error)
        return {Partition(Topic(p.topic), p.partition): p.offset for p in result if p.offset >= 0}

    def _on_auto_commit(
        self, error: KafkaError | None, partitions: Sequence[TopicPartition]
    ) -> None:
        if error is not None:
            logger.warning("The commit of %s failed: %s", partitions, error)
        tags = {"status": "success" if error is None else "error"}
        if self._settings.group_id:
            tags["group_id"] = self._settings.group_id
        self._metrics.increment("arroyo.consumer.commit_status", 1, tags=tags)

    # -- the end

    def close(self, timeout: float | None = None) -> None:
        """Leave the group: the revocation callback runs, and nothing can be polled afterwards."""
        self._closing = True
        try:
            close_member(self._consumer, self._settings.librdkafka)
        except RuntimeError:  # already closed
            pass
        self._state = KafkaConsumerState.CLOSED

    @property
    def closed(self) -> bool:
        return self._state is KafkaConsumerState.CLOSED

    @property
    def member_id(self) -> str:
        return self._consumer.memberid() or ""

    def _require_consuming(self) -> None:
        if self._state is not KafkaConsumerState.CONSUMING:
            raise InvalidState(self._state)

    def _require_usable(self) -> None:
        if self._state in _UNUSABLE:
            raise InvalidState(self._state)

    def _require_assigned(
        self, partitions: Sequence[Partition] | Mapping[Partition, int], verb: str
    ) -> None:
        unassigned = set(partitions).difference(self._fetcher.positions())
        if unassigned:
            raise ConsumerError(f"cannot {verb} unassigned partitions: {unassigned}")


def _topic_partitions(offsets: Mapping[Partition, int]) -> list[TopicPartition]:
    return [TopicPartition(p.topic.name, p.index, offset) for p, offset in offsets.items()]


def _require_real(offsets: Mapping[Partition, int]) -> None:
    logical = {p: offset for p, offset in offsets.items() if offset < 0}
    if logical:
        raise ConsumerError(f"offsets must not be negative: {logical}")


def _code(error: KafkaException) -> int | None:
    return error.args[0].code() if isinstance(error.args[0], KafkaError) else None
