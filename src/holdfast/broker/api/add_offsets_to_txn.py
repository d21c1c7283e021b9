"""AddOffsetsToTxn: adds the offsets of a group to a transaction."""

from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.broker.transactions.transaction import Producer, TransactionRefused
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.add_offsets_to_txn_request import AddOffsetsToTxnRequest
from holdfast.wire.protocol.generated.add_offsets_to_txn_response import AddOffsetsToTxnResponse

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

FENCED_SINCE = 2


async def handle(
    broker: "Broker", request: AddOffsetsToTxnRequest, context: RequestContext
) -> AddOffsetsToTxnResponse:
    producer = Producer(request.producer_id, request.producer_epoch)
    try:
        await broker.transactions.add_offsets(request.transactional_id, producer)
    except TransactionRefused as refusal:
        return AddOffsetsToTxnResponse(
            error_code=refusal.code(context.version, fenced_since=FENCED_SINCE)
        )
    return AddOffsetsToTxnResponse(error_code=ErrorCode.NONE)
