"""OffsetDelete: deletes offsets of a group."""

from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.broker.groups.records import TopicPartition
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.offset_delete_request import OffsetDeleteRequest
from holdfast.wire.protocol.generated.offset_delete_response import (
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker


async def handle(
    broker: "Broker", request: OffsetDeleteRequest, context: RequestContext
) -> OffsetDeleteResponse:
    known = [
        TopicPartition(topic.name, partition.partition_index)
        for topic in request.topics
        if broker.topics.get(topic.name) is not None
        for partition in topic.partitions
    ]
    error, errors = await broker.groups.delete_offsets(request.group_id, known)
    if error is not ErrorCode.NONE:
        return OffsetDeleteResponse(error_code=error)
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return OffsetDeleteResponse(
        topics=[
            OffsetDeleteResponseTopic(
                name=topic.name,
                partitions=[
                    OffsetDeleteResponsePartition(
                        partition.partition_index,
                        errors.get(TopicPartition(topic.name, partition.partition_index), unknown),
                    )
                    for partition in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )
