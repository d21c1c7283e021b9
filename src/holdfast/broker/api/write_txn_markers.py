"""WriteTxnMarkers: an administrator aborts a transaction (`kafka-transactions.sh abort`).

In Apache Kafka, coordinators use it to write to partitions, and clients need the right
ClusterAction. The coordinator of this broker does not use it. A client may abort a transaction with
it, but not commit one: only its producer decides that.
"""

from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.broker.log.errors import RecordsRejected, StorageFailed
from holdfast.broker.transactions.markers import COORDINATOR_EPOCH
from holdfast.broker.transactions.transaction import (
    Producer,
    TopicPartition,
    TransactionRefused,
)
from holdfast.broker.work import Slices
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.write_txn_markers_request import (
    WritableTxnMarker,
    WriteTxnMarkersRequest,
)
from holdfast.wire.protocol.generated.write_txn_markers_response import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersResponse,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker


async def handle(
    broker: "Broker", request: WriteTxnMarkersRequest, context: RequestContext
) -> WriteTxnMarkersResponse:
    slices = Slices()
    return WriteTxnMarkersResponse(
        markers=[await _write_all(broker, marker, slices) for marker in request.markers]
    )


async def _write_all(
    broker: "Broker", marker: WritableTxnMarker, slices: Slices
) -> WritableTxnMarkerResult:
    result = WritableTxnMarkerResult(marker.producer_id)
    for topic in marker.topics:
        answers: list[WritableTxnMarkerPartitionResult] = []
        result.topics.append(WritableTxnMarkerTopicResult(topic.name, answers))
        for index in topic.partition_indexes:
            error = await _write(broker, marker, TopicPartition(topic.name, index))
            answers.append(WritableTxnMarkerPartitionResult(index, error))
            await slices.pause()
    return result


async def _write(
    broker: "Broker", marker: WritableTxnMarker, partition: TopicPartition
) -> ErrorCode:
    if not broker.exists(*partition):
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if marker.transaction_result:
        return ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    if marker.coordinator_epoch < COORDINATOR_EPOCH:
        return ErrorCode.TRANSACTION_COORDINATOR_FENCED
    producer = Producer(marker.producer_id, marker.producer_epoch)
    try:
        await broker.transactions.abort(partition, producer)
    except TransactionRefused as refusal:
        return refusal.error
    except (RecordsRejected, StorageFailed) as error:
        return error.error_code
    return ErrorCode.NONE
