"""Reading a range of one partition, to an end that is proven."""

from collections.abc import Iterator
from time import monotonic

from confluent_kafka import Consumer, KafkaError, Message

from holdfast.client.connection import Connection, Isolation
from holdfast.client.kafka_errors import translate
from holdfast.client.positions import Partition
from holdfast.errors import EventsLostError, TimedOutError

_CHUNK = 5_000
_POLL_SECONDS = 0.2

_TUNING = {
    "fetch.wait.max.ms": 20,
    "fetch.error.backoff.ms": 20,
    "queued.min.messages": 20_000,
    "queued.max.messages.kbytes": 32 * 1024,
}


def next_messages(consumer: Consumer, most: int, timeout: float) -> list[Message]:
    """Available messages, at least one within `timeout`. (`consume` alone waits for `most`.)"""
    first = consumer.poll(timeout)
    return [] if first is None else [first, *consumer.consume(most - 1, 0)]


class LogReader:
    """One consumer that reads any partition from any offset. For one thread at a time."""

    def __init__(
        self, connection: Connection, *, isolation: Isolation, timeout: float = 30.0
    ) -> None:
        self._connection = connection
        self._isolation = isolation
        self._timeout = timeout
        self._consumer: Consumer | None = None

    def read(self, partition: Partition, start: int, end: int) -> Iterator[list[Message]]:
        """The records from `start` up to, and without, `end`, in chunks.

        Returns once everything below `end` was read. Raises TimedOutError if nothing arrives for
        the reader's timeout, EventsLostError if offsets were deleted.
        """
        if start >= end:
            return
        at = start
        for messages, reached in self.follow(partition, start):
            within = [m for m in messages if (m.offset() or 0) < end]
            if within:
                yield within
            at = max(at, reached)
            if at >= end:
                return

    def follow(self, partition: Partition, start: int) -> Iterator[tuple[list[Message], int]]:
        """The records from `start` on, with the offset that was reached, until the caller stops.

        Markers and aborted records also advance that offset. Raises TimedOutError if nothing
        arrives for the reader's timeout.
        """
        consumer = self._open()
        consumer.assign([partition.at(start)])
        reached, deadline = start, monotonic() + self._timeout
        try:
            while True:
                messages = next_messages(consumer, _CHUNK, _POLL_SECONDS)
                records, moved = self._sort(partition, messages, reached)
                if moved > reached or records:
                    reached, deadline = moved, monotonic() + self._timeout
                    yield records, reached
                elif messages:
                    yield [], reached
                elif monotonic() > deadline:
                    raise TimedOutError(
                        f"{partition} gave nothing from offset {reached} on within "
                        f"{self._timeout:.0f} s. Is a transaction left open on it, or a batch "
                        "damaged?"
                    )
        finally:
            consumer.unassign()

    def close(self) -> None:
        if self._consumer is not None:
            self._consumer.close()
            self._consumer = None

    def _open(self) -> Consumer:
        if self._consumer is None:
            # Lost offsets are an error, never a reason to begin somewhere else.
            self._consumer = self._connection.reader(_TUNING, isolation=self._isolation)
        return self._consumer

    @staticmethod
    def _sort(
        partition: Partition, messages: list[Message], reached: int
    ) -> tuple[list[Message], int]:
        records = []
        for message in messages:
            if message.partition() != partition.number or message.topic() != partition.topic:
                continue  # of an earlier assignment
            error = message.error()
            offset = message.offset()
            if error is None:
                records.append(message)
                reached = max(reached, (offset or 0) + 1)
            elif error.code() == KafkaError._PARTITION_EOF:
                reached = max(reached, offset or 0)
            elif error.code() in (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE):
                raise EventsLostError(
                    f"{partition} has no offset {reached} any more ({error.str()}). Records that "
                    "are needed from there were deleted."
                )
            elif not translate(error, "").transient:
                raise translate(error, f"Reading {partition}")
        return records, reached
