"""EndTxn: commit or abort, answered when every partition knows."""

from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.broker.transactions.transaction import Producer, TransactionRefused
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.end_txn_request import EndTxnRequest
from holdfast.wire.protocol.generated.end_txn_response import EndTxnResponse

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

FENCED_SINCE = 2


async def handle(
    broker: "Broker", request: EndTxnRequest, context: RequestContext
) -> EndTxnResponse:
    producer = Producer(request.producer_id, request.producer_epoch)
    try:
        await broker.transactions.end(request.transactional_id, producer, request.committed)
    except TransactionRefused as refusal:
        return EndTxnResponse(error_code=refusal.code(context.version, fenced_since=FENCED_SINCE))
    return EndTxnResponse(error_code=ErrorCode.NONE)
