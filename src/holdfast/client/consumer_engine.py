"""The engine of a consumer: takes messages from librdkafka in chunks, and commits their offsets.

One thread at a time uses an engine. librdkafka calls back (assigned, revoked, lost) only inside our
calls of it. By then every record before the current one is marked as done, so a revocation commits
exactly the records that are done.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from time import monotonic
from typing import Any

from confluent_kafka import Consumer as KafkaConsumer
from confluent_kafka import KafkaError, KafkaException, Message, TopicPartition

from holdfast.client.buffer import Buffer
from holdfast.client.connection import Connection
from holdfast.client.forks import forked, guard
from holdfast.client.kafka_errors import translate
from holdfast.client.leaving import close_member
from holdfast.client.positions import Partition, message_partition, partition_of
from holdfast.client.progress import Progress, last_offsets
from holdfast.errors import FencedError, HoldfastError, TimedOutError

log = logging.getLogger("holdfast.client")

BATCH = 500
"""The maximum of messages taken from librdkafka at once: few enough for the processor's cache, and
to trigger no garbage collection."""
CHUNK = 500
CHUNK_SECONDS = 0.05
"""The clock is not read within a chunk, so a chunk lasts about this long."""
POLL_SECONDS = 0.05
"""The longest wait inside librdkafka: Ctrl-C, `stop` and cancellations by asyncio are handled
between two waits. Twenty polls a second cost almost nothing."""
SERVE_SECONDS = 1.0
"""The interval of serving librdkafka while messages are processed: a rebalance waits for it."""


class ConsumerEngine:
    """Hands out chunks of messages, and commits the offsets of processed ones."""

    def __init__(
        self,
        connection: Connection,
        config: Mapping[str, Any],
        *,
        topics: Sequence[str],
        commits: bool,
        commit_interval: float,
        commit_count: int,
    ) -> None:
        self.kafka = connection.make(KafkaConsumer, config)
        self._config = connection.config(config)
        guard(self, "kafka")
        self.assigned: set[Partition] = set()
        self.serve_at = 0.0
        self.stopped = False
        self._topics = list(topics)
        self._buffer = Buffer()
        self._subscribed = False
        self._joined = False
        self._chunk_length = 1
        self._chunk_begun = 0.0
        self._progress = Progress(topics[0] if len(topics) == 1 else None)
        self._commits = commits
        self._commit_interval = commit_interval
        self._commit_count = commit_count
        self._commit_at = monotonic() + commit_interval
        self._in_hand_dropped = False
        self._revocations = 0
        self._error: HoldfastError | None = None
        self._ends: Mapping[Partition, int] | None = None
        self._reached: set[Partition] = set()
        self._beyond: list[Message] = []  # read, but past the ends of a bounded read

    # Position

    def subscribe(self) -> None:
        """Share the topics' partitions with the other members of the group."""
        self._subscribed = True
        self.kafka.subscribe(
            self._topics,
            on_assign=self._on_assign,
            on_revoke=self._on_revoke,
            on_lost=self._on_lost,
        )

    def assign(self, positions: Mapping[Partition, int]) -> None:
        """Read these partitions from these offsets, without a group."""
        self.kafka.assign([partition.at(offset) for partition, offset in positions.items()])
        self.assigned = set(positions)
        self._joined = True

    def wait_for_assignment(self, timeout: float) -> None:
        """Return once the group has given this member its partitions."""
        deadline = monotonic() + timeout
        while not self._joined and not self.stopped:
            if monotonic() > deadline:
                raise TimedOutError(f"The group gave no partitions within {timeout:.0f} s.")
            self._serve(POLL_SECONDS)

    def seek(self, positions: Mapping[Partition, int], *, grouped: bool, timeout: float) -> None:
        """Continue at these offsets. The current record of such a partition is not committed."""
        self._fold(in_hand=False)
        if grouped:
            for partition, offset in positions.items():
                self._seek_one(partition.at(offset), timeout)
        else:
            self.kafka.assign([p.at(o) for p, o in {**self.positions(), **positions}.items()])
        self._progress.forget(positions)
        self._drop(set(positions) if grouped else self.assigned)
        self._resume(self._reached)
        self._reached.clear()

    def bound(self, ends: Mapping[Partition, int] | None) -> None:
        """Hand out only messages below these offsets, and end when all are reached."""
        self._fold(in_hand=False)
        self._buffer.put_back()
        self._resume(self._reached)
        waiting = [*self._beyond, *self._buffer.waiting()]
        self._ends, self._reached, self._beyond = ends, set(), []
        self._buffer.refill(self._within_bound(waiting))
        if ends is not None:
            positions = self.positions()
            self._reach(p for p in self.assigned if positions.get(p, -1) >= ends.get(p, 0))

    # Handing out

    def more(self, limit: int | None = None, *, patient: bool = True) -> Iterator[Message] | None:
        """The next messages, at least one; None at the end.

        Messages that were handed out before are done. If not `patient`, it waits for one poll
        only, and there may be no message.
        """
        self._measure_chunk()
        self.settle()
        self._commit_if_due()
        if monotonic() >= self.serve_at:
            self._serve(0)
        while self._buffer.empty and not self.stopped:
            if self._error is not None:
                error, self._error = self._error, None
                raise error
            if self._all_reached():
                return None
            self._refill()
            self._commit_if_due()
            if not patient:
                break
        if self.stopped:
            return None
        return self._next_chunk(limit)

    def settle(self) -> None:
        """Mark all messages that were handed out as done."""
        self._fold(in_hand=True)

    def cut(self) -> None:
        """End the chunk after the current record, so that `more` is called."""
        self._buffer.cut()

    @property
    def handed(self) -> int:
        """The number of messages of the last chunk that were handed out."""
        return self._buffer.handed

    def take_back(self) -> None:
        """Put the rest of the chunk back: it waits again."""
        self._buffer.put_back()

    def stop(self) -> None:
        """Hand out no more chunks. May be called by any thread."""
        self.stopped = True

    def resume(self) -> None:
        """Hand out chunks again."""
        self.stopped = False

    def idle(self, timeout: float) -> bool:
        """Wait, without fetching, and stay a member of the group.

        Returns False if the current record's partition was revoked, or after `stop`.
        """
        deadline = monotonic() + timeout
        self._fold(in_hand=False)
        self._in_hand_dropped = False
        paused: set[Partition] = set()
        try:
            while (left := deadline - monotonic()) > 0 and not self.stopped:
                paused |= self._pause(self.assigned - paused - self._reached)
                self._serve(min(left, POLL_SECONDS))
                self._commit_if_due()
                if self._in_hand_dropped:
                    return False
            return not self.stopped
        finally:
            self._resume(paused - self._reached)

    def _next_chunk(self, limit: int | None) -> Iterator[Message]:
        length = self._chunk_length
        if limit is not None:
            length = min(length, limit)
        if self._commits:
            until_commit = self._commit_count - self._progress.uncommitted_records
            length = min(length, max(1, until_commit))
        self._chunk_begun = monotonic()
        return self._buffer.next_chunk(length)

    def _measure_chunk(self) -> None:
        """A slow user gets short chunks, so that librdkafka is served in time."""
        if not self._buffer.handed:
            return
        spent = monotonic() - self._chunk_begun
        fits = int(self._buffer.handed * CHUNK_SECONDS / spent) if spent else CHUNK
        self._chunk_length = max(1, min(fits, 2 * self._chunk_length, CHUNK))

    # Committing

    def commit(self) -> None:
        """Commit all messages handed out, the current one included; raise if that fails."""
        self.settle()
        error = self._commit()
        if error is not None:
            raise error

    def handed_out(self) -> dict[Partition, int]:
        """The offsets after all messages handed out, for a transaction to commit."""
        self.settle()
        offsets = self._progress.uncommitted()
        self._progress.committed(offsets)
        return offsets

    def close(self) -> None:
        """Commit processed messages, leave the group, close. Does nothing in a fork."""
        if forked(self.kafka):
            return
        self._fold(in_hand=False)
        error = self._commit() if self._commits else None
        if self._subscribed:
            close_member(self.kafka, self._config)
        else:
            self.kafka.close()
        if error is not None and not error.transient:
            raise error

    def _fold(self, *, in_hand: bool) -> None:
        done = self._buffer.take_done(in_hand=in_hand)
        if done:
            self._progress.processed(done)

    def _commit_if_due(self) -> None:
        if not self._commits:
            return
        full = self._progress.uncommitted_records >= self._commit_count
        if full or monotonic() >= self._commit_at:
            error = self._commit()
            if error is not None and not error.transient:
                raise error

    def _commit(self, among: Iterable[Partition] | None = None) -> HoldfastError | None:
        """Synchronous: a retry of an earlier commit can never overtake a later one."""
        self._commit_at = monotonic() + self._commit_interval
        offsets = self._progress.uncommitted(among)
        if not offsets:
            return None
        try:
            answers = self.kafka.commit(
                offsets=[partition.at(offset) for partition, offset in offsets.items()],
                asynchronous=False,
            )
        except KafkaException as error:
            return self._commit_failed(translate(error, "Committing offsets"))
        refused = {partition_of(answer): answer.error for answer in answers or () if answer.error}
        self._progress.committed({p: o for p, o in offsets.items() if p not in refused})
        if refused:
            partition, cause = next(iter(refused.items()))
            return self._commit_failed(translate(cause, f"Committing an offset of {partition}"))
        return None

    def _commit_failed(self, error: HoldfastError) -> HoldfastError:
        log.warning("%s Nothing is lost: those records are committed later, or read again.", error)
        self._progress.uncommitted_records = 0  # the next attempt follows with the next batch
        return error

    # Callbacks and messages of librdkafka

    def _on_assign(self, _: KafkaConsumer, positions: list[TopicPartition]) -> None:
        partitions = {partition_of(p) for p in positions}
        log.info("Assigned: %s", _names(partitions))
        self.assigned |= partitions
        self._progress.forget(partitions)
        self._joined = True

    def _on_revoke(self, _: KafkaConsumer, positions: list[TopicPartition]) -> None:
        partitions = {partition_of(p) for p in positions}
        log.info("Revoked: %s", _names(partitions))
        if self._commits:
            error = self._commit(partitions)
            if isinstance(error, FencedError):
                self._error = error
        self._lose(partitions)

    def _on_lost(self, _: KafkaConsumer, positions: list[TopicPartition]) -> None:
        """No commit: another member may own them already and have committed more."""
        partitions = {partition_of(p) for p in positions}
        log.warning("Lost: %s", _names(partitions))
        self._lose(partitions)

    def _lose(self, partitions: set[Partition]) -> None:
        self._revocations += 1
        self.assigned -= partitions
        self._reached -= partitions
        self._progress.forget(partitions)
        self._drop(partitions)

    def _drop(self, partitions: set[Partition]) -> None:
        self._beyond = [m for m in self._beyond if message_partition(m) not in partitions]
        if self._buffer.drop(partitions):
            self._in_hand_dropped = True

    def _refill(self) -> None:
        """Take messages from librdkafka; wait for a moment if there are none."""
        self._buffer.put_back()  # frees messages that are done
        revocations = self._revocations
        messages = self.kafka.consume(BATCH, 0)
        if not messages and (first := self.kafka.poll(POLL_SECONDS)) is not None:
            messages = [first, *self.kafka.consume(BATCH - 1, 0)]
        self.serve_at = monotonic() + SERVE_SECONDS
        messages = self._without_errors(messages)
        if self._revocations != revocations:  # the call began before it and ended after it
            messages = [m for m in messages if message_partition(m) in self.assigned]
        self._buffer.refill(self._within_bound(messages))

    def _serve(self, timeout: float) -> None:
        """Let librdkafka call back; a message that arrives waits behind the others."""
        message = self.kafka.poll(timeout)
        self.serve_at = monotonic() + SERVE_SECONDS
        if message is not None:
            self._buffer.append(self._within_bound(self._without_errors([message])))

    def _without_errors(self, messages: list[Message]) -> list[Message]:
        if not any(map(Message.error, messages)):
            return messages
        for message in messages:
            error = message.error()
            if error is not None:
                self._take_error(error, message)
        return [m for m in messages if m.error() is None]

    def _take_error(self, error: KafkaError, message: Message) -> None:
        if error.code() == KafkaError._PARTITION_EOF:
            partition, ends = message_partition(message), self._ends
            if ends is not None and (message.offset() or 0) >= ends.get(partition, 0):
                self._reach([partition])
            return
        translated = translate(error, "Reading")
        # A missing topic may come back, as after a restore.
        if translated.transient or error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
            log.warning("%s", translated)
        else:
            self._error = self._error or translated

    # Bounds

    def _within_bound(self, messages: list[Message]) -> list[Message]:
        ends = self._ends
        if ends is None or not messages:
            return messages
        within: list[Message] = []
        for message in messages:
            inside = (message.offset() or 0) < ends.get(message_partition(message), 0)
            (within if inside else self._beyond).append(message)
        self._reach(p for p, last in last_offsets(messages).items() if last + 1 >= ends.get(p, 0))
        return within

    def _reach(self, partitions: Iterable[Partition]) -> None:
        new = set(partitions) - self._reached
        self._reached |= new
        self._pause(new)

    def _all_reached(self) -> bool:
        return self._ends is not None and self._joined and self.assigned <= self._reached

    # librdkafka's position, pausing

    def positions(self) -> dict[Partition, int]:
        """The offset of the first message of each partition that was not handed out."""
        offsets = {partition_of(p): p.offset for p in self.kafka.assignment()}
        for answer in self.kafka.position([p.at(0) for p in self.assigned]):
            if answer.offset >= 0:  # else nothing was read yet
                offsets[partition_of(answer)] = answer.offset
        for message in reversed([*self._buffer.waiting(), *self._beyond]):
            offsets[message_partition(message)] = message.offset() or 0
        return offsets

    def _pause(self, partitions: set[Partition]) -> set[Partition]:
        partitions = partitions & self.assigned
        if partitions:
            self.kafka.pause([p.at(0) for p in partitions])
        return partitions

    def _resume(self, partitions: set[Partition]) -> None:
        if partitions & self.assigned:
            self.kafka.resume([p.at(0) for p in partitions & self.assigned])

    def _seek_one(self, target: TopicPartition, timeout: float) -> None:
        deadline = monotonic() + timeout
        while True:
            try:
                self.kafka.seek(target)
            except KafkaException as error:
                # librdkafka refuses until it fetches a newly assigned partition.
                if error.args[0].code() != KafkaError._STATE or monotonic() > deadline:
                    raise translate(error, f"Seeking in {partition_of(target)}") from None
                self._serve(0.05)
            else:
                return


def _names(partitions: set[Partition]) -> str:
    return ", ".join(map(str, sorted(partitions))) or "nothing"
