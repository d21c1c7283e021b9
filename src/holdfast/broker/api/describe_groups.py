"""DescribeGroups: the members of groups, and their assignments."""

from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.broker.groups.group import Group
from holdfast.broker.groups.rebalance import GroupState
from holdfast.broker.work import Work
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.describe_groups_request import DescribeGroupsRequest
from holdfast.wire.protocol.generated.describe_groups_response import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsResponse,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

NOT_FOUND_SINCE = 6
"""Earlier versions describe an unknown group as a dead one."""
NOT_ASKED = -(2**31)
EVERY_OPERATION = sum(1 << operation for operation in (3, 6, 8, 10, 11))
"""Kafka's operations on a group without restrictions: read, delete and describe it, and describe
and alter its settings."""


def handle(
    broker: "Broker", request: DescribeGroupsRequest, context: RequestContext
) -> Work[DescribeGroupsResponse]:
    response = DescribeGroupsResponse()
    with_operations = request.include_authorized_operations
    for group_id in dict.fromkeys(request.groups):
        group = broker.groups.get(group_id)
        response.groups.append(
            _describe(group_id, group, with_operations)
            if isinstance(group, Group)
            else _unknown(group_id, context.version, exists=group is not None)
        )
        yield None
    return response


def _unknown(group_id: str, version: int, *, exists: bool) -> DescribedGroup:
    unknown = DescribedGroup(group_id=group_id, group_state=GroupState.DEAD.value)
    if version >= NOT_FOUND_SINCE:
        unknown.error_code = ErrorCode.GROUP_ID_NOT_FOUND
        unknown.error_message = (
            f"Group {group_id} is not a classic group."
            if exists
            else f"There is no group {group_id!r}."
        )
    return unknown


def _describe(group_id: str, group: Group, with_operations: bool) -> DescribedGroup:
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
