"""AddPartitionsToTxn: the partitions that a transaction is about to write to."""

from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.broker.transactions.transaction import Producer, TopicPartition, TransactionRefused
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
)
from holdfast.wire.protocol.generated.add_partitions_to_txn_response import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopicResult,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

FENCED_SINCE = 2


async def handle(
    broker: "Broker", request: AddPartitionsToTxnRequest, context: RequestContext
) -> AddPartitionsToTxnResponse:
    partitions = {
        TopicPartition(topic.name, index)
        for topic in request.v3_and_below_topics
        for index in topic.partitions
    }
    errors = await _add(broker, request, partitions, context.version)
    return AddPartitionsToTxnResponse(
        results_by_topic_v3_and_below=[
            AddPartitionsToTxnTopicResult(
                topic.name,
                [
                    AddPartitionsToTxnPartitionResult(
                        index, errors[TopicPartition(topic.name, index)]
                    )
                    for index in topic.partitions
                ],
            )
            for topic in request.v3_and_below_topics
        ]
    )


async def _add(
    broker: "Broker",
    request: AddPartitionsToTxnRequest,
    partitions: set[TopicPartition],
    version: int,
) -> dict[TopicPartition, ErrorCode]:
    """All are added or none: one that does not exist keeps the others out."""
    unknown = {partition for partition in partitions if not broker.exists(*partition)}
    if unknown:
        return {
            partition: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            if partition in unknown
            else ErrorCode.OPERATION_NOT_ATTEMPTED
            for partition in partitions
        }
    producer = Producer(request.v3_and_below_producer_id, request.v3_and_below_producer_epoch)
    try:
        await broker.transactions.add_partitions(
            request.v3_and_below_transactional_id, producer, partitions
        )
    except TransactionRefused as refusal:
        return dict.fromkeys(partitions, refusal.code(version, fenced_since=FENCED_SINCE))
    return dict.fromkeys(partitions, ErrorCode.NONE)
