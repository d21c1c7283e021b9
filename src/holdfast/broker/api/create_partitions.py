"""CreatePartitions: a topic gets more of them."""

from collections import Counter
from typing import TYPE_CHECKING

from holdfast.broker.configs import refuse_internal
from holdfast.broker.context import RequestContext
from holdfast.broker.replicas import check_assignment
from holdfast.broker.topics import TopicError
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.create_partitions_request import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from holdfast.wire.protocol.generated.create_partitions_response import (
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker


def handle(
    broker: "Broker", request: CreatePartitionsRequest, context: RequestContext
) -> CreatePartitionsResponse:
    times = Counter(topic.name for topic in request.topics)
    asked = {topic.name: topic for topic in request.topics}
    return CreatePartitionsResponse(
        results=[
            _create(broker, topic, times[name] == 1, request.validate_only)
            for name, topic in asked.items()
        ]
    )


def _create(
    broker: "Broker", asked: CreatePartitionsTopic, once: bool, validate_only: bool
) -> CreatePartitionsTopicResult:
    try:
        if not once:
            raise TopicError(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
        _check(broker, asked)
        broker.topics.add_partitions(asked.name, asked.count, validate_only=validate_only)
    except TopicError as error:
        return CreatePartitionsTopicResult(asked.name, error.error_code, error.message)
    return CreatePartitionsTopicResult(asked.name)


def _check(broker: "Broker", asked: CreatePartitionsTopic) -> None:
    topic = broker.topics.get(asked.name)
    if topic is None:
        raise TopicError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "This server does not host this topic."
        )
    refuse_internal(topic)
    added = asked.count - len(topic.partitions)
    if asked.assignments is None or added <= 0:
        return
    if len(asked.assignments) != added:
        raise TopicError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"{added} partition(s) would be added, and {len(asked.assignments)} are assigned.",
        )
    for assignment in asked.assignments:
        check_assignment(assignment.broker_ids, broker.node_id)
