"""Which topics there are now: the id of each, and how many partitions it has.

Asked over connections of our own. `describe_topics` of confluent-kafka (2.16) tells the same, but
never frees the ids that it has told, and a gate asks before every step.
"""

import base64
from collections.abc import Collection
from dataclasses import dataclass
from threading import Lock
from time import monotonic, sleep

from confluent_kafka import KafkaError

from holdfast.client.kafka_errors import translate
from holdfast.client.settings import ClientSettings
from holdfast.errors import NotFoundError, TransientError
from holdfast.pipeline.bulk.cluster import Cluster
from holdfast.wire.protocol.generated.metadata_response import MetadataResponseTopic

_PAUSE = 0.1
_ID_CHARACTERS = 22
"""Of an id in base64, without what fills it up."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic as it is now. One that was deleted and made anew has another id."""

    id: str
    partitions: int


class TopicIds:
    """Looks topics up. For any thread."""

    def __init__(self, settings: ClientSettings) -> None:
        self._cluster = Cluster(settings)
        self._seconds = settings.request_timeout
        self._lock = Lock()

    def look_up(self, topics: Collection[str]) -> dict[str, Topic]:
        """Raises NotFoundError for one that is not there, and TransientError if no broker tells
        within the time of a request."""
        deadline = monotonic() + self._seconds
        while True:
            try:
                with self._lock:
                    return self._look_up(topics)
            except TransientError:
                if monotonic() > deadline:
                    raise
            sleep(_PAUSE)

    def close(self) -> None:
        with self._lock:
            self._cluster.forget()

    def _look_up(self, topics: Collection[str]) -> dict[str, Topic]:
        try:
            return {str(found.name): _topic(found) for found in self._cluster.describe(topics)}
        except BaseException:
            self._cluster.forget()
            raise


def _topic(found: MetadataResponseTopic) -> Topic:
    if found.error_code == KafkaError.UNKNOWN_TOPIC_OR_PART:
        raise NotFoundError(f"There is no topic {found.name!r}.")
    if found.error_code:
        raise translate(KafkaError(found.error_code), f"Describing the topic {found.name!r}")
    text = base64.b64encode(found.topic_id.bytes).decode()
    return Topic(text[:_ID_CHARACTERS], len(found.partitions))


def look_up(settings: ClientSettings, topic: str) -> Topic:
    """One topic, once."""
    topics = TopicIds(settings)
    try:
        return topics.look_up([topic])[topic]
    finally:
        topics.close()
