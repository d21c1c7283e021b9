"""The state of one transactional id, and all its steps. No I/O, no clock."""

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
"""The highest epoch of a producer. The last epoch is for the fence that ends its transaction."""


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
DECIDED = PREPARED | {TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT}
AT_REST = frozenset(
    {TransactionState.EMPTY, TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT}
)


class TopicPartition(NamedTuple):
    """A partition that a transaction may write to."""

    topic: str
    partition: int


class Producer(NamedTuple):
    """A producer's id and epoch in a request."""

    id: int
    epoch: int


class TransactionRefused(Exception):
    """A request that the transaction's state does not allow."""

    def __init__(self, error: ErrorCode) -> None:
        super().__init__(error.name)
        self.error = error

    def code(self, version: int, *, fenced_since: int) -> ErrorCode:
        """The error for a client of this version of an API.

        Versions before `fenced_since` do not have PRODUCER_FENCED, and use another error.
        """
        if self.error is ErrorCode.PRODUCER_FENCED and version < fenced_since:
            return ErrorCode.INVALID_PRODUCER_EPOCH
        return self.error


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """A snapshot of a transactional id. Each step returns a new one, or is refused."""

    transactional_id: str
    producer_id: int
    epoch: int = NO_EPOCH
    """`NO_EPOCH` only until the first producer is initialised."""
    last_epoch: int = NO_EPOCH
    """The epoch that a producer bumped itself from. Until its next transaction, it may repeat the
    request without a reply."""
    previous_producer_id: int = NO_PRODUCER_ID
    """The id whose epochs were used up before this one."""
    next_producer_id: int = NO_PRODUCER_ID
    """The producer id after the completion, if the epochs of this one are used up."""
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
        """Gives a producer an epoch that no other producer has had.

        A producer that continues after an error passes `expected`. It is refused if there is a
        newer producer. An open transaction is `fenced` first, and the producer must try again.
        """
        self._check_expected(expected)
        if self.state is TransactionState.ONGOING:
            return self.fenced(now_ms)
        if self.state in PREPARED:
            raise TransactionRefused(ErrorCode.CONCURRENT_TRANSACTIONS)
        if expected is not None and self._was_bumped_from(expected):
            epochs = self
        elif self.is_exhausted:
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
        # Kafka lets a fenced producer abort its successor's transaction here, and refuses only its
        # next request. This broker refuses it at once.
        known = (
            expected is None
            or self.epoch == NO_EPOCH
            or expected == self.producer
            or self._was_bumped_from(expected)
        )
        if not known:
            raise TransactionRefused(ErrorCode.PRODUCER_FENCED)

    def _was_bumped_from(self, producer: Producer) -> bool:
        """Returns True if `producer` bumped itself to this epoch, and repeats the request."""
        if self.last_epoch == NO_EPOCH or producer.epoch != self.last_epoch:
            return False
        rotated = self.epoch < self.last_epoch
        return producer.id == (self.previous_producer_id if rotated else self.producer_id)

    def fenced(self, now_ms: int) -> "Transaction":
        """Aborts the open transaction with a new epoch, which fences its producer."""
        return replace(
            self,
            state=TransactionState.PREPARE_ABORT,
            epoch=min(self.epoch + 1, LAST_EPOCH),
            last_epoch=NO_EPOCH,
            updated_ms=now_ms,
        )

    def check(self, producer: Producer) -> None:
        """Raises TransactionRefused for all producers except the current one."""
        if producer.id != self.producer_id:
            raise TransactionRefused(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        if producer.epoch != self.epoch:
            raise TransactionRefused(ErrorCode.PRODUCER_FENCED)

    def extended(self, added: Set[TopicPartition], now_ms: int) -> "Transaction":
        """Adds partitions. The first ones start the transaction."""
        if self.state in PREPARED:
            raise TransactionRefused(ErrorCode.CONCURRENT_TRANSACTIONS)
        if self.state is TransactionState.ONGOING:
            if added <= self.partitions:
                return self
            return replace(self, partitions=self.partitions | added, updated_ms=now_ms)
        return replace(
            self,
            state=TransactionState.ONGOING,
            # Its producer knows this epoch. A late request with the last one must not end this
            # transaction.
            last_epoch=NO_EPOCH,
            partitions=frozenset(added),
            started_ms=now_ms,
            updated_ms=now_ms,
        )

    def prepared(self, commit: bool, now_ms: int) -> "Transaction":
        """Decides to commit or abort. Returns a transaction that has ended that way unchanged."""
        if self.state is TransactionState.ONGOING:
            decision = TransactionState.PREPARE_COMMIT if commit else TransactionState.PREPARE_ABORT
            return replace(self, state=decision, updated_ms=now_ms)
        if self.state is TransactionState.EMPTY or self.commits != commit:
            raise TransactionRefused(ErrorCode.INVALID_TXN_STATE)
        if self.state in PREPARED:
            raise TransactionRefused(ErrorCode.CONCURRENT_TRANSACTIONS)
        return self

    def ended(
        self,
        producer: Producer,
        commit: bool,
        new_producer_id: Callable[[], int],
        now_ms: int,
    ) -> "Transaction":
        """Decides like `prepared`, and gives the next transaction an epoch of its own (KIP-890).

        A late EndTxn has an old epoch, so it cannot end a later transaction. A repeated one is
        known by the last epoch; the transaction that it ended is returned unchanged. An abort
        without a transaction is allowed: the producer cannot know if its first request arrived.
        """
        if self.state in DECIDED and self._was_bumped_from(producer):
            return self.prepared(commit, now_ms)
        self.check(producer)
        if self.state in PREPARED:
            raise TransactionRefused(ErrorCode.PRODUCER_FENCED)
        if self.state is not TransactionState.ONGOING and commit:
            raise TransactionRefused(ErrorCode.INVALID_TXN_STATE)
        return replace(
            self,
            state=TransactionState.PREPARE_COMMIT if commit else TransactionState.PREPARE_ABORT,
            epoch=min(self.epoch + 1, LAST_EPOCH),
            last_epoch=self.epoch,
            next_producer_id=new_producer_id() if self.is_exhausted else NO_PRODUCER_ID,
            updated_ms=now_ms,
        )

    @property
    def is_exhausted(self) -> bool:
        """Returns True if the next epoch needs another producer id."""
        return self.epoch >= EXHAUSTED_EPOCH

    def completed(self, now_ms: int) -> "Transaction":
        """Ends a prepared transaction whose markers are all written."""
        outcome = (
            TransactionState.COMPLETE_COMMIT if self.commits else TransactionState.COMPLETE_ABORT
        )
        after = replace(self, state=outcome, partitions=frozenset(), updated_ms=now_ms)
        if self.next_producer_id == NO_PRODUCER_ID:
            return after
        return replace(
            after,
            producer_id=self.next_producer_id,
            epoch=0,
            previous_producer_id=self.producer_id,
            next_producer_id=NO_PRODUCER_ID,
        )

    def is_idle(self, now_ms: int, expiration_ms: int) -> bool:
        """Returns True if the id has been unused for `expiration_ms`."""
        return self.state in AT_REST and self.updated_ms + expiration_ms <= now_ms
