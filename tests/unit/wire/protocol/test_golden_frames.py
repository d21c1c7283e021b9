"""Bytes that other programs wrote: librdkafka 2.16, the tools and the broker of Apache Kafka 4.1.

Captured from a real exchange, and read by hand against the message definitions.
"""

from typing import Any, NamedTuple
from uuid import UUID

import pytest
from tests.frames import codec, request_body, request_header, response_body

from holdfast.wire.protocol.apis import APIS
from holdfast.wire.protocol.generated import (
    api_versions_request,
    create_topics_request,
    describe_topic_partitions_request,
    fetch_request,
    fetch_response,
    find_coordinator_response,
    group_metadata_key,
    group_metadata_value,
    init_producer_id_request,
    join_group_request,
    metadata_request,
    metadata_response,
    offset_commit_key,
    offset_commit_value,
    produce_request,
    produce_response,
)

BY_NAME = {api.name: api for api in APIS.values()}
GOLDEN_TOPIC = UUID("af8ee203-6c7c-4115-a535-a2fb0abed6f6")

SUBSCRIPTION_OF_LIBRDKAFKA = bytes.fromhex(
    "0003000000010006676f6c64656e0000000000000000ffffffff0000"
)  # fmt: skip
SUBSCRIPTION_OF_JAVA = bytes.fromhex("0003000000010006676f6c64656effffffff00000000ffffffffffff")
STICKY_SUBSCRIPTION_OF_JAVA = bytes.fromhex(
    "0003000000010006676f6c64656e00000004ffffffff00000000ffffffffffff"
)
BATCH_OF_LIBRDKAFKA = bytes.fromhex(
    "00000000000000000000004000000000026b3b32cb001000000000000001a1de960b4f000001a1de960b4f"
    "0000000000000000000000000000000000011c000000066b65790a76616c756500"
)


class Golden(NamedTuple):
    api: str
    version: int
    frame: str
    message: Any
    correlation_id: int
    client_id: str | None = None


