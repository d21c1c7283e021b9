"""Processed and committed offsets. Pure bookkeeping."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from confluent_kafka import Message

from holdfast.client.positions import Partition


class Progress:
    """For each partition, the offset after the last processed record, and its commit state."""

    __slots__ = ("_done", "_topic", "_uncommitted", "uncommitted_records")

    def __init__(self, topic: str | None = None) -> None:
        """`topic`: the topic of all records, if there is only one."""
        self._topic = topic
        self._done: dict[Partition, int] = {}
        self._uncommitted: set[Partition] = set()
        self.uncommitted_records = 0

    def processed(self, messages: Sequence[Message]) -> None:
        """Mark records as done, in this order."""
        last = last_offsets(messages, self._topic)
        self._done.update((partition, offset + 1) for partition, offset in last.items())
        self._uncommitted.update(last)
        self.uncommitted_records += len(messages)

    def uncommitted(self, among: Iterable[Partition] | None = None) -> dict[Partition, int]:
        """The offsets to commit now."""
        chosen = self._uncommitted if among is None else self._uncommitted.intersection(among)
        return {partition: self._done[partition] for partition in chosen}

    def committed(self, offsets: Mapping[Partition, int]) -> None:
        """Mark offsets as committed."""
        self._uncommitted -= {p for p, offset in offsets.items() if self._done.get(p) == offset}
        if not self._uncommitted:
            self.uncommitted_records = 0

    def forget(self, partitions: Iterable[Partition]) -> None:
        """Remove partitions that were revoked, or whose position was changed."""
        for partition in partitions:
            self._done.pop(partition, None)
            self._uncommitted.discard(partition)


def last_offsets(messages: Sequence[Message], topic: str | None = None) -> dict[Partition, int]:
    """The last offset of each partition in a batch that is not empty, with C functions only.

    `topic`: the topic of all messages, if there is only one; this saves looking it up.
    """
    partitions: list[Any] = list(map(Message.partition, messages))
    if topic is None:
        partitions = list(zip(map(Message.topic, messages), partitions, strict=True))
    # librdkafka returns long runs of messages of one partition.
    if partitions.count(partitions[-1]) == len(partitions):
        last = {partitions[-1]: messages[-1]}
    else:
        last = dict(zip(partitions, messages, strict=True))
    if topic is None:
        return {Partition(*partition): m.offset() for partition, m in last.items()}  # type: ignore[misc]
    return {Partition(topic, number): m.offset() for number, m in last.items()}  # type: ignore[misc]
