"""ListPartitionReassignments: none, because there is no other broker."""

from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.wire.protocol.generated.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
)
from holdfast.wire.protocol.generated.list_partition_reassignments_response import (
    ListPartitionReassignmentsResponse,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker


def handle(
    broker: "Broker", request: ListPartitionReassignmentsRequest, context: RequestContext
) -> ListPartitionReassignmentsResponse:
    return ListPartitionReassignmentsResponse(error_message=None)
