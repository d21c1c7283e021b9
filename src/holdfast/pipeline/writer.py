"""What a step decided, as records: events unchanged, with the coordinate of their source."""

from collections.abc import Collection, Iterator, Sequence

from confluent_kafka import KafkaError, KafkaException, Producer

from holdfast.client.dead_letters import ERROR, MESSAGE
from holdfast.client.kafka_errors import translate
from holdfast.client.source import SOURCE, Header, source_of
from holdfast.errors import RecordTooLargeError
from holdfast.flows.journal import encode_journal
from holdfast.flows.names import FlowNames
from holdfast.flows.status import Entry, encode_active, encode_entry, encode_position
from holdfast.gate import Drained, Result, Verdict
from holdfast.pipeline import faults
from holdfast.pipeline.events import TOO_LARGE, TOO_LARGE_WHY, Events, Flaw
from holdfast.pipeline.held_rows import Held

OVERFLOW = "overflow"
DEAD_LETTERED = "dead-lettered"
"""Why a record is a dead letter: its header `holdfast-error`; see also `Flaw.kind`."""

OVERFLOWN = Flaw(OVERFLOW, "As much is held as may be, and the flow's policy is 'dead-letter'.")

ANY_PARTITION = -1
"""murmur2 of the key decides."""
_FULL_QUEUE_SECONDS = 0.1


class RecordRefusedError(RecordTooLargeError):
    """A record that not even librdkafka takes."""

    def __init__(self, topic: str, source: tuple[int, int] | None) -> None:
        super().__init__(f"A record for {topic}, from {source}, is larger than any topic takes.")
        self.source = source


def journal_pairs(result: Result) -> Iterator[tuple[tuple[bytes | None, bytes], int]]:
    """Key and value of each record for the journal, and its time."""
    return ((encode_journal(record), record.at) for record in result.journal)


def status_pairs(result: Result) -> Iterator[tuple[bytes, bytes | None]]:
    """Key and value of each record for status; the position is the last."""
    for entry in result.status:
        yield encode_entry(entry) if isinstance(entry, Entry) else encode_active(entry.key)
    yield encode_position(result.position)


def reason_headers(kind: str, why: str) -> list[tuple[str, bytes]]:
    """What a dead letter has beside the headers of its event."""
    return [(ERROR, kind.encode()), (MESSAGE, why.encode(errors="replace"))]


