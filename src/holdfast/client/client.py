"""The client: the entry point of the SDK."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Self, Unpack

from holdfast import config
from holdfast.client.async_consumer import AsyncConsumer
from holdfast.client.async_producer import AsyncProducer
from holdfast.client.cluster import Cluster, describe_cluster
from holdfast.client.connection import Connection
from holdfast.client.consumer import Consumer, ConsumerOptions
from holdfast.client.delivery import Delivery
from holdfast.client.encoding import Headers, Key, Value
from holdfast.client.flow import Flow
from holdfast.client.flow_registry import list_flows
from holdfast.client.groups import Groups
from holdfast.client.producer import Producer, ProducerOptions
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

    Other values come from `HOLDFAST_CLIENT_*` variables, then from `[client]` in holdfast.toml,
    then from the defaults (`localhost:9092`). `kafka` holds more settings for librdkafka. Raises
    UnreachableError within `connect_timeout` seconds if no broker answers, and ConfigError for an
    invalid setting.

    >>> with holdfast.connect(bootstrap) as client:
    ...     client.send(topic, {"id": 7}, key="customer-7").result().partition
    0
    """
    flags = {
        "bootstrap": bootstrap,
        "client_id": client_id,
        "connect_timeout": connect_timeout,
        "request_timeout": request_timeout,
        "kafka": kafka,
    }
    connection = Connection(config.load(ClientSettings, "client", flags=flags, file=config_file))
    connection.check()
    return Client(connection)


class Client:
    """A connection to a cluster. Leaving its `with` block waits until all records of `send` are
    acknowledged; after an error, for a limited time (see `Producer`)."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

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

    def producer(self, **options: Unpack[ProducerOptions]) -> Producer:
        """A separate producer: with transactions, or with other settings."""
        return Producer(self.connection, **options)

    def consumer(self, topics: str | Sequence[str], **options: Unpack[ConsumerOptions]) -> Consumer:
        """A consumer. In a `group` it shares the topics with the other members and continues at the
        group's offsets; without one it reads all `partitions` from `start` and commits nothing."""
        names = [topics] if isinstance(topics, str) else list(topics)
        return Consumer(self.connection, names, **options)

    def async_producer(self, **options: Unpack[ProducerOptions]) -> AsyncProducer:
        """A producer for asyncio; options as for `producer`."""
        return AsyncProducer(lambda: self.producer(**options))

    def async_consumer(
        self, topics: str | Sequence[str], **options: Unpack[ConsumerOptions]
    ) -> AsyncConsumer:
        """A consumer for asyncio; options as for `consumer`."""
        return AsyncConsumer(lambda: self.consumer(topics, **options))

    @cached_property
    def topics(self) -> Topics:
        return Topics(self.connection)

    @cached_property
    def groups(self) -> Groups:
        return Groups(self.connection)

    def cluster(self) -> Cluster:
        """The cluster's identity and brokers."""
        return describe_cluster(self.connection)

    def flow(self, name: str) -> Flow:
        """The flow of that name. `create` creates it."""
        return Flow(self.connection, name, lambda: self._producer)

    def flows(self) -> list[FlowDefinition]:
        """All flows, by name."""
        return list_flows(self.connection)

    @cached_property
    def runs(self) -> Runs:
        return Runs(self.connection, lambda: self._producer)

    def close(self) -> None:
        """Wait for the acknowledgement of all records."""
        if "_producer" in self.__dict__:
            self._producer.close()

    @cached_property
    def _producer(self) -> Producer:
        return self.producer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            self.close()
        elif "_producer" in self.__dict__:
            self._producer.finish(error)
