"""Topics: create, describe, change, delete."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import monotonic, sleep

from confluent_kafka import KafkaException, TopicCollection
from confluent_kafka.admin import (
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    NewPartitions,
    NewTopic,
    ResourceType,
)

from holdfast.client.connection import Connection
from holdfast.client.kafka_errors import translate
from holdfast.client.positions import Offsets, Partition, Where
from holdfast.errors import InvalidArgumentError, NotFoundError

_OF_THE_TOPIC = ConfigSource.DYNAMIC_TOPIC_CONFIG.value


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic and its layout."""

    name: str
    partitions: int
    replication: int
    internal: bool
    leaders: tuple[int, ...]
    """The broker that leads each partition; -1 where none does."""


@dataclass(frozen=True, slots=True)
class PartitionRange:
    """The offsets that one partition holds: from `start` up to, and without, `end`."""

    partition: int
    start: int
    end: int

    @property
    def records(self) -> int:
        """An upper bound: compaction and transactions leave gaps."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of a topic; `changed` if it was set for this topic."""

    name: str
    value: str
    changed: bool


class Topics:
    """The topics of a cluster.

    >>> client.topics.create(topic, partitions=3, config={"retention.ms": "3600000"}).partitions
    3
    >>> client.topics.config(topic)["retention.ms"].value
    '3600000'
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def create(
        self,
        name: str,
        *,
        partitions: int = 1,
        replication: int | None = None,
        config: Mapping[str, str] | None = None,
    ) -> Topic:
        """Make a topic. Replication is the cluster's default unless given."""
        if partitions < 1:
            raise InvalidArgumentError(f"A topic has at least one partition, not {partitions}.")
        new = NewTopic(
            name,
            num_partitions=partitions,
            replication_factor=-1 if replication is None else replication,
            config=dict(config or {}),
        )
        doing = f"Creating the topic {name!r}"
        try:
            futures = self._connection.admin.create_topics([new], **self._timeouts)
        except (KafkaException, ValueError, TypeError) as error:
            raise _refused(error, doing) from None
        self._connection.wait(futures[name], doing)
        return self._once_visible(name)

    def _once_visible(self, name: str) -> Topic:
        """The topic, once brokers tell of it and its partitions have leaders: right after its
        creation a broker may still answer that there is none."""
        deadline = monotonic() + self._connection.settings.request_timeout
        while True:
            try:
                topic = self.describe(name)
                if -1 not in topic.leaders or monotonic() > deadline:
                    return topic
            except NotFoundError:
                if monotonic() > deadline:
                    raise
            sleep(0.02)

    def describe(self, name: str) -> Topic:
        """One topic, or NotFoundError."""
        return self.describe_all([name])[0]

    def describe_all(self, names: Sequence[str]) -> list[Topic]:
        """Those topics, in that order; NotFoundError if one is missing."""
        if not names:
            return []
        try:
            futures = self._connection.admin.describe_topics(
                TopicCollection(list(names)),
                request_timeout=self._connection.settings.request_timeout,
            )
        except (KafkaException, ValueError, TypeError) as error:
            raise _refused(error, "Describing topics") from None
        topics = []
        for name in names:
            try:
                answer = self._connection.wait(futures[name], f"Describing the topic {name!r}")
            except NotFoundError as error:
                missing = NotFoundError(f"There is no topic {name!r}.")
                missing.code = error.code
                raise missing from None
            partitions = sorted(answer.partitions, key=lambda p: p.id)
            topics.append(
                Topic(
                    name=name,
                    partitions=len(partitions),
                    replication=len(partitions[0].replicas) if partitions else 0,
                    internal=answer.is_internal,
                    leaders=tuple(p.leader.id if p.leader else -1 for p in partitions),
                )
            )
        return topics

    def ranges(self, name: str) -> list[PartitionRange]:
        """The offsets that each partition holds."""
        partitions = [Partition(name, n) for n in range(self.describe(name).partitions)]
        offsets = Offsets(self._connection, committed_only=False)
        starts, ends = offsets.starts(partitions), offsets.ends(partitions)
        return [PartitionRange(p.number, starts[p], ends[p]) for p in partitions]

    def offsets(self, name: str, where: Where) -> dict[int, int]:
        """The offset of a position in each partition."""
        partitions = [Partition(name, n) for n in range(self.describe(name).partitions)]
        resolved = Offsets(self._connection).resolve(partitions, where, clamp=True)
        return {p.number: resolved[p] for p in partitions}

    def delete(self, name: str) -> None:
        """Delete a topic and all its records."""
        doing = f"Deleting the topic {name!r}"
        try:
            futures = self._connection.admin.delete_topics([name], **self._timeouts)
        except (KafkaException, ValueError, TypeError) as error:
            raise _refused(error, doing) from None
        self._connection.wait(futures[name], doing)

    def config(self, name: str) -> dict[str, Setting]:
        """All settings of a topic, by name."""
        resource = ConfigResource(ResourceType.TOPIC, name)
        doing = f"Reading the settings of {name!r}"
        try:
            futures = self._connection.admin.describe_configs(
                [resource], request_timeout=self._connection.settings.request_timeout
            )
        except (KafkaException, ValueError, TypeError) as error:
            raise _refused(error, doing) from None
        entries = self._connection.wait(futures[resource], doing)
        return {
            entry.name: Setting(entry.name, entry.value or "", entry.source == _OF_THE_TOPIC)
            for entry in sorted(entries.values(), key=lambda e: e.name)
        }

    def set_config(self, name: str, changes: Mapping[str, str | None]) -> None:
        """Change settings of a topic; None takes a setting back to its default."""
        resource = ConfigResource(
            ResourceType.TOPIC,
            name,
            incremental_configs=[_change(setting, value) for setting, value in changes.items()],
        )
        doing = f"Changing the settings of {name!r}"
        try:
            futures = self._connection.admin.incremental_alter_configs(
                [resource], request_timeout=self._connection.settings.request_timeout
            )
        except (KafkaException, ValueError, TypeError) as error:
            raise _refused(error, doing) from None
        self._connection.wait(futures[resource], doing)

    def add_partitions(self, name: str, total: int) -> None:
        """Raise the number of partitions. Keys move: records of one key before and after it may
        lie in different partitions."""
        doing = f"Adding partitions to {name!r}"
        try:
            futures = self._connection.admin.create_partitions(
                [NewPartitions(name, total)], **self._timeouts
            )
        except (KafkaException, ValueError, TypeError) as error:
            raise _refused(error, doing) from None
        self._connection.wait(futures[name], doing)

    @property
    def _timeouts(self) -> dict[str, float]:
        seconds = self._connection.settings.request_timeout
        return {"request_timeout": seconds, "operation_timeout": seconds}

    def list(self, *, internal: bool = False) -> list[Topic]:
        """All topics by name; Kafka's internal ones only with `internal`."""
        try:
            metadata = self._connection.admin.list_topics(
                timeout=self._connection.settings.request_timeout
            )
        except KafkaException as error:
            raise translate(error, "Listing the topics") from None
        names = sorted(name for name in metadata.topics if internal or not name.startswith("__"))
        return self.describe_all(names)


def _change(name: str, value: str | None) -> ConfigEntry:
    operation = AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET
    return ConfigEntry(name, value or "", incremental_operation=operation)


def _refused(error: Exception, doing: str) -> Exception:
    """The error for an argument that librdkafka refuses without a request."""
    if isinstance(error, KafkaException):
        return translate(error, doing)
    return InvalidArgumentError(f"{doing} failed: {error}.")
