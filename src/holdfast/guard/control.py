"""The control log of a guard, followed by each worker from its start.

A worker owns some partitions and knows nothing of the others. So it derives the holds of all keys
from the log itself: an event of a held key waits in whatever partition it is found.
"""

import logging
from collections.abc import Callable
from threading import Condition, Event, Thread
from time import monotonic

from confluent_kafka import KafkaError

from holdfast.client.connection import Connection
from holdfast.client.kafka_errors import translate
from holdfast.client.log_reader import next_messages
from holdfast.client.positions import Offsets, Partition
from holdfast.errors import GateStoppedError, HoldfastError, TimedOutError
from holdfast.gate import ControlLog, FlowHolds

log = logging.getLogger(__name__)

_POLL_SECONDS = 1.0
_CHUNK = 5_000
_TUNING = {"fetch.wait.max.ms": 500, "fetch.error.backoff.ms": 20, "enable.partition.eof": False}


class RequestedHolds(FlowHolds):
    """The holds that were requested up to `through`. Their expiry is checked when they are used."""

    def follow(self, control: ControlLog, end: int) -> None:
        """Apply the commands up to `end`, unless that was done before."""
        if end > self.through:
            for record in control.between(self.through, end):
                self._apply_command(record)
            self.through = end


class ControlTail:
    """The thread that reads the control log. `lock` protects `log` and `holds`."""

    def __init__(
        self, connection: Connection, topic: str, partitions: int, news: Callable[[], None]
    ) -> None:
        """`news` is called after new commands were read, without the lock."""
        self.lock = Condition()
        self._connection = connection
        self._partition = Partition(topic, 0)
        # An uncommitted read: a transaction that hangs must not hide later commands.
        self._offsets = Offsets(connection, committed_only=False, known=True)
        self._news = news
        self.first = self._offsets.starts([self._partition])[self._partition]
        """The first offset of the log."""
        self.log = ControlLog(partitions, self.first)
        self.holds = RequestedHolds(self.first)
        self.failure: HoldfastError | None = None
        self._stopping = Event()
        self._thread = Thread(target=self._run, name=f"reader of {topic}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    def end(self) -> int:
        """The high watermark: every command that was acknowledged is below it."""
        return self._offsets.ends([self._partition])[self._partition]

    def read_through(self, end: int, timeout: float) -> None:
        """Wait until all commands below `end` are in `log`."""
        deadline = monotonic() + timeout
        with self.lock:
            while self.log.end < end:
                if self.failure is not None:
                    raise self.failure
                if not self.lock.wait(max(0.0, deadline - monotonic())):
                    raise TimedOutError(
                        f"The control log could not be read up to {end - 1} in time: it may have a "
                        "hold there, so no event is handled."
                    )

    def _run(self) -> None:
        consumer = self._connection.reader(_TUNING, isolation="read_uncommitted")
        try:
            consumer.assign([self._partition.at(self.first)])
            while not self._stopping.is_set():
                messages = next_messages(consumer, _CHUNK, _POLL_SECONDS)
                records = [m for m in messages if self._check(m.error())]
                if not records:
                    continue
                with self.lock:
                    for message in records:
                        _, time = message.timestamp()
                        self.log.append(message.offset() or 0, message.key(), message.value(), time)
                    self.lock.notify_all()
                self._news()
        except HoldfastError as error:
            with self.lock:
                self.failure = error
                self.lock.notify_all()
            self._news()
        finally:
            consumer.close()

    def _check(self, error: KafkaError | None) -> bool:
        """Returns True if the message is a record."""
        if error is None:
            return True
        translated = translate(error, f"Reading {self._partition}")
        if not translated.transient:
            raise GateStoppedError(f"The guard has stopped: {translated}")
        log.warning("%s", translated)
        return False
