"""ElectLeaders: nothing to elect, because this broker leads every partition."""

from typing import TYPE_CHECKING

from holdfast.broker.api.once import Once
from holdfast.broker.context import RequestContext
from holdfast.broker.work import Work
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.elect_leaders_request import ElectLeadersRequest
from holdfast.wire.protocol.generated.elect_leaders_response import (
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

TYPES_SINCE = 1
PREFERRED, UNCLEAN = 0, 1


def handle(
    broker: "Broker", request: ElectLeadersRequest, context: RequestContext
) -> Work[ElectLeadersResponse]:
    known = context.version < TYPES_SINCE or request.election_type in (PREFERRED, UNCLEAN)
    response = ElectLeadersResponse()
    if not known:
        response.error_code = ErrorCode.INVALID_REQUEST
    if request.topic_partitions is None:  # all; those without an election are left out
        for topic in broker.topics.all():
            response.replica_election_results.append(ReplicaElectionResult(topic.name))
            yield None
        return response
    once = Once()
    for requested in request.topic_partitions:
        results: list[PartitionResult] = []
        response.replica_election_results.append(ReplicaElectionResult(requested.topic, results))
        for index in requested.partitions:
            if once(requested.topic, index):
                results.append(
                    _result(broker, requested.topic, index)
                    if known
                    else PartitionResult(
                        index,
                        ErrorCode.INVALID_REQUEST,
                        f"There is no election type {request.election_type}.",
                    )
                )
            yield None
    return response


def _result(broker: "Broker", topic: str, index: int) -> PartitionResult:
    if not broker.exists(topic, index):
        message = f"There is no partition {topic}-{index}."
        return PartitionResult(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)
    message = "This broker leads the partition, and there is no other one."
    return PartitionResult(index, ErrorCode.ELECTION_NOT_NEEDED, message)
