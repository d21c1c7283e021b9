"""Rules of the APIs of consumer groups."""

from collections.abc import Callable
from typing import Any

from holdfast.broker.api.topic_ids import IDS_SINCE, name_topics
from holdfast.broker.security.acls import Operation, ResourceType
from holdfast.broker.security.guard import Check, Denied, Finish, Rule
from holdfast.broker.security.rules.items import (
    CLUSTER_FAILED,
    GROUP_FAILED,
    ID_FAILED,
    TOPIC_FAILED,
    each,
    filtered,
    may_cluster,
    may_group,
    may_id,
    may_topic,
    split,
)
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated import (
    consumer_group_describe_response as consumer_group_response,
)
from holdfast.wire.protocol.generated.consumer_group_describe_response import (
    ConsumerGroupDescribeResponse,
)
from holdfast.wire.protocol.generated.consumer_group_heartbeat_response import (
    ConsumerGroupHeartbeatResponse,
)
from holdfast.wire.protocol.generated.delete_groups_response import (
    DeletableGroupResult,
    DeleteGroupsResponse,
)
from holdfast.wire.protocol.generated.describe_groups_response import (
    DescribedGroup,
    DescribeGroupsResponse,
)
from holdfast.wire.protocol.generated.find_coordinator_response import (
    Coordinator,
    FindCoordinatorResponse,
)
from holdfast.wire.protocol.generated.heartbeat_response import HeartbeatResponse
from holdfast.wire.protocol.generated.join_group_response import JoinGroupResponse
from holdfast.wire.protocol.generated.leave_group_response import LeaveGroupResponse
from holdfast.wire.protocol.generated.offset_commit_request import OffsetCommitRequestTopic
from holdfast.wire.protocol.generated.offset_commit_response import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from holdfast.wire.protocol.generated.offset_delete_request import OffsetDeleteRequestTopic
from holdfast.wire.protocol.generated.offset_delete_response import (
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from holdfast.wire.protocol.generated.offset_fetch_request import OffsetFetchRequestGroup
from holdfast.wire.protocol.generated.offset_fetch_response import (
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from holdfast.wire.protocol.generated.sync_group_response import SyncGroupResponse

_GROUP, _TRANSACTION = 0, 1
_SEVERAL_KEYS_SINCE = 4
_SEVERAL_GROUPS_SINCE = 8
_GROUP_ERROR_SINCE = 2


def _member(response: Callable[[Any], Any]) -> Rule:
    """The rule of requests that members of a group send."""

    def rule(check: Check) -> None:
        if not may_group(check, Operation.READ, check.request.group_id):
            raise Denied(response(check.request))

    return rule


join_group = _member(
    lambda request: JoinGroupResponse(
        error_code=GROUP_FAILED, generation_id=-1, member_id=request.member_id
    )
)
sync_group = _member(lambda request: SyncGroupResponse(error_code=GROUP_FAILED))
heartbeat = _member(lambda request: HeartbeatResponse(error_code=GROUP_FAILED))
leave_group = _member(lambda request: LeaveGroupResponse(error_code=GROUP_FAILED))


def consumer_group_heartbeat(check: Check) -> None:
    request = check.request
    if not may_group(check, Operation.READ, request.group_id):
        raise Denied(ConsumerGroupHeartbeatResponse(error_code=GROUP_FAILED))
    topics = request.subscribed_topic_names or ()
    if not all(may_topic(check, Operation.DESCRIBE, name) for name in topics):
        raise Denied(ConsumerGroupHeartbeatResponse(error_code=TOPIC_FAILED))


def consumer_group_describe(check: Check) -> Finish:
    """A group with a topic that the client may not see is shown without its members."""
    add_refusals = each(
        check,
        "group_ids",
        lambda group: may_group(check, Operation.DESCRIBE, group),
        ConsumerGroupDescribeResponse,
        "groups",
        lambda group: consumer_group_response.DescribedGroup(GROUP_FAILED, None, group),
    )

    def finish(response: ConsumerGroupDescribeResponse) -> None:
        for position, group in enumerate(response.groups):
            if not all(may_topic(check, Operation.DESCRIBE, name) for name in _topics_of(group)):
                response.groups[position] = consumer_group_response.DescribedGroup(
                    TOPIC_FAILED,
                    "The group has described topic(s) that the client is not authorized to "
                    "describe.",
                    group.group_id,
                )
            elif check.request.include_authorized_operations and not group.error_code:
                group.authorized_operations = check.access.operations(
                    ResourceType.GROUP, group.group_id
                )
        if add_refusals is not None:
            add_refusals(response)

    return finish


def _topics_of(group: consumer_group_response.DescribedGroup) -> set[str]:
    return {
        name
        for member in group.members
        for name in (
            *member.subscribed_topic_names,
            *(
                topic.topic_name
                for assignment in (member.assignment, member.target_assignment)
                if assignment is not None
                for topic in assignment.topic_partitions
            ),
        )
    }


def find_coordinator(check: Check) -> Finish | None:
    request = check.request
    may, error = {
        _GROUP: (may_group, GROUP_FAILED),
        _TRANSACTION: (may_id, ID_FAILED),
    }.get(request.key_type, (None, CLUSTER_FAILED))

    def is_permitted(key: str) -> bool:
        if may is None:
            return may_cluster(check, Operation.CLUSTER_ACTION)
        return may(check, Operation.DESCRIBE, key)

    if check.version < _SEVERAL_KEYS_SINCE:
        if is_permitted(request.key):
            return None
        raise Denied(
            FindCoordinatorResponse(error_code=error, error_message=None, node_id=-1, port=-1)
        )
    return each(
        check,
        "coordinator_keys",
        is_permitted,
        FindCoordinatorResponse,
        "coordinators",
        lambda key: Coordinator(key, -1, "", -1, error, None),
    )


def describe_groups(check: Check) -> Finish | None:
    add_refusals = each(
        check,
        "groups",
        lambda group: may_group(check, Operation.DESCRIBE, group),
        DescribeGroupsResponse,
        "groups",
        lambda group: DescribedGroup(GROUP_FAILED, None, group_id=group),
    )
    if not check.request.include_authorized_operations:
        return add_refusals

    def finish(response: DescribeGroupsResponse) -> None:
        for group in response.groups:
            group.authorized_operations = check.access.operations(
                ResourceType.GROUP, group.group_id
            )
        if add_refusals is not None:
            add_refusals(response)

    return finish


def list_groups(check: Check) -> Finish | None:
    if may_cluster(check, Operation.DESCRIBE):
        return None
    return filtered("groups", lambda group: may_group(check, Operation.DESCRIBE, group.group_id))


def delete_groups(check: Check) -> Finish | None:
    return each(
        check,
        "groups_names",
        lambda group: may_group(check, Operation.DELETE, group),
        DeleteGroupsResponse,
        "results",
        lambda group: DeletableGroupResult(group, GROUP_FAILED),
    )


def offset_commit(check: Check) -> Finish | None:
    def refuse(topic: OffsetCommitRequestTopic, error: ErrorCode) -> OffsetCommitResponseTopic:
        return OffsetCommitResponseTopic(
            topic.name,
            topic.topic_id,
            [OffsetCommitResponsePartition(p.partition_index, error) for p in topic.partitions],
        )

    if check.version >= IDS_SINCE:
        name_topics(check.broker, check.request.topics)
    if not may_group(check, Operation.READ, check.request.group_id):
        refusals = [refuse(topic, GROUP_FAILED) for topic in check.request.topics]
        raise Denied(OffsetCommitResponse(topics=refusals))
    return each(
        check,
        "topics",
        lambda topic: not topic.name or may_topic(check, Operation.READ, topic.name),
        OffsetCommitResponse,
        "topics",
        lambda topic: refuse(topic, TOPIC_FAILED),
    )


def offset_delete(check: Check) -> Finish | None:
    if not may_group(check, Operation.DELETE, check.request.group_id):
        raise Denied(OffsetDeleteResponse(GROUP_FAILED))

    def refuse(topic: OffsetDeleteRequestTopic) -> OffsetDeleteResponseTopic:
        return OffsetDeleteResponseTopic(
            topic.name,
            [
                OffsetDeleteResponsePartition(p.partition_index, TOPIC_FAILED)
                for p in topic.partitions
            ],
        )

    return each(
        check,
        "topics",
        lambda topic: may_topic(check, Operation.READ, topic.name),
        OffsetDeleteResponse,
        "topics",
        refuse,
    )


def offset_fetch(check: Check) -> Finish | None:
    if check.version >= _SEVERAL_GROUPS_SINCE:
        return _offsets_of_groups(check)
    request = check.request
    if not may_group(check, Operation.DESCRIBE, request.group_id):
        if check.version >= _GROUP_ERROR_SINCE:
            raise Denied(OffsetFetchResponse(error_code=GROUP_FAILED))
        refused = [_unknown_offsets(topic, GROUP_FAILED) for topic in request.topics or ()]
        raise Denied(OffsetFetchResponse(topics=refused))
    if request.topics is None:
        return filtered("topics", lambda topic: may_topic(check, Operation.DESCRIBE, topic.name))
    return each(
        check,
        "topics",
        lambda topic: may_topic(check, Operation.DESCRIBE, topic.name),
        OffsetFetchResponse,
        "topics",
        lambda topic: _unknown_offsets(topic, TOPIC_FAILED),
    )


def _unknown_offsets(topic: Any, error: ErrorCode) -> OffsetFetchResponseTopic:
    return OffsetFetchResponseTopic(
        topic.name,
        [
            OffsetFetchResponsePartition(index, -1, -1, "", error)
            for index in topic.partition_indexes
        ],
    )


def _offsets_of_groups(check: Check) -> Finish | None:
    add_refusals = each(
        check,
        "groups",
        lambda group: may_group(check, Operation.DESCRIBE, group.group_id),
        OffsetFetchResponse,
        "groups",
        lambda group: OffsetFetchResponseGroup(group.group_id, error_code=GROUP_FAILED),
    )
    if check.version >= IDS_SINCE:
        for group in check.request.groups:
            name_topics(check.broker, group.topics or ())
    refusals = {
        group.group_id: _refused_topics(check, group)
        for group in check.request.groups
        if group.topics is not None
    }

    def finish(response: OffsetFetchResponse) -> None:
        for group in response.groups:
            if group.error_code:
                continue
            if group.group_id in refusals:
                group.topics.extend(refusals[group.group_id])
            else:
                group.topics = [
                    topic
                    for topic in group.topics
                    if may_topic(check, Operation.DESCRIBE, topic.name)
                ]
        if add_refusals is not None:
            add_refusals(response)

    return finish


def _refused_topics(
    check: Check, group: OffsetFetchRequestGroup
) -> list[OffsetFetchResponseTopics]:
    """Takes the topics from the request that the client may not describe."""
    assert group.topics is not None
    group.topics, refused = split(
        group.topics,
        lambda topic: not topic.name or may_topic(check, Operation.DESCRIBE, topic.name),
    )
    return [
        OffsetFetchResponseTopics(
            topic.name,
            topic.topic_id,
            [
                OffsetFetchResponsePartitions(index, -1, -1, "", TOPIC_FAILED)
                for index in topic.partition_indexes
            ],
        )
        for topic in refused
    ]
