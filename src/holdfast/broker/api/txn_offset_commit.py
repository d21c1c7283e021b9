"""TxnOffsetCommit: how far a group has read, as part of a transaction."""

from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.broker.groups.commit_request import read_commit_request
from holdfast.broker.groups.records import CommittedOffset, TopicPartition
from holdfast.broker.groups.requests import MemberClaim
from holdfast.broker.topics import OFFSETS_TOPIC
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.txn_offset_commit_request import TxnOffsetCommitRequest
from holdfast.wire.protocol.generated.txn_offset_commit_response import (
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker


async def handle(
    broker: "Broker", request: TxnOffsetCommitRequest, context: RequestContext
) -> TxnOffsetCommitResponse:
    offsets, refused = read_commit_request(
        request.topics, lambda at: broker.partition(*at) is not None, now_ms=broker.clock()
    )
    error = await _commit(broker, request, offsets) if offsets or not refused else ErrorCode.NONE
    return TxnOffsetCommitResponse(
        topics=[
            TxnOffsetCommitResponseTopic(
                name=topic.name,
                partitions=[
                    TxnOffsetCommitResponsePartition(
                        partition.partition_index,
                        refused.get(TopicPartition(topic.name, partition.partition_index), error),
                    )
                    for partition in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


async def _commit(
    broker: "Broker",
    request: TxnOffsetCommitRequest,
    offsets: dict[TopicPartition, CommittedOffset],
) -> ErrorCode:
    claim = MemberClaim(request.member_id, request.generation_id, request.group_instance_id)
    producer = request.producer_id, request.producer_epoch
    return await broker.groups.commit_in_transaction(
        request.group_id,
        claim,
        producer,
        offsets,
        verify=lambda: broker.transactions.verify(*producer, OFFSETS_TOPIC, 0),
    )
