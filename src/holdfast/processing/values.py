"""Faster versions of Arroyo's `Partition` and `BrokerValue`, which every message needs.

Both are equal to and interchangeable with Arroyo's own, and are pickled as these.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypeVar

from arroyo.types import BrokerValue, Partition, Topic, TReplaced

TPayload = TypeVar("TPayload")


class FastPartition(Partition):
    """A `Partition` that computes its hash once.

    Strategies look up partitions several times per message, and the original hash takes two Python
    calls.
    """

    __slots__ = ("_hash",)

    def __init__(self, topic: Topic, index: int) -> None:
        super().__init__(topic, index)
        self._hash = hash((topic, index))

    def __hash__(self) -> int:
        return self._hash

    def _key(self) -> tuple[Topic, int]:
        return self.topic, self.index

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Partition):
            return NotImplemented
        return self.index == other.index and self.topic == other.topic

    def __lt__(self, other: Partition) -> bool:
        return self._key() < (other.topic, other.index)

    def __le__(self, other: Partition) -> bool:
        return self._key() <= (other.topic, other.index)

    def __gt__(self, other: Partition) -> bool:
        return self._key() > (other.topic, other.index)

    def __ge__(self, other: Partition) -> bool:
        return self._key() >= (other.topic, other.index)

    def __repr__(self) -> str:
        return f"Partition(topic={self.topic!r}, index={self.index!r})"

    def __reduce__(self) -> tuple[type[Partition], tuple[Topic, int]]:
        # Pickled as Arroyo's own: string hashes, and so this hash, differ between processes.
        return Partition, (self.topic, self.index)


class FetchedValue(BrokerValue[TPayload]):
    """A `BrokerValue` with plain attributes, and a timestamp that is computed on access.

    A chain of strategies reads payload and committable several times, but rarely the time.
    """

    __slots__ = ("_milliseconds", "committable", "payload")

    payload: TPayload
    committable: Mapping[Partition, int]

    def __init__(
        self,
        payload: TPayload,
        partition: Partition,
        offset: int,
        milliseconds: int,
        committable: Mapping[Partition, int],
    ) -> None:
        self.payload = payload
        self.partition = partition
        self.offset = offset
        self._milliseconds = milliseconds
        self.committable = committable

    @property
    def timestamp(self) -> datetime:  # type: ignore[override]  # no one sets it on a message
        """In UTC without a time zone, as in Arroyo."""
        return datetime.utcfromtimestamp(self._milliseconds / 1000.0)

    def replace(self, value: TReplaced) -> "FetchedValue[TReplaced]":
        return FetchedValue(
            value, self.partition, self.offset, self._milliseconds, self.committable
        )

    def _plain(self) -> tuple[TPayload, Partition, int, datetime]:
        return self.payload, self.partition, self.offset, self.timestamp

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BrokerValue):
            return NotImplemented
        return self._plain() == (other.payload, other.partition, other.offset, other.timestamp)

    def __hash__(self) -> int:
        return hash(self._plain())

    def __repr__(self) -> str:
        return repr(BrokerValue(*self._plain()))

    def __reduce__(self) -> tuple[type[BrokerValue[TPayload]], tuple[Any, ...]]:
        return BrokerValue, self._plain()
