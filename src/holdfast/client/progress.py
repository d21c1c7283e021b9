"""What has been processed and what of it is committed. Pure bookkeeping."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from confluent_kafka import Message

from holdfast.client.positions import Partition


class Progress:
    """Per partition the offset after the last processed record, and whether it is committed."""

    __slots__ = ("_done", "_topic", "_uncommitted", "uncommitted_records")

    def __init__(self, topic: str | None = None) -> None:
        """`topic`: the only one that is read, if there is only one."""
        self._topic = topic
        self._done: dict[Partition, int] = {}
        self._uncommitted: set[Partition] = set()
        self.uncommitted_records = 0

    def processed(self, messages: Sequence[Message]) -> None:
        """Those records are done, in this order."""
        last = last_offsets(messages, self._topic)
        self._done.update((partition, offset + 1) for partition, offset in last.items())
        self._uncommitted.update(last)
        self.uncommitted_records += len(messages)

    def uncommitted(self, among: Iterable[Partition] | None = None) -> dict[Partition, int]:
        """What a commit has to say now."""
        chosen = self._uncommitted if among is None else self._uncommitted.intersection(among)
        return {partition: self._done[partition] for partition in chosen}

    def committed(self, offsets: Mapping[Partition, int]) -> None:
        """The broker has these."""
        self._uncommitted -= {p for p, offset in offsets.items() if self._done.get(p) == offset}
        if not self._uncommitted:
            self.uncommitted_records = 0

    def forget(self, partitions: Iterable[Partition]) -> None:
        """Those partitions are somebody else's now, or are read from elsewhere."""
        for partition in partitions:
            self._done.pop(partition, None)
            self._uncommitted.discard(partition)


def last_offsets(messages: Sequence[Message], topic: str | None = None) -> dict[Partition, int]:
    """The last offset of each partition in the batch (of one message or more), in C alone.

    `topic` is that of all messages, if there is only one; it need not be looked up then.
    """
    places: list[Any] = list(map(Message.partition, messages))
    if topic is None:
        places = list(zip(map(Message.topic, messages), places, strict=True))
    if places.count(places[-1]) == len(places):  # librdkafka gives out long runs of one partition
        last = {places[-1]: messages[-1]}
    else:
        last = dict(zip(places, messages, strict=True))
    if topic is None:
        return {Partition(*place): m.offset() for place, m in last.items()}  # type: ignore[misc]
    return {Partition(topic, number): m.offset() for number, m in last.items()}  # type: ignore[misc]
