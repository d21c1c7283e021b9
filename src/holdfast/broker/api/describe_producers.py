"""DescribeProducers: the producers of a partition, and their open transactions."""

from typing import TYPE_CHECKING

from holdfast.broker.api.once import Once
from holdfast.broker.context import RequestContext
from holdfast.broker.work import Work
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.describe_producers_request import DescribeProducersRequest
from holdfast.wire.protocol.generated.describe_producers_response import (
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker


def handle(
    broker: "Broker", request: DescribeProducersRequest, context: RequestContext
) -> Work[DescribeProducersResponse]:
    response = DescribeProducersResponse()
    once = Once()
    for topic in request.topics:
        answers: list[PartitionResponse] = []
        response.topics.append(TopicResponse(topic.name, answers))
        for index in topic.partition_indexes:
            if once(topic.name, index):
                answers.append(_describe(broker, topic.name, index))
            yield None
    return response


def _describe(broker: "Broker", topic: str, index: int) -> PartitionResponse:
    partition = broker.partition(topic, index)
    if partition is None:
        return PartitionResponse(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return PartitionResponse(
        index,
        active_producers=[
            ProducerState(
                producer.producer_id,
                producer.epoch,
                producer.last_sequence,
                producer.last_timestamp,
                producer.coordinator_epoch,
                producer.transaction_start,
            )
            for producer in partition.log.producers()
        ],
    )
