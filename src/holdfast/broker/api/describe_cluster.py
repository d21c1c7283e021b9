"""DescribeCluster: one broker, which is its own controller."""

from typing import TYPE_CHECKING

from holdfast.broker.api.metadata import ON_CLUSTER
from holdfast.broker.context import RequestContext
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.describe_cluster_request import DescribeClusterRequest
from holdfast.wire.protocol.generated.describe_cluster_response import (
    DescribeClusterBroker,
    DescribeClusterResponse,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

BROKERS, CONTROLLERS = 1, 2


def handle(
    broker: "Broker", request: DescribeClusterRequest, context: RequestContext
) -> DescribeClusterResponse:
    if request.endpoint_type != BROKERS:
        return DescribeClusterResponse(
            error_code=ErrorCode.MISMATCHED_ENDPOINT_TYPE
            if request.endpoint_type == CONTROLLERS
            else ErrorCode.UNSUPPORTED_ENDPOINT_TYPE,
            error_message="This is an endpoint of a broker.",
            endpoint_type=request.endpoint_type,
        )
    host, port = context.listener
    response = DescribeClusterResponse(
        cluster_id=broker.metadata.cluster_id,
        controller_id=broker.node_id,
        brokers=[DescribeClusterBroker(broker.node_id, host, port)],
    )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = ON_CLUSTER
    return response
