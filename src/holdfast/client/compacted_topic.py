"""A compacted topic of one partition, read into memory: the last record of each key counts."""

import logging
from collections.abc import Callable, Iterator
from threading import Condition
from time import sleep

from confluent_kafka import Consumer as KafkaConsumer
from confluent_kafka import KafkaError, KafkaException, TopicCollection

from holdfast.background import Background
from holdfast.client.connection import Connection
from holdfast.client.consumer import Consumer
from holdfast.client.positions import Partition
from holdfast.client.record import Record
from holdfast.errors import InvalidRecordError, NotFoundError, UnavailableError

log = logging.getLogger(__name__)

_CHUNK = 500
_LOOKUP_SECONDS = 1.0
"""Also how long a poll may take as long as the topic does not exist."""
_TURN_SECONDS = 0.2
_STOP_SECONDS = 5.0

Apply = Callable[[bytes | None, bytes | None], None]
"""Applies the key and value of a record; a value of None removes the key. A record for which it
raises InvalidRecordError is logged and skipped."""


def read_topic(connection: Connection, topic: str, *, missing_ok: bool = False) -> Iterator[Record]:
    """All records of a topic, up to its present end.

    `missing_ok`: a topic that does not exist has no records, instead of NotFoundError.
    """
    try:
        consumer = Consumer(connection, [topic], group=None)
    except NotFoundError:
        if missing_ok:
            return
        raise
    with consumer:
        yield from consumer.records(until="end")


class CompactedTopic:
    """Passes each record to `apply`, once or as the topic changes. For one thread.

    While a broker is away, or the topic does not exist yet, nothing changes.
    """

    def __init__(self, connection: Connection, topic: str, apply: Apply) -> None:
        self._connection = connection
        self._partition = Partition(topic, 0)
        self._apply = apply
        self._consumer: KafkaConsumer | None = None
        self._away = False
        self.complete = False
        """True once the topic was read to its end, so that other keys do not exist. True too as
        long as the topic does not exist."""
        self.next_offset = 0
        """All records below it were applied."""

    def read_to_end(self) -> None:
        """Apply the records up to the topic's present end, once. Raises if no broker answers."""
        for record in read_topic(self._connection, self._partition.topic, missing_ok=True):
            self._take(record.key, record.value, record.offset)

    def poll(self, timeout: float) -> None:
        """Apply new records. Returns soon after the first of them, or after `timeout` seconds."""
        if self._consumer is None and not self._exists():
            sleep(timeout)  # without a topic there are no records
            return
        for message in self._reader().consume(_CHUNK, timeout):
            error, offset = message.error(), message.offset() or 0
            if error is None:
                self._take(message.key(), message.value(), offset)
                self.next_offset = offset + 1
            elif error.code() == KafkaError._PARTITION_EOF:
                self.next_offset = max(self.next_offset, offset)
                self.complete = True
            else:
                log.warning("%s cannot be read: %s", self._partition.topic, error.str())

    def close(self) -> None:
        if self._consumer is not None:
            self._consumer.close()
            self._consumer = None

    def reread(self) -> None:
        """Apply all records again, from the first: after an error, none may be left out."""
        self.close()
        self.complete, self.next_offset = False, 0

    def _take(self, key: bytes | None, value: bytes | None, offset: int) -> None:
        try:
            self._apply(key, value)
        except InvalidRecordError as error:  # one bad record must not hide the others
            log.error("Offset %s of %s: %s", offset, self._partition.topic, error)

    def _exists(self) -> bool:
        """Looks the topic up in a way that cannot create it, as librdkafka's own way may."""
        topic, away = self._partition.topic, ""
        try:
            futures = self._connection.admin.describe_topics(
                TopicCollection([topic]), request_timeout=_LOOKUP_SECONDS
            )
            futures[topic].result(2 * _LOOKUP_SECONDS)
        except KafkaException as error:
            if error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                self.complete = True
            else:
                away = error.args[0].str()
        except TimeoutError:
            away = "no answer came in time"
        else:
            self.complete = False  # the topic exists, and was not read yet
            return True
        if away and not self._away:
            log.warning("No broker answers yet at %s: %s", self._connection, away)
        self._away = bool(away)
        return False

    def _reader(self) -> KafkaConsumer:
        if self._consumer is None:
            self._consumer = self._connection.reader({"fetch.wait.max.ms": 500}, lost="earliest")
            self._consumer.assign([self._partition.at(0)])
        return self._consumer


class FollowedTopic(CompactedTopic):
    """Follows the topic on a thread of its own, from `start` to `stop`.

    After a failure all records are applied again. While a broker is away, the last known records
    stay.
    """

    def __init__(self, connection: Connection, topic: str, apply: Apply) -> None:
        super().__init__(connection, topic, apply)
        self.lock = Condition()
        """Held while a record is applied."""
        self.known = False
        """True once all records were applied. Later failures do not change it."""
        self._thread = Background(topic, self._turn, restart=self.reread, close=self.close)

    @property
    def failure(self) -> str:
        """Why the topic cannot be followed at the moment; empty if it can."""
        return self._thread.failure

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._thread.stopping.set()
        with self.lock:
            self.lock.notify_all()  # ends `wait_until`
        self._thread.stop(_STOP_SECONDS)

    def check(self, records: str) -> None:
        """Raise UnavailableError if the known records are incomplete or may be stale."""
        if self.failure:
            raise UnavailableError(
                f"{records} cannot be followed just now ({self.failure}). Ask again soon."
            )
        if not self.known:
            raise UnavailableError(f"{records} are being read from Kafka. Ask again soon.")

    def wait_until(self, condition: Callable[[], bool], timeout: float) -> bool:
        """Returns True as soon as `condition` holds, False after `timeout` seconds or `stop`."""
        stopping = self._thread.stopping
        with self.lock:
            self.lock.wait_for(lambda: condition() or stopping.is_set(), timeout)
            return condition()

    def _take(self, key: bytes | None, value: bytes | None, offset: int) -> None:
        with self.lock:
            super()._take(key, value, offset)

    def _turn(self) -> None:
        self.poll(_TURN_SECONDS)
        with self.lock:
            self.known |= self.complete
            self.lock.notify_all()
        if self.complete and self.next_offset == 0:
            self._thread.stopping.wait(_TURN_SECONDS)  # each look for a missing topic is a request
