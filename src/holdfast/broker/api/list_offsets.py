"""ListOffsets: the offset at a time, or the start or end of the log."""

from typing import TYPE_CHECKING

from holdfast.broker.api.once import Once
from holdfast.broker.context import RequestContext
from holdfast.broker.partition import Partition
from holdfast.broker.work import Work
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
EARLIEST_LOCAL, LATEST_TIERED = -4, -5
"""Everything is local here, and nothing in tiered storage."""
SINCE = {EARLIEST_LOCAL: 8, LATEST_TIERED: 9}
READ_COMMITTED = 1
NOWHERE = -1


def handle(
    broker: "Broker", request: ListOffsetsRequest, context: RequestContext
) -> Work[ListOffsetsResponse]:
    committed_only = request.isolation_level == READ_COMMITTED
    response = ListOffsetsResponse()
    once = Once()
    for topic in request.topics:
        answers: list[ListOffsetsPartitionResponse] = []
        response.topics.append(ListOffsetsTopicResponse(topic.name, answers))
        for asked in topic.partitions:
            if once(topic.name, asked.partition_index):
                partition = broker.partition(topic.name, asked.partition_index)
                answers.append(
                    (yield from _look_up(partition, asked, committed_only, context.version))
                )
            yield None
    return response


def _look_up(
    partition: Partition | None, asked: ListOffsetsPartition, committed_only: bool, version: int
) -> Work[ListOffsetsPartitionResponse]:
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
    elif asked.timestamp < MAX_TIMESTAMP and version < SINCE.get(asked.timestamp, version + 1):
        answer.error_code = ErrorCode.UNSUPPORTED_VERSION
        answer.leader_epoch = NOWHERE
    elif asked.timestamp in (EARLIEST, EARLIEST_LOCAL):
        answer.offset = log.log_start_offset
    elif asked.timestamp == LATEST_TIERED:
        answer.leader_epoch = NOWHERE
    else:
        found = yield from (
            log.max_timestamp(limit)
            if asked.timestamp == MAX_TIMESTAMP
            else log.offset_for_time(asked.timestamp, limit)
        )
        if found is None:
            answer.leader_epoch = NOWHERE
        else:
            answer.offset, answer.timestamp = found
    return answer
