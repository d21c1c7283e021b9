"""Transactions of one transactional id, written in whole record batches.

It keeps the promises of `holdfast.kafka.transactions`, which uses librdkafka: after any
error, `renew`. Every request has a deadline, so nothing here hangs.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from confluent_kafka import KafkaError, TopicPartition

from holdfast import faults
from holdfast.client.settings import ClientSettings
from holdfast.errors import TransientError
from holdfast.kafka.cluster import GROUP, TRANSACTION, ClusterClient
from holdfast.kafka.connection import ApiCall, BrokerConnection
from holdfast.kafka.errors import SIZE_ERRORS, TRANSACTION_TIMEOUT_MS, Refused, explained
from holdfast.kafka.group_member import Membership
from holdfast.kafka.packing import Packed, Rows, pack, pack_each
from holdfast.kafka.retries import Retries
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.add_offsets_to_txn_request import AddOffsetsToTxnRequest
from holdfast.wire.protocol.generated.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from holdfast.wire.protocol.generated.api_versions_request import ApiVersionsRequest
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

INIT_PRODUCER_ID = ApiCall.of("init_producer_id", 3)
ADD_PARTITIONS = ApiCall.of("add_partitions_to_txn", 1)
ADD_OFFSETS = ApiCall.of("add_offsets_to_txn", 1)
COMMIT_OFFSETS = ApiCall.of("txn_offset_commit", 3)
END = ApiCall.of("end_txn", 1)
PRODUCE = ApiCall.of("produce", 8)
API_VERSIONS = ApiCall.of("api_versions", 3)
# Transaction version 2 (KIP-890). Each transaction has an epoch of its own, which comes with the
# reply to EndTxn. A late request cannot touch the next transaction. Produce and TxnOffsetCommit add
# partitions and group.
TRANSACTION_VERSION = "transaction.version"
END_2 = ApiCall.of("end_txn", 5)
COMMIT_OFFSETS_2 = ApiCall.of("txn_offset_commit", 5)
PRODUCE_2 = ApiCall.of("produce", 12)

_ALL_REPLICAS = -1
_NO_PRODUCER_ID = (-1, -1)
_MAX_IN_FLIGHT = 5
"""A broker detects repeats among this many batches of a producer."""
_COORDINATOR_MOVED_ERRORS = {
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
}
"""Another broker may be the coordinator now."""
_RETRIABLE_COORDINATOR_ERRORS = _COORDINATOR_MOVED_ERRORS | {
    ErrorCode.CONCURRENT_TRANSACTIONS
}  # the last one's markers are being written

_RETRIABLE_PRODUCE_ERRORS = {ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.CONCURRENT_TRANSACTIONS}

_TRANSACTION_ERRORS = {
    ErrorCode.CONCURRENT_TRANSACTIONS,
    ErrorCode.INVALID_PRODUCER_EPOCH,
    ErrorCode.INVALID_PRODUCER_ID_MAPPING,
    ErrorCode.INVALID_TXN_STATE,
    ErrorCode.PRODUCER_FENCED,
    ErrorCode.TRANSACTION_ABORTABLE,
}
"""Replies to a batch that no batch of the transaction will escape."""

TopicPartitionKey = tuple[str, int]
"""Topic and partition."""
Codes = Callable[[Any], Iterable[int]]
"""The error codes in an answer."""


class BrokerConnections:
    """Connections for writing, which the transactional ids of one thread may share. Leaders and
    coordinators have separate ones: replies come in the order of requests, and those to batches are
    read later."""

    def __init__(self, settings: ClientSettings) -> None:
        self.leaders = ClusterClient(settings)
        self.coordinators = ClusterClient(settings)

    def forget(self) -> None:
        """After an error: replies may be on their way that belong to no later request."""
        self.leaders.forget()
        self.coordinators.forget()


class TransactionalProducer:
    """One transaction at a time: `begin`, `send`, `commit`. After any error, `renew`."""

    def __init__(
        self,
        settings: ClientSettings,
        transactional_id: str,
        batch_bytes: int,
        connections: BrokerConnections | None = None,
    ) -> None:
        """`batch_bytes`: how large a batch of several records may be. `connections`: its own unless
        given."""
        self.transactional_id = transactional_id
        self.batch_bytes = batch_bytes
        self._seconds = settings.request_timeout
        self._connections = connections or BrokerConnections(settings)
        self._new = True
        self._version = 1
        """The version of transactions that the cluster has."""
        self._producer = _NO_PRODUCER_ID
        self._sequences: Counter[TopicPartitionKey] = Counter()
        self._enlisted: set[TopicPartitionKey] = set()
        self._begun: set[TopicPartitionKey] = set()
        """Where the transaction has a batch."""
        self._in_flight: dict[BrokerConnection, list[tuple[str, Packed]]] = {}
        self._failures: list[tuple[KafkaError, str, Packed]] = []

    def renew(self) -> None:
        """A new epoch. When this returns, nothing of an older one of this id is open, and nothing
        that it still sends is taken."""
        if not self._new:
            self.close()
        self._new = False
        self._sequences.clear()
        self._in_flight.clear()
        self._version = self._version_of_cluster()
        self._initialise(_NO_PRODUCER_ID)

    def confirm(self) -> None:
        """A new epoch, between transactions. StaleStateError if another process has begun one."""
        try:
            self._initialise(self._producer)
        except BaseException:
            self._connections.forget()
            raise
        self._sequences.clear()

    def _initialise(self, before: tuple[int, int]) -> None:
        request = InitProducerIdRequest(self.transactional_id, TRANSACTION_TIMEOUT_MS, *before)
        answer = self._coordinate(INIT_PRODUCER_ID, request, lambda answer: [answer.error_code])
        self._producer = (answer.producer_id, answer.producer_epoch)

    def _version_of_cluster(self) -> int:
        """Asked again after every error: a cluster may be upgraded meanwhile."""
        request = ApiVersionsRequest("holdfast", "1")
        answer = self._coordinate(API_VERSIONS, request, lambda answer: [answer.error_code])
        levels: dict[str, int] = {
            each.name: each.max_version_level for each in answer.finalized_features
        }
        return 2 if levels.get(TRANSACTION_VERSION, 0) >= 2 else 1

    def begin(self) -> "TransactionalProducer":
        """Begin a transaction; the coordinator learns of it by the first partition."""
        if self._producer == _NO_PRODUCER_ID:
            self.renew()
        self._enlisted.clear()
        self._begun.clear()
        self._failures = []
        return self

    def enlist(self, partitions: Collection[TopicPartitionKey]) -> None:
        """Partitions that will be written to: all that are known, by one request. Version 2 of
        transactions does not need it."""
        if self._version >= 2:
            return
        topics: dict[str, list[int]] = {}
        for topic, partition in sorted(set(partitions) - self._enlisted):
            topics.setdefault(topic, []).append(partition)
        if not topics:
            return
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.transactional_id,
            v3_and_below_producer_id=self._producer[0],
            v3_and_below_producer_epoch=self._producer[1],
            v3_and_below_topics=[
                AddPartitionsToTxnTopic(name, numbers) for name, numbers in topics.items()
            ],
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
        self._enlisted.update(partitions)

    def send(self, topic: str, partition: int, records: Packed) -> None:
        """Send a batch on its way; `commit` waits for it."""
        target = (topic, partition)
        self.enlist([target])
        connection = self._connections.leaders.leader(topic, partition)
        waiting = self._in_flight.setdefault(connection, [])
        if target not in self._begun:
            self._send_alone(connection, target, records)
            return
        self._send(connection, target, records)
        self._count(target, records)
        waiting.append((topic, records))
        if len(waiting) >= _MAX_IN_FLIGHT:
            self._take_reply(connection)

    def send_rows(self, topic: str, partition: int, rows: Rows) -> None:
        """Send rows in as many batches as they need."""
        for packed in pack(rows, batch_bytes=self.batch_bytes):
            self.send(topic, partition, packed)

    def send_records(self, topic: str, partition: int, records: Sequence[Record]) -> None:
        for packed in pack_each(records, batch_bytes=self.batch_bytes):
            self.send(topic, partition, packed)

    def commit(self, offsets: Sequence[TopicPartition], group_metadata: bytes) -> None:
        """Commit the sent records and these offsets. If this raises, only the committed offsets
        show if the transaction was committed."""
        faults.reach("before-offsets")
        self._send_offsets(offsets, Membership.read(group_metadata))
        self._deliver()
        faults.reach("before-commit")
        request = EndTxnRequest(self.transactional_id, *self._producer, True)
        end = END_2 if self._version >= 2 else END
        answer = self._coordinate(end, request, lambda answer: [answer.error_code])
        if self._version >= 2:
            self._producer = (answer.producer_id, answer.producer_epoch)
            self._sequences.clear()
        faults.reach("after-commit")

    def refused(self) -> set[Refused]:
        """The records of the last transaction that were refused for their size, and those that
        shared a batch with them."""
        return {
            Refused(topic, record.key, record.value)
            for error, topic, packed in self._failures
            if error.code() in SIZE_ERRORS
            for record in _records(packed)
        }

    def close(self) -> None:
        self._connections.forget()
        self._producer = _NO_PRODUCER_ID

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

    def _send(
        self, connection: BrokerConnection, target: TopicPartitionKey, records: Packed
    ) -> None:
        topic, partition = target
        batch = memoryview(self._batch(records, self._sequences[target]))
        request = ProduceRequest(
            self.transactional_id,
            _ALL_REPLICAS,
            int(1000 * self._seconds),
            [TopicProduceData(topic, [PartitionProduceData(partition, batch)])],
        )
        connection.send(PRODUCE_2 if self._version >= 2 else PRODUCE, request)

    def _send_alone(
        self, connection: BrokerConnection, target: TopicPartitionKey, records: Packed
    ) -> None:
        """Nothing else is on its way meanwhile.

        Before a broker takes the first batch of a transaction in a partition, it asks the
        coordinator whether it may; another batch of this id that arrives in between has it send the
        first one back as one to be tried again.
        """
        self._take_replies(connection)
        retries = Retries(self._seconds)
        while True:
            self._send(connection, target, records)
            code = _code(connection)
            if code not in _RETRIABLE_PRODUCE_ERRORS or not retries.again():
                break
        if code in _TRANSACTION_ERRORS:
            raise explained(KafkaError(code), f"Writing of {self.transactional_id}")
        if code:
            self._failures.append((KafkaError(code), target[0], records))
        else:
            self._begun.add(target)
            self._count(target, records)

    def _count(self, target: TopicPartitionKey, records: Packed) -> None:
        self._sequences[target] = (self._sequences[target] + records.count) % SEQUENCE_MODULUS

    def _take_replies(self, connection: BrokerConnection) -> None:
        while self._in_flight[connection]:
            self._take_reply(connection)

    def _take_reply(self, connection: BrokerConnection) -> None:
        """Take the answer to the first batch that has none yet on this connection."""
        topic, records = self._in_flight[connection].pop(0)
        code = _code(connection)
        if code:
            self._failures.append((KafkaError(code), topic, records))

    def _deliver(self) -> None:
        """Wait until all that was sent is there."""
        for connection in self._in_flight:
            self._take_replies(connection)
        if self._failures:
            sizes = [each for each, *_ in self._failures if each.code() in SIZE_ERRORS]
            error = sizes[0] if sizes else self._failures[0][0]
            raise explained(error, f"Writing of {self.transactional_id}")

    def _send_offsets(self, offsets: Sequence[TopicPartition], member: Membership) -> None:
        if self._version < 2:
            request = AddOffsetsToTxnRequest(self.transactional_id, *self._producer, member.group)
            self._coordinate(ADD_OFFSETS, request, lambda answer: [answer.error_code])
        topics: dict[str, list[TxnOffsetCommitRequestPartition]] = {}
        for each in offsets:
            topics.setdefault(each.topic, []).append(
                # librdkafka reads metadata up to a zero byte, which it has written with it.
                TxnOffsetCommitRequestPartition(
                    each.partition,
                    each.offset,
                    -1 if each.leader_epoch is None else each.leader_epoch,
                    f"{each.metadata or ''}\0",
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
        self._retry_until_settled(
            (GROUP, member.group),
            COMMIT_OFFSETS_2 if self._version >= 2 else COMMIT_OFFSETS,
            wanted,
            lambda answer: [p.error_code for topic in answer.topics for p in topic.partitions],
        )

    def _coordinate(self, call: ApiCall, request: Any, codes: Codes) -> Any:
        return self._retry_until_settled((TRANSACTION, self.transactional_id), call, request, codes)

    def _retry_until_settled(
        self, whom: tuple[int, str], call: ApiCall, request: Any, codes: Codes
    ) -> Any:
        """A coordinator's reply. The request is repeated while the coordinator is busy or has
        moved."""
        retries = Retries(self._seconds)
        while True:
            try:
                answer = self._connections.coordinators.coordinator(*whom).ask(call, request)
            except TransientError:
                # Repeating is safe: the coordinator accepts a repeated request as done.
                self._connections.coordinators.forget()
                if not retries.again():
                    raise
                continue
            code = _first_error(codes(answer))
            if not code:
                return answer
            if code in _COORDINATOR_MOVED_ERRORS:
                self._connections.coordinators.forget()
            if code not in _RETRIABLE_COORDINATOR_ERRORS or not retries.again():
                raise explained(KafkaError(code), f"{call.name} of {self.transactional_id}")


def _first_error(codes: Iterable[int]) -> int:
    """0 if there is none. OPERATION_NOT_ATTEMPTED comes last: it follows from another error."""
    errors = sorted(filter(None, codes), key=lambda code: code == ErrorCode.OPERATION_NOT_ATTEMPTED)
    return errors[0] if errors else 0


def _code(connection: BrokerConnection) -> int:
    """The error code in the answer to a batch."""
    code: int = connection.receive().responses[0].partition_responses[0].error_code
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
