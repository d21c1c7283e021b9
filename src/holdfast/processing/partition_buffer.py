"""Messages of one partition between librdkafka and whoever polls."""

from collections import deque
from typing import Any

from arroyo.backends.kafka import KafkaPayload
from arroyo.types import Partition

from holdfast.processing.values import FetchedValue

FetchedMessage = Any
"""A `confluent_kafka.Message`, whose types take everything in it for optional."""

new_tuple = tuple.__new__


class PartitionBuffer:
    """What has been fetched of an assigned partition and not been handed out.

    `position` is the offset of the next message handed out, `fetched` that of the next one to
    come from librdkafka. `fault` is an error that comes after the messages. `stopped` is whether
    librdkafka has been told to send no more, because the buffer was full.
    """

    __slots__ = ("fault", "fetched", "messages", "partition", "paused", "position", "stopped")

    def __init__(self, partition: Partition, offset: int) -> None:
        self.partition = partition
        self.messages: deque[FetchedMessage] = deque()
        self.position = offset
        self.fetched = offset
        self.paused = False
        self.stopped = False
        self.fault: Exception | None = None

    def seek(self, offset: int) -> None:
        """Drop everything, and go on at `offset`."""
        self.messages.clear()
        self.position = self.fetched = offset
        self.fault = None

    def take(self) -> FetchedValue[KafkaPayload]:
        """Hand out the next message. There must be one.

        It becomes a value only now: made for a whole batch ahead, the values would live through
        several runs of the garbage collector, which took a quarter of the time.
        """
        message = self.messages.popleft()
        offset = message.offset()
        self.position = next_offset = offset + 1
        partition = self.partition
        payload = (message.key(), message.value() or b"", message.headers() or [])
        return FetchedValue(
            new_tuple(KafkaPayload, payload),
            partition,
            offset,
            message.timestamp()[1],
            {partition: next_offset},
        )
