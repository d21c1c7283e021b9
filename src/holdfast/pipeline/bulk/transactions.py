"""Transactions of one transactional id, written in whole record batches.

The same promises as those of `holdfast.pipeline.transactions`, which makes them with librdkafka:
after any error, `renew`. Every answer is waited for within a deadline, so nothing here hangs.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from time import monotonic, sleep
from typing import Any

from confluent_kafka import KafkaError, TopicPartition

from holdfast.client.settings import ClientSettings
from holdfast.errors import UnavailableError
from holdfast.pipeline import faults
from holdfast.pipeline.bulk.cluster import GROUP, TRANSACTION, Cluster
from holdfast.pipeline.bulk.links import Call, Link
from holdfast.pipeline.bulk.membership import Membership
from holdfast.pipeline.bulk.packing import Packed, Rows, pack, pack_each
from holdfast.pipeline.transactions import SIZE_ERRORS, TRANSACTION_TIMEOUT_MS, Pair, explained
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.add_offsets_to_txn_request import AddOffsetsToTxnRequest
from holdfast.wire.protocol.generated.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from holdfast.wire.protocol.generated.end_txn_request import EndTxnRequest
from holdfast.wire.protocol.generated.init_producer_id_request import InitProducerIdRequest
from holdfast.wire.protocol.generated.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from holdfast.wire.protocol.generated.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from holdfast.wire.records.batch import (
    HEADER,
    MAGIC,
    MIN_LENGTH,
    SEQUENCE_MODULUS,
    TRANSACTIONAL_BIT,
    BatchHeader,
    seal,
)
from holdfast.wire.records.compression import Compression
from holdfast.wire.records.record import Record, decode_records

INIT_PRODUCER_ID = Call.of("init_producer_id", 3)
ADD_PARTITIONS = Call.of("add_partitions_to_txn", 1)
ADD_OFFSETS = Call.of("add_offsets_to_txn", 1)
COMMIT_OFFSETS = Call.of("txn_offset_commit", 3)
END = Call.of("end_txn", 1)
PRODUCE = Call.of("produce", 8)

_ALL_REPLICAS = -1
_NOBODY = (-1, -1)
_MOST_UNANSWERED = 5
"""So many batches of a producer a broker can tell from repeats."""
_FIRST_PAUSE = 0.003
_LONGEST_PAUSE = 0.1
_SOON = {
    ErrorCode.CONCURRENT_TRANSACTIONS,  # the markers of the last one are being written
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
}

_SOON_TAKEN = {ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.CONCURRENT_TRANSACTIONS}

Place = tuple[str, int]
"""Topic and partition."""
Codes = Callable[[Any], Iterable[int]]
"""The error codes in an answer."""


class Lines:
    """Connections for writing, which transactional ids of one thread may share. Those to leaders
    are not those to coordinators: answers come in the order of requests, and those to batches are
    not waited for."""

    def __init__(self, settings: ClientSettings) -> None:
        self.leaders = Cluster(settings)
        self.coordinators = Cluster(settings)

    def forget(self) -> None:
        """After an error: an answer may be on its way that nobody waits for any more."""
        self.leaders.forget()
        self.coordinators.forget()


class BulkTransactions:
    """One transaction at a time: `begin`, `send`, `commit`. After any error, `renew`."""

    def __init__(
        self,
        settings: ClientSettings,
        transactional_id: str,
        batch_bytes: int,
        lines: Lines | None = None,
    ) -> None:
        """`batch_bytes`: how large a batch of several records may be. `lines`: its own unless
        given."""
        self.transactional_id = transactional_id
        self._batch_bytes = batch_bytes
        self._one_by_one = False
        self._seconds = settings.request_timeout
        self._lines = lines or Lines(settings)
        self._new = True
        self._producer = _NOBODY
        self._sequences: Counter[Place] = Counter()
        self._enlisted: set[Place] = set()
        self._begun: set[Place] = set()
        """Where the transaction has a batch."""
        self._unanswered: dict[Link, list[Packed]] = {}
        self._failures: list[tuple[KafkaError, Packed]] = []

    def renew(self, *, one_by_one: bool = False) -> None:
        """A new epoch. When this returns, nothing of an older one of this id is open, and nothing
        that it still sends is taken. `one_by_one`: a batch for every record, until the next."""
        if not self._new:
            self.close()
        self._new = False
        self._one_by_one = one_by_one
        self._sequences.clear()
        self._unanswered.clear()
        self._initialise(_NOBODY)

    def confirm(self) -> None:
        """A new epoch, unless somebody else has one since: StaleStateError then. Between
        transactions."""
        try:
            self._initialise(self._producer)
        except BaseException:
            self._lines.forget()
            raise
        self._sequences.clear()

    def _initialise(self, before: tuple[int, int]) -> None:
        request = InitProducerIdRequest(self.transactional_id, TRANSACTION_TIMEOUT_MS, *before)
        answer = self._coordinate(INIT_PRODUCER_ID, request, lambda answer: [answer.error_code])
        self._producer = (answer.producer_id, answer.producer_epoch)

    def begin(self) -> "BulkTransactions":
        """Begin a transaction; the coordinator learns of it by the first partition."""
        if self._producer == _NOBODY:
            self.renew()
        self._enlisted.clear()
        self._begun.clear()
        self._failures = []
        return self

    def enlist(self, places: Collection[Place]) -> None:
        """Partitions that will be written to: all that are known, by one request."""
        topics: dict[str, list[int]] = {}
        for topic, partition in sorted(set(places) - self._enlisted):
            topics.setdefault(topic, []).append(partition)
        if not topics:
            return
        request = AddPartitionsToTxnRequest(
            self.transactional_id,
            *self._producer,
            [AddPartitionsToTxnTopic(name, numbers) for name, numbers in topics.items()],
        )
        self._coordinate(
            ADD_PARTITIONS,
            request,
            lambda answer: [
                partition.partition_error_code
                for topic in answer.results_by_topic_v3_and_below
                for partition in topic.results_by_partition
            ],
        )
        self._enlisted.update(places)

    def send(self, topic: str, partition: int, records: Packed) -> None:
        """Send a batch on its way; `commit` waits for it."""
        place = (topic, partition)
        self.enlist([place])
        link = self._lines.leaders.leader(topic, partition)
        waiting = self._unanswered.setdefault(link, [])
        if place not in self._begun or self._one_by_one:
            self._send_alone(link, place, records)
            return
        self._send(link, place, records)
        self._count(place, records)
        waiting.append(records)
        if len(waiting) >= _MOST_UNANSWERED:
            self._hear(link)

    def send_rows(self, topic: str, partition: int, rows: Rows) -> None:
        """Send rows in as many batches as they need."""
        for packed in pack(rows, batch_bytes=self._batch_bytes, most=self._most):
            self.send(topic, partition, packed)

    def send_records(self, topic: str, partition: int, records: Sequence[Record]) -> None:
        """The same for a few records at hand."""
        for packed in pack_each(records, batch_bytes=self._batch_bytes, most=self._most):
            self.send(topic, partition, packed)

    def commit(self, offsets: Sequence[TopicPartition], group_metadata: bytes) -> None:
        """Commit what was sent, and these offsets. If this raises, only a look at what was
        committed can tell what came of it."""
        faults.reach("before-offsets")
        self._send_offsets(offsets, Membership.read(group_metadata))
        self._deliver()
        faults.reach("before-commit")
        request = EndTxnRequest(self.transactional_id, *self._producer, True)
        self._coordinate(END, request, lambda answer: [answer.error_code])
        faults.reach("after-commit")

    @property
    def _most(self) -> int | None:
        return 1 if self._one_by_one else None

    def refused(self) -> set[Pair]:
        """Key and value of the records of the last transaction that were refused for their size."""
        return {
            (record.key, record.value)
            for error, packed in self._failures
            if error.code() in SIZE_ERRORS
            for record in _records(packed)
        }

    def close(self) -> None:
        self._lines.forget()
        self._producer = _NOBODY

    def _batch(self, records: Packed, sequence: int) -> bytearray:
        header = BatchHeader(
            0, MIN_LENGTH + len(records.records), -1, MAGIC, 0, TRANSACTIONAL_BIT,
            records.count - 1, records.first_timestamp, records.last_timestamp,
            *self._producer, sequence, records.count,
        )  # fmt: skip
        batch = bytearray(HEADER.pack(*header))
        batch += records.records
        seal(batch)
        return batch

    def _send(self, link: Link, place: Place, records: Packed) -> None:
        topic, partition = place
        batch = memoryview(self._batch(records, self._sequences[place]))
        request = ProduceRequest(
            self.transactional_id,
            _ALL_REPLICAS,
            int(1000 * self._seconds),
            [TopicProduceData(topic, [PartitionProduceData(partition, batch)])],
        )
        link.send(PRODUCE, request)

    def _send_alone(self, link: Link, place: Place, records: Packed) -> None:
        """Nothing else is on its way meanwhile.

        Before a broker takes the first batch of a transaction in a partition, it asks the
        coordinator whether it may; another batch of this id that arrives in between has it send the
        first one back as one to be tried again.
        """
        self._hear_all(link)
        deadline, pause = monotonic() + self._seconds, _FIRST_PAUSE
        while True:
            self._send(link, place, records)
            code = _code(link)
            if code not in _SOON_TAKEN or monotonic() > deadline:
                break
            sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        if code:
            self._failures.append((KafkaError(code), records))
        else:
            self._begun.add(place)
            self._count(place, records)

    def _count(self, place: Place, records: Packed) -> None:
        self._sequences[place] = (self._sequences[place] + records.count) % SEQUENCE_MODULUS

    def _hear_all(self, link: Link) -> None:
        while self._unanswered[link]:
            self._hear(link)

    def _hear(self, link: Link) -> None:
        """Take the answer to the first batch that has none yet on this connection."""
        records = self._unanswered[link].pop(0)
        code = _code(link)
        if code:
            self._failures.append((KafkaError(code), records))

    def _deliver(self) -> None:
        """Wait until all that was sent is there."""
        for link in self._unanswered:
            self._hear_all(link)
        if self._failures:
            sizes = [each for each, _ in self._failures if each.code() in SIZE_ERRORS]
            error = sizes[0] if sizes else self._failures[0][0]
            raise explained(error, f"Writing of {self.transactional_id}")

    def _send_offsets(self, offsets: Sequence[TopicPartition], member: Membership) -> None:
        request = AddOffsetsToTxnRequest(self.transactional_id, *self._producer, member.group)
        self._coordinate(ADD_OFFSETS, request, lambda answer: [answer.error_code])
        topics: dict[str, list[TxnOffsetCommitRequestPartition]] = {}
        for each in offsets:
            topics.setdefault(each.topic, []).append(
                # librdkafka reads metadata up to a zero byte, which it has written with it.
                TxnOffsetCommitRequestPartition(
                    each.partition, each.offset, -1, f"{each.metadata or ''}\0"
                )
            )
        wanted = TxnOffsetCommitRequest(
            self.transactional_id,
            member.group,
            *self._producer,
            member.generation,
            member.member,
            member.instance,
            [TxnOffsetCommitRequestTopic(name, parts) for name, parts in topics.items()],
        )
        self._insist(
            (GROUP, member.group),
            COMMIT_OFFSETS,
            wanted,
            lambda answer: [p.error_code for topic in answer.topics for p in topic.partitions],
        )

    def _coordinate(self, call: Call, request: Any, codes: Codes) -> Any:
        return self._insist((TRANSACTION, self.transactional_id), call, request, codes)

    def _insist(self, whom: tuple[int, str], call: Call, request: Any, codes: Codes) -> Any:
        """A coordinator's answer, asked for again while it is only that it is too early to ask, or
        that another broker is to be asked."""
        deadline, pause = monotonic() + self._seconds, _FIRST_PAUSE
        while True:
            late = monotonic() > deadline
            try:
                answer = self._lines.coordinators.coordinator(*whom).ask(call, request)
            except UnavailableError:
                if late:
                    raise
            else:
                code = _first_error(codes(answer))
                if not code:
                    return answer
                if code not in _SOON or late:
                    raise explained(KafkaError(code), f"{call.name} of {self.transactional_id}")
                if code == ErrorCode.NOT_COORDINATOR:
                    self._lines.coordinators.forget()
            sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)


def _first_error(codes: Iterable[int]) -> int:
    """0: there is none. That a part was not tried, because of another one, says least."""
    errors = sorted(filter(None, codes), key=lambda code: code == ErrorCode.OPERATION_NOT_ATTEMPTED)
    return errors[0] if errors else 0


def _code(link: Link) -> int:
    """The error code in the answer to a batch."""
    code: int = link.receive().responses[0].partition_responses[0].error_code
    return code


def _records(packed: Packed) -> Iterable[Record]:
    return decode_records(
        packed.records,
        count=packed.count,
        compression=Compression.NONE,
        base_offset=0,
        base_timestamp=packed.first_timestamp,
        append_time=None,
    )
