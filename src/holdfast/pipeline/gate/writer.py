"""Writes steps as records: events unchanged, with the coordinate of their source."""

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import Generic, NamedTuple, TypeVar

from confluent_kafka import KafkaException, Producer

from holdfast import faults
from holdfast.client.dead_letters import ERROR, MESSAGE
from holdfast.client.source import SOURCE, Header
from holdfast.flows.journal import encode_journal
from holdfast.flows.names import FlowNames
from holdfast.flows.status import encode_position, encode_status
from holdfast.gate import Drained, Result, Verdict
from holdfast.kafka.errors import explained
from holdfast.kafka.record_size import wire_size
from holdfast.pipeline.gate.events import TOO_LARGE, TOO_LARGE_WHY, Events, Flaw
from holdfast.pipeline.gate.held_rows import Held
from holdfast.pipeline.gate.steps import DecidedStep

OVERFLOW = "overflow"
DEAD_LETTERED = "dead-lettered"
"""Why a record is a dead letter: its header `holdfast-error`; see also `Flaw.kind`."""

OVERFLOWN = Flaw(OVERFLOW, "As much is held as may be, and the flow's policy is 'dead-letter'.")
DEAD = Flaw(DEAD_LETTERED, "It was held when its key was dead-lettered.")
OVERSIZED = Flaw(TOO_LARGE, TOO_LARGE_WHY)

ANY_PARTITION = -1
"""murmur2 of the key decides."""
_FULL_QUEUE_SECONDS = 0.1
_LONGEST_WHY = 1_000

AnyHeader = TypeVar("AnyHeader", bound=tuple[str | bytes, str | bytes | None])


def journal_pairs(result: Result) -> Iterator[tuple[tuple[bytes | None, bytes], int]]:
    """Key and value of each record for the journal, and its time."""
    return ((encode_journal(record), record.at) for record in result.journal)


def status_pairs(result: Result) -> Iterator[tuple[bytes, bytes | None]]:
    """Key and value of each record for status; the position is the last."""
    for record in result.status:
        yield encode_status(record)
    yield encode_position(result.position)


def reason_headers(kind: str, why: str) -> list[tuple[str, bytes]]:
    """The headers that a dead letter has beside those of its event."""
    return [(ERROR, kind.encode()), (MESSAGE, why.encode(errors="replace"))]


class DeadLetter(NamedTuple, Generic[AnyHeader]):
    """A record of dlq."""

    key: bytes | None
    value: bytes | None
    headers: Sequence[AnyHeader]
    """The event's, and the coordinate of its source."""
    reason: list[tuple[str, bytes]]
    """Headers with the reason."""


def dead_letter(
    limit: int,
    key: bytes | None,
    value: bytes | None,
    headers: Sequence[AnyHeader],
    flaw: Flaw,
) -> DeadLetter[AnyHeader]:
    """As much of an event as dlq takes. The last header is the coordinate of its source, and stays:
    with it the event is found where it came from."""
    if flaw.kind != TOO_LARGE:
        reason = reason_headers(*flaw)
        if wire_size(key, value, [*headers, *reason]) <= limit:
            return DeadLetter(key, value, headers, reason)
        # Parts are left out for their size, whatever the reason of the dead letter is.
        why = f"{TOO_LARGE_WHY} It came to the dead letters as {flaw.kind!r}: {flaw.why}"
        flaw = Flaw(TOO_LARGE, why[:_LONGEST_WHY])
    reason = reason_headers(*flaw)
    if wire_size(key, None, [*headers, *reason]) > limit:
        headers = headers[-1:]
    if wire_size(key, None, [*headers, *reason]) > limit:
        key = None
    return DeadLetter(key, None, headers, reason)


