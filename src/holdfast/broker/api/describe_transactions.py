"""DescribeTransactions: the states of transactional ids."""

from itertools import groupby
from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.broker.work import Work
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.describe_transactions_request import (
    DescribeTransactionsRequest,
)
from holdfast.wire.protocol.generated.describe_transactions_response import (
    DescribeTransactionsResponse,
    TopicData,
    TransactionState,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker


def handle(
    broker: "Broker", request: DescribeTransactionsRequest, context: RequestContext
) -> Work[DescribeTransactionsResponse]:
    response = DescribeTransactionsResponse()
    for name in dict.fromkeys(request.transactional_ids):
        response.transaction_states.append(_describe(broker, name))
        yield None
    return response


def _describe(broker: "Broker", transactional_id: str) -> TransactionState:
    if not transactional_id:
        return TransactionState(ErrorCode.INVALID_REQUEST)
    transaction = broker.transactions.transaction(transactional_id)
    if transaction is None:
        return TransactionState(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND, transactional_id)
    by_topic = groupby(sorted(transaction.partitions), key=lambda partition: partition.topic)
    return TransactionState(
        ErrorCode.NONE,
        transactional_id,
        transaction.state.label,
        transaction.timeout_ms,
        transaction.started_ms,
        transaction.producer_id,
        transaction.epoch,
        [TopicData(topic, [p.partition for p in partitions]) for topic, partitions in by_topic],
    )
