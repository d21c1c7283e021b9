"""ConsumerGroupDescribe: the members of consumer groups, their partitions and their targets."""

from typing import TYPE_CHECKING

from holdfast.broker.api.describe_groups import EVERY_OPERATION, NOT_ASKED
from holdfast.broker.context import RequestContext
from holdfast.broker.groups.consumer.assignment import NOTHING
from holdfast.broker.groups.consumer.assignment import Assignment as Partitions
from holdfast.broker.groups.consumer.group import ConsumerGroup
from holdfast.broker.groups.consumer.member import ConsumerMember
from holdfast.broker.groups.rebalance import GroupState
from holdfast.broker.work import Work
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.consumer_group_describe_request import (
    ConsumerGroupDescribeRequest,
)
from holdfast.wire.protocol.generated.consumer_group_describe_response import (
    Assignment,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
    Member,
    TopicPartitions,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

CLASSIC, CONSUMER = 0, 1


def handle(
    broker: "Broker", request: ConsumerGroupDescribeRequest, context: RequestContext
) -> Work[ConsumerGroupDescribeResponse]:
    response = ConsumerGroupDescribeResponse()
    operations = EVERY_OPERATION if request.include_authorized_operations else NOT_ASKED
    for group_id in dict.fromkeys(request.group_ids):
        group = broker.groups.get(group_id)
        if isinstance(group, ConsumerGroup):
            described = DescribedGroup(
                group_id=group_id,
                group_state=group.state.value,
                group_epoch=group.epoch,
                assignment_epoch=group.assignment_epoch,
                assignor_name=group.assignor,
                authorized_operations=operations,
            )
            for member in list(group.members.values()):
                target = group.targets.get(member.member_id, NOTHING)
                described.members.append(_describe(broker, member, target))
                yield None
        else:
            what = "not found" if group is None else "is not a consumer group"
            described = DescribedGroup(
                error_code=ErrorCode.GROUP_ID_NOT_FOUND,
                error_message=f"Group {group_id} {what}.",
                group_id=group_id,
                group_state=GroupState.DEAD.value if group is None else "",
            )
        response.groups.append(described)
        yield None
    return response


def _describe(broker: "Broker", member: ConsumerMember, target: Partitions) -> Member:
    return Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.topics),
        subscribed_topic_regex=member.pattern,
        assignment=_named(broker, member.assigned),
        target_assignment=_named(broker, target),
        member_type=CONSUMER if member.classic is None else CLASSIC,
    )


def _named(broker: "Broker", assignment: Partitions) -> Assignment:
    """The partitions with the names of their topics. Topics that are gone are left out."""
    topics = ((broker.topics.by_id(topic), partitions) for topic, partitions in assignment.items())
    return Assignment(
        [TopicPartitions(t.id, t.name, sorted(parts)) for t, parts in topics if t is not None]
    )
