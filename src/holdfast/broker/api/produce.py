"""Produce: appends the batches, and replies when they are as durable as `acks` requires.

From version 12 on (transaction version 2), it first adds their partitions to the transaction.
"""

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Any

from holdfast.broker.context import HangUp, PendingReply, RequestContext
from holdfast.broker.log import NeedsTime, RecordsRejected, StorageFailed
from holdfast.broker.topics import INTERNAL
from holdfast.broker.transactions.transaction import Producer, TopicPartition, TransactionRefused
from holdfast.broker.work import SLICE_SECONDS, Work
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.produce_request import (
    PartitionProduceData,
    ProduceRequest,
)
from holdfast.wire.protocol.generated.produce_response import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from holdfast.wire.records.batch import peek_compression, peek_sequence, peek_transaction
from holdfast.wire.records.compression import Compression

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

log = logging.getLogger(__name__)

ALL = -1
ZSTD_SINCE = 7
ABORTABLE_SINCE = 11
IMPLICIT_SINCE = 12
"""Transaction version 2: the request adds its partitions to the transaction."""
CHECKED_AT_ONCE = 100
"""Partitions whose transaction is checked in one step of the event loop."""
RECEIVE_BYTES = 64 * 1024
"""The size of the buffer that all connections share. A larger frame has its own buffer."""


def handle(
    broker: "Broker", request: ProduceRequest, context: RequestContext
) -> ProduceResponse | PendingReply | HangUp | Work[Any] | None:
    produce = _Produce(broker, request, context.version)
    parts = produce.parts_of(request)
    if context.version >= IMPLICIT_SINCE and produce.must_add(parts):
        return produce.continue_later(parts, adding=True)
    until = time.perf_counter() + SLICE_SECONDS
    for number, (answers, topic, data) in enumerate(parts):
        try:
            answers.append(produce.append(topic, data))
        except NeedsTime:
            return produce.continue_later(parts[number:])
        if time.perf_counter() > until and number + 1 < len(parts):
            return produce.continue_later(parts[number + 1 :])
    return produce.answer()


_Part = tuple[list[PartitionProduceResponse], str, PartitionProduceData]
"""The list for its result, its topic, and the data of one partition."""


