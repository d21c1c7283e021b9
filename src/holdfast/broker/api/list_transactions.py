"""ListTransactions: the transactional ids, filtered."""

from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.broker.transactions.transaction import Transaction
from holdfast.broker.transactions.transaction import TransactionState as State
from holdfast.wire.protocol.generated.list_transactions_request import ListTransactionsRequest
from holdfast.wire.protocol.generated.list_transactions_response import (
    ListTransactionsResponse,
    TransactionState,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

LABELS = {state.label for state in State}


def handle(
    broker: "Broker", request: ListTransactionsRequest, context: RequestContext
) -> ListTransactionsResponse:
    now_ms = broker.clock()
    return ListTransactionsResponse(
        unknown_state_filters=sorted(set(request.state_filters) - LABELS),
        transaction_states=[
            TransactionState(
                transaction.transactional_id, transaction.producer_id, transaction.state.label
            )
            for transaction in broker.transactions.transactions()
            if _wanted(transaction, request, now_ms)
        ],
    )


def _wanted(transaction: Transaction, request: ListTransactionsRequest, now_ms: int) -> bool:
    if request.state_filters and transaction.state.label not in request.state_filters:
        return False
    if request.producer_id_filters and transaction.producer_id not in request.producer_id_filters:
        return False
    return request.duration_filter < 0 or now_ms - transaction.started_ms > request.duration_filter
