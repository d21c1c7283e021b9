"""Which flows there are, as the compacted topic `holdfast.flows` changes."""

import logging
from collections.abc import Mapping

from confluent_kafka import Consumer, KafkaError, KafkaException, Message

from holdfast.client.connection import Connection
from holdfast.client.positions import Partition
from holdfast.errors import InvalidRecordError
from holdfast.flows.names import REGISTRY_TOPIC
from holdfast.flows.registry import FlowDefinition, decode_flow

log = logging.getLogger(__name__)

_PLACE = Partition(REGISTRY_TOPIC, 0)
_CHUNK = 500
_READER = {
    # Never joined: librdkafka wants a name all the same.
    "group.id": "holdfast.reader",
    "enable.auto.commit": False,
    "enable.partition.eof": True,
    "auto.offset.reset": "earliest",
    "isolation.level": "read_committed",
    "fetch.wait.max.ms": 500,
}


class FlowRegistry:
    """Follows the registry. For one thread.

    A broker that is away, or a registry that nobody has made yet, means that nothing changes. A
    flow whose record cannot be read stays as it was.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._consumer: Consumer | None = None
        self._flows: dict[str, FlowDefinition] = {}
        self._away = False
        self.complete = False
        """Whether it was read to its end at least once, so that flows that are not in it are not
        registered. True too as long as there is no registry."""

    @property
    def flows(self) -> Mapping[str, FlowDefinition]:
        return self._flows

    def poll(self, timeout: float) -> None:
        """Take in what comes within so many seconds; returns soon after something did."""
        if self._consumer is None and not self._exists(timeout):
            return
        for message in self._reader().consume(_CHUNK, timeout):
            error = message.error()
            if error is None:
                self._take(message)
            elif error.code() == KafkaError._PARTITION_EOF:
                self.complete = True
            else:
                log.warning("The registry of flows cannot be read just now: %s", error.str())

    def close(self) -> None:
        if self._consumer is not None:
            self._consumer.close()

    def _exists(self, timeout: float) -> bool:
        try:
            found = self._connection.admin.list_topics(REGISTRY_TOPIC, max(timeout, 0.1))
        except KafkaException as error:
            if not self._away:
                log.warning(
                    "No broker answers yet at %s: %s", self._connection, error.args[0].str()
                )
            self._away = True
            return False
        self._away = False
        self.complete = found.topics[REGISTRY_TOPIC].error is not None
        return not self.complete

    def _reader(self) -> Consumer:
        if self._consumer is None:
            self._consumer = self._connection.make(Consumer, _READER)
            self._consumer.assign([_PLACE.at(0)])
        return self._consumer

    def _take(self, message: Message) -> None:
        key, value = message.key(), message.value()
        try:
            if value is None:
                self._flows.pop((key or b"").decode(errors="replace"), None)
            else:
                flow = decode_flow(key, value)
                self._flows[flow.name] = flow
        except InvalidRecordError as error:
            log.error("Offset %s of %s: %s", message.offset(), REGISTRY_TOPIC, error)
