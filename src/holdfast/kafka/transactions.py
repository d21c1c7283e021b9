"""Transactions of one transactional id, each call under a deadline of our own.

librdkafka can hang far past its own time-outs (`send_offsets_to_transaction` after a broker's
restart). So calls are made on a thread of their own. When one is late, thread and producer are
abandoned, and a new producer of the same id begins with `init_transactions`, which aborts what the
old one left open. Every other error is handled in this way too.
"""

import logging
from collections.abc import Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from time import monotonic
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer, TopicPartition

from holdfast import faults
from holdfast.client.connection import Connection
from holdfast.errors import HoldfastError, TimedOutError
from holdfast.kafka.errors import SIZE_ERRORS, TRANSACTION_TIMEOUT_MS, Refused, explained
from holdfast.kafka.record_size import LARGEST_REQUEST

log = logging.getLogger(__name__)

_FLUSH_SECONDS = 0.2
_REPORT_SECONDS = 0.1

_PRODUCER = {
    "acks": "all",
    "partitioner": "murmur2_random",
    # A commit sends what waits, so this delays nothing; it lets full batches form.
    "linger.ms": 20,
    "queue.buffering.max.messages": 200_000,
    "queue.buffering.max.kbytes": 512 * 1024,
    "delivery.report.only.error": True,
    # Records that are too large for a topic are found before they are sent.
    "message.max.bytes": LARGEST_REQUEST,
    "transaction.timeout.ms": TRANSACTION_TIMEOUT_MS,
    "reconnect.backoff.max.ms": 1_000,
    "retry.backoff.ms": 20,
}


class CallHangsError(TimedOutError):
    """A call to librdkafka has not returned, long after its own time-out."""


class Transactions:
    """One transaction at a time: `begin`, produce, `commit`. After any error, `renew`."""

    def __init__(self, connection: Connection, transactional_id: str, batch_bytes: int = 0) -> None:
        """`batch_bytes`: of records in a batch; a record that is larger has a batch of its own.
        It must be set before the first `renew`."""
        self.transactional_id = transactional_id
        self.batch_bytes = batch_bytes
        self._connection = connection
        # Longer than any healthy call takes, and well below the transaction's time-out.
        self._seconds = connection.settings.request_timeout
        self._producer: _Calls | None = None
        self._failures: list[tuple[KafkaError, Message]] = []

    def renew(self) -> None:
        """A new producer. When this returns, nothing of an older one of this id is open, and
        nothing that it still sends is taken."""
        if self._producer is not None:
            self._producer.abandon()
        self._failures = []
        settings = {
            **_PRODUCER,
            "transactional.id": self.transactional_id,
            "batch.size": self.batch_bytes,
            "on_delivery": self._on_failure,
        }
        self._producer = _Calls(self._connection.make(Producer, settings), self.transactional_id)
        # Without a connection it finds no coordinator, and tries again half a second later.
        self._call("list_topics", None, self._seconds)
        self._call("init_transactions", self._seconds)

    def begin(self) -> Producer:
        """Begin a transaction. Returns its producer."""
        if self._producer is None:
            self.renew()
        assert self._producer is not None
        self._failures = []
        self._call("begin_transaction")
        return self._producer.producer

    def commit(self, offsets: Sequence[TopicPartition] = (), group_metadata: bytes = b"") -> None:
        """Commit the produced records and these offsets. If this raises, only the committed
        offsets, or the records themselves, show if the transaction was committed."""
        faults.reach("before-offsets")
        if offsets:
            self._call("send_offsets_to_transaction", list(offsets), group_metadata, self._seconds)
        self._deliver()
        faults.reach("before-commit")
        self._call("commit_transaction", self._seconds)
        faults.reach("after-commit")

    def refused(self) -> set[Refused]:
        """The records of the last transaction that were refused for their size."""
        if self._producer is not None:
            with suppress(KafkaException):
                self._producer.producer.poll(_REPORT_SECONDS)  # a report may wait still
        return {
            Refused(m.topic() or "", m.key(), m.value())
            for error, m in self._failures
            if error.code() in SIZE_ERRORS
        }

    def _deliver(self) -> None:
        """Wait until all produced records are delivered. The commit would wait too, but for half a
        minute if a record was refused, and it would not name the record."""
        assert self._producer is not None
        deadline = monotonic() + self._seconds
        while self._producer.producer.flush(_FLUSH_SECONDS) and not self._failures:
            if monotonic() > deadline:
                raise TimedOutError(
                    f"Records of {self.transactional_id} did not arrive within {self._seconds:.0f} "
                    "s. The broker's log may say why: a full disk, for one."
                )
        if self._failures:
            raise self._explained(KafkaException(self._failures[0][0]), "delivery")

    def _call(self, name: str, *arguments: Any) -> None:
        assert self._producer is not None
        try:
            self._producer.call(name, arguments, self._seconds)
        except KafkaException as error:
            # A record that was refused is the cause of what follows; its report may wait still.
            with suppress(KafkaException):  # of a fenced producer: reported already
                self._producer.producer.poll(0)
            raise self._explained(error, name) from None

    def _explained(self, error: KafkaException, name: str) -> HoldfastError:
        cause = error.args[0]
        sizes = (each for each, _ in self._failures if each.code() in SIZE_ERRORS)
        return explained(next(sizes, cause), f"{name} of {self.transactional_id}")

    def _on_failure(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._failures.append((error, message))

    def close(self) -> None:
        if self._producer is not None:
            self._producer.abandon()
            self._producer = None


class _Calls:
    """A producer and the thread on which it is called. (The threads of an executor would be joined
    when the process ends, and a call may hang.)"""

    def __init__(self, producer: Producer, name: str) -> None:
        self.producer = producer
        self._queue: SimpleQueue[tuple[Future[Any], str, Sequence[Any]] | None] = SimpleQueue()
        Thread(target=self._serve, name=f"transactions of {name}", daemon=True).start()

    def call(self, name: str, arguments: Sequence[Any], seconds: float) -> None:
        """Returns when the call has returned, and raises what it raised."""
        future: Future[Any] = Future()
        self._queue.put((future, name, arguments))
        if not wait([future], seconds + 2).done:
            raise CallHangsError(f"{name} has not returned within {seconds:.0f} s.")
        future.result()

    def abandon(self) -> None:
        """End the thread, if it ever comes back from its call, and the producer with it."""
        self._queue.put(None)

    def _serve(self) -> None:
        while (call := self._queue.get()) is not None:
            future, name, arguments = call
            try:
                future.set_result(getattr(self.producer, name)(*arguments))
            except Exception as error:
                future.set_exception(error)
