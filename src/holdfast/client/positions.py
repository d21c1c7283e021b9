"""Places in a topic: an offset, a time, or one of its ends."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from time import monotonic, sleep
from typing import Literal, NamedTuple

from confluent_kafka import IsolationLevel, KafkaException, TopicPartition
from confluent_kafka.admin import OffsetSpec  # type: ignore[attr-defined]

from holdfast.client.connection import Connection
from holdfast.client.encoding import to_milliseconds
from holdfast.client.kafka_errors import translate
from holdfast.errors import (
    HoldfastError,
    InvalidArgumentError,
    NotFoundError,
    UnavailableError,
)

Where = int | datetime | timedelta | Literal["start", "end"]
"""An offset; a time (the first record at or after it); a duration (that long ago); or an end."""


class Partition(NamedTuple):
    """A partition of a topic."""

    topic: str
    number: int

    def at(self, offset: int) -> TopicPartition:
        return TopicPartition(self.topic, self.number, offset)

    def __str__(self) -> str:
        return f"{self.topic}[{self.number}]"


def partition_of(place: TopicPartition) -> Partition:
    """librdkafka's own pair as ours."""
    return Partition(place.topic, place.partition)


class Offsets:
    """Looks offsets up on the brokers, many partitions at once."""

    def __init__(
        self, connection: Connection, *, committed_only: bool = True, known: bool = False
    ) -> None:
        """`known`: the topics are there, so one that nobody can tell of is not led now, and that
        passes. (Whoever says so watches by other means whether a topic was deleted.)"""
        self._connection = connection
        self._known = known
        # The end that a reader can reach: before open transactions, unless it reads those too.
        self._isolation = (
            IsolationLevel.READ_COMMITTED if committed_only else IsolationLevel.READ_UNCOMMITTED
        )

    def starts(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """The first offset that there is."""
        return self._ask(partitions, OffsetSpec.earliest())  # type: ignore[no-untyped-call]

    def ends(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """The offset after the last record."""
        return self._ask(partitions, OffsetSpec.latest())  # type: ignore[no-untyped-call]

    def bounds(self, partition: Partition) -> tuple[int, int]:
        """Both of them, for one partition."""
        return self.starts([partition])[partition], self.ends([partition])[partition]

    def resolve(
        self, partitions: Iterable[Partition], where: Where, *, clamp: bool = False
    ) -> dict[Partition, int]:
        """The offset of a place in each partition.

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
        raise InvalidArgumentError(
            f"{where!r} is no place in a topic: give an offset, a datetime, a timedelta (that long "
            "ago), 'start' or 'end'."
        )

    def _at_offset(
        self, partitions: list[Partition], offset: int, *, clamp: bool
    ) -> dict[Partition, int]:
        starts, ends = self.starts(partitions), self.ends(partitions)
        found = {}
        for partition in partitions:
            start, end = starts[partition], ends[partition]
            if not clamp and not start <= offset <= end:
                raise NotFoundError(
                    f"There is no offset {offset} in {partition}: it goes from {start} to {end}."
                )
            found[partition] = min(max(offset, start), end)
        return found

    def _at_time(self, partitions: list[Partition], milliseconds: int) -> dict[Partition, int]:
        found = self._ask(partitions, OffsetSpec.for_timestamp(max(0, milliseconds)))
        ends = self.ends(partitions)
        # -1: no record is that late.
        return {p: ends[p] if found[p] < 0 else min(found[p], ends[p]) for p in partitions}

    def _ask(self, partitions: Iterable[Partition], spec: OffsetSpec) -> dict[Partition, int]:
        wanted = list(partitions)
        deadline = monotonic() + self._connection.settings.request_timeout
        while True:
            try:
                return self._ask_once(wanted, spec)
            except (UnavailableError, NotFoundError) as error:
                # librdkafka goes by the leaders that it knows, which a restart has changed, and a
                # topic that was just made has none for a moment. Nor does it tell a topic that is
                # gone from one that no broker leads now.
                there = self._ask_who_leads().issuperset(wanted)
                if monotonic() > deadline or (isinstance(error, NotFoundError) and not there):
                    raise self._judged(error) from None
                sleep(0.05)

    def _judged(self, error: HoldfastError) -> HoldfastError:
        if self._known and isinstance(error, NotFoundError):
            return UnavailableError(f"No broker leads it now. {error}")
        return error

    def _ask_who_leads(self) -> set[Partition]:
        """Every partition that there is. librdkafka keeps what it hears about their leaders."""
        try:
            cluster = self._connection.admin.list_topics(
                timeout=self._connection.settings.request_timeout
            )
        except KafkaException as error:
            raise translate(error, "Asking who leads the partitions") from None
        return {
            Partition(name, number)
            for name, topic in cluster.topics.items()
            for number in topic.partitions
        }

    def _ask_once(self, partitions: list[Partition], spec: OffsetSpec) -> dict[Partition, int]:
        if not partitions:
            return {}
        try:
            futures = self._connection.admin.list_offsets(
                {partition.at(-1): spec for partition in partitions},
                isolation_level=self._isolation,
                request_timeout=self._connection.settings.request_timeout,
            )
        except KafkaException as error:
            raise translate(error, "Looking offsets up") from None
        return {
            partition_of(place): self._connection.wait(
                future, f"Looking up an offset of {partition_of(place)}"
            ).offset
            for place, future in futures.items()
        }
