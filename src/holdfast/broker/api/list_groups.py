"""ListGroups: every group, or those in some states."""

from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.wire.protocol.generated.list_groups_request import ListGroupsRequest
from holdfast.wire.protocol.generated.list_groups_response import (
    ListedGroup,
    ListGroupsResponse,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

GROUP_TYPE = "classic"


def handle(
    broker: "Broker", request: ListGroupsRequest, context: RequestContext
) -> ListGroupsResponse:
    states = {state.lower() for state in request.states_filter}
    types = {group_type.lower() for group_type in request.types_filter}
    if types and GROUP_TYPE not in types:
        return ListGroupsResponse()
    return ListGroupsResponse(
        groups=[
            ListedGroup(
                group.group_id,
                group.roster.protocol_type or "",
                group.state.value,
                GROUP_TYPE,
            )
            for group in broker.groups.groups()
            if not states or group.state.value.lower() in states
        ]
    )
