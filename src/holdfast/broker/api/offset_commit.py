"""OffsetCommit: stores the offsets of a group."""

from typing import TYPE_CHECKING

from holdfast.broker.api.topic_ids import IDS_SINCE, name_topics
from holdfast.broker.context import RequestContext
from holdfast.broker.groups.commit_request import read_commit_request
from holdfast.broker.groups.records import TopicPartition
from holdfast.broker.groups.requests import MemberClaim
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.offset_commit_request import OffsetCommitRequest
from holdfast.wire.protocol.generated.offset_commit_response import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

NEVER_MS = (1 << 63) - 1
"""The latest possible time. A client may send a retention beyond it."""


async def handle(
    broker: "Broker", request: OffsetCommitRequest, context: RequestContext
) -> OffsetCommitResponse:
    now_ms = broker.clock()
    if context.version >= IDS_SINCE:
        name_topics(broker, request.topics)
    has_retention = request.retention_time_ms >= 0  # versions 2 to 4
    offsets, refused = read_commit_request(
        request.topics,
        lambda at: broker.partition(*at) is not None,
        now_ms=now_ms,
        expire_ms=min(now_ms + request.retention_time_ms, NEVER_MS) if has_retention else -1,
    )
    error = ErrorCode.NONE
    if offsets or not refused:
        error = await broker.groups.commit(
            request.group_id,
            MemberClaim(
                request.member_id, request.generation_id_or_member_epoch, request.group_instance_id
            ),
            offsets,
            version=context.version,
            if_unknown=ErrorCode.GROUP_ID_NOT_FOUND
            if context.version >= 9
            else ErrorCode.ILLEGAL_GENERATION,
        )
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=[
                    OffsetCommitResponsePartition(
                        partition.partition_index,
                        refused.get(TopicPartition(topic.name, partition.partition_index), error)
                        if topic.name
                        else ErrorCode.UNKNOWN_TOPIC_ID,
                    )
                    for partition in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )
