"""Produce: append each partition's batch, and answer once it is as durable as the acks ask."""

import logging
from typing import TYPE_CHECKING

from holdfast.broker.context import HangUp, PendingReply, RequestContext
from holdfast.broker.log import RecordsRejected, StorageFailed
from holdfast.broker.topics import INTERNAL
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
from holdfast.wire.records.batch import peek_compression, peek_transaction
from holdfast.wire.records.compression import Compression

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

log = logging.getLogger(__name__)

ALL = -1
ZSTD_SINCE = 7


def handle(
    broker: "Broker", request: ProduceRequest, context: RequestContext
) -> ProduceResponse | PendingReply | HangUp | None:
    produce = _Produce(broker, request.acks, context.version)
    for topic in request.topic_data:
        produce.response.responses.append(
            TopicProduceResponse(
                name=topic.name,
                partition_responses=[
                    produce.append(topic.name, data) for data in topic.partition_data
                ],
            )
        )
    if request.acks == 0:
        return None if produce.refusal is None else HangUp(produce.refusal)
    return produce.answer()


class _Produce:
    """One request: its response, and the partitions whose sync it still waits for."""

    def __init__(self, broker: "Broker", acks: int, version: int) -> None:
        self.response = ProduceResponse()
        self.refusal: str | None = None
        self._broker = broker
        self._acks = acks
        self._version = version
        self._waiting = 0
        self._reply: PendingReply | None = None

    def append(self, topic: str, data: PartitionProduceData) -> PartitionProduceResponse:
        broker = self._broker
        answer = PartitionProduceResponse(index=data.index, base_offset=-1)
        if self._acks not in (ALL, 0, 1):
            return self._refuse(answer, ErrorCode.INVALID_REQUIRED_ACKS, "acks must be -1, 0 or 1")
        partition = broker.partition(topic, data.index)
        if partition is None:
            return self._refuse(answer, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, None)
        if topic in INTERNAL:
            message = f"{topic} is the coordinators' own: clients cannot write to it"
            return self._refuse(answer, ErrorCode.INVALID_TOPIC_EXCEPTION, message)
        records = data.records
        if not records:
            return self._refuse(answer, ErrorCode.INVALID_RECORD, "The request has no records")
        if self._version < ZSTD_SINCE and peek_compression(records) == Compression.ZSTD:
            message = f"zstd is taken from version {ZSTD_SINCE} of Produce on"
            return self._refuse(answer, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, message)
        transaction = peek_transaction(records)
        if transaction is not None:
            refusal = broker.transactions.verify(*transaction, topic, data.index)
            if refusal is not None:
                broker.metrics.rejected_batches += 1
                return self._refuse(answer, refusal, None)
        try:
            appended = partition.append(records)
        except RecordsRejected as error:
            broker.metrics.rejected_batches += 1
            log.info("%s: a batch was refused: %s", partition, error)
            return self._refuse(answer, error.error_code, str(error))
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

            def told(failure: StorageFailed | None) -> None:
                if failure is not None:
                    answer.base_offset = -1
                    self._refuse(answer, ErrorCode.KAFKA_STORAGE_ERROR, str(failure))
                self._waiting -= 1
                if not self._waiting and self._reply is not None:
                    self._reply.answer(self.response)

            partition.on_durable(appended.last_offset, told)
        return answer

    def answer(self) -> ProduceResponse | PendingReply:
        if not self._waiting:
            return self.response
        self._reply = PendingReply()
        return self._reply

    def _refuse(
        self, answer: PartitionProduceResponse, error_code: ErrorCode, message: str | None
    ) -> PartitionProduceResponse:
        answer.error_code = error_code
        answer.error_message = message
        self.refusal = message or error_code.name
        return answer
