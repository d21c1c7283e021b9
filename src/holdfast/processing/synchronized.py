"""A consumer that stays behind other consumer groups, whose commits it reads from a commit log."""

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from arroyo.backends.abstract import Consumer
from arroyo.backends.kafka import KafkaPayload
from arroyo.backends.kafka.commit import CommitCodec
from arroyo.errors import RecoverableError
from arroyo.types import BrokerValue, Partition, Topic, TStrategyPayload

from holdfast.processing.pauses import CALLER, OwnedPausesConsumer, Owner, PauseTable, pauses_on

logger = logging.getLogger(__name__)

CHECK_SECONDS = 0.01
"""While partitions are kept back, a wait ends this often: the groups may have moved on."""
FOLLOW_POLL_SECONDS = 0.1
UNREAD_SECONDS = 30.0
"""How long the commit log may go unread before an error is logged, and how often that repeats.
Longer than an ordinary rebalance."""


class CommitLogFollower:
    """Reads a commit log on its own thread, and knows the committed offsets of each group.

    The consumer needs its own group and must start at the earliest offset: each follower reads the
    whole log. Records of other groups are skipped. An unreadable record is logged and skipped,
    because the group's next commit replaces it.

    While a partition of the log is assigned to another consumer, the limits do not change, and an
    error is logged. The follower goes on, because an unavailable broker looks the same.
    """

    def __init__(
        self,
        consumer: Consumer[KafkaPayload],
        topic: Topic,
        groups: Collection[str],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        if not groups:
            raise ValueError("name at least one group to follow")
        self._consumer = consumer
        self._groups = frozenset(groups)
        self._committed: dict[Partition, dict[str, int]] = {}
        self._limits: dict[Partition, int] = {}
        self._codec = CommitCodec()
        self._stopping = threading.Event()
        self._failure: BaseException | None = None
        self.changes = 0
        """Increases with every commit that was read."""
        self._topic = topic
        self._now = now
        self._revoked: set[Partition] = set()
        self._unread_since: float | None = now()
        consumer.subscribe([topic], on_assign=self._on_assigned, on_revoke=self._on_revoked)
        self._thread = threading.Thread(target=self._follow, name="commit-log", daemon=True)
        self._thread.start()

    def limit(self, partition: Partition) -> int:
        """The committed offset of the slowest group; 0 until all groups have committed."""
        return self._limits.get(partition, 0)

    def check(self) -> None:
        """Raise if the thread has failed: the limits would never change again."""
        if self._failure is not None:
            raise RuntimeError("The commit log can no longer be read.") from self._failure

    def close(self) -> None:
        self._stopping.set()
        self._thread.join()

    def _follow(self) -> None:
        try:
            while not self._stopping.is_set():
                if self._unread_since is not None:
                    self._report_unread(self._unread_since)
                try:
                    message = self._consumer.poll(FOLLOW_POLL_SECONDS)
                except RecoverableError:
                    continue
                if message is not None:
                    self._read(message)
        except Exception as error:
            logger.exception("The commit log can no longer be read.")
            self._failure = error
        finally:
            self._consumer.close()

    def _on_assigned(self, offsets: Mapping[Partition, int]) -> None:
        self._revoked.difference_update(offsets)
        if not self._revoked:
            self._unread_since = None

    def _on_revoked(self, partitions: Sequence[Partition]) -> None:
        self._revoked.update(partitions)
        if self._revoked and self._unread_since is None:
            self._unread_since = self._now()

    def _report_unread(self, since: float) -> None:
        now = self._now()
        if now - since >= UNREAD_SECONDS:
            self._unread_since = now  # so that the line repeats as slowly
            logger.error(
                "The commit log %s cannot be read: its partitions are not assigned to this "
                "consumer, and messages wait until they are. Either the broker is unavailable, or "
                "another consumer has the same group. Give each commit log consumer a group.id "
                "of its own.",
                self._topic.name,
            )

    def _read(self, message: BrokerValue[KafkaPayload]) -> None:
        try:
            commit = self._codec.decode(message.payload)
        except Exception:
            logger.exception("Unreadable commit at %s:%s.", message.partition, message.offset)
            return
        if commit.group in self._groups:
            committed = self._committed.setdefault(commit.partition, {})
            committed[commit.group] = commit.offset
            if len(committed) == len(self._groups):
                self._limits[commit.partition] = min(committed.values())
                self.changes += 1


class SynchronizedConsumer(OwnedPausesConsumer[TStrategyPayload]):
    """Returns a message only after every followed group has committed an offset beyond it.

    A partition that has reached the slowest group is kept back by this consumer's own pause, which
    `paused` does not show. Pauses of callers stay until they resume them.
    """

    def __init__(
        self,
        consumer: Consumer[TStrategyPayload],
        commit_log_consumer: Consumer[KafkaPayload],
        commit_log_topic: Topic,
        commit_log_groups: Collection[str],
    ) -> None:
        self._consumer = consumer
        self._follower = CommitLogFollower(commit_log_consumer, commit_log_topic, commit_log_groups)
        self._lock = threading.RLock()
        self._table = PauseTable()  # pauses of callers and of this consumer itself
        self._below = pauses_on(consumer, owner=self)
        self._seen_changes = 0

    # -- subscription

    def subscribe(
        self,
        topics: Sequence[Topic],
        on_assign: Callable[[Mapping[Partition, int]], None] | None = None,
        on_revoke: Callable[[Sequence[Partition]], None] | None = None,
    ) -> None:
        def assigned(offsets: Mapping[Partition, int]) -> None:
            self._forget(offsets)
            self._keep_back(offsets)
            if on_assign is not None:
                on_assign(offsets)

        def revoked(partitions: Sequence[Partition]) -> None:
            try:
                if on_revoke is not None:
                    on_revoke(partitions)
            finally:
                self._forget(partitions)

        self._consumer.subscribe(topics, on_assign=assigned, on_revoke=revoked)

    def unsubscribe(self) -> None:
        self._consumer.unsubscribe()

    def _forget(self, partitions: Collection[Partition]) -> None:
        with self._lock:
            self._table.revoke(partitions)
            self._below.revoked(partitions)

    # -- messages

    def poll(self, timeout: float | None = None) -> BrokerValue[TStrategyPayload] | None:
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            self._follower.check()
            self._resume_ready()
            left = CHECK_SECONDS if end is None else max(0.0, end - time.monotonic())
            keeping = self._table.paused(self)
            message = self._consumer.poll(min(left, CHECK_SECONDS) if keeping else left)
            if message is not None and self._passes(message):
                return message
            if end is not None and time.monotonic() >= end:
                return None

    def at_hand(self, seconds: float) -> Iterator[BrokerValue[TStrategyPayload]]:
        if isinstance(self._consumer, OwnedPausesConsumer):
            for message in self._consumer.at_hand(seconds):
                if self._passes(message):
                    yield message

    def _passes(self, message: BrokerValue[TStrategyPayload]) -> bool:
        """Returns True if all groups are past the message. Keeps its partition back if it is the
        last such message."""
        limit = self._follower.limit(message.partition)
        if message.offset >= limit:
            self._consumer.seek({message.partition: message.offset})
            self._keep_back({message.partition: message.offset})
            return False
        if message.next_offset >= limit:
            self._keep_back({message.partition: message.next_offset})
        return True

    def _keep_back(self, offsets: Mapping[Partition, int]) -> None:
        limit = self._follower.limit
        self._pause([p for p, offset in offsets.items() if offset >= limit(p)], owner=self)

    def _resume_ready(self) -> None:
        """Resume the partitions in which the groups have moved on."""
        changes = self._follower.changes
        if changes == self._seen_changes:
            return
        self._seen_changes = changes
        offsets = self._consumer.tell()
        limit = self._follower.limit
        kept = self._table.paused(self)
        self._resume([p for p in kept if offsets[p] < limit(p)], owner=self)

    # -- pauses

    def pause(self, partitions: Sequence[Partition], owner: Owner = CALLER) -> None:
        self._pause(partitions, owner)

    def resume(self, partitions: Sequence[Partition], owner: Owner = CALLER) -> None:
        self._resume(partitions, owner)

    def paused(self, owner: Owner | None = None) -> Sequence[Partition]:
        """The partitions paused by `owner`, or by any owner except this consumer itself."""
        with self._lock:
            if owner is not None:
                return self._table.paused(owner)
            elsewhere = set(self._consumer.paused()) - self._below.paused()
            return [*elsewhere.union(self._table.paused_by_others(self))]

    def _pause(self, partitions: Collection[Partition], owner: Owner) -> None:
        with self._lock:
            self._below.pause(partitions)
            self._table.pause(owner, partitions)

    def _resume(self, partitions: Collection[Partition], owner: Owner) -> None:
        with self._lock:
            self._table.resume(owner, partitions)
            self._below.resume([p for p in partitions if p not in self._table])

    # -- forwarded to the consumer

    def tell(self) -> Mapping[Partition, int]:
        return self._consumer.tell()

    def seek(self, offsets: Mapping[Partition, int]) -> None:
        self._consumer.seek(offsets)
        self._resume([*offsets], owner=self)
        self._keep_back(offsets)

    def stage_offsets(self, offsets: Mapping[Partition, int]) -> None:
        self._consumer.stage_offsets(offsets)

    def commit_offsets(self) -> Mapping[Partition, int] | None:
        return self._consumer.commit_offsets()

    def close(self, timeout: float | None = None) -> None:
        self._consumer.close(timeout)
        self._follower.close()

    @property
    def closed(self) -> bool:
        return self._consumer.closed

    @property
    def member_id(self) -> str:
        return self._consumer.member_id
