"""Consumer groups: members, lag, and resetting offsets."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from time import monotonic, sleep, time
from typing import Any

from confluent_kafka import (
    ConsumerGroupState,
    ConsumerGroupTopicPartitions,
    ConsumerGroupType,
    KafkaException,
)

from holdfast.client.connection import Connection
from holdfast.client.kafka_errors import translate
from holdfast.client.positions import Offsets, Partition, Where, message_partition, partition_of
from holdfast.client.topics import Topics
from holdfast.errors import (
    ConflictError,
    InvalidArgumentError,
    NotFoundError,
    UnavailableError,
)

_AGE_SECONDS = 5.0
"""The limit for reading the oldest unread records; after it their age is unknown."""


@dataclass(frozen=True, slots=True)
class GroupListing:
    """A group's name, state and protocol."""

    name: str
    state: str
    protocol: str
    """`classic`, or `consumer` for a group of Kafka 4, whose partitions the broker assigns."""


@dataclass(frozen=True, slots=True)
class Member:
    """One consumer of a group."""

    id: str
    client_id: str
    host: str
    instance_id: str | None
    partitions: tuple[Partition, ...]


@dataclass(frozen=True, slots=True)
class Lag:
    """The lag of a group in one partition."""

    topic: str
    partition: int
    committed: int | None
    end: int
    records: int | None
    """Offsets between the committed one and the end; None if none is committed."""
    seconds: float | None
    """Age of the oldest record that is not committed; 0 at the end; None if not known."""


@dataclass(frozen=True, slots=True)
class Group:
    """A group, its members and its lag."""

    name: str
    state: str
    protocol: str
    """`classic` or `consumer`."""
    assignor: str
    coordinator: str
    members: tuple[Member, ...]
    lag: tuple[Lag, ...]

    @property
    def total_lag(self) -> int | None:
        """The lag over all partitions with a committed offset; None if there is none."""
        known = [lag.records for lag in self.lag if lag.records is not None]
        return sum(known) if known else None


@dataclass(frozen=True, slots=True)
class OffsetChange:
    """A committed offset before and after a reset."""

    topic: str
    partition: int
    before: int | None
    after: int


