"""Reads messages from librdkafka in batches and returns them one by one."""

import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from arroyo.backends.kafka import KafkaPayload
from arroyo.errors import ConsumerError, EndOfPartition, OffsetOutOfRange, TransportError
from arroyo.types import BrokerValue, Partition
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from holdfast.processing.partition_buffer import FetchedMessage, PartitionBuffer

MAX_BATCH = 1000
"""Messages per call: enough to hide the cost of the call."""
FULL_MESSAGES = 4000
FULL_BYTES = 8 << 20
"""A partition's buffer is full with this many messages, or about this many bytes."""
SERVE_EVERY_SECONDS = 0.1
"""librdkafka is polled at least this often while there are messages to return, so that rebalances
are served and `max.poll.interval.ms` is kept."""
RESUME_CHECK_SECONDS = 0.01
"""While partitions are paused, a wait ends this often to check if another thread has resumed."""
SHORTEST_WAIT_SECONDS = 0.001
"""librdkafka counts in milliseconds: a shorter wait would be a busy loop."""
LONGEST_WAIT_SECONDS = 1.0
"""A wait without a timeout ends this often, so that signals are served."""

_SEEK_AGAIN = {KafkaError._STATE, KafkaError._PREV_IN_PROGRESS, KafkaError._TIMED_OUT}
_OUT_OF_RANGE = {KafkaError.OFFSET_OUT_OF_RANGE, KafkaError._AUTO_OFFSET_RESET}


