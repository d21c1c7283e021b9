"""Rules of the APIs of transactions."""

from typing import Any

from holdfast.broker.security.acls import Operation, ResourceType
from holdfast.broker.security.guard import Check, Denied, Finish
from holdfast.broker.security.rules.items import (
    CLUSTER_FAILED,
    GROUP_FAILED,
    ID_FAILED,
    TOPIC_FAILED,
    each,
    filtered,
    may_cluster,
    may_group,
    may_id,
    may_topic,
    split,
)
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.add_offsets_to_txn_response import AddOffsetsToTxnResponse
from holdfast.wire.protocol.generated.add_partitions_to_txn_request import (
    AddPartitionsToTxnTopic,
)
from holdfast.wire.protocol.generated.add_partitions_to_txn_response import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopicResult,
)
from holdfast.wire.protocol.generated.describe_transactions_response import (
    DescribeTransactionsResponse,
    TransactionState,
)
from holdfast.wire.protocol.generated.end_txn_response import EndTxnResponse
from holdfast.wire.protocol.generated.init_producer_id_response import InitProducerIdResponse
from holdfast.wire.protocol.generated.txn_offset_commit_request import (
    TxnOffsetCommitRequestTopic,
)
from holdfast.wire.protocol.generated.txn_offset_commit_response import (
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from holdfast.wire.protocol.generated.write_txn_markers_response import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersResponse,
)

_BROKERS_ONLY_SINCE = 4


def init_producer_id(check: Check) -> None:
    transactional_id = check.request.transactional_id
    if transactional_id is not None:
        if not may_id(check, Operation.WRITE, transactional_id):
            raise Denied(InitProducerIdResponse(error_code=ID_FAILED))
    elif not may_cluster(check, Operation.IDEMPOTENT_WRITE) and not check.access.to_any(
        Operation.WRITE, ResourceType.TOPIC
    ):
        raise Denied(InitProducerIdResponse(error_code=CLUSTER_FAILED))


def add_partitions_to_txn(check: Check) -> None:
    if check.version >= _BROKERS_ONLY_SINCE:  # they have checked their clients
        if not may_cluster(check, Operation.CLUSTER_ACTION):
            raise Denied(AddPartitionsToTxnResponse(error_code=CLUSTER_FAILED))
        return
    request = check.request
    topics = request.v3_and_below_topics
    if not may_id(check, Operation.WRITE, request.v3_and_below_transactional_id):
        raise Denied(_not_added([(topic, ID_FAILED) for topic in topics]))
    _, refused = split(topics, lambda topic: may_topic(check, Operation.WRITE, topic.name))
    if refused:
        names = {topic.name for topic in refused}
        not_attempted = ErrorCode.OPERATION_NOT_ATTEMPTED
        raise Denied(
            _not_added([(t, TOPIC_FAILED if t.name in names else not_attempted) for t in topics])
        )


def _not_added(
    topics: list[tuple[AddPartitionsToTxnTopic, ErrorCode]],
) -> AddPartitionsToTxnResponse:
    return AddPartitionsToTxnResponse(
        results_by_topic_v3_and_below=[_topic_result(topic, error) for topic, error in topics]
    )


def _topic_result(
    topic: AddPartitionsToTxnTopic, error: ErrorCode
) -> AddPartitionsToTxnTopicResult:
    return AddPartitionsToTxnTopicResult(
        topic.name, [AddPartitionsToTxnPartitionResult(index, error) for index in topic.partitions]
    )


def add_offsets_to_txn(check: Check) -> None:
    if not may_id(check, Operation.WRITE, check.request.transactional_id):
        raise Denied(AddOffsetsToTxnResponse(error_code=ID_FAILED))
    if not may_group(check, Operation.READ, check.request.group_id):
        raise Denied(AddOffsetsToTxnResponse(error_code=GROUP_FAILED))


def end_txn(check: Check) -> None:
    if not may_id(check, Operation.WRITE, check.request.transactional_id):
        raise Denied(EndTxnResponse(error_code=ID_FAILED))


def txn_offset_commit(check: Check) -> Finish | None:
    request = check.request

    def refuse(
        topic: TxnOffsetCommitRequestTopic, error: ErrorCode
    ) -> TxnOffsetCommitResponseTopic:
        return TxnOffsetCommitResponseTopic(
            topic.name,
            [TxnOffsetCommitResponsePartition(p.partition_index, error) for p in topic.partitions],
        )

    error = None
    if not may_id(check, Operation.WRITE, request.transactional_id):
        error = ID_FAILED
    elif not may_group(check, Operation.READ, request.group_id):
        error = GROUP_FAILED
    if error is not None:
        refusals = [refuse(topic, error) for topic in request.topics]
        raise Denied(TxnOffsetCommitResponse(topics=refusals))
    return each(
        check,
        "topics",
        lambda topic: may_topic(check, Operation.READ, topic.name),
        TxnOffsetCommitResponse,
        "topics",
        lambda topic: refuse(topic, TOPIC_FAILED),
    )


def write_txn_markers(check: Check) -> None:
    if may_cluster(check, Operation.ALTER) or may_cluster(check, Operation.CLUSTER_ACTION):
        return
    raise Denied(
        WriteTxnMarkersResponse(
            [
                WritableTxnMarkerResult(
                    marker.producer_id,
                    [
                        WritableTxnMarkerTopicResult(
                            topic.name,
                            [
                                WritableTxnMarkerPartitionResult(index, CLUSTER_FAILED)
                                for index in topic.partition_indexes
                            ],
                        )
                        for topic in marker.topics
                    ],
                )
                for marker in check.request.markers
            ]
        )
    )


def describe_transactions(check: Check) -> Finish:
    add_refusals = each(
        check,
        "transactional_ids",
        lambda transactional_id: may_id(check, Operation.DESCRIBE, transactional_id),
        DescribeTransactionsResponse,
        "transaction_states",
        lambda transactional_id: TransactionState(ID_FAILED, transactional_id),
    )

    def finish(response: Any) -> None:
        for state in response.transaction_states:
            state.topics = [
                topic for topic in state.topics if may_topic(check, Operation.DESCRIBE, topic.topic)
            ]
        if add_refusals is not None:
            add_refusals(response)

    return finish


def list_transactions(check: Check) -> Finish:
    return filtered(
        "transaction_states",
        lambda state: may_id(check, Operation.DESCRIBE, state.transactional_id),
    )
