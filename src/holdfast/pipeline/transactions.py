"""Transactions of one transactional id, each call under a deadline of our own.

librdkafka can hang far past its own time-outs (`send_offsets_to_transaction` after a broker's
restart). So calls are made on a thread of their own; when one is late, thread and producer are
left behind, and a new producer of the same id begins at `init_transactions`, which aborts what the
old one left open. The same is done after every error: one way to recover, whatever happened.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from queue import SimpleQueue
from threading import Event, Thread
from time import monotonic
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer, TopicPartition

from holdfast.client.connection import Connection
from holdfast.client.kafka_errors import translate
from holdfast.errors import (
    FencedError,
    HoldfastError,
    RecordTooLargeError,
    StaleStateError,
    TimedOutError,
    TransientError,
)
from holdfast.pipeline import faults

log = logging.getLogger(__name__)

TRANSACTION_TIMEOUT_MS = 90_000

Pair = tuple[bytes | None, bytes | None]
"""A record's key and value."""

_FLUSH_SECONDS = 0.2

_PRODUCER = {
    "acks": "all",
    "partitioner": "murmur2_random",
    # A commit sends what waits, so this delays nothing; it lets full batches form.
    "linger.ms": 20,
    "queue.buffering.max.messages": 200_000,
    "queue.buffering.max.kbytes": 512 * 1024,
    "delivery.report.only.error": True,
    "transaction.timeout.ms": TRANSACTION_TIMEOUT_MS,
    "reconnect.backoff.max.ms": 1_000,
    "retry.backoff.ms": 20,
}


class ReplacedError(FencedError):
    """A newer pipeline has joined the group in this one's place. This process must end."""


class MembershipLostError(TransientError):
    """The group does not know this member any more. The process must start again."""


class CallHangsError(TimedOutError):
    """A call to librdkafka has not returned, long after its own time-out."""


class Transactions:
    """One transaction at a time: `begin`, produce, `commit`. After any error, `renew`."""

    def __init__(
        self, connection: Connection, transactional_id: str, config: Mapping[str, Any]
    ) -> None:
        self.transactional_id = transactional_id
        self._connection = connection
        self._config = {**_PRODUCER, **config, "transactional.id": transactional_id}
        # Longer than any healthy call takes, and well below the transaction's time-out.
        self._seconds = connection.settings.request_timeout
        self._producer: _Calls | None = None
        self._failures: list[tuple[KafkaError, Message]] = []

    def renew(self, *, one_by_one: bool = False) -> None:
        """A new producer. When this returns, nothing of an older one of this id is open, and
        nothing that it still sends is taken. `one_by_one`: a batch for every record."""
        if self._producer is not None:
            self._producer.abandon()
        self._failures = []
        alone = {"batch.num.messages": 1} if one_by_one else {}
        settings = {**self._config, **alone, "on_delivery": self._on_failure}
        self._producer = _Calls(self._connection.make(Producer, settings), self.transactional_id)
        # Without a connection it finds no coordinator, and tries again half a second later.
        self._call("list_topics", None, self._seconds)
        self._call("init_transactions", self._seconds)

    def begin(self) -> Producer:
        """Begin a transaction. -> the producer, to produce with"""
        if self._producer is None:
            self.renew()
        assert self._producer is not None
        self._failures = []
        self._call("begin_transaction")
        return self._producer.producer

    def commit(self, offsets: Sequence[TopicPartition] = (), group_metadata: bytes = b"") -> None:
        """Commit what was produced, and these offsets. If this raises, only a look at what was
        committed (the offsets, or the records themselves) can tell what came of it."""
        faults.reach("before-offsets")
        if offsets:
            self._call("send_offsets_to_transaction", list(offsets), group_metadata, self._seconds)
        self._deliver()
        faults.reach("before-commit")
        self._call("commit_transaction", self._seconds)
        faults.reach("after-commit")

    def refused(self) -> set[Pair]:
        """Key and value of the records of the last transaction that were refused for their size."""
        return {(m.key(), m.value()) for error, m in self._failures if error.code() in SIZE_ERRORS}

    def _deliver(self) -> None:
        """Wait until all that was produced has arrived. The commit would wait too, but for half a
        minute if a record was refused, and it would not say which."""
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
            with suppress(KafkaException):  # of a producer that was fenced, say: told already
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


# A producer is fenced by a newer one of its id: after a time-out of its transaction, by the broker;
# or by another process, which then is in the group too, and the group decides who goes on.
_COMPARE_AGAIN = (
    KafkaError.ILLEGAL_GENERATION,
    KafkaError._FENCED,
    KafkaError.PRODUCER_FENCED,
    KafkaError.INVALID_PRODUCER_EPOCH,
    KafkaError.INVALID_PRODUCER_ID_MAPPING,  # the coordinator has forgotten an id that was idle
    KafkaError.INVALID_TXN_STATE,
    KafkaError._STATE,
)
SIZE_ERRORS = (
    KafkaError.MSG_SIZE_TOO_LARGE,
    KafkaError.RECORD_LIST_TOO_LARGE,
    KafkaError.INVALID_MSG_SIZE,
)


def explained(error: KafkaError, doing: str) -> HoldfastError:
    """What an error means to a step. These are abortable to librdkafka, though no abort helps: go
    by their names."""
    code = error.code()
    if code in SIZE_ERRORS:
        return RecordTooLargeError(f"{doing} failed: a record is larger than its topic takes.")
    if code == KafkaError.FENCED_INSTANCE_ID:
        return ReplacedError("Another pipeline runs this flow now. This one must end.")
    if code == KafkaError.UNKNOWN_MEMBER_ID:
        return MembershipLostError(f"{doing} failed: the group has forgotten this process.")
    if code in _COMPARE_AGAIN:
        return StaleStateError(f"{doing} failed: {error.str()}. Compare again.")
    return translate(error, doing)


class _Calls:
    """A producer and the thread on which it is called."""

    def __init__(self, producer: Producer, name: str) -> None:
        self.producer = producer
        self._queue: SimpleQueue[_Call | None] = SimpleQueue()
        Thread(target=self._serve, name=f"transactions of {name}", daemon=True).start()

    def call(self, name: str, arguments: Sequence[Any], seconds: float) -> None:
        """Returns when the call has returned, and raises what it raised."""
        call = _Call(getattr(self.producer, name), arguments)
        self._queue.put(call)
        if not call.done.wait(seconds + 2):
            raise CallHangsError(f"{name} has not returned within {seconds:.0f} s.")
        if call.error is not None:
            raise call.error

    def abandon(self) -> None:
        """Have the thread end, if it ever comes back from its call, and the producer with it."""
        self._queue.put(None)

    def _serve(self) -> None:
        while (call := self._queue.get()) is not None:
            call.run()


class _Call:
    __slots__ = ("_arguments", "_function", "done", "error")

    def __init__(self, function: Callable[..., Any], arguments: Sequence[Any]) -> None:
        self._function = function
        self._arguments = arguments
        self.done = Event()
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            self._function(*self._arguments)
        except Exception as error:
            self.error = error
        self.done.set()