class _Produce:
    """One request: its response, and the number of syncs that it waits for."""

    def __init__(self, broker: "Broker", request: ProduceRequest, version: int) -> None:
        self.response = ProduceResponse()
        self.refusal: str | None = None
        self._broker = broker
        self._acks = request.acks
        self._transactional_id = request.transactional_id
        self._version = version
        self._not_added = ErrorCode.INVALID_TXN_STATE
        """The error of partitions that are not in the transaction."""
        if version >= ABORTABLE_SINCE:
            self._not_added = ErrorCode.TRANSACTION_ABORTABLE
        self._waiting = 0
        self._reply: PendingReply | None = None

    def parts_of(self, request: ProduceRequest) -> list[_Part]:
        parts = []
        for topic in request.topic_data:
            answers: list[PartitionProduceResponse] = []
            self.response.responses.append(TopicProduceResponse(topic.name, answers))
            parts += [(answers, topic.name, data) for data in topic.partition_data]
        return parts

    def must_add(self, parts: list[_Part]) -> bool:
        """Returns True if a partition may not be in the transaction of its batch yet."""
        if self._transactional_id is None:
            return False
        return len(parts) > CHECKED_AT_ONCE or any(map(self._partition_to_add, parts))

    def _partition_to_add(self, part: _Part) -> tuple[Producer, TopicPartition] | None:
        """A partition that is not in the transaction, and its producer."""
        _, topic, data = part
        transaction = peek_transaction(data.records) if data.records else None
        if transaction is None or topic in INTERNAL or not self._broker.exists(topic, data.index):
            return None
        error = self._broker.transactions.verify(*transaction, topic, data.index)
        if error is not ErrorCode.INVALID_TXN_STATE:
            return None
        return Producer(*transaction), TopicPartition(topic, data.index)

    def _add_partitions(self, parts: list[_Part]) -> Work[None]:
        added: dict[Producer, set[TopicPartition]] = {}
        for part in parts:
            found = self._partition_to_add(part)
            if found is not None:
                added.setdefault(found[0], set()).add(found[1])
            yield None
        if added:
            yield asyncio.ensure_future(self._add(added))

    async def _add(self, added: dict[Producer, set[TopicPartition]]) -> None:
        assert self._transactional_id is not None
        for producer, partitions in added.items():
            try:
                await self._broker.transactions.enlist(self._transactional_id, producer, partitions)
            except TransactionRefused as refusal:
                self._not_added = refusal.error

    def continue_later(self, parts: list[_Part], *, adding: bool = False) -> Work[Any]:
        """The rest of a request that takes longer than one step of the event loop."""
        for _, _, data in parts:
            if data.records is not None and len(data.records.obj) <= RECEIVE_BYTES:  # type: ignore[arg-type]
                # Copied, because the next request of any client overwrites the shared buffer.
                data.records = memoryview(bytearray(data.records))
        return self._rest(parts, adding)

    def _rest(self, parts: list[_Part], adding: bool) -> Work[Any]:
        if adding:
            yield from self._add_partitions(parts)
        for answers, topic, data in parts:
            try:
                answers.append(self.append(topic, data))
            except NeedsTime:
                answers.append((yield from self._append_inspected(topic, data)))
            yield None
        return self.answer()

    def _append_inspected(
        self, topic: str, data: PartitionProduceData
    ) -> Work[PartitionProduceResponse]:
        partition = self._broker.partition(topic, data.index)
        assert partition is not None  # `append` has found it
        assert data.records is not None
        try:
            yield from partition.inspect(data.records)
        except RecordsRejected as error:
            return self._reject(PartitionProduceResponse(data.index, base_offset=-1), error, topic)
        return self.append(topic, data, inspected=True)

    def append(
        self, topic: str, data: PartitionProduceData, *, inspected: bool = False
    ) -> PartitionProduceResponse:
        broker = self._broker
        answer = PartitionProduceResponse(index=data.index, base_offset=-1)
        if self._acks not in (ALL, 0, 1):
            return self._refuse(answer, ErrorCode.INVALID_REQUIRED_ACKS, "acks must be -1, 0 or 1")
        partition = broker.partition(topic, data.index)
        if partition is None:
            return self._refuse(answer, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, None)
        if topic in INTERNAL:
            message = f"{topic} is an internal topic: clients cannot write to it"
            return self._refuse(answer, ErrorCode.INVALID_TOPIC_EXCEPTION, message)
        records = data.records
        if not records:
            return self._refuse(answer, ErrorCode.INVALID_RECORD, "The request has no records")
        if self._version < ZSTD_SINCE and peek_compression(records) == Compression.ZSTD:
            message = f"zstd needs version {ZSTD_SINCE} or later of Produce"
            return self._refuse(answer, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, message)
        transaction = peek_transaction(records)
        if transaction is not None:
            refusal = self._refusal_of(transaction, topic, data.index, records)
            if refusal is not None:
                broker.metrics.rejected_batches += 1
                return self._refuse(answer, refusal, None)
        try:
            appended = partition.append(records, inspected=inspected)
        except RecordsRejected as error:
            return self._reject(answer, error, topic)
        except StorageFailed as error:
            broker.metrics.storage_failures += 1
            log.error("%s: a batch could not be written: %s", partition, error)
            return self._refuse(answer, ErrorCode.KAFKA_STORAGE_ERROR, str(error))
        broker.metrics.appended_batches += 1
        broker.metrics.appended_bytes += len(records)
        answer.base_offset = appended.base_offset
        answer.log_append_time_ms = appended.append_time
        answer.log_start_offset = partition.log.log_start_offset
        if self._acks == ALL and partition.log.high_watermark <= appended.last_offset:
            self._waiting += 1

            def settled(failure: StorageFailed | None) -> None:
                if failure is not None:
                    answer.base_offset = -1
                    self._refuse(answer, ErrorCode.KAFKA_STORAGE_ERROR, str(failure))
                self._waiting -= 1
                if not self._waiting and self._reply is not None:
                    self._reply.answer(self.response)

            partition.on_durable(appended.last_offset, settled)
        return answer

    def _refusal_of(
        self, transaction: tuple[int, int], topic: str, index: int, records: memoryview
    ) -> ErrorCode | None:
        """The error of a batch that its transaction does not allow."""
        implicit = self._version >= IMPLICIT_SINCE
        if implicit and self._transactional_id is None:
            return ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        error = self._broker.transactions.verify(*transaction, topic, index)
        if error is ErrorCode.INVALID_TXN_STATE:
            return self._not_added
        if error is not None or not implicit:
            return error
        # Each transaction has its epoch, whose sequences begin at 0 in every partition. So a batch
        # that overtook the first one is refused, even where nothing is known of its producer.
        is_first = self._broker.producer_epoch(topic, index, transaction[0]) < 0
        if is_first and peek_sequence(records) != 0:
            return ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        return None

    def answer(self) -> ProduceResponse | PendingReply | HangUp | None:
        if self._acks == 0:
            return None if self.refusal is None else HangUp(self.refusal)
        if not self._waiting:
            return self.response
        self._reply = PendingReply()
        return self._reply

    def _reject(
        self, answer: PartitionProduceResponse, error: RecordsRejected, topic: str
    ) -> PartitionProduceResponse:
        self._broker.metrics.rejected_batches += 1
        log.info("%s-%d: a batch was refused: %s", topic, answer.index, error)
        return self._refuse(answer, error.error_code, str(error))

    def _refuse(
        self, answer: PartitionProduceResponse, error_code: ErrorCode, message: str | None
    ) -> PartitionProduceResponse:
        answer.error_code = error_code
        answer.error_message = message
        self.refusal = message or error_code.name
        return answer
