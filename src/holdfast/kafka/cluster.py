"""Which broker leads a partition or coordinates a group, and connections to the brokers."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from time import monotonic
from typing import Any

from confluent_kafka import KafkaError

from holdfast.client import known_brokers
from holdfast.client.connection import parse_addresses
from holdfast.client.kafka_errors import translate
from holdfast.client.settings import ClientSettings
from holdfast.errors import (
    HoldfastError,
    TimedOutError,
    TransientError,
    UnavailableError,
    UnreachableError,
)
from holdfast.kafka.connection import ApiCall, BrokerConnection
from holdfast.kafka.security import Security
from holdfast.wire.protocol.generated.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from holdfast.wire.protocol.generated.describe_configs_response import DescribeConfigsResult
from holdfast.wire.protocol.generated.find_coordinator_request import FindCoordinatorRequest
from holdfast.wire.protocol.generated.metadata_request import MetadataRequest, MetadataRequestTopic
from holdfast.wire.protocol.generated.metadata_response import (
    MetadataResponse,
    MetadataResponseTopic,
)

METADATA = ApiCall.of("metadata", 10)
"""The first version with topic ids."""
FIND_COORDINATOR = ApiCall.of("find_coordinator", 2)
DESCRIBE_CONFIGS = ApiCall.of("describe_configs", 1)

GROUP = 0
TRANSACTION = 1

_TOPIC = 2
"""A kind of thing that has a configuration."""
_FIRST_PATIENCE_SECONDS = 0.5
"""Seconds to wait for a broker before the next one is tried. Doubled after each round."""


class ClusterClient:
    """Connections to the brokers of one cluster, one each, made when they are needed.

    Any broker that this process has ever learned of can name leaders and coordinators. One that
    does not reply soon is passed over. A connection that its broker has closed while idle is opened
    again. After any other error, `forget` and try again (`Retries`).
    """

    def __init__(self, settings: ClientSettings) -> None:
        self.seconds = settings.request_timeout
        self._bootstrap = settings.bootstrap
        self._configured = parse_addresses(settings.bootstrap)
        self._client_id = settings.client_id
        self._connect_seconds = min(settings.connect_timeout, settings.request_timeout)
        self._security = Security(settings.kafka)
        self._guide: tuple[str, BrokerConnection] | None = None
        """For requests that any broker can answer. A connection of its own: on those to leaders and
        coordinators replies may be on their way."""
        self._passed_over: dict[str, float] = {}
        """When each address last gave no reply, or an outdated one."""
        self._slow: Counter[str] = Counter()
        """Time-outs in a row while connecting to an address."""
        self._connections: dict[str, BrokerConnection] = {}
        self._leaders: dict[tuple[str, int], str] = {}
        self._leader_epochs: dict[tuple[str, int], int] = {}
        self._epochs: dict[tuple[Any, int], int] = {}
        """The latest epoch of each partition, by the topic's id. Never forgotten."""
        self._coordinators: dict[tuple[int, str], str] = {}

    def leader(self, topic: str, partition: int) -> BrokerConnection:
        """A connection to the broker that leads a partition."""
        target = (topic, partition)
        if target not in self._leaders:
            self.look_up(topic)
        if target not in self._leaders:
            raise UnavailableError(f"Nobody leads partition {partition} of {topic} now.")
        return self.connection_to(self._leaders[target])

    def by_leader(self, partitions: Iterable[tuple[str, int]]) -> dict[str, list[tuple[str, int]]]:
        """The partitions (topic and number) that each broker leads, by its address. Those without a
        leader are left out."""
        wanted = list(partitions)
        unknown = {topic for topic, number in wanted if (topic, number) not in self._leaders}
        if unknown:
            self.look_up(*unknown)
        led: dict[str, list[tuple[str, int]]] = {}
        for key in wanted:
            if key in self._leaders:
                led.setdefault(self._leaders[key], []).append(key)
        return led

    def lose(self, address: str) -> None:
        """Close the connection to one broker, and look up again who leads its partitions."""
        connection = self._connections.pop(address, None)
        if connection is not None:
            connection.close()
        self._pass_over(address)
        for key in [key for key, leader in self._leaders.items() if leader == address]:
            del self._leaders[key], self._leader_epochs[key]

    def counts(self) -> Counter[str]:
        """How many partitions of each topic have a leader, as of the last look."""
        return Counter(topic for topic, _ in self._leaders)

    def unlearn(self, topic: str) -> None:
        """Look the leaders of this topic up again when they are needed."""
        for key in [key for key in self._leaders if key[0] == topic]:
            del self._leaders[key], self._leader_epochs[key]

    def known_epoch(self, topic: str, partition: int) -> int | None:
        """The epoch of the leader that `leader` gives; None while none is known."""
        return self._leader_epochs.get((topic, partition))

    def coordinator(self, kind: int, name: str) -> BrokerConnection:
        """A connection to the coordinator of a group or of a transactional id."""
        if (kind, name) not in self._coordinators:
            coordinator = self._ask(FIND_COORDINATOR, FindCoordinatorRequest(name, kind))
            if coordinator.error_code:
                error = KafkaError(coordinator.error_code)
                raise translate(error, f"Finding the coordinator of {name!r}")
            address = known_brokers.address_of(coordinator.host, coordinator.port)
            self._coordinators[kind, name] = address
        return self.connection_to(self._coordinators[kind, name])

    def describe(self, topics: Collection[str]) -> list[MetadataResponseTopic]:
        """These topics as they are now, each with its error if it has one."""
        return self._metadata(topics).topics

    def describe_configs(
        self, topics: Collection[str], names: Sequence[str]
    ) -> list[DescribeConfigsResult]:
        """These settings of topics as they are now, each topic with its error if it has one."""
        wanted = [DescribeConfigsResource(_TOPIC, topic, list(names)) for topic in topics]
        results: list[DescribeConfigsResult] = self._ask(
            DESCRIBE_CONFIGS, DescribeConfigsRequest(wanted)
        ).results
        return results

    def forget(self) -> None:
        """Close all connections and look everything up again, at another broker if there is one: a
        broker that is cut off from its cluster gives outdated replies."""
        if self._guide is not None:
            self._pass_over(self._guide[0])
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()
        self._leaders.clear()
        self._leader_epochs.clear()
        self._coordinators.clear()

    def _metadata(self, topics: Collection[str]) -> MetadataResponse:
        request = MetadataRequest([MetadataRequestTopic(name=topic) for topic in topics])
        request.allow_auto_topic_creation = False
        answer: MetadataResponse = self._ask(METADATA, request)
        known_brokers.learn(self._bootstrap, _addresses(answer).values())
        return answer

    def look_up(self, *topics: str) -> None:
        """Look up the leaders of the topics' partitions."""
        answer = self._metadata(topics)
        addresses = _addresses(answer)
        for found in answer.topics:
            for partition in found.partitions:
                number, epoch = partition.partition_index, partition.leader_epoch
                if epoch < self._epochs.get((found.topic_id, number), -1):
                    continue  # a reply from before an election that we know of
                self._epochs[found.topic_id, number] = epoch
                if partition.leader_id in addresses:
                    key = str(found.name), number
                    self._leaders[key] = addresses[partition.leader_id]
                    self._leader_epochs[key] = epoch

    def _ask(self, call: ApiCall, request: Any) -> Any:
        """The reply of the first broker that gives one."""
        deadline, patience = monotonic() + self.seconds, _FIRST_PATIENCE_SECONDS
        while True:
            silent = False
            for address in self._candidates():
                try:
                    guide = self._guide_at(address, min(patience, self.seconds))
                    return guide.ask(call, request, min(patience, self.seconds))
                except TransientError as failure:
                    self._pass_over(address)
                    error: HoldfastError = failure
                    silent = silent or isinstance(failure, TimedOutError)
                if monotonic() > deadline:
                    raise error
            if not silent:  # no broker is reachable: the caller pauses before it tries again
                raise error
            patience *= 2

    def _candidates(self) -> list[str]:
        """All addresses, first those that were never passed over, then the longest ago."""
        known = dict.fromkeys((*self._configured, *known_brokers.learned(self._bootstrap)))
        return sorted(known, key=lambda address: self._passed_over.get(address, 0.0))

    def _guide_at(self, address: str, seconds: float) -> BrokerConnection:
        if self._guide is not None:
            at, connection = self._guide
            if at == address and not connection.ended:
                return connection
            connection.close()
            self._guide = None
        connection = self._connect(address, seconds)
        self._guide = address, connection
        return connection

    def _pass_over(self, address: str) -> None:
        """Try this address last from here on."""
        self._passed_over[address] = monotonic()
        if self._guide is not None and self._guide[0] == address:
            self._guide[1].close()
            self._guide = None

    def connection_to(self, address: str) -> BrokerConnection:
        """A connection to this broker and no other."""
        connection = self._connections.get(address)
        if connection is not None and not connection.ended:
            return connection
        if connection is not None:
            connection.close()
        patience = min(
            2 * _FIRST_PATIENCE_SECONDS * 2 ** self._slow[address], self._connect_seconds
        )
        try:
            connection = self._connect(address, patience, lambda: self._check_alive(address))
        except TimedOutError:
            self._slow[address] += 1
            raise
        del self._slow[address]
        self._connections[address] = connection
        return connection

    def _check_alive(self, address: str) -> None:
        """Raise UnreachableError if this silent broker is not part of the cluster any more: others
        lead its partitions then, and its reply may never come."""
        addresses = {address}
        with suppress(TransientError):
            addresses = set(_addresses(self._metadata([])).values())
        if address not in addresses:
            raise UnreachableError(f"The cluster has lost the broker at {address}.")

    def _connect(
        self, address: str, seconds: float, while_silent: Callable[[], None] | None = None
    ) -> BrokerConnection:
        host, _, port = address.rpartition(":")
        return BrokerConnection(
            host.strip("[]"),
            int(port),
            client_id=self._client_id,
            seconds=self.seconds,
            connect_seconds=seconds,
            security=self._security,
            while_silent=while_silent,
        )


def _addresses(answer: MetadataResponse) -> dict[int, str]:
    return {each.node_id: known_brokers.address_of(each.host, each.port) for each in answer.brokers}
