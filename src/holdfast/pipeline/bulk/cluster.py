"""Who leads which partition, and connections to them."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any

from confluent_kafka import KafkaError

from holdfast.client.connection import parse_addresses
from holdfast.client.kafka_errors import translate
from holdfast.client.settings import ClientSettings
from holdfast.errors import TimedOutError, TransientError, UnavailableError, UnreachableError
from holdfast.pipeline.bulk.links import Call, Link
from holdfast.pipeline.bulk.login import Security
from holdfast.wire.protocol.generated.find_coordinator_request import FindCoordinatorRequest
from holdfast.wire.protocol.generated.metadata_request import MetadataRequest, MetadataRequestTopic
from holdfast.wire.protocol.generated.metadata_response import (
    MetadataResponse,
    MetadataResponseTopic,
)

METADATA = Call.of("metadata", 10)
"""The first that tells topics' ids."""
FIND_COORDINATOR = Call.of("find_coordinator", 2)

GROUP = 0
TRANSACTION = 1


class Cluster:
    """Connections to the brokers of one cluster, one each, made when they are needed.

    One that its broker has closed while nothing was asked is made anew. Nothing else is tried again
    here: after an error, `forget` what was known, and ask anew.
    """

    def __init__(self, settings: ClientSettings) -> None:
        self._bootstrap = [_split(address) for address in parse_addresses(settings.bootstrap)]
        self._client_id = settings.client_id
        self._seconds = settings.request_timeout
        self._security = Security(settings.kafka)
        self._guide: Link | None = None
        self._links: dict[tuple[str, int], Link] = {}
        self._leaders: dict[tuple[str, int], tuple[str, int]] = {}
        self._coordinators: dict[tuple[int, str], tuple[str, int]] = {}

    def leader(self, topic: str, partition: int) -> Link:
        """A connection to the broker that leads a partition."""
        place = (topic, partition)
        if place not in self._leaders:
            self._look_up(topic)
        if place not in self._leaders:
            raise UnavailableError(f"Nobody leads partition {partition} of {topic} now.")
        return self._link(self._leaders[place])

    def coordinator(self, kind: int, name: str) -> Link:
        """A connection to the broker that looks after a group, or a transactional id."""
        if (kind, name) not in self._coordinators:
            found = self._ask(FIND_COORDINATOR, FindCoordinatorRequest(name, kind))
            if found.error_code:
                error = KafkaError(found.error_code)
                raise translate(error, f"Finding the coordinator of {name!r}")
            self._coordinators[kind, name] = (found.host, found.port)
        return self._link(self._coordinators[kind, name])

    def describe(self, topics: Collection[str]) -> list[MetadataResponseTopic]:
        """These topics as they are now, each with its error if it has one."""
        return self._metadata(topics).topics

    def forget(self) -> None:
        """Close all connections, and look everything up anew from here on."""
        for link in (self._guide, *self._links.values()):
            if link is not None:
                link.close()
        self._guide = None
        self._links.clear()
        self._leaders.clear()
        self._coordinators.clear()

    def _metadata(self, topics: Collection[str]) -> MetadataResponse:
        wanted = MetadataRequest([MetadataRequestTopic(name=topic) for topic in topics])
        wanted.allow_auto_topic_creation = False
        answer: MetadataResponse = self._ask(METADATA, wanted)
        return answer

    def _look_up(self, topic: str) -> None:
        answer = self._metadata([topic])
        brokers: Mapping[int, Any] = {broker.node_id: broker for broker in answer.brokers}
        for found in answer.topics:
            for partition in found.partitions:
                leader = brokers.get(partition.leader_id)
                if leader is not None:
                    place = (topic, partition.partition_index)
                    self._leaders[place] = (leader.host, leader.port)

    def _ask(self, call: Call, request: Any) -> Any:
        """Whichever broker of the first addresses answers. On a connection of its own: on those to
        leaders answers may be on their way."""
        if self._guide is None or _has_ended(self._guide):
            self._guide = self._first()
        try:
            return self._guide.ask(call, request)
        except TransientError:
            self._pass_over()  # it would be the first to be asked again
            raise

    def _first(self) -> Link:
        for _ in self._bootstrap[1:]:
            with suppress(UnreachableError, TimedOutError):
                return self._connect(self._bootstrap[0])
            self._pass_over()
        return self._connect(self._bootstrap[0])

    def _pass_over(self) -> None:
        """Ask the first address last from here on."""
        self._bootstrap.append(self._bootstrap.pop(0))

    def _link(self, address: tuple[str, int]) -> Link:
        if address not in self._links or _has_ended(self._links[address]):
            self._links[address] = self._connect(address)
        return self._links[address]

    def _connect(self, address: tuple[str, int]) -> Link:
        return Link(
            *address, client_id=self._client_id, seconds=self._seconds, security=self._security
        )


def _has_ended(link: Link) -> bool:
    if not link.ended:
        return False
    link.close()
    return True


def _split(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)
