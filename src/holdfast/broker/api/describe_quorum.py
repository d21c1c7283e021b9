"""DescribeQuorum: this broker is its own controller, without a log of metadata to replicate."""

from typing import TYPE_CHECKING

from holdfast.broker.api.once import Once
from holdfast.broker.context import RequestContext
from holdfast.broker.work import Work
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.describe_quorum_request import DescribeQuorumRequest
from holdfast.wire.protocol.generated.describe_quorum_response import (
    DescribeQuorumResponse,
    Listener,
    Node,
    PartitionData,
    ReplicaState,
    TopicData,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

QUORUM = ("__cluster_metadata", 0)


def handle(
    broker: "Broker", request: DescribeQuorumRequest, context: RequestContext
) -> Work[DescribeQuorumResponse]:
    response = DescribeQuorumResponse()
    once = Once()
    for topic in request.topics:
        partitions: list[PartitionData] = []
        response.topics.append(TopicData(topic.topic_name, partitions))
        for requested in topic.partitions:
            index = requested.partition_index
            if not once(topic.topic_name, index):
                continue
            if (topic.topic_name, index) == QUORUM:
                partitions.append(_quorum(broker))
                host, port = context.listener
                response.nodes.append(Node(broker.node_id, [Listener("CONTROLLER", host, port)]))
            else:
                partitions.append(
                    PartitionData(
                        index,
                        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                        f"{topic.topic_name}-{index} has no quorum.",
                    )
                )
            yield None
    return response


def _quorum(broker: "Broker") -> PartitionData:
    now = broker.clock()
    voter = ReplicaState(
        replica_id=broker.node_id, last_fetch_timestamp=now, last_caught_up_timestamp=now
    )
    return PartitionData(leader_id=broker.node_id, current_voters=[voter])
