"""TxnOffsetCommit: stores the offsets of a group in a transaction."""

from typing import TYPE_CHECKING

from holdfast.broker.context import RequestContext
from holdfast.broker.groups.commit_request import read_commit_request
from holdfast.broker.groups.records import CommittedOffset, TopicPartition
from holdfast.broker.groups.requests import MemberClaim
from holdfast.broker.transactions.markers import OFFSETS
from holdfast.broker.transactions.transaction import Producer, TransactionRefused
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.txn_offset_commit_request import TxnOffsetCommitRequest
from holdfast.wire.protocol.generated.txn_offset_commit_response import (
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

if TYPE_CHECKING:
    from holdfast.broker.broker import Broker

ABORTABLE_SINCE = 4
IMPLICIT_SINCE = 5
"""Transaction version 2: the request adds the group to the transaction."""
FENCED_SINCE = 6
"""No version has PRODUCER_FENCED."""


async def handle(
    broker: "Broker", request: TxnOffsetCommitRequest, context: RequestContext
) -> TxnOffsetCommitResponse:
    offsets, refused = read_commit_request(
        request.topics, lambda at: broker.partition(*at) is not None, now_ms=broker.clock()
    )
    error = ErrorCode.NONE
    if offsets or not refused:
        error = await _commit(broker, request, offsets, context.version)
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
    version: int,
) -> ErrorCode:
    claim = MemberClaim(request.member_id, request.generation_id, request.group_instance_id)
    producer = Producer(request.producer_id, request.producer_epoch)

    async def enlist() -> ErrorCode:
        try:
            await broker.transactions.enlist(request.transactional_id, producer, {OFFSETS})
        except TransactionRefused as refusal:
            return refusal.code(version, fenced_since=FENCED_SINCE)
        return ErrorCode.NONE

    def verify() -> ErrorCode | None:
        error = broker.transactions.verify(*producer, *OFFSETS)
        if error is ErrorCode.INVALID_TXN_STATE and version >= ABORTABLE_SINCE:
            return ErrorCode.TRANSACTION_ABORTABLE
        return error

    return await broker.groups.commit_in_transaction(
        request.group_id,
        claim,
        producer,
        offsets,
        enlist=enlist if version >= IMPLICIT_SINCE else None,
        verify=verify,
    )
