"""What is known of one transactional id, and every step that it may take. No I/O, no clock."""

from collections.abc import Callable, Set
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import NamedTuple

from holdfast.wire.protocol.errors import ErrorCode

NO_PRODUCER_ID = -1
NO_EPOCH = -1
LAST_EPOCH = 32_767
"""Epochs are 16 bits wide."""
EXHAUSTED_EPOCH = LAST_EPOCH - 1
"""No producer is given a higher one: the last is kept for the fence that ends its transaction."""


class TransactionState(IntEnum):
    """Kafka's states, with their codes in the transaction log."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    DEAD = 6
    PREPARE_EPOCH_FENCE = 7

    @property
    def label(self) -> str:
        """The name that admin tools show, e.g. `CompleteCommit`."""
        return self.name.title().replace("_", "")


PREPARED = frozenset({TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT})
AT_REST = frozenset(
    {TransactionState.EMPTY, TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT}
)


class TopicPartition(NamedTuple):
    """A partition that a transaction may write to."""

    topic: str
    partition: int


class Producer(NamedTuple):
    """A producer as it names itself in requests."""

    id: int
    epoch: int


class TransactionRefused(Exception):
    """A request that the transaction's state does not allow."""

    def __init__(self, error: ErrorCode) -> None:
        super().__init__(error.name)
        self.error = error

    def code(self, version: int, *, fenced_since: int) -> ErrorCode:
        """The error for a client of this version of an API.

        PRODUCER_FENCED came later; versions before `fenced_since` know it as another error.
        """
        if self.error is ErrorCode.PRODUCER_FENCED and version < fenced_since:
            return ErrorCode.INVALID_PRODUCER_EPOCH
        return self.error


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """One transactional id at one moment. Each step gives a new one, or is refused."""

    transactional_id: str
    producer_id: int
    epoch: int = NO_EPOCH
    """`NO_EPOCH` only until the first producer is initialised."""
    last_epoch: int = NO_EPOCH
    """The epoch that a producer bumped itself from: it may ask again when the answer was lost."""
    previous_producer_id: int = NO_PRODUCER_ID
    """The id whose epochs were used up before this one."""
    timeout_ms: int
    state: TransactionState = TransactionState.EMPTY
    partitions: frozenset[TopicPartition] = frozenset()
    started_ms: int = -1
    updated_ms: int

    @property
    def producer(self) -> Producer:
        return Producer(self.producer_id, self.epoch)

    @property
    def commits(self) -> bool:
        return self.state in (TransactionState.PREPARE_COMMIT, TransactionState.COMPLETE_COMMIT)

    @property
    def deadline_ms(self) -> int:
        return self.started_ms + self.timeout_ms

    def initialised(
        self,
        timeout_ms: int,
        expected: Producer | None,
        new_producer_id: Callable[[], int],
        now_ms: int,
    ) -> "Transaction":
        """A producer takes over: it gets an epoch that no other ever had.

        `expected` is given by a producer that wants to go on after an error: it is refused if
        another one has come since. An open transaction is `fenced` instead: when that is done,
        the producer has to ask again.
        """
        self._check_expected(expected)
        if self.state is TransactionState.ONGOING:
            return self.fenced(now_ms)
        if self.state in PREPARED:
            raise TransactionRefused(ErrorCode.CONCURRENT_TRANSACTIONS)
        if expected is not None and self._repeats_initialisation(expected):
            epochs = self
        elif self.epoch >= EXHAUSTED_EPOCH:
            epochs = replace(
                self,
                producer_id=new_producer_id(),
                epoch=0,
                last_epoch=NO_EPOCH if expected is None else self.epoch,
                previous_producer_id=self.producer_id,
            )
        else:
            epochs = replace(
                self,
                epoch=self.epoch + 1,
                last_epoch=NO_EPOCH if expected is None else self.epoch,
            )
        return replace(
            epochs,
            timeout_ms=timeout_ms,
            state=TransactionState.EMPTY,
            partitions=frozenset(),
            started_ms=-1,
            updated_ms=now_ms,
        )

    def _check_expected(self, expected: Producer | None) -> None:
        # Kafka lets a fenced producer abort its successor's transaction here, and refuses it only
        # when it asks again. Ours is refused at once.
        known = (
            expected is None
            or self.epoch == NO_EPOCH
            or expected == self.producer
            or self._repeats_initialisation(expected)
        )
        if not known:
            raise TransactionRefused(ErrorCode.PRODUCER_FENCED)

    def _repeats_initialisation(self, expected: Producer) -> bool:
        """Whether `expected` bumped itself to the present epoch, and did not hear of it."""
        if self.last_epoch == NO_EPOCH or expected.epoch != self.last_epoch:
            return False
        rotated = self.last_epoch >= EXHAUSTED_EPOCH
        return expected.id == (self.previous_producer_id if rotated else self.producer_id)

    def fenced(self, now_ms: int) -> "Transaction":
        """The open transaction is aborted under a new epoch, so that its producer is shut out."""
        return replace(
            self,
            state=TransactionState.PREPARE_ABORT,
            epoch=min(self.epoch + 1, LAST_EPOCH),
            last_epoch=NO_EPOCH,
            updated_ms=now_ms,
        )

    def check(self, producer: Producer) -> None:
        """Refuses every producer but the present one."""
        if producer.id != self.producer_id:
            raise TransactionRefused(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        if producer.epoch != self.epoch:
            raise TransactionRefused(ErrorCode.PRODUCER_FENCED)

    def extended(self, added: Set[TopicPartition], now_ms: int) -> "Transaction":
        """With more partitions; the first ones begin the transaction."""
        if self.state in PREPARED:
            raise TransactionRefused(ErrorCode.CONCURRENT_TRANSACTIONS)
        if self.state is TransactionState.ONGOING:
            if added <= self.partitions:
                return self
            return replace(self, partitions=self.partitions | added, updated_ms=now_ms)
        return replace(
            self,
            state=TransactionState.ONGOING,
            partitions=frozenset(added),
            started_ms=now_ms,
            updated_ms=now_ms,
        )

    def prepared(self, commit: bool, now_ms: int) -> "Transaction":
        """The decision how the transaction ends. A decision already carried out is unchanged."""
        if self.state is TransactionState.ONGOING:
            decision = TransactionState.PREPARE_COMMIT if commit else TransactionState.PREPARE_ABORT
            return replace(self, state=decision, updated_ms=now_ms)
        if self.state is TransactionState.EMPTY or self.commits != commit:
            raise TransactionRefused(ErrorCode.INVALID_TXN_STATE)
        if self.state in PREPARED:
            raise TransactionRefused(ErrorCode.CONCURRENT_TRANSACTIONS)
        return self

    def completed(self, now_ms: int) -> "Transaction":
        """The markers of a prepared transaction are written everywhere."""
        outcome = (
            TransactionState.COMPLETE_COMMIT if self.commits else TransactionState.COMPLETE_ABORT
        )
        return replace(self, state=outcome, partitions=frozenset(), updated_ms=now_ms)

    def idle_since(self, now_ms: int, expiration_ms: int) -> bool:
        """Whether nothing has happened for so long that the id may be forgotten."""
        return self.state in AT_REST and self.updated_ms + expiration_ms <= now_ms
