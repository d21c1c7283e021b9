"""LeaveGroup: removes a member, or several for an administrator."""

from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.broker.groups.requests import Leaver
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.leave_group_request import LeaveGroupRequest
from holdfast.wire.protocol.generated.leave_group_response import (
    LeaveGroupResponse,
    MemberResponse,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker


async def handle(
    broker: "Broker", request: LeaveGroupRequest, context: RequestContext
) -> LeaveGroupResponse:
    if context.version < 3:
        left = await broker.groups.leave(request.group_id, [Leaver(request.member_id, None)])
        error = left.error if left.error is not ErrorCode.NONE else left.members[0]
        return LeaveGroupResponse(error_code=error)
    leavers = [Leaver(member.member_id, member.group_instance_id) for member in request.members]
    left = await broker.groups.leave(request.group_id, leavers)
    if left.error is not ErrorCode.NONE:
        return LeaveGroupResponse(error_code=left.error)
    return LeaveGroupResponse(
        members=[
            MemberResponse(leaver.member_id, leaver.instance_id, error)
            for leaver, error in zip(leavers, left.members, strict=True)
        ]
    )
