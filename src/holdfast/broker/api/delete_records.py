"""DeleteRecords: deletes the records before an offset."""

from typing import TYPE_CHECKING

from holdfast.broker.api.once import Once
from holdfast.broker.context import RequestContext
from holdfast.broker.log.errors import OffsetOutOfRange, StorageFailed
from holdfast.broker.work import Work
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
) -> Work[DeleteRecordsResponse]:
    response = DeleteRecordsResponse()
    once = Once()
    for topic in request.topics:
        answers: list[DeleteRecordsPartitionResult] = []
        response.topics.append(DeleteRecordsTopicResult(topic.name, answers))
        for requested in topic.partitions:
            if once(topic.name, requested.partition_index):
                answers.append((yield from _delete(broker, topic.name, requested)))
            yield None
    return response


def _delete(
    broker: "Broker", name: str, requested: DeleteRecordsPartition
) -> Work[DeleteRecordsPartitionResult]:
    def refused(error: ErrorCode) -> DeleteRecordsPartitionResult:
        return DeleteRecordsPartitionResult(requested.partition_index, NO_OFFSET, error)

    topic, partition = broker.topics.get(name), broker.partition(name, requested.partition_index)
    if topic is None or partition is None:
        return refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if topic.internal:
        return refused(ErrorCode.INVALID_TOPIC_EXCEPTION)
    if not topic.config.deletes:
        return refused(
            ErrorCode.POLICY_VIOLATION
        )  # compaction promises the last record of each key
    offset = (
        partition.log.high_watermark if requested.offset == HIGH_WATERMARK else requested.offset
    )
    try:
        start = yield from partition.log.delete_records_before(offset)
    except (OffsetOutOfRange, StorageFailed) as error:
        return refused(error.error_code)
    return DeleteRecordsPartitionResult(requested.partition_index, start)