REQUESTS = {
    "librdkafka asks for versions": Golden(
        "api_versions",
        3,
        "0012000300000001000772646b61666b610017636f6e666c75656e742d6b61666b612d707974686f6e"
        "16322e31362e312d72646b61666b612d322e31362e3000",
        api_versions_request.ApiVersionsRequest("confluent-kafka-python", "2.16.1-rdkafka-2.16.0"),
        1,
        "rdkafka",
    ),
    "librdkafka creates a topic": Golden(
        "create_topics",
        4,
        "0013000400000003000772646b61666b61000000010006676f6c64656e0000000200010000000000000000"
        "0000ea6000",
        create_topics_request.CreateTopicsRequest(
            topics=[create_topics_request.CreatableTopic("golden", 2, 1)], timeout_ms=60_000
        ),
        3,
        "rdkafka",
    ),
    "librdkafka produces in a transaction": Golden(
        "produce",
        10,
        "0000000a00000007000772646b61666b61000574782d31ffff000075300207676f6c64656e02000000004d"
        "00000000000000000000004000000000026b3b32cb001000000000000001a1de960b4f000001a1de960b4f"
        "0000000000000000000000000000000000011c000000066b65790a76616c756500000000",
        produce_request.ProduceRequest(
            transactional_id="tx-1",
            acks=-1,
            timeout_ms=30_000,
            topic_data=[
                produce_request.TopicProduceData(
                    "golden",
                    [produce_request.PartitionProduceData(0, memoryview(BATCH_OF_LIBRDKAFKA))],
                )
            ],
        ),
        7,
        "rdkafka",
    ),
    "librdkafka fetches outside a session, by topic id": Golden(
        "fetch",
        16,
        "0001001000000008000772646b61666b6100000001f400000001032000000100000000ffffffff02"
        "af8ee2036c7c4115a535a2fb0abed6f60200000001000000000000000000000000ffffffff"
        "ffffffffffffffff001000000000010100",
        fetch_request.FetchRequest(
            max_wait_ms=500,
            min_bytes=1,
            max_bytes=52_428_800,
            isolation_level=1,
            topics=[
                fetch_request.FetchTopic(
                    topic_id=GOLDEN_TOPIC,
                    partitions=[
                        fetch_request.FetchPartition(
                            partition=1, current_leader_epoch=0, partition_max_bytes=1_048_576
                        )
                    ],
                )
            ],
        ),
        8,
        "rdkafka",
    ),
    "librdkafka joins a group as a static member": Golden(
        "join_group",
        5,
        "000b000500000003000772646b61666b61000767726f75702d310000afc8000493e000000006696e73742d31"
        "0008636f6e73756d657200000002000572616e67650000001c0003000000010006676f6c64656e00000000"
        "00000000ffffffff0000000a726f756e64726f62696e0000001c0003000000010006676f6c64656e000000"
        "0000000000ffffffff0000",
        join_group_request.JoinGroupRequest(
            group_id="group-1",
            session_timeout_ms=45_000,
            rebalance_timeout_ms=300_000,
            group_instance_id="inst-1",
            protocol_type="consumer",
            protocols=[
                join_group_request.JoinGroupRequestProtocol(name, SUBSCRIPTION_OF_LIBRDKAFKA)
                for name in ("range", "roundrobin")
            ],
        ),
        3,
        "rdkafka",
    ),
    "a Java consumer joins a group": Golden(
        "join_group",
        9,
        "000b0009000000050010636f6e736f6c652d636f6e73756d6572000867726f75702d320000afc8000493e0"
        "010009636f6e73756d6572030672616e67651d0003000000010006676f6c64656effffffff00000000ffff"
        "ffffffff0013636f6f70657261746976652d737469636b79210003000000010006676f6c64656e00000004"
        "ffffffff00000000ffffffffffff000100",
        join_group_request.JoinGroupRequest(
            group_id="group-2",
            session_timeout_ms=45_000,
            rebalance_timeout_ms=300_000,
            protocol_type="consumer",
            protocols=[
                join_group_request.JoinGroupRequestProtocol("range", SUBSCRIPTION_OF_JAVA),
                join_group_request.JoinGroupRequestProtocol(
                    "cooperative-sticky", STICKY_SUBSCRIPTION_OF_JAVA
                ),
            ],
            reason="",
        ),
        5,
        "console-consumer",
    ),
    "a Java producer asks for an id": Golden(
        "init_producer_id",
        5,
        "00160005000000020010636f6e736f6c652d70726f647563657200007fffffffffffffffffffffffffff00",
        init_producer_id_request.InitProducerIdRequest(
            transactional_id=None,
            transaction_timeout_ms=2_147_483_647,
            producer_id=-1,
            producer_epoch=-1,
        ),
        2,
        "console-producer",
    ),
    "a Java tool describes a topic, with a struct that is null": Golden(
        "describe_topic_partitions",
        0,
        "004b000000000005000d61646d696e636c69656e742d31000207676f6c64656e00000007d0ff00",
        describe_topic_partitions_request.DescribeTopicPartitionsRequest(
            topics=[describe_topic_partitions_request.TopicRequest("golden")],
            response_partition_limit=2000,
        ),
        5,
        "adminclient-1",
    ),
}

RESPONSES = {
    "Kafka takes a batch": Golden(
        "produce",
        10,
        "00000007000207676f6c64656e020000000000000000000000000000ffffffffffffffff"
        "0000000000000000010000000000000000",
        produce_response.ProduceResponse(
            responses=[
                produce_response.TopicProduceResponse(
                    "golden", [produce_response.PartitionProduceResponse(log_start_offset=0)]
                )
            ]
        ),
        7,
    ),
    "Kafka has nothing to fetch": Golden(
        "fetch",
        16,
        "00000008000000000000000000000002af8ee2036c7c4115a535a2fb0abed6f60200000001000000000000"
        "000000000000000000000000000000000000000001ffffffff01000000",
        fetch_response.FetchResponse(
            responses=[
                fetch_response.FetchableTopicResponse(
                    topic_id=GOLDEN_TOPIC,
                    partitions=[
                        fetch_response.PartitionData(
                            partition_index=1,
                            last_stable_offset=0,
                            log_start_offset=0,
                            records=memoryview(b""),
                        )
                    ],
                )
            ]
        ),
        8,
    ),
    "Kafka has no coordinator yet": Golden(
        "find_coordinator",
        2,
        "0000000300000000000f002154686520636f6f7264696e61746f72206973206e6f7420617661696c61626c65"
        "2effffffff0000ffffffff",
        find_coordinator_response.FindCoordinatorResponse(
            error_code=15, error_message="The coordinator is not available.", node_id=-1, port=-1
        ),
        3,
    ),
    "Kafka names its brokers": Golden(
        "metadata",
        13,
        "00000002000000000002000000010a3132372e302e302e310000d84f000017614739735a475a6863335174"
        "6447567a64484d744d510000000101000000",
        metadata_response.MetadataResponse(
            brokers=[metadata_response.MetadataResponseBroker(1, "127.0.0.1", 55_375)],
            cluster_id="aG9sZGZhc3QtdGVzdHMtMQ",
            controller_id=1,
        ),
        2,
    ),
}


