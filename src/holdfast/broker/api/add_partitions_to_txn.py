"""AddPartitionsToTxn: adds partitions to a transaction.

From version 4 on, a request has several transactions, and may ask if partitions were added. Brokers
send it to coordinators; the coordinator of this broker does not need it.
"""

from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.broker.transactions.transaction import Producer, TopicPartition, TransactionRefused
from holdfast.broker.work import Slices
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from holdfast.wire.protocol.generated.add_partitions_to_txn_response import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

FENCED_SINCE = 2
SEVERAL_SINCE = 4


async def handle(
    broker: "Broker", request: AddPartitionsToTxnRequest, context: RequestContext
) -> AddPartitionsToTxnResponse:
    if context.version < SEVERAL_SINCE:
        only = AddPartitionsToTxnTransaction(
            request.v3_and_below_transactional_id,
            request.v3_and_below_producer_id,
            request.v3_and_below_producer_epoch,
            topics=request.v3_and_below_topics,
        )
        results = await _answer(broker, only, context.version)
        return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=results)
    slices = Slices()
    response = AddPartitionsToTxnResponse()
    for transaction in request.transactions:
        results = await _answer(broker, transaction, context.version)
        response.results_by_transaction.append(
            AddPartitionsToTxnResult(transaction.transactional_id, results)
        )
        await slices.pause()
    return response


async def _answer(
    broker: "Broker", transaction: AddPartitionsToTxnTransaction, version: int
) -> list[AddPartitionsToTxnTopicResult]:
    partitions = {
        TopicPartition(topic.name, index)
        for topic in transaction.topics
        for index in topic.partitions
    }
    errors = await _errors(broker, transaction, partitions, version)
    return [_result(topic, errors) for topic in transaction.topics]


def _result(
    topic: AddPartitionsToTxnTopic, errors: dict[TopicPartition, ErrorCode]
) -> AddPartitionsToTxnTopicResult:
    return AddPartitionsToTxnTopicResult(
        topic.name,
        [
            AddPartitionsToTxnPartitionResult(index, errors[TopicPartition(topic.name, index)])
            for index in topic.partitions
        ],
    )


async def _errors(
    broker: "Broker",
    transaction: AddPartitionsToTxnTransaction,
    partitions: set[TopicPartition],
    version: int,
) -> dict[TopicPartition, ErrorCode]:
    """Adds all partitions, or none if one does not exist."""
    unknown = {partition for partition in partitions if not broker.exists(*partition)}
    if unknown:
        return {
            partition: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            if partition in unknown
            else ErrorCode.OPERATION_NOT_ATTEMPTED
            for partition in partitions
        }
    producer = Producer(transaction.producer_id, transaction.producer_epoch)
    try:
        if transaction.verify_only:
            added = broker.transactions.partitions(transaction.transactional_id, producer)
            return {
                partition: ErrorCode.NONE if partition in added else ErrorCode.TRANSACTION_ABORTABLE
                for partition in partitions
            }
        await broker.transactions.add_partitions(transaction.transactional_id, producer, partitions)
    except TransactionRefused as refusal:
        return dict.fromkeys(partitions, refusal.code(version, fenced_since=FENCED_SINCE))
    return dict.fromkeys(partitions, ErrorCode.NONE)
