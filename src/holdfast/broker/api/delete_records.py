"""DeleteRecords: nothing before an offset is served any more."""

from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.broker.log.errors import OffsetOutOfRange, StorageFailed
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.delete_records_request import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
)
from holdfast.wire.protocol.generated.delete_records_response import (
    DeleteRecordsPartitionResult,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

HIGH_WATERMARK = -1
NO_OFFSET = -1


def handle(
    broker: "Broker", request: DeleteRecordsRequest, context: RequestContext
) -> DeleteRecordsResponse:
    return DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(
                topic.name, [_delete(broker, topic.name, asked) for asked in topic.partitions]
            )
            for topic in request.topics
        ]
    )


def _delete(
    broker: "Broker", name: str, asked: DeleteRecordsPartition
) -> DeleteRecordsPartitionResult:
    def refused(error: ErrorCode) -> DeleteRecordsPartitionResult:
        return DeleteRecordsPartitionResult(asked.partition_index, NO_OFFSET, error)

    topic, partition = broker.topics.get(name), broker.partition(name, asked.partition_index)
    if topic is None or partition is None:
        return refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if topic.internal:
        return refused(ErrorCode.INVALID_TOPIC_EXCEPTION)
    if not topic.config.deletes:
        return refused(ErrorCode.POLICY_VIOLATION)  # compaction alone promises the last of each key
    offset = partition.log.high_watermark if asked.offset == HIGH_WATERMARK else asked.offset
    try:
        start = partition.log.delete_records_before(offset)
    except (OffsetOutOfRange, StorageFailed) as error:
        return refused(error.error_code)
    return DeleteRecordsPartitionResult(asked.partition_index, start)
