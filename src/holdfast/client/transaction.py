"""Transactions of a producer."""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka import Producer as KafkaProducer

from holdfast.client.connection import Connection
from holdfast.client.kafka_errors import translate
from holdfast.errors import ConflictError, HoldfastError, UnavailableError

if TYPE_CHECKING:
    from holdfast.client.consumer import Consumer

log = logging.getLogger("holdfast.client")

_ATTEMPTS = 5
"""For calls that librdkafka marks as retriable; each attempt has its own timeout."""


class Transaction:
    """All or nothing: committed when the `with` block ends, aborted when it raises."""

    def __init__(self, kafka: KafkaProducer, *, transactional: bool, timeout: float) -> None:
        self._kafka = kafka
        self._transactional = transactional
        self._timeout = timeout

    @staticmethod
    def prepare(kafka: KafkaProducer, connection: Connection) -> None:
        """Fence earlier producers of the same id and abort their open transactions."""
        timeout = connection.settings.request_timeout
        _repeated(lambda: kafka.init_transactions(timeout), "Preparing for transactions")

    def send_offsets(self, consumer: "Consumer") -> None:
        """Commit the consumer's position in this transaction, the current record included.

        The consumer needs `auto_commit=False`: otherwise it would itself commit offsets that an
        aborted transaction has undone.
        """
        self.send_positions(*consumer.handed_out())

    def send_positions(self, offsets: list[TopicPartition], metadata: Any) -> None:
        """Commit these offsets of the group of `metadata` in this transaction."""
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

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            self._abort_because_of(error)
            return
        try:
            _repeated(self._kafka.commit_transaction, "Committing a transaction")
        except _MustAbortError as refused:
            self._abort()
            raise UnavailableError(
                f"The transaction was rolled back; it can be done again. {refused}"
            ) from None

    def _abort_because_of(self, cause: BaseException) -> None:
        """Abort. If that fails, `cause` stays the error, and the broker aborts by itself."""
        try:
            self._abort()
        except HoldfastError as error:
            message = (
                f"The transaction could not be aborted: {error} The broker aborts it when its time "
                "is up; until then its records stay invisible and readers wait."
            )
            log.error("%s", message)
            cause.add_note(message)

    def _abort(self) -> None:
        _repeated(lambda: self._kafka.abort_transaction(self._timeout), "Aborting a transaction")


class _MustAbortError(UnavailableError):
    """The broker requires that this transaction is aborted."""


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
