"""A compacted topic of one partition, followed as it changes: what is known of each key last."""

import logging
from collections.abc import Callable
from time import sleep

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicCollection

from holdfast.client.connection import Connection
from holdfast.client.positions import Partition
from holdfast.errors import InvalidRecordError

log = logging.getLogger(__name__)

_CHUNK = 500
_ANSWER_S = 1.0
"""Also how long a poll may take as long as there is no such topic."""
_READER = {
    # Never joined: librdkafka wants a name all the same.
    "group.id": "holdfast.reader",
    "enable.auto.commit": False,
    "enable.partition.eof": True,
    "auto.offset.reset": "earliest",
    "isolation.level": "read_committed",
    "fetch.wait.max.ms": 500,
}

Take = Callable[[bytes | None, bytes | None], None]
"""Called with each key and value; a value of None means that the key is no more. A record that it
cannot read (InvalidRecordError) is said and passed over."""


class Table:
    """Follows a table. For one thread.

    A broker that is away, or a topic that nobody has made yet, means that nothing changes.
    """

    def __init__(self, connection: Connection, topic: str, take: Take) -> None:
        self._connection = connection
        self._place = Partition(topic, 0)
        self._take = take
        self._consumer: Consumer | None = None
        self._away = False
        self.complete = False
        """Whether it was read to its end at least once, so that what is not in it is not there.
        True too as long as there is no such topic."""
        self.next_offset = 0
        """All records below it were taken."""

    def poll(self, timeout: float) -> None:
        """Take in what comes within so many seconds; returns soon after something did."""
        if self._consumer is None and not self._exists():
            sleep(timeout)  # nothing comes meanwhile
            return
        for message in self._reader().consume(_CHUNK, timeout):
            error = message.error()
            if error is None:
                self._take_message(message)
                self.next_offset = (message.offset() or 0) + 1
            elif error.code() == KafkaError._PARTITION_EOF:
                self.next_offset = max(self.next_offset, message.offset() or 0)
                self.complete = True
            else:
                log.warning("%s cannot be read just now: %s", self._place.topic, error.str())

    def close(self) -> None:
        if self._consumer is not None:
            self._consumer.close()

    def _exists(self) -> bool:
        """Asked in a way that does not make the topic, as librdkafka's plain look-up may."""
        topic, away = self._place.topic, ""
        try:
            futures = self._connection.admin.describe_topics(
                TopicCollection([topic]), request_timeout=_ANSWER_S
            )
            futures[topic].result(2 * _ANSWER_S)
        except KafkaException as error:
            if error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                self.complete = True
            else:
                away = error.args[0].str()
        except TimeoutError:
            away = "no answer came in time"
        else:
            self.complete = False  # it is there, and was not read yet
            return True
        if away and not self._away:
            log.warning("No broker answers yet at %s: %s", self._connection, away)
        self._away = bool(away)
        return False

    def _reader(self) -> Consumer:
        if self._consumer is None:
            self._consumer = self._connection.make(Consumer, _READER)
            self._consumer.assign([self._place.at(0)])
        return self._consumer

    def _take_message(self, message: Message) -> None:
        try:
            self._take(message.key(), message.value())
        except InvalidRecordError as error:
            log.error("Offset %s of %s: %s", message.offset(), self._place.topic, error)
