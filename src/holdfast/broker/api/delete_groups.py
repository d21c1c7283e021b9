"""DeleteGroups: deletes groups without members, and their offsets."""

from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.broker.work import begin_in_turns
from holdfast.wire.protocol.generated.delete_groups_request import DeleteGroupsRequest
from holdfast.wire.protocol.generated.delete_groups_response import (
    DeletableGroupResult,
    DeleteGroupsResponse,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker


async def handle(
    broker: "Broker", request: DeleteGroupsRequest, context: RequestContext
) -> DeleteGroupsResponse:
    group_ids = list(dict.fromkeys(request.groups_names))
    # Together, so that they share one sync to disk.
    errors = await begin_in_turns(map(broker.groups.delete_group, group_ids))
    return DeleteGroupsResponse(results=list(map(DeletableGroupResult, group_ids, errors)))
