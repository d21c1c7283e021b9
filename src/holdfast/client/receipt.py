"""Receipts: an acknowledged command, and its effect."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from time import monotonic

from confluent_kafka import Consumer as KafkaConsumer

from holdfast.client.connection import Connection
from holdfast.client.kafka_errors import translate
from holdfast.client.positions import Partition
from holdfast.clock import from_ms
from holdfast.errors import InvalidRecordError, TimedOutError
from holdfast.flows.commands import Command
from holdfast.flows.holds import StandingHold
from holdfast.flows.journal import JournalRecord, Outcome, decode_journal

log = logging.getLogger("holdfast.client")


@dataclass(frozen=True, slots=True)
class Effect:
    """The outcome of a command, and its cut: the source offset from which it applies."""

    outcome: Outcome
    partition: int
    cut: int
    record: JournalRecord
    cuts: Mapping[int, int] = field(default_factory=dict)
    """Of a command about a prefix or the whole flow: the cut in each partition."""

    @property
    def remaining(self) -> tuple[StandingHold, ...]:
        """The holds of the key, prefix or flow that stand after the command, but for the one that
        it requested."""
        return self.record.others

    @property
    def at(self) -> datetime:
        return from_ms(self.record.at)


@dataclass(frozen=True, slots=True)
class Receipt:
    """A command that the control log has acknowledged. The gate applies commands in this order."""

    command: Command
    offset: int
    """The command's offset on the control log."""
    _connection: Connection = field(repr=False)
    _journals: Mapping[Partition, int] = field(repr=False)
    """The partitions of the journal that answer it, and their ends before it was sent. The effect
    is that of the first; it is effective once all of them have answered."""

    @property
    def command_id(self) -> str:
        return self.command.id

    def wait(self, timeout: float = 30.0) -> Effect:
        """Returns the effect once the journal has it."""
        [effect] = effects_of([self], timeout)
        if effect is None:
            raise TimedOutError(
                f"The command {self.command.id} is on the control log at offset {self.offset}, and "
                f"it will be applied, but it did not become effective within {timeout:.0f} s. "
                "Is the flow's pipeline running?"
            )
        return effect


def effects_of(receipts: Sequence[Receipt], timeout: float) -> list[Effect | None]:
    """The effect of each receipt of one flow, in order; None for those that the journal does not
    have within `timeout` seconds. One consumer follows them all."""
    if not receipts:
        return []
    # A short fetch, because the answer must not wait behind an idle one.
    tuning = {"fetch.wait.max.ms": 100, "enable.partition.eof": False}
    ends: dict[Partition, int] = {}
    for receipt in receipts:
        for journal, end in receipt._journals.items():
            ends[journal] = min(ends.get(journal, end), end)
    consumer = receipts[0]._connection.reader(tuning)
    try:
        consumer.assign([journal.at(end) for journal, end in ends.items()])
        wanted = {
            (each.command.id, journal.number) for each in receipts for journal in each._journals
        }
        found = _follow(consumer, wanted, monotonic() + timeout)
    finally:
        consumer.close()
    return [_effect_of(receipt, found) for receipt in receipts]


def _effect_of(receipt: Receipt, found: Mapping[tuple[str, int], Effect]) -> Effect | None:
    effects = [found.get((receipt.command.id, journal.number)) for journal in receipt._journals]
    first = effects[0]
    if first is None or len(effects) == 1 or first.outcome is Outcome.DUPLICATE:
        return first
    if None in effects:
        return None
    cuts = {effect.partition: effect.cut for effect in effects if effect is not None}
    return replace(first, cuts=cuts)


def _follow(
    consumer: KafkaConsumer, wanted: set[tuple[str, int]], deadline: float
) -> dict[tuple[str, int], Effect]:
    """The effects of the commands with these ids, each in the partition that answers it."""
    found: dict[tuple[str, int], Effect] = {}
    while len(found) < len(wanted) and (left := deadline - monotonic()) > 0:
        message = consumer.poll(min(left, 0.2))
        if message is None:
            continue
        error = message.error()
        journal = f"{message.topic()}[{message.partition()}]"
        if error is not None:
            translated = translate(error, f"Reading {journal}")
            if translated.transient:
                continue
            raise translated
        try:
            record = decode_journal(message.key(), message.value())
        except InvalidRecordError as unreadable:
            log.warning("%s at %s: %s", journal, message.offset(), unreadable)
            continue
        if record.command is None:
            continue
        place = record.command.id, message.partition() or 0
        if place in wanted:
            effect = Effect(record.outcome, place[1], record.cut, record)
            found.setdefault(place, effect)
            if record.outcome is Outcome.DUPLICATE:  # other partitions do not answer it
                wanted = {each for each in wanted if each == place or each[0] != place[0]}
    return found