class Fetcher:
    """The buffers of the assigned partitions, filled from librdkafka.

    All calls to librdkafka happen in `poll`: `seek` only records its target. A partition is paused
    in librdkafka only while its buffer is full, because a pause discards what librdkafka has
    fetched ahead.
    """

    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer
        self._buffers: dict[Partition, PartitionBuffer] = {}
        self._by_name: dict[tuple[str | None, int | None], PartitionBuffer] = {}
        self._turns: deque[PartitionBuffer] = deque()
        self._current: PartitionBuffer | None = None
        self._to_seek: set[Partition] = set()
        self._added_in_call: set[Partition] = set()
        self._serve_at = 0.0
        self._room = MAX_BATCH
        self._full = FULL_MESSAGES

    # -- the assignment

    def add(self, partition: Partition, offset: int) -> None:
        """Add a partition that librdkafka fetches from `offset` on."""
        self.remove(partition)
        buffer = PartitionBuffer(partition, offset)
        self._buffers[partition] = buffer
        self._by_name[partition.topic.name, partition.index] = buffer
        self._turns.append(buffer)
        self._added_in_call.add(partition)

    def remove(self, partition: Partition) -> None:
        """Drop a partition and its buffer, if it is assigned."""
        buffer = self._buffers.pop(partition, None)
        if buffer is not None:
            del self._by_name[partition.topic.name, partition.index]
            self._turns.remove(buffer)
            self._to_seek.discard(partition)
            self._current = None

    def positions(self) -> dict[Partition, int]:
        """The offset of the next message to return, for each partition."""
        return {partition: buffer.position for partition, buffer in self._buffers.items()}

    def seek(self, offsets: Mapping[Partition, int]) -> None:
        for partition, offset in offsets.items():
            self._buffers[partition].seek(offset)
            self._to_seek.add(partition)

    def show_paused(self, partitions: Iterable[Partition], paused: bool) -> None:
        """Withhold these partitions' messages, or return them again. Thread-safe."""
        for partition in partitions:
            buffer = self._buffers.get(partition)
            if buffer is not None:
                buffer.paused = paused

    # -- returning messages

    def poll(self, timeout: float | None) -> BrokerValue[KafkaPayload] | None:
        buffer = self._current
        if (
            buffer is not None
            and buffer.messages
            and not buffer.paused
            and time.monotonic() < self._serve_at
        ):
            return buffer.take()
        return self._poll_librdkafka(timeout)

    def at_hand(self, seconds: float) -> Iterator[BrokerValue[KafkaPayload]]:
        """Buffered messages of one partition, for up to `seconds`.

        Runs no callbacks. Each message counts as returned when it is taken, as by `poll`.
        """
        end, now = min(self._serve_at, time.monotonic() + seconds), time.monotonic
        buffer = self._current
        while buffer is not None and buffer.messages and not buffer.paused and now() < end:
            yield buffer.take()
            buffer = self._current

    def _poll_librdkafka(self, timeout: float | None) -> BrokerValue[KafkaPayload] | None:
        end = None if timeout is None else time.monotonic() + timeout
        if time.monotonic() < self._serve_at:
            message = self._hand_out()
            if message is not None:
                return message
        self._serve()
        while (message := self._hand_out()) is None:
            wait = LONGEST_WAIT_SECONDS if end is None else end - time.monotonic()
            if wait < SHORTEST_WAIT_SECONDS:
                return None
            self._wait(wait)
        return message

    def _hand_out(self) -> BrokerValue[KafkaPayload] | None:
        turns = self._turns
        for _ in range(len(turns)):
            buffer = turns[0]
            if not buffer.paused:
                if buffer.messages:
                    self._current = buffer
                    return buffer.take()
                if buffer.fault is not None:
                    fault, buffer.fault = buffer.fault, None
                    raise fault
            turns.rotate(-1)
        self._current = None
        return None

    # -- reading from librdkafka

    def _serve(self) -> None:
        """Read the messages that librdkafka has, without waiting, and let it run its callbacks."""
        self._control()
        self._turns.rotate(-1)  # the next partition's turn, even if this one has more
        self._added_in_call.clear()
        batch = self._consumer.consume(self._room, 0.0)
        self._serve_at = time.monotonic() + SERVE_EVERY_SECONDS
        if batch:
            self._take_in(batch)

    def _wait(self, seconds: float) -> None:
        """Wait for one message, no longer than `seconds`."""
        if any(buffer.paused for buffer in self._turns):
            seconds = min(seconds, RESUME_CHECK_SECONDS)
        self._control()
        message = self._consumer.poll(seconds)
        # `poll` returns its message after the callbacks that ran in the call, so the message
        # belongs to the partitions that they added.
        self._added_in_call.clear()
        if message is not None:
            self._take_in([message])

    def _take_in(self, batch: list[FetchedMessage]) -> None:
        """Sort a batch into the buffers, then raise an error that belongs to no partition."""
        fault: Exception | None = None
        self._measure(batch)
        if any(map(Message.error, batch)):
            for faulty in filter(Message.error, batch):
                fault = self._fault(faulty) or fault
            batch = [message for message in batch if message.error() is None]
        # Messages of a partition come in runs, and each run is moved at once.
        for topic, of_topic in groupby(batch, Message.topic):
            for index, run in groupby(of_topic, Message.partition):
                self._take_run(topic, index, [*run])
        if fault is not None:
            raise fault

    def _take_run(self, topic: str | None, index: int | None, run: list[FetchedMessage]) -> None:
        """Buffer messages of one partition, which are in offset order."""
        buffer = self._open_buffer(topic, index)
        if buffer is None:
            return
        if run[0].offset() < buffer.fetched:  # already buffered
            run = [message for message in run if message.offset() >= buffer.fetched]
        if run:
            buffer.messages.extend(run)
            buffer.fetched = run[-1].offset() + 1

    def _open_buffer(self, topic: str | None, index: int | None) -> PartitionBuffer | None:
        """The buffer for a message of this batch; None if the message is dropped (it is fetched
        again if needed)."""
        buffer = self._by_name.get((topic, index))
        if buffer is None:
            return None
        if buffer.partition in self._added_in_call:
            # A rebalance interrupted this batch. Its messages of the partition may be from before
            # or after the rebalance, and cannot be told apart.
            self._to_seek.add(buffer.partition)
        return None if buffer.partition in self._to_seek else buffer

    def _fault(self, message: FetchedMessage) -> Exception | None:
        """Store the error for after the partition's messages, or return it to raise it now."""
        error = message.error()
        code = error.code()
        buffer = self._by_name.get((message.topic(), message.partition()))
        if code == KafkaError._TRANSPORT:
            return TransportError(str(error))
        if code == KafkaError._PARTITION_EOF:
            if buffer is not None and buffer.partition not in self._to_seek:
                buffer.fault = EndOfPartition(buffer.partition, message.offset())
            return None
        kind = OffsetOutOfRange if code in _OUT_OF_RANGE else ConsumerError
        if buffer is None:
            return kind(str(error))
        buffer.fault = kind(str(error))
        return None

    def _measure(self, batch: list[FetchedMessage]) -> None:
        """Limit the next batch and the buffers by the size of the last messages."""
        by_bytes = max(1, FULL_BYTES * len(batch) // (sum(map(len, batch)) or 1))
        self._room = min(MAX_BATCH, by_bytes)
        self._full = min(FULL_MESSAGES, by_bytes)

    # -- controlling librdkafka

    def _control(self) -> None:
        """Before every call that fetches: pause full partitions, resume others, and seek."""
        self._pause_and_resume()
        if self._to_seek:
            self._seek_in_librdkafka()

    def _pause_and_resume(self) -> None:
        """Pause partitions with full buffers in librdkafka; resume them when half is returned."""
        for buffer in self._turns:
            if buffer.stopped:
                if len(buffer.messages) <= self._full // 2:
                    self._consumer.resume([_named(buffer)])
                    buffer.stopped = False
                    self._to_seek.add(buffer.partition)
            elif len(buffer.messages) >= self._full:
                self._consumer.pause([_named(buffer)])
                buffer.stopped = True

    def _seek_in_librdkafka(self) -> None:
        """Seek librdkafka to the end of each buffer. Its messages are dropped until that works."""
        for partition in [*self._to_seek]:
            try:
                self._consumer.seek(_named(self._buffers[partition]))
            except KafkaException as error:
                if error.args[0].code() not in _SEEK_AGAIN:
                    raise ConsumerError(f"cannot seek {partition}: {error}") from error
            else:
                self._to_seek.discard(partition)


def _named(buffer: PartitionBuffer) -> TopicPartition:
    return TopicPartition(buffer.partition.topic.name, buffer.partition.index, buffer.fetched)