class Writer:
    """Produces steps into one open transaction of the driver's producer."""

    def __init__(
        self, names: FlowNames, processed_partitions: int, producer: Producer, dlq_limit: int
    ) -> None:
        self._names = names
        self._processed_partitions = processed_partitions
        self._producer = producer
        self._produce = partial(produce_with_backpressure, producer)
        self._dlq_limit = dlq_limit

    def write(self, step: DecidedStep) -> None:
        self._write_events(step.partition, step.events, step.verdicts)
        self._write_drained(step.partition, step.drained, step.oversized)
        self._write_result(step.partition, step.result)

    def _write_events(self, partition: int, events: Events, verdicts: bytearray) -> None:
        """Write each event to the topic of its verdict, and invalid ones to the dead letters."""
        if not len(events):
            return
        plain = events.headers is None and not events.flaws
        if plain and None not in events.keys:
            self._write_plain(partition, events, verdicts)
        else:
            self._write_each(partition, events, verdicts)

    def _write_drained(
        self,
        partition: int,
        drained: Sequence[Drained[Held]],
        oversized: Collection[int],
    ) -> None:
        """Write rows that leave held unchanged: the source's coordinate is among their headers
        already."""
        for each in drained:
            value, headers = each.row.payload.value, each.row.payload.headers
            if each.row.source in oversized:
                self._dead(partition, each.key, value, each.row.timestamp, headers, OVERSIZED)
            elif each.verdict is Verdict.DEAD:
                self._dead(partition, each.key, value, each.row.timestamp, headers, DEAD)
            else:
                self._produce(
                    self._names.processed, value, each.key, ANY_PARTITION,
                    each.row.timestamp, headers,
                )  # fmt: skip
        if drained:
            faults.reach("mid-drain")

    def _write_result(self, partition: int, result: Result) -> None:
        """Write journal and status. The position record is the last one."""
        for (key, value), at in journal_pairs(result):
            self._produce(self._names.journal, value, key, partition, at, [])
        for entry, state in status_pairs(result):
            self._produce(self._names.status, state, entry, partition, 0, [])

    def _write_plain(self, partition: int, events: Events, verdicts: bytearray) -> None:
        """Keyed, valid, without headers: the loop that most events go through."""
        processed, produce = self._names.processed, self._producer.produce
        prefix = b"%d:" % partition
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
            except (BufferError, KafkaException):  # it was not enqueued
                self._produce(processed, value, key, -1, timestamp, headers)
        faults.reach("mid-produce")

    def _write_each(self, partition: int, events: Events, verdicts: bytearray) -> None:
        for index, verdict in enumerate(verdicts):
            key, value = events.keys[index], events.values[index]
            timestamp = events.timestamps[index]
            own = [] if events.headers is None else events.headers[index]
            headers = [*own, (SOURCE, b"%d:%d" % (partition, events.offsets[index]))]
            flaw = events.flaws.get(index)
            if flaw is not None:
                self._dead(partition, key, value, timestamp, headers, flaw)
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
            self._dead(partition, key, value, timestamp, headers, OVERFLOWN)

    def _dead(
        self,
        partition: int,
        key: bytes | None,
        value: bytes | None,
        timestamp: int,
        headers: list[Header],
        flaw: Flaw,
    ) -> None:
        letter = dead_letter(self._dlq_limit, key, value, headers, flaw)
        explained = [*letter.headers, *letter.reason]
        self._produce(self._names.dlq, letter.value, letter.key, partition, timestamp, explained)


def produce_with_backpressure(
    producer: Producer,
    topic: str,
    value: bytes | None,
    key: bytes | None,
    partition: int,
    timestamp: int,
    headers: list[Header],
) -> None:
    """Produce a record; waits for room in librdkafka's queue. A record that is refused for itself
    is an error."""
    while True:
        try:
            producer.produce(topic, value, key, partition, None, None, timestamp, headers)
            return
        except BufferError:
            producer.poll(_FULL_QUEUE_SECONDS)
        except KafkaException as error:
            raise explained(error.args[0], f"Writing to {topic}") from None
