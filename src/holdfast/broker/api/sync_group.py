"""SyncGroup: takes the leader's assignment, and gives each member its part."""

from collections.abc import Awaitable
from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.broker.groups.requests import MemberClaim, Sync, Synced
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.sync_group_request import SyncGroupRequest
from holdfast.wire.protocol.generated.sync_group_response import SyncGroupResponse

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker


def handle(
    broker: "Broker", request: SyncGroupRequest, context: RequestContext
) -> SyncGroupResponse | Awaitable[SyncGroupResponse]:
    if context.version >= 5 and None in (request.protocol_type, request.protocol_name):
        return SyncGroupResponse(error_code=ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    sync = Sync(
        claim=MemberClaim(request.member_id, request.generation_id, request.group_instance_id),
        protocol_type=request.protocol_type,
        protocol=request.protocol_name,
        assignments={a.member_id: a.assignment for a in request.assignments},
    )
    # Not a coroutine, which would keep the request in memory while the member waits.
    return _answer(broker.groups.sync(request.group_id, sync))


async def _answer(waiting: Awaitable[Synced]) -> SyncGroupResponse:
    synced = await waiting
    return SyncGroupResponse(
        error_code=synced.error,
        protocol_type=synced.protocol_type,
        protocol_name=synced.protocol,
        assignment=synced.assignment,
    )
