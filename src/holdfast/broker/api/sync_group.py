"""SyncGroup: the leader hands in the assignment, everybody gets their part of it."""

from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.broker.groups.requests import MemberClaim, Sync
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.sync_group_request import SyncGroupRequest
from holdfast.wire.protocol.generated.sync_group_response import SyncGroupResponse

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker


async def handle(
    broker: "Broker", request: SyncGroupRequest, context: RequestContext
) -> SyncGroupResponse:
    if context.version >= 5 and None in (request.protocol_type, request.protocol_name):
        return SyncGroupResponse(error_code=ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    synced = await broker.groups.sync(
        request.group_id,
        Sync(
            claim=MemberClaim(request.member_id, request.generation_id, request.group_instance_id),
            protocol_type=request.protocol_type,
            protocol=request.protocol_name,
            assignments={a.member_id: a.assignment for a in request.assignments},
        ),
    )
    return SyncGroupResponse(
        error_code=synced.error,
        protocol_type=synced.protocol_type,
        protocol_name=synced.protocol,
        assignment=synced.assignment,
    )
