"""ListOffsets: the offset of a moment, or of one end of the log."""

from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.broker.partition import Partition
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
)
from holdfast.wire.protocol.generated.list_offsets_response import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

LATEST, EARLIEST, MAX_TIMESTAMP = -1, -2, -3
READ_COMMITTED = 1
NOWHERE = -1


def handle(
    broker: "Broker", request: ListOffsetsRequest, context: RequestContext
) -> ListOffsetsResponse:
    committed_only = request.isolation_level == READ_COMMITTED
    return ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(
                name=topic.name,
                partitions=[
                    _look_up(
                        broker.partition(topic.name, asked.partition_index), asked, committed_only
                    )
                    for asked in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def _look_up(
    partition: Partition | None, asked: ListOffsetsPartition, committed_only: bool
) -> ListOffsetsPartitionResponse:
    answer = ListOffsetsPartitionResponse(partition_index=asked.partition_index)
    if partition is None:
        answer.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return answer
    if asked.current_leader_epoch > 0:
        answer.error_code = ErrorCode.UNKNOWN_LEADER_EPOCH
        return answer
    log = partition.log
    limit = log.last_stable_offset if committed_only else log.high_watermark
    answer.leader_epoch = 0
    if asked.timestamp == LATEST:
        answer.offset = limit
    elif asked.timestamp == EARLIEST:
        answer.offset = log.log_start_offset
    elif asked.timestamp < MAX_TIMESTAMP:
        answer.error_code = ErrorCode.UNSUPPORTED_VERSION
    else:
        found = (
            log.max_timestamp(limit)
            if asked.timestamp == MAX_TIMESTAMP
            else log.offset_for_time(asked.timestamp, limit)
        )
        if found is None:
            answer.leader_epoch = NOWHERE
        else:
            answer.offset, answer.timestamp = found
    return answer
