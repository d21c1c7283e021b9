"""Heartbeat: keeps a member alive, and checks its generation."""

from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.broker.groups.requests import MemberClaim
from holdfast.wire.protocol.generated.heartbeat_request import HeartbeatRequest
from holdfast.wire.protocol.generated.heartbeat_response import HeartbeatResponse

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker


def handle(
    broker: "Broker", request: HeartbeatRequest, context: RequestContext
) -> HeartbeatResponse:
    claim = MemberClaim(request.member_id, request.generation_id, request.group_instance_id)
    return HeartbeatResponse(error_code=broker.groups.heartbeat(request.group_id, claim))