class Writer:
    """Produces into the transaction that is open."""

    def __init__(self, names: FlowNames, processed_partitions: int) -> None:
        self._names = names
        self._processed_partitions = processed_partitions
        self._producer: Producer | None = None

    def begin(self, producer: Producer) -> None:
        self._producer = producer

    def write_events(self, partition: int, events: Events, verdicts: bytearray) -> None:
        """Each event to where its verdict says; an invalid one to the dead letters."""
        if not len(events):
            return
        plain = events.headers is None and not events.flaws
        if plain and None not in events.keys:
            self._write_plain(partition, events, verdicts)
        else:
            self._write_each(partition, events, verdicts)

    def write_drained(
        self,
        partition: int,
        drained: Sequence[Drained[Held]],
        too_large: Collection[tuple[int, int]],
    ) -> None:
        """Rows that leave held, as they stand there: the source's coordinate is among their
        headers already."""
        for each in drained:
            value, headers = each.row.payload.value, each.row.payload.headers
            if (partition, each.row.source) in too_large:
                self._dead(
                    partition, each.key, None, each.row.timestamp, headers,
                    TOO_LARGE, TOO_LARGE_WHY,
                )  # fmt: skip
            elif each.verdict is Verdict.DEAD:
                self._dead(
                    partition, each.key, value, each.row.timestamp, headers,
                    DEAD_LETTERED, "It was held when its key was dead-lettered.",
                )  # fmt: skip
            else:
                self._produce(
                    self._names.processed, value, each.key, ANY_PARTITION,
                    each.row.timestamp, headers,
                )  # fmt: skip
        if drained:
            faults.reach("mid-drain")

    def write_result(self, partition: int, result: Result) -> None:
        """Journal and status; the position record comes last."""
        for (key, value), at in journal_pairs(result):
            self._produce(self._names.journal, value, key, partition, at, [])
        for entry, state in status_pairs(result):
            self._produce(self._names.status, state, entry, partition, 0, [])

    def _write_plain(self, partition: int, events: Events, verdicts: bytearray) -> None:
        """Keyed, valid, without headers: the loop that most events go through."""
        assert self._producer is not None
        names, producer, produce = self._names, self._producer, self._producer.produce
        processed, prefix = names.processed, b"%d:" % partition
        rows = zip(
            events.keys, events.values, events.timestamps, events.offsets, verdicts, strict=True
        )
        for key, value, timestamp, offset, verdict in rows:
            headers: list[Header] = [(SOURCE, prefix + str(offset).encode())]
            if verdict:
                self._withhold(partition, verdict, key, value, timestamp, headers)
                continue
            try:
                produce(processed, value, key, -1, None, None, timestamp, headers)
            except (BufferError, KafkaException) as error:
                insist(producer, error, processed, value, key, -1, timestamp, headers)
        faults.reach("mid-produce")

    def _write_each(self, partition: int, events: Events, verdicts: bytearray) -> None:
        for index, verdict in enumerate(verdicts):
            key, value = events.keys[index], events.values[index]
            timestamp = events.timestamps[index]
            own = [] if events.headers is None else events.headers[index]
            headers = [*own, (SOURCE, b"%d:%d" % (partition, events.offsets[index]))]
            flaw = events.flaws.get(index)
            if flaw is not None:
                kept = None if flaw.kind == TOO_LARGE else value
                self._dead(partition, key, kept, timestamp, headers, *flaw)
            elif verdict:
                self._withhold(partition, verdict, key, value, timestamp, headers)
            else:
                # Without a key any partition would do; this one is the same in every attempt.
                target = partition % self._processed_partitions if key is None else ANY_PARTITION
                self._produce(self._names.processed, value, key, target, timestamp, headers)
        faults.reach("mid-produce")

    def _withhold(
        self,
        partition: int,
        verdict: int,
        key: bytes | None,
        value: bytes | None,
        timestamp: int,
        headers: list[Header],
    ) -> None:
        if verdict == Verdict.HOLD:
            self._produce(self._names.held, value, key, partition, timestamp, headers)
        else:
            self._dead(partition, key, value, timestamp, headers, *OVERFLOWN)

    def _dead(
        self,
        partition: int,
        key: bytes | None,
        value: bytes | None,
        timestamp: int,
        headers: list[Header],
        kind: str,
        why: str,
    ) -> None:
        explained = [*headers, *reason_headers(kind, why)]
        self._produce(self._names.dlq, value, key, partition, timestamp, explained)

    def _produce(
        self,
        topic: str,
        value: bytes | None,
        key: bytes | None,
        partition: int,
        timestamp: int,
        headers: list[Header],
    ) -> None:
        assert self._producer is not None
        try:
            self._producer.produce(topic, value, key, partition, None, None, timestamp, headers)
        except (BufferError, KafkaException) as error:
            insist(self._producer, error, topic, value, key, partition, timestamp, headers)


def insist(
    producer: Producer,
    error: Exception,
    topic: str,
    value: bytes | None,
    key: bytes | None,
    partition: int,
    timestamp: int,
    headers: list[Header],
) -> None:
    """After `produce` has raised `error`: wait for room in librdkafka's queue, and produce then;
    what is refused for itself is an error."""
    while isinstance(error, BufferError):
        producer.poll(_FULL_QUEUE_SECONDS)
        try:
            producer.produce(topic, value, key, partition, None, None, timestamp, headers)
        except (BufferError, KafkaException) as again:
            error = again
        else:
            return
    assert isinstance(error, KafkaException)
    if error.args[0].code() == KafkaError.MSG_SIZE_TOO_LARGE:
        raise RecordRefusedError(topic, source_of(headers)) from None
    raise translate(error, f"Writing to {topic}") from None
