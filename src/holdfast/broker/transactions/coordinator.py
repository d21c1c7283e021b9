"""The transaction coordinator: makes each step of a transaction durable, then carries it out."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator, Set
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from holdfast.broker.log.errors import StorageFailed
from holdfast.broker.patience import CallLater, Cancellable
from holdfast.broker.settings import BrokerSettings
from holdfast.broker.transactions import record
from holdfast.broker.transactions.markers import OFFSETS, Markers, PartitionsOfTransactions
from holdfast.broker.transactions.transaction import (
    AT_REST,
    DECIDED,
    NO_EPOCH,
    PREPARED,
    Producer,
    TopicPartition,
    Transaction,
    TransactionRefused,
    TransactionState,
)
from holdfast.wire.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from holdfast.broker.state_log import StateLog

log = logging.getLogger(__name__)

RETRY_SECONDS = 0.5
"""Pause before a retry of a write that failed, or of a step that met another one."""
IDS_PER_EXPIRY = 1_000
"""Tombstones in one batch, which must stay well below the topic's limit."""
MOST_IDS = 10_000
LONGEST_ID = 4_096
"""In bytes."""
IDS_PER_ROOM = 100
"""Unused ids that are deleted at once when there are too many."""
MOST_STEPS_AWAITED = 10
"""A client's own requests may overlap: at most five batches and an offset commit."""
MOST_PARTITIONS = 100_000
"""In all open transactions together. Every change of a transaction writes all its partitions."""


@dataclass(slots=True, eq=False)
class _Entry:
    """A transactional id, and its step in progress."""

    transaction: Transaction
    appending: bool = False
    """A step is being written: no other may begin until it is durable."""
    step: "asyncio.Task[None] | None" = None
    """The last step of a request."""
    unmarked: set[TopicPartition] = field(default_factory=set)
    """Partitions of a prepared transaction that have no marker yet."""
    counted: frozenset[TopicPartition] = frozenset()
    """Partitions that the coordinator's total includes."""
    timer: Cancellable | None = None
    completion: "asyncio.Task[None] | None" = None


