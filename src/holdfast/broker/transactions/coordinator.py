"""The transaction coordinator: makes each step of a transaction durable, then acts on it."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from holdfast.broker.log.errors import StorageFailed
from holdfast.broker.settings import BrokerSettings
from holdfast.broker.transactions import record
from holdfast.broker.transactions.markers import OFFSETS, Markers, PartitionsOfTransactions
from holdfast.broker.transactions.transaction import (
    NO_EPOCH,
    PREPARED,
    Producer,
    TopicPartition,
    Transaction,
    TransactionRefused,
    TransactionState,
)
from holdfast.wire.protocol.errors import ErrorCode

log = logging.getLogger(__name__)

RETRY_SECONDS = 0.5
"""Pause before something that was refused, or was in another step's way, is tried again."""
IDS_PER_EXPIRY = 1_000
"""Tombstones in one batch, which has to stay well below the topic's largest."""


class Cancellable(Protocol):
    def cancel(self) -> None: ...


class StateRecord(Protocol):
    @property
    def key(self) -> bytes | None: ...
    @property
    def value(self) -> bytes | None: ...
    @property
    def control(self) -> str | None: ...


class StateLog(Protocol):
    """A log in which the latest record of each key is the state."""

    def append(self, records: Sequence[tuple[bytes, bytes | None]]) -> "asyncio.Future[None]":
        """Resolves when durable, in append order."""

    def replay(self) -> Iterator[StateRecord]: ...


@dataclass(slots=True, eq=False)
class _Entry:
    transaction: Transaction
    appending: bool = False
    """A step is on its way to disk: until it is there, no other may begin."""
    unmarked: set[TopicPartition] = field(default_factory=set)
    """Partitions of a prepared transaction that have no marker yet."""
    timer: Cancellable | None = None
    completion: "asyncio.Task[None] | None" = None


