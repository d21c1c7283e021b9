"""Transactions of a producer."""

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self

from confluent_kafka import KafkaException
from confluent_kafka import Producer as KafkaProducer

from holdfast.client.connection import Connection
from holdfast.client.kafka_errors import translate
from holdfast.errors import ConflictError, UnavailableError

if TYPE_CHECKING:
    from holdfast.client.consumer import Consumer

_ATTEMPTS = 5
"""Of calls that librdkafka says may be repeated; each waits for a time-out of its own."""


class Transaction:
    """All or nothing: committed when the `with` block ends well, aborted when it raises."""

    def __init__(self, kafka: KafkaProducer, *, transactional: bool) -> None:
        self._kafka = kafka
        self._transactional = transactional

    @staticmethod
    def prepare(kafka: KafkaProducer, connection: Connection) -> None:
        """Fence earlier producers of the same id and abort what they left open."""
        timeout = connection.settings.request_timeout
        _repeated(lambda: kafka.init_transactions(timeout), "Preparing for transactions")

    def send_offsets(self, consumer: "Consumer") -> None:
        """Commit in this transaction what the consumer has handed out, the record in hand included.

        The consumer must be one with `auto_commit=False`: otherwise it would commit by itself what
        an aborted transaction has undone.
        """
        if consumer.auto_commit:
            raise ConflictError(
                "The offsets of a consumer that commits by itself cannot be part of a transaction: "
                "make it with auto_commit=False."
            )
        offsets, metadata = consumer.handed_out()
        if offsets:
            _repeated(
                lambda: self._kafka.send_offsets_to_transaction(offsets, metadata),
                "Sending offsets to the transaction",
            )

    def __enter__(self) -> Self:
        if not self._transactional:
            raise ConflictError(
                "This producer has no transactions: make it with "
                "client.producer(transactional_id=...)."
            )
        try:
            self._kafka.begin_transaction()
        except KafkaException as error:
            raise translate(error, "Beginning a transaction") from None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self._abort()
            return
        try:
            _repeated(self._kafka.commit_transaction, "Committing a transaction")
        except _MustAbortError as refused:
            self._abort()
            raise UnavailableError(
                f"The transaction was rolled back; it can be done again. {refused}"
            ) from None

    def _abort(self) -> None:
        _repeated(self._kafka.abort_transaction, "Aborting a transaction")


class _MustAbortError(UnavailableError):
    """The broker wants this transaction to be aborted."""


def _repeated(call: Callable[[], object], doing: str) -> None:
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            call()
        except KafkaException as error:
            cause = error.args[0]
            if cause.txn_requires_abort():
                raise _MustAbortError(str(translate(error, doing))) from None
            if not cause.retriable() or attempt == _ATTEMPTS:
                raise translate(error, doing) from None
        else:
            return
