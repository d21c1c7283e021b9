"""EndTxn: commits or aborts; replies when all partitions have the marker."""

import logging
from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.broker.transactions.transaction import Producer, TransactionRefused
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.end_txn_request import EndTxnRequest
from holdfast.wire.protocol.generated.end_txn_response import EndTxnResponse

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

log = logging.getLogger(__name__)

FENCED_SINCE = 2
NEW_EPOCH_SINCE = 5
"""Transaction version 2: the reply has the epoch of the next transaction."""


async def handle(
    broker: "Broker", request: EndTxnRequest, context: RequestContext
) -> EndTxnResponse:
    producer = Producer(request.producer_id, request.producer_epoch)
    end = request.transactional_id, producer, request.committed
    try:
        if context.version < NEW_EPOCH_SINCE:
            await broker.transactions.end(*end)
            return EndTxnResponse()
        if broker.transactions.is_exhausted(request.transactional_id):
            await broker.metadata.reserve_producer_ids(1)
        following = await broker.transactions.end_with_new_epoch(*end)
    except OSError as error:
        log.warning("No producer ids could be reserved: %s", error)
        return EndTxnResponse(error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE)
    except TransactionRefused as refusal:
        return EndTxnResponse(error_code=refusal.code(context.version, fenced_since=FENCED_SINCE))
    return EndTxnResponse(producer_id=following.id, producer_epoch=following.epoch)
