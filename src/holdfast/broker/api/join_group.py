"""JoinGroup: makes a client a member of a group, or keeps it one."""

from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.broker.groups.requests import Join, Offer
from holdfast.wire.protocol.generated.join_group_request import JoinGroupRequest
from holdfast.wire.protocol.generated.join_group_response import (
    JoinGroupResponse,
    JoinGroupResponseMember,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker


async def handle(
    broker: "Broker", request: JoinGroupRequest, context: RequestContext
) -> JoinGroupResponse:
    has_rebalance_timeout = context.version >= 1
    joined = await broker.groups.join(
        request.group_id,
        Join(
            member_id=request.member_id,
            instance_id=request.group_instance_id,
            client_id=context.client_id,
            client_host=f"/{context.client_host}",  # the form that Kafka's tools expect
            session_timeout_ms=request.session_timeout_ms,
            rebalance_timeout_ms=request.rebalance_timeout_ms
            if has_rebalance_timeout
            else request.session_timeout_ms,
            protocol_type=request.protocol_type,
            offers=tuple(Offer(p.name, p.metadata) for p in request.protocols),
            must_know_its_id=context.version >= 4,
            can_skip_assignment=context.version >= 9,
        ),
    )
    return JoinGroupResponse(
        error_code=joined.error,
        generation_id=joined.generation,
        protocol_type=joined.protocol_type,
        protocol_name=joined.protocol,
        leader=joined.leader,
        skip_assignment=joined.skip_assignment,
        member_id=joined.member_id,
        members=[JoinGroupResponseMember(*member) for member in joined.members],
    )