class TransactionCoordinator:
    """Promises, through a crash at any point:

    - A step that was acknowledged is durable, and steps of one transactional id never overlap.
    - A transaction ends in one way: all its partitions get the marker of the decision that was
      made durable first, or are gone.
    - Epochs never go back, and a producer whose epoch is not the present one changes nothing.
    - A transaction that outlives its timeout is aborted, and its producer shut out.
    """

    def __init__(
        self,
        state: StateLog,
        partitions: PartitionsOfTransactions,
        groups_marker: Callable[[int, bool], None],
        settings: BrokerSettings,
        clock: Callable[[], int],
        call_later: Callable[[float, Callable[[], None]], Cancellable],
        next_producer_id: Callable[[], int],
    ) -> None:
        self._state = state
        self.markers = Markers(partitions, groups_marker)
        self._settings = settings
        self._clock = clock
        self._call_later = call_later
        self._next_producer_id = next_producer_id
        self._entries: dict[str, _Entry] = {}
        self._by_producer: dict[int, _Entry] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    def load(self) -> None:
        """Rebuilds every transactional id from the log; what was decided is carried out again.

        On the running loop, and after the groups: the markers are written a turn later.
        """
        found: dict[str, Transaction] = {}
        for entry in self._state.replay():
            if entry.control is not None or entry.key is None:
                continue
            transactional_id = record.decode_key(entry.key)
            if entry.value is None:
                found.pop(transactional_id, None)
            else:
                found[transactional_id] = record.decode_value(transactional_id, entry.value)
        for transactional_id, transaction in found.items():
            self._entries[transactional_id] = loaded = _Entry(transaction)
            self._adopt(loaded, transaction)

    # Requests

    async def init_producer_id(
        self, transactional_id: str | None, timeout_ms: int, expected: Producer | None
    ) -> Producer:
        """An identity for a producer; with a transactional id, all earlier ones are shut out."""
        if transactional_id is None:
            return Producer(self._new_producer_id(), 0)
        if not transactional_id:
            raise TransactionRefused(ErrorCode.INVALID_REQUEST)
        if not 0 < timeout_ms <= self._settings.transaction_max_timeout_ms:
            raise TransactionRefused(ErrorCode.INVALID_TRANSACTION_TIMEOUT)
        entry = self._entries.get(transactional_id) or self._new_entry(transactional_id, timeout_ms)
        after = self._free(entry).initialised(
            timeout_ms, expected, self._new_producer_id, self._clock()
        )
        await self._take(entry, after)
        if after.state is TransactionState.PREPARE_ABORT:
            raise TransactionRefused(ErrorCode.CONCURRENT_TRANSACTIONS)
        return after.producer

    async def add_partitions(
        self, transactional_id: str, producer: Producer, added: Set[TopicPartition]
    ) -> None:
        """Puts partitions into the transaction, which begins with the first of them."""
        entry = self._entry(transactional_id, producer)
        after = self._free(entry).extended(added, self._clock())
        if after is not entry.transaction:
            await self._take(entry, after)

    async def add_offsets(self, transactional_id: str, producer: Producer) -> None:
        """Puts the offsets of consumer groups into the transaction."""
        await self.add_partitions(transactional_id, producer, {OFFSETS})

    async def end(self, transactional_id: str, producer: Producer, commit: bool) -> None:
        """Commits or aborts. Returns when every partition has its marker, durably."""
        entry = self._entry(transactional_id, producer)
        after = self._free(entry).prepared(commit, self._clock())
        if after is not entry.transaction:
            await self._take(entry, after)
            assert entry.completion is not None
            await asyncio.shield(entry.completion)

    def verify(
        self, producer_id: int, producer_epoch: int, topic: str, partition: int
    ) -> ErrorCode | None:
        """Why records of a transaction may not be written to this partition; None if they may."""
        entry = self._by_producer.get(producer_id)
        if entry is None:
            return ErrorCode.INVALID_PRODUCER_ID_MAPPING
        transaction = entry.transaction
        if transaction.epoch != producer_epoch:
            return ErrorCode.INVALID_PRODUCER_EPOCH
        ongoing = transaction.state is TransactionState.ONGOING
        if not ongoing or (topic, partition) not in transaction.partitions:
            return ErrorCode.INVALID_TXN_STATE
        return None

    # Views

    def transactions(self) -> Iterator[Transaction]:
        """Every transactional id; of prepared ones only the partitions that lack their marker."""
        for entry in self._entries.values():
            if entry.transaction.epoch != NO_EPOCH:
                yield _shown(entry)

    def transaction(self, transactional_id: str) -> Transaction | None:
        entry = self._entries.get(transactional_id)
        if entry is None or entry.transaction.epoch == NO_EPOCH:
            return None
        return _shown(entry)

    # Time

    def expire(self, now_ms: int) -> None:
        """Forgets the transactional ids that nobody has used for long."""
        idle_ms = self._settings.transactional_id_expiration_ms
        idle = [
            entry
            for entry in self._entries.values()
            if not entry.appending and entry.transaction.idle_since(now_ms, idle_ms)
        ]
        for entry in idle:
            entry.appending = True
        for start in range(0, len(idle), IDS_PER_EXPIRY):
            self._spawn(self._forget(idle[start : start + IDS_PER_EXPIRY]))

    async def _forget(self, entries: list[_Entry]) -> None:
        try:
            await self._state.append(
                [(record.encode_key(entry.transaction.transactional_id), None) for entry in entries]
            )
        except StorageFailed as error:
            log.warning("Unused transactional ids stay for now: %s", error)
            for entry in entries:
                entry.appending = False
            return
        for entry in entries:
            del self._entries[entry.transaction.transactional_id]
            self._by_producer.pop(entry.transaction.producer_id, None)

    def _watch(self, entry: _Entry) -> None:
        """Aborts the open transaction if its time is over, else looks again when it will be."""
        left = (entry.transaction.deadline_ms - self._clock()) / 1000
        if left > 0 or entry.appending:
            self._watch_later(entry, max(left, RETRY_SECONDS))
            return
        log.info(
            "Transaction of %s is aborted: open for more than %d ms",
            entry.transaction.transactional_id,
            entry.transaction.timeout_ms,
        )
        entry.timer = None
        entry.appending = True
        self._spawn(self._abort(entry))

    def _watch_later(self, entry: _Entry, seconds: float) -> None:
        entry.timer = self._call_later(seconds, lambda: self._watch(entry))

    async def _abort(self, entry: _Entry) -> None:
        try:
            await self._make_durable(entry, entry.transaction.fenced(self._clock()))
        except TransactionRefused:
            self._watch_later(entry, RETRY_SECONDS)

    # Steps

    def _new_entry(self, transactional_id: str, timeout_ms: int) -> _Entry:
        entry = _Entry(
            Transaction(
                transactional_id=transactional_id,
                producer_id=self._new_producer_id(),
                timeout_ms=timeout_ms,
                updated_ms=self._clock(),
            )
        )
        self._entries[transactional_id] = entry
        return entry

    def _new_producer_id(self) -> int:
        try:
            return self._next_producer_id()
        except OSError as error:
            log.warning("No producer ids could be reserved: %s", error)
            raise TransactionRefused(ErrorCode.COORDINATOR_NOT_AVAILABLE) from error

    def _entry(self, transactional_id: str, producer: Producer) -> _Entry:
        if not transactional_id:
            raise TransactionRefused(ErrorCode.INVALID_REQUEST)
        entry = self._entries.get(transactional_id)
        if entry is None:
            raise TransactionRefused(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        entry.transaction.check(producer)
        return entry

    @staticmethod
    def _free(entry: _Entry) -> Transaction:
        if entry.appending:
            raise TransactionRefused(ErrorCode.CONCURRENT_TRANSACTIONS)
        return entry.transaction

    def _take(self, entry: _Entry, after: Transaction) -> "asyncio.Future[None]":
        """Takes a step, to its end even if the one who asked goes away meanwhile."""
        entry.appending = True  # at once: the task begins a turn of the loop later
        return asyncio.shield(self._spawn(self._make_durable(entry, after)))

    async def _make_durable(self, entry: _Entry, after: Transaction) -> None:
        """Appends a step, and makes it the present state when it is durable."""
        try:
            await self._state.append([_record_of(after)])
        except StorageFailed as error:
            log.warning("Transaction of %s: %s", after.transactional_id, error)
            if entry.transaction.epoch == NO_EPOCH:
                del self._entries[after.transactional_id]
            raise TransactionRefused(ErrorCode.COORDINATOR_NOT_AVAILABLE) from error
        finally:
            entry.appending = False
        self._adopt(entry, after)

    def _adopt(self, entry: _Entry, after: Transaction) -> None:
        """`after` is true from now on, and what follows from it begins."""
        self._by_producer.pop(entry.transaction.producer_id, None)
        self._by_producer[after.producer_id] = entry
        entry.transaction = after
        if after.state is TransactionState.ONGOING:
            if entry.timer is None:
                left = (after.deadline_ms - self._clock()) / 1000
                self._watch_later(entry, max(left, 0))
            return
        if entry.timer is not None:
            entry.timer.cancel()
            entry.timer = None
        if after.state in PREPARED:
            entry.unmarked = set(after.partitions)
            entry.completion = self._spawn(self._complete(entry))

    async def _complete(self, entry: _Entry) -> None:
        """Carries out a durable decision, however often the disk refuses.

        The next step need not wait until the log says so too. Its records become durable in order:
        whoever finds a later step there needs this one no more. Without one, after a crash, the
        markers are written again, and nothing new can be in front of them.
        """
        while entry.unmarked:
            await self.markers.write_missing(entry.transaction, entry.unmarked)
            if entry.unmarked:
                await self._pause()
        after = entry.transaction.completed(self._clock())
        self._adopt(entry, after)
        self._spawn(self._note(after))

    async def _note(self, transaction: Transaction) -> None:
        try:
            await self._state.append([_record_of(transaction)])
        except StorageFailed as error:
            log.warning("Transaction of %s: %s", transaction.transactional_id, error)

    async def _pause(self) -> None:
        over = asyncio.Event()
        self._call_later(RETRY_SECONDS, over.set)
        await over.wait()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Tasks begin in the order in which they are spawned: so the log has the steps in order."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _record_of(transaction: Transaction) -> tuple[bytes, bytes]:
    return record.encode_key(transaction.transactional_id), record.encode_value(transaction)


def _shown(entry: _Entry) -> Transaction:
    if entry.transaction.state in PREPARED:
        return replace(entry.transaction, partitions=frozenset(entry.unmarked))
    return entry.transaction
