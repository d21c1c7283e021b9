"""DescribeGroups: the members of groups, and what they read."""

from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.broker.groups.group import Group
from holdfast.broker.groups.surroundings import GroupState
from holdfast.wire.protocol.generated.describe_groups_request import DescribeGroupsRequest
from holdfast.wire.protocol.generated.describe_groups_response import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsResponse,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

NOT_ASKED = -(2**31)
EVERY_OPERATION = sum(1 << operation for operation in (3, 6, 8, 10, 11))
"""What Kafka lists for a group where nothing is forbidden: to read, delete and describe it, and to
describe and alter its settings."""


def handle(
    broker: "Broker", request: DescribeGroupsRequest, context: RequestContext
) -> DescribeGroupsResponse:
    return DescribeGroupsResponse(
        groups=[
            _describe(group_id, broker.groups.get(group_id), request.include_authorized_operations)
            for group_id in request.groups
        ]
    )


def _describe(group_id: str, group: Group | None, with_operations: bool) -> DescribedGroup:
    if group is None:  # until version 6 that is no error
        return DescribedGroup(group_id=group_id, group_state=GroupState.DEAD.value)
    is_stable = group.state is GroupState.STABLE
    protocol = group.roster.protocol if is_stable else None
    return DescribedGroup(
        group_id=group_id,
        group_state=group.state.value,
        protocol_type=group.roster.protocol_type or "",
        protocol_data=protocol or "",
        members=[
            DescribedGroupMember(
                member_id=member.member_id,
                group_instance_id=member.instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                member_metadata=member.metadata(protocol),
                member_assignment=member.assignment if is_stable else b"",
            )
            for member in group.roster
        ],
        authorized_operations=EVERY_OPERATION if with_operations else NOT_ASKED,
    )
