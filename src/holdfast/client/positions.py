"""Positions in a topic: an offset, a time, or one of its ends."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from time import monotonic, sleep
from typing import Literal, NamedTuple

from confluent_kafka import IsolationLevel, KafkaException, Message, TopicPartition
from confluent_kafka.admin import OffsetSpec

from holdfast.client.connection import Connection
from holdfast.client.encoding import to_milliseconds
from holdfast.client.kafka_errors import translate
from holdfast.errors import (
    HoldfastError,
    InvalidArgumentError,
    NotFoundError,
    TimedOutError,
    UnavailableError,
)

Where = int | datetime | timedelta | Literal["start", "end"]
"""An offset (a negative one counts from the end); a time (the first record at or after it); a
duration (that long ago); or an end."""

_NO_RECORD = -1
"""The answer for a time after the last record."""
_FIRST_TIMEOUT_SECONDS = 1.0
"""For the first attempt; doubled for each further one: librdkafka waits for a dead broker."""


class Partition(NamedTuple):
    """A partition of a topic."""

    topic: str
    number: int

    def at(self, offset: int) -> TopicPartition:
        return TopicPartition(self.topic, self.number, offset)

    def __str__(self) -> str:
        return f"{self.topic}[{self.number}]"


def partition_of(position: TopicPartition) -> Partition:
    """The partition of one of librdkafka's positions."""
    return Partition(position.topic, position.partition)


def message_partition(message: Message) -> Partition:
    """The partition of a message."""
    return Partition(message.topic(), message.partition())  # type: ignore[arg-type]


class Offsets:
    """Looks up offsets on the brokers, for many partitions at once."""

    def __init__(
        self, connection: Connection, *, committed_only: bool = True, known: bool = False
    ) -> None:
        """`known`: the topics exist, so an unknown one has no leader at the moment: a transient
        error. The caller must detect deleted topics in another way."""
        self._connection = connection
        self._known = known
        # Readers of committed records stop before open transactions.
        self._isolation = (
            IsolationLevel.READ_COMMITTED if committed_only else IsolationLevel.READ_UNCOMMITTED
        )

    def starts(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """The first offset of each partition."""
        return self._look_up(partitions, OffsetSpec.earliest())

    def ends(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """The offset after the last record."""
        return self._look_up(partitions, OffsetSpec.latest())

    def bounds(self, partition: Partition) -> tuple[int, int]:
        """The first offset of one partition, and the offset after its last record."""
        return self.starts([partition])[partition], self.ends([partition])[partition]

    def sizes(self, topics: Mapping[str, int]) -> dict[str, tuple[int, int]]:
        """Retained offsets, and the sum of the ends, of topics with these numbers of partitions."""
        partitions = [Partition(topic, n) for topic, count in topics.items() for n in range(count)]
        if not partitions:
            return {}
        starts, ends = self.starts(partitions), self.ends(partitions)
        sizes = dict.fromkeys(topics, (0, 0))
        for p in partitions:
            retained, end = sizes[p.topic]
            sizes[p.topic] = (retained + ends[p] - starts[p], end + ends[p])
        return sizes

    def resolve(
        self, partitions: Iterable[Partition], where: Where, *, clamp: bool = False
    ) -> dict[Partition, int]:
        """The offset of a position in each partition.

        No record at or after a time: the end. An offset outside the log is a NotFoundError, or,
        with `clamp`, the nearest end.
        """
        partitions = list(partitions)
        match where:
            case "start":
                return self.starts(partitions)
            case "end":
                return self.ends(partitions)
            case datetime():
                return self._at_time(partitions, to_milliseconds(where))
            case timedelta():
                return self._at_time(partitions, to_milliseconds(datetime.now(UTC) - where))
            case int() if not isinstance(where, bool) and where >= 0:
                return self._at_offset(partitions, where, clamp=clamp)
            case int() if not isinstance(where, bool):
                starts, ends = self.starts(partitions), self.ends(partitions)
                return {p: max(starts[p], ends[p] + where) for p in partitions}
        raise InvalidArgumentError(
            f"{where!r} is not a position in a topic: give an offset, a datetime, a timedelta "
            "(that long ago), 'start' or 'end'."
        )

    def _at_offset(
        self, partitions: list[Partition], offset: int, *, clamp: bool
    ) -> dict[Partition, int]:
        starts, ends = self.starts(partitions), self.ends(partitions)
        offsets = {}
        for partition in partitions:
            start, end = starts[partition], ends[partition]
            if not clamp and not start <= offset <= end:
                raise NotFoundError(
                    f"There is no offset {offset} in {partition}: it goes from {start} to {end}."
                )
            offsets[partition] = min(max(offset, start), end)
        return offsets

    def _at_time(self, partitions: list[Partition], milliseconds: int) -> dict[Partition, int]:
        offsets = self._look_up(partitions, OffsetSpec.for_timestamp(max(0, milliseconds)))
        ends = self.ends(partitions)
        # -1: no record is that late.
        return {p: ends[p] if offsets[p] < 0 else min(offsets[p], ends[p]) for p in partitions}

    def _look_up(self, partitions: Iterable[Partition], spec: OffsetSpec) -> dict[Partition, int]:
        requested = list(partitions)
        deadline = monotonic() + self._connection.settings.request_timeout
        timeout = _FIRST_TIMEOUT_SECONDS
        while True:
            left = max(0.1, deadline - monotonic())
            try:
                return self._look_up_once(requested, spec, min(timeout, left))
            except (UnavailableError, NotFoundError, TimedOutError) as error:
                # librdkafka uses the leaders that it knows, and waits for a dead one. A new topic
                # has no leader for a moment. librdkafka does not distinguish a deleted topic from
                # one without a leader.
                there = self._refresh_leaders(min(timeout, left))
                missing = there is not None and not there.issuperset(requested)
                if monotonic() > deadline or (isinstance(error, NotFoundError) and missing):
                    raise self._as_transient(error) from None
                timeout *= 2
                sleep(0.05)

    def _as_transient(self, error: HoldfastError) -> HoldfastError:
        if self._known and isinstance(error, NotFoundError):
            return UnavailableError(f"No broker leads it now. {error}")
        return error

    def _refresh_leaders(self, timeout: float) -> set[Partition] | None:
        """All existing partitions; None if no broker answers in time. librdkafka keeps the leaders
        that it learns from the answer."""
        try:
            cluster = self._connection.admin.list_topics(timeout=timeout)
        except KafkaException as error:
            translated = translate(error, "Looking up the leaders of partitions")
            if translated.transient:
                return None
            raise translated from None
        return {
            Partition(name, number)
            for name, topic in cluster.topics.items()
            for number in topic.partitions
        }

    def _look_up_once(
        self, partitions: list[Partition], spec: OffsetSpec, timeout: float
    ) -> dict[Partition, int]:
        if not partitions:
            return {}
        try:
            futures = self._connection.admin.list_offsets(
                {partition.at(-1): spec for partition in partitions},
                isolation_level=self._isolation,
                request_timeout=timeout,
            )
        except KafkaException as error:
            raise translate(error, "Looking offsets up") from None
        offsets = {
            partition_of(position): self._connection.wait(
                future, f"Looking up an offset of {partition_of(position)}"
            ).offset
            for position, future in futures.items()
        }
        for partition, offset in offsets.items():
            if offset < _NO_RECORD:
                # librdkafka reports no error when a leader has not answered in time. Taken for an
                # offset, this would hide commands from the gate.
                raise TimedOutError(f"The leader of {partition} did not answer in time.")
        return offsets