class Groups:
    """The consumer groups of a cluster."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._offsets = Offsets(connection, committed_only=False)

    def describe(self, name: str) -> Group:
        """Members and lag of a group, or NotFoundError."""
        answer = self._describe(name)
        committed = self._committed(name)
        if answer.state == ConsumerGroupState.DEAD and not committed:
            raise NotFoundError(f"There is no group {name!r}.")
        members = tuple(
            Member(
                id=m.member_id,
                client_id=m.client_id,
                host=m.host,
                instance_id=m.group_instance_id,
                partitions=tuple(partition_of(p) for p in m.assignment.topic_partitions),
            )
            for m in answer.members
        )
        assigned = {p for member in members for p in member.partitions}
        node = answer.coordinator
        return Group(
            name=name,
            state=_state(answer.state),
            protocol=_protocol(answer.type),
            assignor=answer.partition_assignor or "",
            coordinator=f"{node.host}:{node.port}" if node else "",
            members=members,
            lag=self._lag(assigned | set(committed), committed),
        )

    def reset(
        self,
        name: str,
        to: Where,
        *,
        topics: Iterable[str] | None = None,
        partition: int | None = None,
        dry_run: bool = False,
    ) -> list[OffsetChange]:
        """Move a group without members to an offset, a time, a duration ago, or an end.

        In the named topics, or in all topics with committed offsets. An offset outside a
        partition's log means the nearest end. Returns the changes; `dry_run` makes none of them.
        """
        committed = self._committed(name)
        if topics is None:
            chosen = set(committed)
            if not chosen:
                raise NotFoundError(
                    f"The group {name!r} has no committed offsets: name the topics to begin with."
                )
        else:
            described = Topics(self._connection).describe_all(list(topics))
            chosen = {Partition(t.name, n) for t in described for n in range(t.partitions)}
        if partition is not None:
            chosen = {p for p in chosen if p.number == partition}
        if not chosen:
            raise InvalidArgumentError(f"There is no partition {partition} to reset.")
        targets = self._offsets.resolve(sorted(chosen), to, clamp=True)
        if not dry_run:
            self._refuse_if_active(name)
            self._write(name, targets)
        return [
            OffsetChange(p.topic, p.number, committed.get(p), targets[p]) for p in sorted(targets)
        ]

    def delete(self, name: str) -> None:
        """Delete a group without members, and its offsets."""
        admin = self._connection.admin
        self._request(f"Deleting the group {name!r}", admin.delete_consumer_groups, name, name)

    def list(self) -> list[GroupListing]:
        """All groups by name."""
        future = self._connection.admin.list_consumer_groups(
            request_timeout=self._connection.settings.request_timeout
        )
        answer = self._connection.wait(future, "Listing the groups")
        if not answer.valid and answer.errors:
            raise translate(answer.errors[0], "Listing the groups")
        listings = [
            GroupListing(g.group_id, _state(g.state), _protocol(g.type)) for g in answer.valid
        ]
        return sorted(listings, key=lambda g: g.name)

    def total_lags(self, names: Iterable[str]) -> dict[str, int | None]:
        """Each group's `Group.total_lag`; ends are looked up once."""
        committed = {name: self._committed(name) for name in names}
        ends = self._existing_ends({p for offsets in committed.values() for p in offsets})
        lags = {
            name: [max(0, ends[p] - offset) for p, offset in offsets.items() if p in ends]
            for name, offsets in committed.items()
        }
        return {name: sum(known) if known else None for name, known in lags.items()}

    def _existing_ends(self, partitions: set[Partition]) -> dict[Partition, int]:
        """The ends of partitions that still exist: offsets outlive their topics."""
        known = {topic.name: topic.partitions for topic in Topics(self._connection).list()}
        return self._offsets.ends(p for p in partitions if p.number < known.get(p.topic, 0))

    def _describe(self, name: str) -> Any:
        doing, admin = f"Describing the group {name!r}", self._connection.admin
        try:
            return self._request(doing, admin.describe_consumer_groups, name, name)
        except NotFoundError:
            raise NotFoundError(f"There is no group {name!r}.") from None

    def _committed(self, name: str) -> dict[Partition, int]:
        doing, admin = f"Reading the offsets of {name!r}", self._connection.admin
        request = ConsumerGroupTopicPartitions(name)
        try:
            answer = self._request(doing, admin.list_consumer_group_offsets, name, request)
        except NotFoundError:
            return {}
        return {partition_of(p): p.offset for p in answer.topic_partitions if p.offset >= 0}

    def _write(self, name: str, targets: Mapping[Partition, int]) -> None:
        doing, admin = f"Resetting the group {name!r}", self._connection.admin
        positions = [partition.at(offset) for partition, offset in targets.items()]
        request = ConsumerGroupTopicPartitions(name, positions)
        answer = self._request(doing, admin.alter_consumer_group_offsets, name, request)
        for changed in answer.topic_partitions:
            if changed.error is not None:
                raise translate(changed.error, f"{doing} in {partition_of(changed)}")

    def _request(self, doing: str, method: Callable[..., Any], name: str, argument: object) -> Any:
        """The coordinator's answer. Repeated while the coordinator loads its state or moves."""
        seconds = self._connection.settings.request_timeout
        deadline = monotonic() + seconds
        while True:
            try:
                future = method([argument], request_timeout=seconds)[name]
            except (KafkaException, ValueError, TypeError) as error:
                raise InvalidArgumentError(f"{doing} failed: {error}.") from None
            try:
                return self._connection.wait(future, doing)
            except UnavailableError:
                if monotonic() > deadline:
                    raise
                sleep(0.05)

    def _refuse_if_active(self, name: str) -> None:
        try:
            answer = self._describe(name)
        except NotFoundError:
            return
        if answer.members:
            raise ConflictError(
                f"The group {name!r} has {len(answer.members)} members ({_state(answer.state)}): "
                "stop them first, because they would commit over the new offsets."
            )

    def _lag(
        self, partitions: set[Partition], committed: Mapping[Partition, int]
    ) -> tuple[Lag, ...]:
        ends = self._offsets.ends(partitions)
        behind = {p: o for p, o in committed.items() if o < ends[p]}
        ages = self._ages(behind, ends)
        return tuple(
            Lag(
                topic=p.topic,
                partition=p.number,
                committed=committed.get(p),
                end=ends[p],
                records=max(0, ends[p] - committed[p]) if p in committed else None,
                seconds=ages.get(p) if p in behind else (0.0 if p in committed else None),
            )
            for p in sorted(partitions)
        )

    def _ages(
        self, behind: Mapping[Partition, int], ends: Mapping[Partition, int]
    ) -> dict[Partition, float]:
        """The age of the first record at or after each offset."""
        if not behind:
            return {}
        # One record of each partition is needed, not a queue full of them.
        tuning = {"queued.min.messages": 1, "fetch.message.max.bytes": 65_536}
        consumer = self._connection.reader(tuning, lost="earliest")
        ages: dict[Partition, float] = {}
        try:
            consumer.assign([p.at(offset) for p, offset in behind.items()])
            deadline = monotonic() + _AGE_SECONDS
            while len(ages) < len(behind) and monotonic() < deadline:
                message = consumer.poll(0.1)
                if message is None or message_partition(message) in ages:
                    continue
                # At the end: only transaction markers were left.
                milliseconds = message.timestamp()[1]
                age = 0.0 if message.error() else max(0.0, time() - milliseconds / 1000)
                ages[message_partition(message)] = age
                consumer.pause([message_partition(message).at(0)])
        finally:
            consumer.close()
        return ages


def _state(state: ConsumerGroupState) -> str:
    """The state as text: `stable`, `empty`, `preparing rebalance`."""
    return str(state.name).lower().replace("_", " ").replace("rebalancing", "rebalance")


def _protocol(kind: ConsumerGroupType) -> str:
    """Brokers before Kafka 4 do not say it, and have classic groups only."""
    return "consumer" if kind == ConsumerGroupType.CONSUMER else "classic"
