"""Rules of the APIs that write and read records."""

from holdfast.broker.context import HangUp
from holdfast.broker.security.acls import Operation
from holdfast.broker.security.guard import Check, Denied, Finish
from holdfast.broker.security.rules.items import (
    ID_FAILED,
    TOPIC_FAILED,
    each,
    may_cluster,
    may_id,
    may_topic,
)
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.delete_records_request import DeleteRecordsTopic
from holdfast.wire.protocol.generated.delete_records_response import (
    DeleteRecordsPartitionResult,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from holdfast.wire.protocol.generated.describe_producers_request import TopicRequest
from holdfast.wire.protocol.generated.describe_producers_response import (
    DescribeProducersResponse,
    PartitionResponse,
    TopicResponse,
)
from holdfast.wire.protocol.generated.fetch_request import FetchRequest, FetchTopic
from holdfast.wire.protocol.generated.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from holdfast.wire.protocol.generated.list_offsets_request import ListOffsetsTopic
from holdfast.wire.protocol.generated.list_offsets_response import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from holdfast.wire.protocol.generated.offset_for_leader_epoch_request import OffsetForLeaderTopic
from holdfast.wire.protocol.generated.offset_for_leader_epoch_response import (
    EpochEndOffset,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)
from holdfast.wire.protocol.generated.produce_request import ProduceRequest, TopicProduceData
from holdfast.wire.protocol.generated.produce_response import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from holdfast.wire.records.batch import peek_transaction

_TOPIC_IDS_SINCE = 13
_NO_RECORDS = memoryview(b"")


def produce(check: Check) -> Finish | None:
    request: ProduceRequest = check.request
    transactional_id = request.transactional_id
    may_transact = transactional_id is not None and may_id(check, Operation.WRITE, transactional_id)
    if not may_transact and _in_transaction(request):
        if request.acks == 0:
            raise Denied(HangUp("it may not write with this transactional id"))
        raise Denied(
            ProduceResponse([_unproduced(topic, ID_FAILED) for topic in request.topic_data])
        )
    if request.acks == 0:  # such a request has no answer
        if all(may_topic(check, Operation.WRITE, topic.name) for topic in request.topic_data):
            return None
        raise Denied(HangUp("it may not write to a topic that it produces to"))
    return each(
        check,
        "topic_data",
        lambda topic: may_topic(check, Operation.WRITE, topic.name),
        ProduceResponse,
        "responses",
        lambda topic: _unproduced(topic, TOPIC_FAILED),
    )


def _in_transaction(request: ProduceRequest) -> bool:
    return any(
        data.records is not None and peek_transaction(data.records) is not None
        for topic in request.topic_data
        for data in topic.partition_data
    )


def _unproduced(topic: TopicProduceData, error: ErrorCode) -> TopicProduceResponse:
    return TopicProduceResponse(
        topic.name,
        [PartitionProduceResponse(p.index, error, base_offset=-1) for p in topic.partition_data],
    )


def fetch(check: Check) -> Finish | None:
    request: FetchRequest = check.request
    state = request.replica_state
    replica = request.replica_id if state is None else state.replica_id
    is_follower = replica >= 0

    def may_read(topic: FetchTopic) -> bool:
        if is_follower:
            return may_cluster(check, Operation.CLUSTER_ACTION)
        if check.version < _TOPIC_IDS_SINCE:
            return may_topic(check, Operation.READ, topic.topic)
        known = check.broker.topics.by_id(topic.topic_id)
        return known is None or may_topic(check, Operation.READ, known.name)

    return each(check, "topics", may_read, FetchResponse, "responses", _unfetched)


def _unfetched(topic: FetchTopic) -> FetchableTopicResponse:
    return FetchableTopicResponse(
        topic.topic,
        topic.topic_id,
        [
            PartitionData(p.partition, TOPIC_FAILED, high_watermark=-1, records=_NO_RECORDS)
            for p in topic.partitions
        ],
    )


def list_offsets(check: Check) -> Finish | None:
    def refuse(topic: ListOffsetsTopic) -> ListOffsetsTopicResponse:
        return ListOffsetsTopicResponse(
            topic.name,
            [
                ListOffsetsPartitionResponse(p.partition_index, TOPIC_FAILED)
                for p in topic.partitions
            ],
        )

    return each(
        check,
        "topics",
        lambda topic: may_topic(check, Operation.DESCRIBE, topic.name),
        ListOffsetsResponse,
        "topics",
        refuse,
    )


def offset_for_leader_epoch(check: Check) -> Finish | None:
    if may_cluster(check, Operation.CLUSTER_ACTION):
        return None

    def refuse(topic: OffsetForLeaderTopic) -> OffsetForLeaderTopicResult:
        return OffsetForLeaderTopicResult(
            topic.topic, [EpochEndOffset(TOPIC_FAILED, p.partition) for p in topic.partitions]
        )

    return each(
        check,
        "topics",
        lambda topic: may_topic(check, Operation.DESCRIBE, topic.topic),
        OffsetForLeaderEpochResponse,
        "topics",
        refuse,
    )


def delete_records(check: Check) -> Finish | None:
    def refuse(topic: DeleteRecordsTopic) -> DeleteRecordsTopicResult:
        return DeleteRecordsTopicResult(
            topic.name,
            [
                DeleteRecordsPartitionResult(p.partition_index, -1, TOPIC_FAILED)
                for p in topic.partitions
            ],
        )

    return each(
        check,
        "topics",
        lambda topic: may_topic(check, Operation.DELETE, topic.name),
        DeleteRecordsResponse,
        "topics",
        refuse,
    )


def describe_producers(check: Check) -> Finish | None:
    def refuse(topic: TopicRequest) -> TopicResponse:
        return TopicResponse(
            topic.name,
            [PartitionResponse(index, TOPIC_FAILED, None) for index in topic.partition_indexes],
        )

    return each(
        check,
        "topics",
        lambda topic: may_topic(check, Operation.READ, topic.name),
        DescribeProducersResponse,
        "topics",
        refuse,
    )
