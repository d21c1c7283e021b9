"""FindCoordinator: the coordinator of a group or transactional id. It is always this broker."""

from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.find_coordinator_request import FindCoordinatorRequest
from holdfast.wire.protocol.generated.find_coordinator_response import (
    Coordinator,
    FindCoordinatorResponse,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

GROUP, TRANSACTION = 0, 1


def handle(
    broker: "Broker", request: FindCoordinatorRequest, context: RequestContext
) -> FindCoordinatorResponse:
    found = _find(broker, request.key_type, context)
    if context.version < 4:
        return FindCoordinatorResponse(
            error_code=found.error_code,
            error_message=found.error_message,
            node_id=found.node_id,
            host=found.host,
            port=found.port,
        )
    return FindCoordinatorResponse(
        coordinators=[
            Coordinator(
                key, found.node_id, found.host, found.port, found.error_code, found.error_message
            )
            for key in dict.fromkeys(request.coordinator_keys)
        ]
    )


def _find(broker: "Broker", key_type: int, context: RequestContext) -> Coordinator:
    if key_type not in (GROUP, TRANSACTION):
        return Coordinator(
            node_id=-1,
            port=-1,
            error_code=ErrorCode.INVALID_REQUEST,
            error_message="Only groups and transactions have a coordinator here.",
        )
    host, port = context.listener
    return Coordinator(node_id=broker.node_id, host=host, port=port, error_message=None)
