"""ListGroups: all groups, or those of given types and in given states."""

from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.broker.work import Work
from holdfast.wire.protocol.generated.list_groups_request import ListGroupsRequest
from holdfast.wire.protocol.generated.list_groups_response import (
    ListedGroup,
    ListGroupsResponse,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker


def handle(
    broker: "Broker", request: ListGroupsRequest, context: RequestContext
) -> Work[ListGroupsResponse]:
    states = {state.lower() for state in request.states_filter}
    types = {group_type.lower() for group_type in request.types_filter}
    response = ListGroupsResponse()
    for group in broker.groups.groups():
        state = group.state.value
        if (not states or state.lower() in states) and (not types or group.type in types):
            response.groups.append(
                ListedGroup(group.group_id, group.protocol_type or "", state, group.type)
            )
        yield None
    return response
