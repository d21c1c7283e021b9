"""Tailing the control log: what was asked is at hand as soon as it can be read.

How far it must be read for a step is its high watermark, asked for in that moment, whatever open
transactions there are: a hold that was acknowledged lies below it.
"""

import logging
from collections import deque
from collections.abc import Callable
from threading import Condition, Thread
from time import monotonic

from confluent_kafka import Consumer, KafkaError, Message

from holdfast.client.connection import Connection
from holdfast.client.kafka_errors import translate
from holdfast.client.log_reader import next_messages
from holdfast.client.positions import Offsets, Partition
from holdfast.errors import GateStoppedError, HoldfastError, TimedOutError
from holdfast.flows.names import FlowNames
from holdfast.gate import DUPLICATE_WINDOW, ControlLog

log = logging.getLogger(__name__)

_TAIL = {
    "group.id": "holdfast.reader",
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "enable.partition.eof": True,
    "auto.offset.reset": "error",
    "isolation.level": "read_uncommitted",
    "fetch.wait.max.ms": 200,
    "fetch.error.backoff.ms": 20,
    "reconnect.backoff.max.ms": 1_000,
}
_CHUNK = 1_000
_POLL_SECONDS = 0.2
_PATIENCE = 10.0
"""Seconds to wait for records that are known to be there."""


class ControlTail:
    """The control log of one flow, read by a thread of its own, and taken under the flow's lock.

    `news` is called when there are new records.
    """

    def __init__(
        self, connection: Connection, names: FlowNames, partitions: int, news: Callable[[], None]
    ) -> None:
        self._connection = connection
        self._partition = Partition(names.control, 0)
        self._partitions = partitions
        self._news = news
        # Not the tail's own connection: there, the question would wait behind a fetch.
        self._offsets = Offsets(connection, committed_only=False, known=True)
        self._changed = Condition()
        self._waiting: deque[Message] = deque()
        self._reached = 0
        self._error: HoldfastError | None = None
        self._stopped = False
        self._thread: Thread | None = None
        self.log = ControlLog(partitions)

    def first_offset(self) -> int:
        """Where the log begins, which is where a flow that never ran begins."""
        return self._offsets.starts([self._partition])[self._partition]

    def start(self, lowest: int) -> None:
        """Read from far enough before `lowest`, the lowest control of all partitions, to know
        every id that a command from there on could repeat."""
        first, end = self.first_offset(), self.end()
        if not first <= lowest <= end:
            raise GateStoppedError(
                f"The gate has stopped: it has taken the commands up to {lowest}, but the control "
                f"log goes from {first} to {end}. Commands are missing, and with them holds. "
                "Restore the control topic."
            )
        start = max(first, lowest - DUPLICATE_WINDOW)
        self.log = ControlLog(self._partitions, start)
        self._reached = start
        consumer = self._connection.make(Consumer, _TAIL)
        consumer.assign([self._partition.at(start)])
        name = f"tail of {self._partition.topic}"
        self._thread = Thread(target=self._run, args=(consumer,), name=name, daemon=True)
        self._thread.start()

    def end(self) -> int:
        """The high watermark: every command that was acknowledged lies below it."""
        return self._offsets.ends([self._partition])[self._partition]

    @property
    def reached(self) -> int:
        """How far the log was read."""
        return self._reached

    def read_through(self, end: int) -> None:
        """Take all records below `end` into `log`, or raise."""
        deadline = monotonic() + _PATIENCE
        with self._changed:
            while self._reached < end:
                if self._error is not None:
                    raise self._error
                if not self._changed.wait(max(0.0, deadline - monotonic())):
                    raise TimedOutError(
                        f"The control log could not be read up to {end - 1} in time: it may have "
                        "a hold there, so nothing passes."
                    )
            if self._error is not None:
                raise self._error
            while self._waiting and (self._waiting[0].offset() or 0) < end:
                message = self._waiting.popleft()
                self.log.append(message.offset() or 0, message.key(), message.value())
        self.log.advance(end)

    def stop(self) -> None:
        self._stopped = True
        if self._thread is not None:
            self._thread.join()

    def _run(self, consumer: Consumer) -> None:
        try:
            while not self._stopped:
                messages = next_messages(consumer, _CHUNK, _POLL_SECONDS)
                if messages:
                    self._take(messages)
        finally:
            consumer.close()

    def _take(self, messages: list[Message]) -> None:
        records = False
        with self._changed:
            for message in messages:
                error, offset = message.error(), message.offset() or 0
                if error is None:
                    self._waiting.append(message)
                    self._reached = max(self._reached, offset + 1)
                    records = True
                elif error.code() == KafkaError._PARTITION_EOF:
                    self._reached = max(self._reached, offset)
                else:
                    self._take_error(error)
            self._changed.notify_all()
        if records:
            self._news()

    def _take_error(self, error: KafkaError) -> None:
        if error.code() in (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE):
            self._error = GateStoppedError(
                f"The gate has stopped: the control log has no offset {self._reached} any more "
                f"({error.str()}). Restore the control topic."
            )
            return
        translated = translate(error, f"Reading {self._partition}")
        log.warning("%s", translated)
