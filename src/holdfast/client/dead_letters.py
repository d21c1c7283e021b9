"""Dead letters: the record unchanged, with headers that say where it came from and why."""

from datetime import UTC, datetime

from holdfast.client.connection import Connection
from holdfast.client.producer import Producer
from holdfast.client.record import Record
from holdfast.client.source import SOURCE

SOURCE_TOPIC = "holdfast-source-topic"
ERROR = "holdfast-error"
"""The error's class."""
MESSAGE = "holdfast-error-message"
ATTEMPT = "holdfast-attempt"
TIME = "holdfast-failed-at"

_LONGEST_MESSAGE = 2_000
_DELIVERY_SECONDS = 20.0


class DeadLetters:
    """Writes dead letters to one topic, each confirmed."""

    def __init__(self, connection: Connection, topic: str) -> None:
        self.topic = topic
        self._connection = connection
        self._producer: Producer | None = None

    def write(self, record: Record, error: Exception, attempt: int) -> None:
        """Return once the broker has it. Key, value, headers and time stay as they were."""
        if self._producer is None:
            self._producer = Producer(self._connection, delivery_timeout=_DELIVERY_SECONDS)
        headers = [*record.headers, *letter_headers(record, error, attempt)]
        delivery = self._producer.send(
            self.topic, record.value, record.key, headers, record.timestamp_ms
        )
        try:
            delivery.result()
        except Exception:
            # A producer that gave up may have a gap in its sequence; the next try takes a new one.
            self._producer = None
            raise


def letter_headers(record: Record, error: Exception, attempt: int) -> list[tuple[str, bytes]]:
    """The headers that are added behind the record's own."""
    kind = type(error)
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    texts = {
        SOURCE: f"{record.partition}:{record.offset}",
        SOURCE_TOPIC: record.topic,
        ERROR: f"{module}{kind.__qualname__}",
        MESSAGE: str(error)[:_LONGEST_MESSAGE],
        ATTEMPT: str(attempt),
        TIME: datetime.now(UTC).isoformat(timespec="milliseconds"),
    }
    return [(header, text.encode(errors="replace")) for header, text in texts.items()]
