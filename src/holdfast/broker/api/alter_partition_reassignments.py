"""AlterPartitionReassignments: every partition stays on this broker, the only one."""

from typing import TYPE_CHECKING

from holdfast.broker.api.once import Once
from holdfast.broker.context import RequestContext
from holdfast.broker.work import Work
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
)
from holdfast.wire.protocol.generated.alter_partition_reassignments_response import (
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker


def handle(
    broker: "Broker", request: AlterPartitionReassignmentsRequest, context: RequestContext
) -> Work[AlterPartitionReassignmentsResponse]:
    response = AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=request.allow_replication_factor_change,
        error_message=None,
    )
    once = Once()
    for topic in request.topics:
        answers: list[ReassignablePartitionResponse] = []
        response.responses.append(ReassignableTopicResponse(topic.name, answers))
        for partition in topic.partitions:
            if once(topic.name, partition.partition_index):
                error, message = _refusal(broker, topic.name, partition)
                answers.append(
                    ReassignablePartitionResponse(partition.partition_index, error, message)
                )
            yield None
    return response


def _refusal(
    broker: "Broker", topic: str, partition: ReassignablePartition
) -> tuple[ErrorCode, str | None]:
    if not broker.exists(topic, partition.partition_index):
        message = f"There is no partition {topic}-{partition.partition_index}."
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message
    if partition.replicas is None:
        return ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, None
    if partition.replicas != [broker.node_id]:
        message = f"A partition has one replica, on broker {broker.node_id}: there is no other."
        return ErrorCode.INVALID_REPLICA_ASSIGNMENT, message
    return ErrorCode.NONE, None
