"""The topics that handlers send to: if they exist, and how large their records may be."""

from threading import Lock
from time import monotonic

from holdfast.client.connection import Connection
from holdfast.client.topics import Topics
from holdfast.errors import NotFoundError, RecordTooLargeError
from holdfast.guard.event import Sent
from holdfast.kafka.record_size import LARGEST_REQUEST, wire_size

_KNOWN_SECONDS = 60.0
_BATCH_OVERHEAD = 1_024
_LARGEST_BATCH = 256 * 1024
_LIMIT = "max.message.bytes"


class TopicLimits:
    """The size limits of topics, each asked for once in a minute at most. For several threads."""

    def __init__(self, connection: Connection) -> None:
        self._topics = Topics(connection)
        self._lock = Lock()
        self._limits: dict[str, tuple[int, float]] = {}

    def of(self, topic: str) -> int:
        """The largest record batch that the topic takes, or NotFoundError."""
        with self._lock:
            limit, until = self._limits.get(topic, (0, 0.0))
            if monotonic() >= until:
                config = self._topics.config(topic)
                limit = min(int(config[_LIMIT].value or 0), LARGEST_REQUEST - 64 * 1024)
                self._limits[topic] = (limit, monotonic() + _KNOWN_SECONDS)
        return limit

    @property
    def batch_bytes(self) -> int:
        """Of records in a batch: it must fit every topic, or innocent records are refused with a
        large one."""
        with self._lock:
            lowest = min([limit for limit, _ in self._limits.values()], default=_LARGEST_BATCH)
        return max(1_024, min(_LARGEST_BATCH, lowest - _BATCH_OVERHEAD))

    def check(self, record: Sent) -> None:
        """Raise if the topic or partition does not exist, or does not take such a record."""
        limit = self.of(record.topic)
        if record.partition >= 0:
            count = self._topics.describe(record.topic).partitions
            if record.partition >= count:
                raise NotFoundError(
                    f"There is no partition {record.partition}: {record.topic} has {count}."
                )
        size = wire_size(record.key, record.value, record.headers)
        if size > limit:
            raise RecordTooLargeError(
                f"A record of {size} bytes is too large for {record.topic}, which takes {limit}."
            )
