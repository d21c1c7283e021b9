"""CreatePartitions: adds partitions to topics."""

from functools import partial
from typing import TYPE_CHECKING

from holdfast.broker.configs import refuse_internal
from holdfast.broker.context import RequestContext
from holdfast.broker.topic_rules import TopicError, check_assignment, check_each, unknown
from holdfast.broker.work import Work
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
) -> Work[CreatePartitionsResponse]:
    totals, errors = yield from check_each(request.topics, partial(_total, broker))
    results = yield from broker.topics.grow_all(totals, validate_only=request.validate_only)
    results |= errors
    names = dict.fromkeys(topic.name for topic in request.topics)
    return CreatePartitionsResponse(results=[_answer(name, results[name]) for name in names])


def _answer(name: str, error: TopicError | None) -> CreatePartitionsTopicResult:
    if error is None:
        return CreatePartitionsTopicResult(name)
    return CreatePartitionsTopicResult(name, error.error_code, error.message)


def _total(broker: "Broker", new: CreatePartitionsTopic) -> int:
    """The new number of partitions."""
    topic = broker.topics.get(new.name)
    if topic is None:
        raise unknown()
    refuse_internal(topic)
    added = new.count - len(topic.partitions)
    if new.assignments is None or added <= 0:
        return new.count
    if len(new.assignments) != added:
        raise TopicError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"{added} partition(s) would be added, and {len(new.assignments)} are assigned.",
        )
    for assignment in new.assignments:
        check_assignment(assignment.broker_ids, broker.node_id)
    return new.count
