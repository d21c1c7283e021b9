"""Ids, partitions and leader epochs of topics as they are now.

Read over our own connections: `describe_topics` of confluent-kafka (2.16) never frees the ids that
it returns, and a gate reads them before every step.
"""

import base64
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from threading import Lock
from typing import TypeVar

from confluent_kafka import KafkaError

from holdfast.client.kafka_errors import translate
from holdfast.client.settings import ClientSettings
from holdfast.errors import NotFoundError, TransientError, UnavailableError
from holdfast.kafka.cluster import ClusterClient
from holdfast.kafka.connection import ApiCall
from holdfast.kafka.retries import Retries
from holdfast.wire.protocol.generated.metadata_response import MetadataResponseTopic
from holdfast.wire.protocol.generated.offset_for_leader_epoch_request import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)

T = TypeVar("T")

OFFSET_FOR_EPOCH = ApiCall.of("offset_for_leader_epoch", 3)

_ANY_CONSUMER = -1

_ID_CHARACTERS = 22
"""Length of a topic id in base64, without padding."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic as it is now. One that was deleted and created again has another id."""

    id: str
    partitions: int
    epochs: tuple[int, ...] = field(default=(), compare=False)
    """The leader epoch of each partition, which rises with every election."""


class TopicIds:
    """Looks topics up. For any thread."""

    def __init__(self, settings: ClientSettings) -> None:
        self._cluster = ClusterClient(settings)
        self._seconds = settings.request_timeout
        self._lock = Lock()

    def look_up(self, topics: Collection[str]) -> dict[str, Topic]:
        """Raises NotFoundError for a missing topic, and TransientError if no broker replies within
        the time of a request."""
        return self._retry_until_settled(
            lambda: {str(found.name): _topic(found) for found in self._cluster.describe(topics)}
        )

    def end_of_epoch(self, topic: str, partition: int, epoch: int, now: int) -> int:
        """The end of an earlier epoch in the log of the present leader, whose epoch is `now`."""
        return self._retry_until_settled(
            lambda: _end_of_epoch(self._cluster, topic, partition, epoch, now)
        )

    def _retry_until_settled(self, ask: Callable[[], T]) -> T:
        retries = Retries(self._seconds)
        while True:
            try:
                with self._lock:
                    try:
                        return ask()
                    except BaseException:
                        self._cluster.forget()
                        raise
            except TransientError:
                if not retries.again():
                    raise

    def close(self) -> None:
        with self._lock:
            self._cluster.forget()


def _topic(found: MetadataResponseTopic) -> Topic:
    if found.error_code == KafkaError.UNKNOWN_TOPIC_OR_PART:
        raise NotFoundError(f"There is no topic {found.name!r}.")
    if found.error_code:
        raise translate(KafkaError(found.error_code), f"Describing the topic {found.name!r}")
    text = base64.b64encode(found.topic_id.bytes).decode()
    epochs = {each.partition_index: each.leader_epoch for each in found.partitions}
    ordered = tuple(epochs[number] for number in sorted(epochs))
    return Topic(text[:_ID_CHARACTERS], len(found.partitions), ordered)


def look_up(settings: ClientSettings, topic: str) -> Topic:
    """One topic, once."""
    topics = TopicIds(settings)
    try:
        return topics.look_up([topic])[topic]
    finally:
        topics.close()


def _end_of_epoch(cluster: ClusterClient, topic: str, partition: int, epoch: int, now: int) -> int:
    """The end of `epoch` in the log of the present leader. UnavailableError if the leader is not of
    epoch `now`, or does not know: try again."""
    wanted = OffsetForLeaderPartition(partition, now, epoch)
    request = OffsetForLeaderEpochRequest(_ANY_CONSUMER, [OffsetForLeaderTopic(topic, [wanted])])
    reply = cluster.leader(topic, partition).ask(OFFSET_FOR_EPOCH, request)
    found = reply.topics[0].partitions[0]
    if found.error_code or found.end_offset < 0:
        why = KafkaError(found.error_code).name() if found.error_code else "unknown to the leader"
        raise UnavailableError(
            f"Reading from the leader of partition {partition} of {topic} where epoch {epoch} ends "
            f"failed ({why})."
        )
    end: int = found.end_offset
    return end
