"""Consumer groups: who is in them, how far they are, and moving them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from time import monotonic, sleep, time
from typing import Any

from confluent_kafka import (
    Consumer as KafkaConsumer,
)
from confluent_kafka import (
    ConsumerGroupState,
    ConsumerGroupTopicPartitions,
    KafkaException,
)

from holdfast.client.buffer import place
from holdfast.client.connection import Connection
from holdfast.client.kafka_errors import translate
from holdfast.client.positions import Offsets, Partition, Where, partition_of
from holdfast.client.topics import Topics
from holdfast.errors import (
    ConflictError,
    InvalidArgumentError,
    NotFoundError,
    UnavailableError,
)

_AGE_SECONDS = 5.0
"""How long to look for the oldest unread records before their age is given as unknown."""


@dataclass(frozen=True, slots=True)
class GroupListing:
    """A group's name and state."""

    name: str
    state: str


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
    """How far a group is in one partition."""

    topic: str
    partition: int
    committed: int | None
    end: int
    records: int | None
    """Offsets between what is committed and the end; None if nothing is committed."""
    seconds: float | None
    """Age of the oldest record that is not committed; 0 at the end; None if not known."""


@dataclass(frozen=True, slots=True)
class Group:
    """A group, its members and its lag."""

    name: str
    state: str
    assignor: str
    coordinator: str
    members: tuple[Member, ...]
    lag: tuple[Lag, ...]

    @property
    def total_lag(self) -> int:
        return sum(lag.records or 0 for lag in self.lag)


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

        Of the named topics, else of those that it has offsets of. An offset outside a partition's
        log means the nearest end. -> what changes, or, with `dry_run`, what would.
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
        self._ask(f"Deleting the group {name!r}", admin.delete_consumer_groups, name, name)

    def list(self) -> list[GroupListing]:
        """All groups by name."""
        future = self._connection.admin.list_consumer_groups(
            request_timeout=self._connection.settings.request_timeout
        )
        answer = self._connection.wait(future, "Listing the groups")
        if not answer.valid and answer.errors:
            raise translate(answer.errors[0], "Listing the groups")
        listings = [GroupListing(g.group_id, _state(g.state)) for g in answer.valid]
        return sorted(listings, key=lambda g: g.name)

    def total_lags(self, names: Iterable[str]) -> dict[str, int]:
        """How many records each group has yet to take, in all; ends are looked up once."""
        committed = {name: self._committed(name) for name in names}
        ends = self._existing_ends({p for offsets in committed.values() for p in offsets})
        return {
            name: sum(max(0, ends[p] - offset) for p, offset in offsets.items() if p in ends)
            for name, offsets in committed.items()
        }

    def _existing_ends(self, partitions: set[Partition]) -> dict[Partition, int]:
        """The ends of those that are still there: offsets outlive their topics."""
        known = {topic.name: topic.partitions for topic in Topics(self._connection).list()}
        return self._offsets.ends(p for p in partitions if p.number < known.get(p.topic, 0))

    def _describe(self, name: str) -> Any:
        doing, admin = f"Describing the group {name!r}", self._connection.admin
        try:
            return self._ask(doing, admin.describe_consumer_groups, name, name)
        except NotFoundError:
            raise NotFoundError(f"There is no group {name!r}.") from None

    def _committed(self, name: str) -> dict[Partition, int]:
        doing, admin = f"Reading the offsets of {name!r}", self._connection.admin
        wanted = ConsumerGroupTopicPartitions(name)
        try:
            answer = self._ask(doing, admin.list_consumer_group_offsets, name, wanted)
        except NotFoundError:
            return {}
        return {partition_of(p): p.offset for p in answer.topic_partitions if p.offset >= 0}

    def _write(self, name: str, targets: Mapping[Partition, int]) -> None:
        doing, admin = f"Resetting the group {name!r}", self._connection.admin
        places = [partition.at(offset) for partition, offset in targets.items()]
        wanted = ConsumerGroupTopicPartitions(name, places)
        answer = self._ask(doing, admin.alter_consumer_group_offsets, name, wanted)
        for changed in answer.topic_partitions:
            if changed.error is not None:
                raise translate(changed.error, f"{doing} in {partition_of(changed)}")

    def _ask(self, doing: str, request: Callable[..., Any], name: str, wanted: object) -> Any:
        """The coordinator's answer. It is asked again while it loads what it knows, or moves."""
        seconds = self._connection.settings.request_timeout
        deadline = monotonic() + seconds
        while True:
            try:
                future = request([wanted], request_timeout=seconds)[name]
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
        """How long ago the first record at or after each offset was written."""
        if not behind:
            return {}
        consumer = self._connection.make(
            KafkaConsumer,
            {
                "group.id": "holdfast.reader",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "auto.offset.reset": "earliest",
                # One record of each partition is wanted, not a queue full of them.
                "queued.min.messages": 1,
                "fetch.message.max.bytes": 65_536,
            },
        )
        ages: dict[Partition, float] = {}
        try:
            consumer.assign([p.at(offset) for p, offset in behind.items()])
            deadline = monotonic() + _AGE_SECONDS
            while len(ages) < len(behind) and monotonic() < deadline:
                message = consumer.poll(0.1)
                if message is None or place(message) in ages:
                    continue
                # At the end already: only transaction markers were left.
                milliseconds = message.timestamp()[1]
                age = 0.0 if message.error() else max(0.0, time() - milliseconds / 1000)
                ages[place(message)] = age
                consumer.pause([place(message).at(0)])
        finally:
            consumer.close()
        return ages


def _state(state: ConsumerGroupState) -> str:
    """As people say it: `stable`, `empty`, `preparing rebalance`."""
    return str(state.name).lower().replace("_", " ").replace("rebalancing", "rebalance")
