"""OffsetForLeaderEpoch: the end offset of an epoch. The only epoch here is 0."""

from typing import TYPE_CHECKING

from holdfast.broker.api.once import Once
from holdfast.broker.context import RequestContext
from holdfast.broker.work import Work
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.offset_for_leader_epoch_request import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
)
from holdfast.wire.protocol.generated.offset_for_leader_epoch_response import (
    EpochEndOffset,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker


def handle(
    broker: "Broker", request: OffsetForLeaderEpochRequest, context: RequestContext
) -> Work[OffsetForLeaderEpochResponse]:
    response = OffsetForLeaderEpochResponse()
    once = Once()
    for topic in request.topics:
        answers: list[EpochEndOffset] = []
        response.topics.append(OffsetForLeaderTopicResult(topic.topic, answers))
        for asked in topic.partitions:
            if once(topic.topic, asked.partition):
                answers.append(_end(broker, topic.topic, asked))
            yield None
    return response


def _end(broker: "Broker", topic: str, asked: OffsetForLeaderPartition) -> EpochEndOffset:
    answer = EpochEndOffset(partition=asked.partition)
    partition = broker.partition(topic, asked.partition)
    if partition is None:
        answer.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    elif asked.current_leader_epoch > 0:
        answer.error_code = ErrorCode.UNKNOWN_LEADER_EPOCH
    elif asked.leader_epoch == 0:
        answer.leader_epoch = 0
        answer.end_offset = partition.log.high_watermark
    return answer
