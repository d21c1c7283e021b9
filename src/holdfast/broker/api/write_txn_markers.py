"""WriteTxnMarkers: an administrator ends a transaction that nobody else will."""

from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.broker.log.errors import RecordsRejected, StorageFailed
from holdfast.broker.transactions.transaction import Producer, TopicPartition
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
    return WriteTxnMarkersResponse(
        markers=[await _write_all(broker, marker) for marker in request.markers]
    )


async def _write_all(broker: "Broker", marker: WritableTxnMarker) -> WritableTxnMarkerResult:
    return WritableTxnMarkerResult(
        marker.producer_id,
        [
            WritableTxnMarkerTopicResult(
                topic.name,
                [
                    WritableTxnMarkerPartitionResult(
                        index, await _write(broker, marker, TopicPartition(topic.name, index))
                    )
                    for index in topic.partition_indexes
                ],
            )
            for topic in marker.topics
        ],
    )


async def _write(
    broker: "Broker", marker: WritableTxnMarker, partition: TopicPartition
) -> ErrorCode:
    markers = broker.transactions.markers
    if not markers.exists(partition):
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    producer = Producer(marker.producer_id, marker.producer_epoch)
    try:
        await markers.write(
            partition, producer, marker.transaction_result, marker.coordinator_epoch
        )
    except (RecordsRejected, StorageFailed) as error:
        return error.error_code
    return ErrorCode.NONE
