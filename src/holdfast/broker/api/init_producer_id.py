"""InitProducerId: gives a producer its id and epoch, and fences earlier ones."""

import logging
from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.broker.transactions.transaction import (
    NO_EPOCH,
    NO_PRODUCER_ID,
    Producer,
    TransactionRefused,
)
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.init_producer_id_request import InitProducerIdRequest
from holdfast.wire.protocol.generated.init_producer_id_response import InitProducerIdResponse

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

log = logging.getLogger(__name__)

FENCED_SINCE = 4
MOST_TAKEN = 2
"""Maximum ids per request: for its transactional id, and for an exhausted epoch."""


async def handle(
    broker: "Broker", request: InitProducerIdRequest, context: RequestContext
) -> InitProducerIdResponse:
    expected = Producer(request.producer_id, request.producer_epoch)
    if (expected.id == NO_PRODUCER_ID) != (expected.epoch == NO_EPOCH):
        return _refused(ErrorCode.INVALID_REQUEST)
    try:
        # Reserved on a thread. Below, the ids are taken in one step.
        await broker.metadata.reserve_producer_ids(MOST_TAKEN)
    except OSError as error:
        log.warning("No producer ids could be reserved: %s", error)
        return _refused(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    try:
        producer = await broker.transactions.init_producer_id(
            request.transactional_id,
            request.transaction_timeout_ms,
            None if expected.id == NO_PRODUCER_ID else expected,
        )
    except TransactionRefused as refusal:
        return _refused(refusal.code(context.version, fenced_since=FENCED_SINCE))
    return InitProducerIdResponse(producer_id=producer.id, producer_epoch=producer.epoch)


def _refused(error: ErrorCode) -> InitProducerIdResponse:
    return InitProducerIdResponse(
        error_code=error, producer_id=NO_PRODUCER_ID, producer_epoch=NO_EPOCH
    )
