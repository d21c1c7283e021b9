"""DescribeTopicPartitions: topics and their partitions, page by page."""

from typing import TYPE_CHECKING

from holdfast.broker.api.metadata import ON_TOPIC
from holdfast.broker.context import RequestContext
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.describe_topic_partitions_request import (
    DescribeTopicPartitionsRequest,
)
from holdfast.wire.protocol.generated.describe_topic_partitions_response import (
    Cursor,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

LARGEST_PAGE = 2_000


def handle(
    broker: "Broker", request: DescribeTopicPartitionsRequest, context: RequestContext
) -> DescribeTopicPartitionsResponse:
    names = sorted({topic.name for topic in request.topics}) or broker.topics.names()
    room = max(1, min(request.response_partition_limit, LARGEST_PAGE))
    first = 0
    if request.cursor is not None:
        names = [name for name in names if name >= request.cursor.topic_name]
        if names and names[0] == request.cursor.topic_name:
            first = max(0, request.cursor.partition_index)
    response = DescribeTopicPartitionsResponse()
    for name in names:
        if room == 0:
            response.next_cursor = Cursor(name, 0)
            break
        described, left = _describe(broker, name, first, room)
        response.topics.append(described)
        room -= len(described.partitions)
        if left:
            response.next_cursor = Cursor(name, first + len(described.partitions))
            break
        first = 0
    return response


def _describe(
    broker: "Broker", name: str, first: int, room: int
) -> tuple[DescribeTopicPartitionsResponseTopic, bool]:
    """The topic with at most `room` partitions from `first` on, and whether there are more."""
    topic = broker.topics.get(name)
    if topic is None:
        unknown = DescribeTopicPartitionsResponseTopic(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, name)
        return unknown, False
    count = len(topic.partitions)
    node = [broker.node_id]
    described = DescribeTopicPartitionsResponseTopic(
        ErrorCode.NONE,
        name,
        topic.id,
        topic.internal,
        [
            DescribeTopicPartitionsResponsePartition(
                partition_index=index,
                leader_id=broker.node_id,
                leader_epoch=0,
                replica_nodes=node,
                isr_nodes=node,
                eligible_leader_replicas=[],
                last_known_elr=[],
            )
            for index in range(first, min(count, first + room))
        ],
        ON_TOPIC,
    )
    return described, first + room < count