@pytest.mark.parametrize("golden", REQUESTS.values(), ids=REQUESTS.keys())
def test_recorded_requests_of_other_clients_are_read(golden: Golden) -> None:
    api, raw = BY_NAME[golden.api], bytes.fromhex(golden.frame)
    module = codec(api, "request")
    position = request_body(api, golden.version, raw)
    assert module.decode(golden.version, raw, position) == golden.message
    header = request_header(api, golden.version, golden.correlation_id, golden.client_id)
    assert header + b"".join(module.encode(golden.version, golden.message)) == raw


@pytest.mark.parametrize("golden", RESPONSES.values(), ids=RESPONSES.keys())
def test_responses_of_apache_kafka(golden: Golden) -> None:
    api, raw = BY_NAME[golden.api], bytes.fromhex(golden.frame)
    module = codec(api, "response")
    position = response_body(api, golden.version, raw)
    assert raw[:4] == golden.correlation_id.to_bytes(4, "big")
    assert module.decode(golden.version, raw, position) == golden.message
    assert b"".join(module.encode(golden.version, golden.message)) == raw[position:]


def test_trailing_bytes_of_a_librdkafka_metadata_request_are_accepted() -> None:
    """It writes the null array as four bytes, three too many. Apache Kafka does not mind."""
    raw = bytes.fromhex("0003000d00000003000772646b61666b610000000000010000")
    position = request_body(BY_NAME["metadata"], 13, raw)
    assert metadata_request.decode(13, raw, position) == metadata_request.MetadataRequest(
        topics=None, allow_auto_topic_creation=False
    )


def test_committed_offset_in_kafkas_internal_topic() -> None:
    key = bytes.fromhex("0001000767726f75702d310006676f6c64656e00000000")
    value = bytes.fromhex("000400000000000000040000000001000001a1de960eff00")
    message = offset_commit_key.OffsetCommitKey("group-1", "golden", 0)
    offset = offset_commit_value.OffsetCommitValue(
        offset=4, leader_epoch=0, commit_timestamp=1_794_735_738_623
    )
    assert offset_commit_key.unpack(key) == message
    assert offset_commit_key.pack(message) == key
    assert offset_commit_value.unpack(value) == (4, offset)
    assert offset_commit_value.pack(4, offset) == value


def test_group_in_kafkas_internal_topic() -> None:
    key = bytes.fromhex("0002000767726f75702d31")
    value = bytes.fromhex(
        "00030008636f6e73756d657200000001000572616e6765002b696e73742d312d61356230373362352d31613535"
        "2d346166362d613939622d663066646538646436303234000001a1de960c3d00000001002b696e73742d312d61"
        "356230373362352d316135352d346166362d613939622d6630666465386464363032340006696e73742d310007"
        "72646b61666b61000a2f3132372e302e302e31000493e00000afc80000001c0003000000010006676f6c64656e"
        "0000000000000000ffffffff00000000001e0000000000010006676f6c64656e00000002000000000000000100"
        "000000"
    )
    member = "inst-1-a5b073b5-1a55-4af6-a99b-f0fde8dd6024"
    group = group_metadata_value.GroupMetadataValue(
        protocol_type="consumer",
        generation=1,
        protocol="range",
        leader=member,
        current_state_timestamp=1_794_735_737_917,
        members=[
            group_metadata_value.MemberMetadata(
                member_id=member,
                group_instance_id="inst-1",
                client_id="rdkafka",
                client_host="/127.0.0.1",
                rebalance_timeout=300_000,
                session_timeout=45_000,
                subscription=SUBSCRIPTION_OF_LIBRDKAFKA,
                assignment=bytes.fromhex(
                    "0000000000010006676f6c64656e00000002000000000000000100000000"
                ),
            )
        ],
    )
    assert group_metadata_key.unpack(key) == group_metadata_key.GroupMetadataKey("group-1")
    assert group_metadata_key.pack(group_metadata_key.GroupMetadataKey("group-1")) == key
    assert group_metadata_value.unpack(value) == (3, group)
    assert group_metadata_value.pack(3, group) == value