class TransactionCoordinator:
    """Promises, through a crash at any point:

    - An acknowledged step is durable, and steps of one transactional id never overlap.
    - A transaction ends in one way: all its partitions that still exist get the marker of the
      first durable decision.
    - Epochs never decrease, and a producer with an old epoch changes nothing.
    - A transaction that outlives its timeout is aborted, and its producer is fenced.
    """

    def __init__(
        self,
        state: "StateLog",
        partitions: PartitionsOfTransactions,
        groups_marker: Callable[[int, bool], None],
        settings: BrokerSettings,
        clock: Callable[[], int],
        call_later: CallLater,
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
        self._partitions = 0
        """In all open transactions."""
        self._tasks: set[asyncio.Task[Any]] = set()

    def load(self) -> None:
        """Restores all transactional ids from the log, and carries out decided transactions again.

        Call it on the running loop, after the groups are loaded: tasks write the markers.
        """
        transactions: dict[str, Transaction] = {}
        decisions: dict[int, bool] = {}
        """The decision on the last transaction of each producer id: True for a commit."""
        for entry in self._state.replay():
            if entry.control is not None or entry.key is None:
                continue
            transactional_id = record.decode_key(entry.key)
            if entry.value is None:
                transactions.pop(transactional_id, None)
            else:
                known = record.decode_value(transactional_id, entry.value)
                transactions[transactional_id] = known
                if known.state in DECIDED:
                    decisions[known.producer_id] = known.commits
        for transactional_id, transaction in transactions.items():
            self._entries[transactional_id] = loaded = _Entry(transaction)
            self._adopt(loaded, transaction)
        for partition, producer in self.markers.open_transactions():
            if self._is_hanging(partition, producer.id):
                self._spawn(self._end_hanging(partition, producer, decisions.get(producer.id)))

    def _is_hanging(self, partition: TopicPartition, producer_id: int) -> bool:
        """Returns True if the partition waits for a marker that no transaction will write."""
        entry = self._by_producer.get(producer_id)
        is_open = (
            entry is not None
            and entry.transaction.state not in AT_REST
            and partition in entry.transaction.partitions
        )
        return not is_open and self.markers.is_open(partition, producer_id)

    async def _end_hanging(
        self, partition: TopicPartition, producer: Producer, decision: bool | None
    ) -> None:
        """Writes a marker that is missing. Earlier releases replied to EndTxn although a partition
        had refused the marker, and its last stable offset did not move from then on."""
        while self._is_hanging(partition, producer.id):
            log.warning(
                "%s-%d has an open transaction of producer %d that the coordinator has ended: it "
                "is %s there now",
                *partition,
                producer.id,
                "committed" if decision else "aborted",
            )
            try:
                await self.markers.write(partition, producer, bool(decision))
            except StorageFailed as error:
                log.error("Marker of producer %d for %s-%d: %s", producer.id, *partition, error)
                await self._pause()

    # Requests

    async def init_producer_id(
        self, transactional_id: str | None, timeout_ms: int, expected: Producer | None
    ) -> Producer:
        """A producer id and epoch. With a transactional id, earlier producers of it are fenced."""
        if transactional_id is None:
            return Producer(self._new_producer_id(), 0)
        if not transactional_id or len(transactional_id.encode()) > LONGEST_ID:
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
        """Adds partitions to the transaction. The first one starts it."""
        entry = self._entry(transactional_id, producer)
        after = self._free(entry).extended(added, self._clock())
        growth = len(after.partitions) - len(entry.transaction.partitions)
        if growth > 0 and self._partitions + growth > MOST_PARTITIONS:
            log.warning("%.100s: open transactions have too many partitions", transactional_id)
            raise TransactionRefused(ErrorCode.POLICY_VIOLATION)
        if after is not entry.transaction:
            await self._take(entry, after)

    async def enlist(
        self, transactional_id: str, producer: Producer, partitions: Set[TopicPartition]
    ) -> None:
        """Adds the partitions of a request that writes to them (transaction version 2).

        Such requests overlap, so this waits until the step of another one is durable.
        """
        for _ in range(MOST_STEPS_AWAITED):
            entry = self._entry(transactional_id, producer)
            if not entry.appending or entry.step is None:
                break
            await asyncio.wait([entry.step])
        await self.add_partitions(transactional_id, producer, partitions)

    def partitions(self, transactional_id: str, producer: Producer) -> frozenset[TopicPartition]:
        """The partitions of the producer's open transaction."""
        transaction = self._free(self._entry(transactional_id, producer))
        if transaction.state in PREPARED:
            raise TransactionRefused(ErrorCode.CONCURRENT_TRANSACTIONS)
        return transaction.partitions

    async def add_offsets(self, transactional_id: str, producer: Producer) -> None:
        """Adds the offsets of consumer groups to the transaction."""
        await self.add_partitions(transactional_id, producer, {OFFSETS})

    async def end(self, transactional_id: str, producer: Producer, commit: bool) -> None:
        """Commits or aborts. Returns when the markers of all partitions are durable."""
        entry = self._entry(transactional_id, producer)
        after = self._free(entry).prepared(commit, self._clock())
        if after is not entry.transaction:
            await self._take_and_complete(entry, after)

    async def end_with_new_epoch(
        self, transactional_id: str, producer: Producer, commit: bool
    ) -> Producer:
        """Like `end`. Returns the id and epoch of the producer's next transaction (version 2)."""
        entry = self._entry_of(transactional_id)
        after = entry.transaction.ended(producer, commit, self._new_producer_id, self._clock())
        self._free(entry)
        if after is not entry.transaction:
            await self._take_and_complete(entry, after)
        # Not the current epoch: it may belong to another producer by now.
        return after.completed(after.updated_ms).producer

    async def _take_and_complete(self, entry: _Entry, after: Transaction) -> None:
        await self._take(entry, after)
        assert entry.completion is not None
        await asyncio.shield(entry.completion)

    async def abort(self, partition: TopicPartition, producer: Producer) -> None:
        """Ends the producer's open transaction in a partition, for an administrator.

        If the coordinator has the transaction open too, it aborts all of it and fences the
        producer. Otherwise a later commit would succeed without this partition's records.
        """
        entry = self._by_producer.get(producer.id)
        current = NO_EPOCH if entry is None else entry.transaction.epoch
        in_partition = self.markers.producer_epoch(partition, producer.id)
        if not in_partition <= producer.epoch <= max(current, in_partition):
            raise TransactionRefused(ErrorCode.INVALID_PRODUCER_EPOCH)
        if not self.markers.is_open(partition, producer.id):
            return
        if entry is None or self._is_hanging(partition, producer.id):
            await self.markers.write(partition, producer, commit=False)
            return
        if self._free(entry).state is not TransactionState.ONGOING:
            raise TransactionRefused(ErrorCode.CONCURRENT_TRANSACTIONS)
        await self._take_and_complete(entry, entry.transaction.fenced(self._clock()))

    def is_exhausted(self, transactional_id: str) -> bool:
        """Returns True if the end of the transaction will take a new producer id."""
        entry = self._entries.get(transactional_id)
        return entry is not None and entry.transaction.is_exhausted

    def verify(
        self, producer_id: int, producer_epoch: int, topic: str, partition: int
    ) -> ErrorCode | None:
        """Returns None if a transaction's records may be written to this partition."""
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
        """All transactional ids; prepared ones with the partitions that lack a marker."""
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
        """Deletes transactional ids that have not been used for a long time."""
        idle_ms = self._settings.transactional_id_expiration_ms
        idle = [
            entry
            for entry in self._entries.values()
            if not entry.appending and entry.transaction.is_idle(now_ms, idle_ms)
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
        """The timeout of the open transaction has passed: aborts it, unless a step is under way.

        Timers follow the monotonic clock. The wall clock may have been set back meanwhile, and the
        transaction would stay open for as long.
        """
        if entry.appending:
            self._watch_later(entry, RETRY_SECONDS)
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

    def _make_room(self) -> None:
        """Raises TransactionRefused if there is no room for another transactional id.

        Ids without a transaction are deleted to make room, the oldest first. A producer of a
        deleted id is refused from then on. Ids in use are never deleted.
        """
        if len(self._entries) < MOST_IDS:
            return
        unused = [
            entry
            for entry in self._entries.values()
            if entry.transaction.state is TransactionState.EMPTY and not entry.appending
        ]
        unused.sort(key=lambda entry: entry.transaction.updated_ms)
        if unused:
            for entry in unused[:IDS_PER_ROOM]:
                entry.appending = True
            self._spawn(self._forget(unused[:IDS_PER_ROOM]))
            raise TransactionRefused(ErrorCode.CONCURRENT_TRANSACTIONS)  # clients try again
        log.warning("There are %d transactional ids, the maximum", len(self._entries))
        raise TransactionRefused(ErrorCode.POLICY_VIOLATION)

    def _new_entry(self, transactional_id: str, timeout_ms: int) -> _Entry:
        self._make_room()
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
        entry = self._entry_of(transactional_id)
        entry.transaction.check(producer)
        return entry

    def _entry_of(self, transactional_id: str) -> _Entry:
        if not transactional_id:
            raise TransactionRefused(ErrorCode.INVALID_REQUEST)
        entry = self._entries.get(transactional_id)
        if entry is None:
            raise TransactionRefused(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        return entry

    @staticmethod
    def _free(entry: _Entry) -> Transaction:
        if entry.appending:
            raise TransactionRefused(ErrorCode.CONCURRENT_TRANSACTIONS)
        return entry.transaction

    def _take(self, entry: _Entry, after: Transaction) -> "asyncio.Future[None]":
        """Takes a step, and finishes it even if the client disconnects meanwhile."""
        entry.appending = True  # now, because the task starts later
        entry.step = self._spawn(self._make_durable(entry, after))
        return asyncio.shield(entry.step)

    async def _make_durable(self, entry: _Entry, after: Transaction) -> None:
        """Appends a step, and makes it the current state when it is durable."""
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
        """Makes `after` the current state, and starts its timer or its markers."""
        self._by_producer.pop(entry.transaction.producer_id, None)
        self._by_producer[after.producer_id] = entry
        self._partitions += len(after.partitions) - len(entry.counted)
        entry.counted = after.partitions
        entry.transaction = after
        if after.state is TransactionState.ONGOING:
            if entry.timer is None:
                left_ms = min(after.deadline_ms - self._clock(), after.timeout_ms)
                self._watch_later(entry, max(left_ms, 0) / 1000)
            return
        if entry.timer is not None:
            entry.timer.cancel()
            entry.timer = None
        if after.state in PREPARED:
            entry.unmarked = set(after.partitions)
            entry.completion = self._spawn(self._complete(entry))

    async def _complete(self, entry: _Entry) -> None:
        """Writes the markers of a durable decision, and retries while the disk fails.

        The next step does not wait until the completion is in the log. Records become durable in
        order, so a later step in the log makes this one unnecessary. Without a later step, the
        markers are written again after a crash, and no new records can be before them.
        """
        while entry.unmarked:
            await self.markers.write_missing(entry.transaction, entry.unmarked)
            if entry.unmarked:
                await self._pause()
        after = entry.transaction.completed(self._clock())
        self._adopt(entry, after)
        self._spawn(self._log_completion(after))

    async def _log_completion(self, transaction: Transaction) -> None:
        try:
            await self._state.append([_record_of(transaction)])
        except StorageFailed as error:
            log.warning("Transaction of %s: %s", transaction.transactional_id, error)

    async def _pause(self) -> None:
        over = asyncio.Event()
        self._call_later(RETRY_SECONDS, over.set)
        await over.wait()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Starts a task. Tasks start in this order, so the log has the steps in order."""
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
