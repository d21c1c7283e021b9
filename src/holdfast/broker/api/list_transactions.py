"""ListTransactions: transactional ids that match filters."""

from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.broker.transactions.transaction import TransactionState as State
from holdfast.broker.work import Work
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
) -> Work[ListTransactionsResponse]:
    now_ms = broker.clock()
    response = ListTransactionsResponse(
        unknown_state_filters=sorted(set(request.state_filters) - LABELS)
    )
    states, producers = frozenset(request.state_filters), frozenset(request.producer_id_filters)
    for transaction in broker.transactions.transactions():
        if (
            (not states or transaction.state.label in states)
            and (not producers or transaction.producer_id in producers)
            and (
                request.duration_filter < 0
                or now_ms - transaction.started_ms > request.duration_filter
            )
        ):
            response.transaction_states.append(
                TransactionState(
                    transaction.transactional_id, transaction.producer_id, transaction.state.label
                )
            )
        yield None
    return response
