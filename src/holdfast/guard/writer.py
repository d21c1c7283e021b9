"""Writes the steps of one partition, each in one transaction of the partition's own id."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from confluent_kafka import KafkaException, Producer, TopicPartition

from holdfast import faults
from holdfast.client.connection import Connection
from holdfast.client.dead_letters import ATTEMPT, ERROR, MESSAGE, SOURCE_TOPIC, TIME
from holdfast.client.source import SOURCE, Header
from holdfast.flows.journal import encode_journal
from holdfast.flows.names import FlowNames
from holdfast.flows.status import (
    encode_offset_metadata,
    encode_position,
    encode_status,
)
from holdfast.gate import Result
from holdfast.guard.event import Event, Sent
from holdfast.guard.outputs import TopicLimits
from holdfast.guard.settlement import Letter
from holdfast.kafka.errors import explained
from holdfast.kafka.record_size import wire_size
from holdfast.kafka.transactions import Transactions

_FULL_QUEUE_SECONDS = 0.1
_LONGEST_MESSAGE = 2_000


@dataclass(frozen=True, slots=True)
class StepOutput:
    """All that one step writes."""

    result: Result
    held: Sequence[Event] = ()
    """Fresh events that wait from now on, in order."""
    letters: Sequence[Letter] = ()
    sent: Sequence[Sent] = field(default_factory=list)
    """What the handlers of the events that this step finishes have sent."""
    taken: int = 0
    """Events that the step has taken from the source."""
    handled: int = 0


class StepWriter:
    """The transactions of one partition. After any error, `renew`."""

    def __init__(
        self, connection: Connection, names: FlowNames, partition: int, limits: TopicLimits
    ) -> None:
        self._names = names
        self._partition = partition
        self._limits = limits
        self._transactions = Transactions(connection, names.guard_transactional_id(partition))

    def renew(self) -> None:
        """A new epoch: nothing of an earlier owner is open, and it can commit nothing more."""
        for topic in (self._names.held, self._names.dlq, self._names.status, self._names.journal):
            self._limits.of(topic)
        self._transactions.batch_bytes = self._limits.batch_bytes
        self._transactions.renew()

    def commit(self, output: StepOutput, group_metadata: Callable[[], object]) -> None:
        """Write and commit the step. If this raises, only the committed offset, read after `renew`,
        shows if the step was committed."""
        if self._transactions.batch_bytes > self._limits.batch_bytes:
            self.renew()  # a handler has sent to a topic that takes smaller batches
        faults.reach("before-begin")
        producer = self._transactions.begin()
        self._write(producer, output)
        faults.reach("mid-produce")
        position = output.result.position
        offset = TopicPartition(
            self._names.events, self._partition, position.offset, encode_offset_metadata(position)
        )
        self._transactions.commit([offset], group_metadata())  # type: ignore[arg-type]

    def close(self) -> None:
        self._transactions.close()

    def _write(self, producer: Producer, output: StepOutput) -> None:
        names, partition = self._names, self._partition
        for event in output.held:
            source = (SOURCE, f"{partition}:{event.offset}".encode())
            headers: list[Header] = [*event.headers, source]
            _produce(
                producer, names.held, event.value, event.key, partition, event.timestamp, headers
            )
        for letter in output.letters:
            self._write_letter(producer, letter)
        for sent in output.sent:
            _produce(producer, sent.topic, sent.value, sent.key, sent.partition, 0, sent.headers)
        for record in output.result.journal:
            key, value = encode_journal(record)
            _produce(producer, names.journal, value, key, partition, record.at, [])
        for status in output.result.status:
            pair = encode_status(status)
            _produce(producer, names.status, pair[1], pair[0], partition, 0, [])
        key, value = encode_position(output.result.position)
        _produce(producer, names.status, value, key, partition, 0, [])

    def _write_letter(self, producer: Producer, letter: Letter) -> None:
        """The unchanged event and why it is dead; without its value if it does not fit."""
        event, value = letter.event, letter.event.value
        headers = [*event.headers, *_letter_headers(letter)]
        limit = self._limits.of(self._names.dlq)
        if wire_size(event.key, value, headers) > limit:
            value = None
        if wire_size(event.key, value, headers) > limit:
            headers = list(_letter_headers(letter))
        _produce(
            producer, self._names.dlq, value, event.key, self._partition, event.timestamp, headers
        )


def _letter_headers(letter: Letter) -> list[tuple[str, bytes]]:
    event, failure = letter.event, letter.failure
    texts = {
        SOURCE: f"{event.partition}:{event.offset}",
        SOURCE_TOPIC: event.topic,
        ERROR: failure.kind,
        MESSAGE: failure.message[:_LONGEST_MESSAGE],
        ATTEMPT: str(letter.attempts),
        TIME: datetime.now(UTC).isoformat(timespec="milliseconds"),
    }
    return [(header, text.encode(errors="replace")) for header, text in texts.items()]


def _produce(
    producer: Producer,
    topic: str,
    value: bytes | None,
    key: bytes | None,
    partition: int,
    timestamp: int,
    headers: Sequence[Header],
) -> None:
    while True:
        try:
            producer.produce(topic, value, key, partition, None, None, timestamp, list(headers))
        except BufferError:
            producer.poll(_FULL_QUEUE_SECONDS)
        except KafkaException as error:
            raise explained(error.args[0], f"Writing to {topic}") from None
        else:
            return
