"""The client: everything begins here."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from holdfast import config
from holdfast.client.aio import AsyncConsumer, AsyncProducer
from holdfast.client.cluster import Cluster, describe_cluster
from holdfast.client.connection import Connection
from holdfast.client.consumer import Consumer
from holdfast.client.delivery import Delivery
from holdfast.client.encoding import Headers, Key, Value
from holdfast.client.flow import Flow, list_flows
from holdfast.client.groups import Groups
from holdfast.client.positions import Where
from holdfast.client.producer import Producer
from holdfast.client.runs import Runs
from holdfast.client.settings import ClientSettings
from holdfast.client.topics import Topics
from holdfast.flows.registry import FlowDefinition


def connect(
    bootstrap: str | None = None,
    *,
    client_id: str | None = None,
    connect_timeout: float | None = None,
    request_timeout: float | None = None,
    kafka: Mapping[str, Any] | None = None,
    config_file: Path | None = None,
) -> "Client":
    """A client of the broker at `bootstrap` (`host:port`, several with commas between).

    What is not given comes from `HOLDFAST_CLIENT_*` variables, then from `[client]` in
    holdfast.toml, then from the defaults (`localhost:9092`). `kafka` holds more settings for
    librdkafka. Raises UnreachableError within `connect_timeout` seconds if no broker answers, and
    ConfigError for a setting that cannot be used.

    >>> with holdfast.connect(bootstrap) as client:
    ...     client.send(topic, {"id": 7}, key="customer-7").result().partition
    0
    """
    given = {
        "bootstrap": bootstrap,
        "client_id": client_id,
        "connect_timeout": connect_timeout,
        "request_timeout": request_timeout,
        "kafka": kafka,
    }
    connection = Connection(config.load(ClientSettings, "client", flags=given, file=config_file))
    connection.check()
    return Client(connection)


class Client:
    """A connection to a cluster. Leaving its `with` block waits for what `send` has sent."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def send(
        self,
        topic: str,
        value: Value = None,
        key: Key = None,
        headers: Headers | None = None,
        timestamp: datetime | int | None = None,
        partition: int = -1,
    ) -> Delivery:
        """Send one record with the client's own producer; see `Producer.send`."""
        return self._producer.send(topic, value, key, headers, timestamp, partition)

    def producer(
        self,
        *,
        transactional_id: str | None = None,
        delivery_timeout: float = 120.0,
        kafka: Mapping[str, Any] | None = None,
    ) -> Producer:
        """A producer of its own: with transactions, or with other settings."""
        return Producer(
            self._connection,
            transactional_id=transactional_id,
            delivery_timeout=delivery_timeout,
            kafka=kafka,
        )

    def consumer(
        self,
        topics: str | Sequence[str],
        *,
        group: str | None = None,
        start: Where = "start",
        partitions: Sequence[int] | None = None,
        auto_commit: bool = True,
        commit_interval: float = 5.0,
        commit_count: int = 100_000,
        kafka: Mapping[str, Any] | None = None,
    ) -> Consumer:
        """A consumer. In a `group` it shares the topics with the other members and goes on where
        the group is; without one it reads all `partitions` from `start` and commits nothing."""
        return Consumer(
            self._connection,
            [topics] if isinstance(topics, str) else list(topics),
            group=group,
            start=start,
            partitions=partitions,
            auto_commit=auto_commit,
            commit_interval=commit_interval,
            commit_count=commit_count,
            kafka=kafka,
        )

    def async_producer(self, **options: Any) -> AsyncProducer:
        """A producer for asyncio; options as for `producer`."""
        return AsyncProducer(self.producer(**options))

    def async_consumer(self, topics: str | Sequence[str], **options: Any) -> AsyncConsumer:
        """A consumer for asyncio; options as for `consumer`."""
        return AsyncConsumer(lambda: self.consumer(topics, **options))

    @cached_property
    def topics(self) -> Topics:
        return Topics(self._connection)

    @cached_property
    def groups(self) -> Groups:
        return Groups(self._connection)

    def cluster(self) -> Cluster:
        """Which cluster this is, and its brokers."""
        return describe_cluster(self._connection)

    def flow(self, name: str) -> Flow:
        """The flow of that name, which `create` makes."""
        return Flow(self._connection, name, lambda: self._producer)

    def flows(self) -> list[FlowDefinition]:
        """All flows, by name."""
        return list_flows(self._connection)

    @cached_property
    def runs(self) -> Runs:
        return Runs(self._connection, lambda: self._producer)

    def close(self) -> None:
        """Wait for what was sent."""
        if "_producer" in self.__dict__:
            self._producer.close()

    @cached_property
    def _producer(self) -> Producer:
        return self.producer()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
