"""Messages of one partition between librdkafka and whoever polls."""

from collections import deque

from arroyo.backends.kafka import KafkaPayload
from arroyo.types import Partition

from holdfast.processing.values import FetchedValue


class PartitionBuffer:
    """What has been fetched of an assigned partition and not been handed out.

    `position` is the offset of the next message handed out, `fetched` that of the next one to
    come from librdkafka. `fault` is an error that comes after the messages. `stopped` is whether
    librdkafka has been told to send no more, because the buffer was full.
    """

    __slots__ = ("fault", "fetched", "messages", "partition", "paused", "position", "stopped")

    def __init__(self, partition: Partition, offset: int) -> None:
        self.partition = partition
        self.messages: deque[FetchedValue[KafkaPayload]] = deque()
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

    @property
    def ready(self) -> bool:
        return not self.paused and (bool(self.messages) or self.fault is not None)
