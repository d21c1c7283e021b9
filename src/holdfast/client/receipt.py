"""Receipts: a command that is on the control log, and what comes of it."""

import logging
from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic

from confluent_kafka import Consumer as KafkaConsumer

from holdfast.client.connection import Connection
from holdfast.client.encoding import from_milliseconds
from holdfast.client.kafka_errors import translate
from holdfast.client.positions import Partition
from holdfast.errors import InvalidRecordError, TimedOutError
from holdfast.flows.commands import Command
from holdfast.flows.journal import JournalRecord, Outcome, decode_journal

log = logging.getLogger("holdfast.client")


@dataclass(frozen=True, slots=True)
class Effect:
    """What came of a command, and the cut: the source offset from which it acts."""

    outcome: Outcome
    partition: int
    cut: int
    record: JournalRecord

    @property
    def at(self) -> datetime:
        return from_milliseconds(self.record.at)


@dataclass(frozen=True, slots=True)
class Receipt:
    """A command that was acknowledged on the control log: it will be carried out, in this order."""

    command: Command
    offset: int
    """Of the command on the control log."""
    _connection: Connection = field(repr=False)
    _journal: Partition = field(repr=False)
    _journal_end: int = field(repr=False)

    @property
    def command_id(self) -> str:
        return self.command.id

    def wait(self, timeout: float = 30.0) -> Effect:
        """Return once the command is effective, that is, once the journal has it."""
        consumer = self._connection.make(
            KafkaConsumer,
            {
                "group.id": "holdfast.reader",
                "enable.auto.commit": False,
                "auto.offset.reset": "error",
                "isolation.level": "read_committed",
                # The answer is wanted at once: it must not wait behind an idle fetch.
                "fetch.wait.max.ms": 100,
            },
        )
        try:
            consumer.assign([self._journal.at(self._journal_end)])
            return self._follow(consumer, monotonic() + timeout, timeout)
        finally:
            consumer.close()

    def _follow(self, consumer: KafkaConsumer, deadline: float, timeout: float) -> Effect:
        while (left := deadline - monotonic()) > 0:
            message = consumer.poll(min(left, 0.2))
            if message is None:
                continue
            error = message.error()
            if error is not None:
                translated = translate(error, f"Reading {self._journal}")
                if translated.transient:
                    continue
                raise translated
            try:
                record = decode_journal(message.key(), message.value())
            except InvalidRecordError as unreadable:
                log.warning("%s at %s: %s", self._journal, message.offset(), unreadable)
                continue
            if record.command is not None and record.command.id == self.command.id:
                return Effect(record.outcome, self._journal.number, record.cut, record)
        raise TimedOutError(
            f"The command {self.command.id} is on the control log at offset {self.offset}, and it "
            f"will be carried out, but it did not become effective within {timeout:.0f} s. "
            "Is the flow's pipeline running?"
        )
