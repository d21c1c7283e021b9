"""Takes messages from librdkafka in batches and hands them out one by one."""

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
"""Messages taken at once: enough to hide the cost of the call."""
FULL_MESSAGES = 4000
FULL_BYTES = 8 << 20
"""A partition's buffer is full with this many messages, or about so many bytes."""
SERVE_EVERY_SECONDS = 0.1
"""librdkafka is polled at least so often while there are messages to hand out, so that rebalances
are served and `max.poll.interval.ms` is kept."""
RESUME_CHECK_SECONDS = 0.01
"""A wait for messages looks up so often while partitions are paused: another thread may resume."""
SHORTEST_WAIT_SECONDS = 0.001
"""librdkafka counts in milliseconds: less would be no wait at all, over and over."""
LONGEST_WAIT_SECONDS = 1.0
"""A wait without end comes back so often, so that signals are served."""

_SEEK_AGAIN = {KafkaError._STATE, KafkaError._PREV_IN_PROGRESS, KafkaError._TIMED_OUT}
_OUT_OF_RANGE = {KafkaError.OFFSET_OUT_OF_RANGE, KafkaError._AUTO_OFFSET_RESET}


class Fetcher:
    """The buffers of the assigned partitions, filled from librdkafka.

    Everything that is asked of librdkafka happens in `poll`: `seek` only notes it. A partition is
    paused in librdkafka only while its buffer is full, because that throws away what librdkafka
    has fetched ahead.
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
        """Begin with a partition that librdkafka has been told to fetch from `offset` on."""
        self.remove(partition)
        buffer = PartitionBuffer(partition, offset)
        self._buffers[partition] = buffer
        self._by_name[partition.topic.name, partition.index] = buffer
        self._turns.append(buffer)
        self._added_in_call.add(partition)

    def remove(self, partition: Partition) -> None:
        """Drop a partition and what is buffered of it, if it is there."""
        buffer = self._buffers.pop(partition, None)
        if buffer is not None:
            del self._by_name[partition.topic.name, partition.index]
            self._turns.remove(buffer)
            self._to_seek.discard(partition)
            self._current = None

    def positions(self) -> dict[Partition, int]:
        """The offset of the next message to be handed out, for each partition."""
        return {partition: buffer.position for partition, buffer in self._buffers.items()}

    def seek(self, offsets: Mapping[Partition, int]) -> None:
        for partition, offset in offsets.items():
            self._buffers[partition].seek(offset)
            self._to_seek.add(partition)

    def show_paused(self, partitions: Iterable[Partition], paused: bool) -> None:
        """Withhold these partitions' messages, or hand them out again. From any thread."""
        for partition in partitions:
            buffer = self._buffers.get(partition)
            if buffer is not None:
                buffer.paused = paused

    # -- handing out

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
        """Messages of one partition that need not be waited for, for so long.

        Runs no callbacks. Each is handed out when it is taken, as by `poll`.
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

    # -- taking in

    def _serve(self) -> None:
        """Take what librdkafka has, without waiting, and let it run its callbacks."""
        self._keep_in_step()
        self._turns.rotate(-1)  # the next partition's turn, however full this one is
        self._added_in_call.clear()
        batch = self._consumer.consume(self._room, 0.0)
        self._serve_at = time.monotonic() + SERVE_EVERY_SECONDS
        if batch:
            self._take_in(batch)

    def _wait(self, seconds: float) -> None:
        """Wait for one message, no longer than `seconds`."""
        if any(buffer.paused for buffer in self._turns):
            seconds = min(seconds, RESUME_CHECK_SECONDS)
        self._keep_in_step()
        message = self._consumer.poll(seconds)
        # One message comes after the callbacks that ran in its call: it belongs to the partitions
        # that they added.
        self._added_in_call.clear()
        if message is not None:
            self._take_in([message])

    def _take_in(self, batch: list[FetchedMessage]) -> None:
        """Sort a batch into the buffers, then raise what it reports of no partition."""
        fault: Exception | None = None
        self._measure(batch)
        if any(map(Message.error, batch)):
            for faulty in filter(Message.error, batch):
                fault = self._fault(faulty) or fault
            batch = [message for message in batch if message.error() is None]
        # Messages of a partition come in runs, and are moved as such.
        for topic, of_topic in groupby(batch, Message.topic):
            for index, run in groupby(of_topic, Message.partition):
                self._take_run(topic, index, [*run])
        if fault is not None:
            raise fault

    def _take_run(self, topic: str | None, index: int | None, run: list[FetchedMessage]) -> None:
        """Buffer messages of one partition, which come in offset order."""
        buffer = self._open_buffer(topic, index)
        if buffer is None:
            return
        if run[0].offset() < buffer.fetched:  # what was there already
            run = [message for message in run if message.offset() >= buffer.fetched]
        if run:
            buffer.messages.extend(run)
            buffer.fetched = run[-1].offset() + 1

    def _open_buffer(self, topic: str | None, index: int | None) -> PartitionBuffer | None:
        """Where a message of this batch goes. None: nowhere, it will be fetched again if needed."""
        buffer = self._by_name.get((topic, index))
        if buffer is None:
            return None
        if buffer.partition in self._added_in_call:
            # A rebalance interrupted this batch. It may hold messages of the partition from before
            # and from after, and they look alike.
            self._to_seek.add(buffer.partition)
        return None if buffer.partition in self._to_seek else buffer

    def _fault(self, message: FetchedMessage) -> Exception | None:
        """Raise it later, after the partition's messages, or return it to be raised now."""
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
        """Bound the next batch and the buffers by the size of messages as last seen."""
        by_bytes = max(1, FULL_BYTES * len(batch) // (sum(map(len, batch)) or 1))
        self._room = min(MAX_BATCH, by_bytes)
        self._full = min(FULL_MESSAGES, by_bytes)

    # -- keeping librdkafka in step

    def _keep_in_step(self) -> None:
        """Before every call that fetches: what is full, and where to go on."""
        self._stop_and_go()
        if self._to_seek:
            self._seek_in_librdkafka()

    def _stop_and_go(self) -> None:
        """Stop librdkafka from sending to full buffers; let it go on when half is handed out."""
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
        """Make librdkafka go on where each buffer ends. Until it does, its messages are dropped."""
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
