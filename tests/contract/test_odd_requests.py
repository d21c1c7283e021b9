"""Requests that no client library sends, found by fuzzing: both brokers answer them calmly."""

from typing import Any

from tests.brokers import BrokerProcess
from tests.clients import create_topic, wait_until
from tests.frames import decode_response, request_frame, sized
from tests.wire import Wire, batch, batches, fetch, produce

from holdfast.wire.protocol.apis import APIS
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated import (
    fetch_request,
    find_coordinator_request,
    offset_commit_request,
    produce_request,
)

BY_NAME = {api.name: api for api in APIS.values()}
FOREVER_MS = (1 << 63) - 1


def ask(wire: Wire, name: str, version: int, request: Any) -> Any:
    wire.send_bytes(sized(request_frame(BY_NAME[name], version, request)))
    return decode_response(BY_NAME[name], version, wire.frame())


def coordinator_is_found(wire: Wire, group: str) -> bool:
    request = find_coordinator_request.FindCoordinatorRequest(key=group)
    return bool(ask(wire, "find_coordinator", 2, request).error_code == ErrorCode.NONE)


def test_clients_cannot_write_to_internal_topics(kafka: BrokerProcess, group: str) -> None:
    data = produce_request.PartitionProduceData(0, memoryview(batch([b"no state"])))
    topic = produce_request.TopicProduceData("__consumer_offsets", [data])
    request = produce_request.ProduceRequest(acks=-1, timeout_ms=5000, topic_data=[topic])
    with Wire(kafka) as wire:
        wait_until(lambda: coordinator_is_found(wire, group), "a coordinator")
        answer = ask(wire, "produce", 9, request).responses[0].partition_responses[0]
    assert answer.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION


def test_fetch_with_negative_limits_is_answered(kafka: BrokerProcess, topic: str) -> None:
    partition = fetch_request.FetchPartition(0, fetch_offset=0, partition_max_bytes=-1)
    request = fetch_request.FetchRequest(
        max_bytes=-1, topics=[fetch_request.FetchTopic(topic, partitions=[partition])]
    )
    create_topic(kafka, topic)
    with Wire(kafka) as wire:
        assert produce(wire, topic, batch([b"v"])).error_code == ErrorCode.NONE
        answer = ask(wire, "fetch", 11, request).responses[0].partitions[0]
        # Apache Kafka trips over it, and says so; the connection is as good as before in both.
        assert answer.error_code in (ErrorCode.NONE, ErrorCode.UNKNOWN_SERVER_ERROR)
        assert len(batches(fetch(wire, topic, 0).records)) == 1


def test_very_long_offset_retention_does_not_overflow(
    kafka: BrokerProcess, topic: str, group: str
) -> None:
    partition = offset_commit_request.OffsetCommitRequestPartition(0, 7)
    request = offset_commit_request.OffsetCommitRequest(
        group_id=group,
        retention_time_ms=FOREVER_MS,
        topics=[offset_commit_request.OffsetCommitRequestTopic(topic, partitions=[partition])],
    )
    create_topic(kafka, topic)
    with Wire(kafka) as wire:
        wait_until(lambda: coordinator_is_found(wire, group), "a coordinator")
        answer = ask(wire, "offset_commit", 2, request)
    assert answer.topics[0].partitions[0].error_code == ErrorCode.NONE
