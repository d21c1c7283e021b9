"""Topics made, enlarged, emptied, described and deleted, on the wire."""

import uuid
from typing import Any

import pytest
from tests.unit.broker.serving.raw import RawClient, Served, produce_frame

from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated import (
    create_partitions_request,
    create_topics_request,
    delete_records_request,
    delete_topics_request,
    describe_cluster_request,
    describe_log_dirs_request,
    describe_topic_partitions_request,
)

OFFSETS = "__consumer_offsets"


async def create(
    client: RawClient, *topics: tuple[str, dict[str, Any]], version: int = 7, **fields: Any
) -> list[Any]:
    request = create_topics_request.CreateTopicsRequest(
        [
            create_topics_request.CreatableTopic(
                name, **{"num_partitions": 1, "replication_factor": 1, **settings}
            )
            for name, settings in topics
        ],
        **fields,
    )
    return list((await client.call("create_topics", version, request)).topics)


def assigned(*broker_ids: list[int]) -> dict[str, Any]:
    return {
        "num_partitions": -1,
        "replication_factor": -1,
        "assignments": [
            create_topics_request.CreatableReplicaAssignment(index, ids)
            for index, ids in enumerate(broker_ids)
        ],
    }


def configured(**settings: str | None) -> dict[str, Any]:
    return {
        "configs": [
            create_topics_request.CreatableTopicConfig(name.replace("_", "."), value)
            for name, value in settings.items()
        ]
    }


@pytest.mark.parametrize("version", range(2, 8))
async def test_a_topic_is_made_with_its_settings(
    client: RawClient, served: Served, version: int
) -> None:
    settings = {"num_partitions": 3, **configured(retention_ms="1000")}
    (made,) = await create(client, ("new", settings), version=version)
    topic = served.topic("new")
    assert (made.error_code, made.error_message) == (0, None)
    assert (len(topic.partitions), topic.config.retention_ms) == (3, 1000)
    if version >= 5:
        assert (made.num_partitions, made.replication_factor) == (3, 1)
        shown = {config.name: (config.value, config.config_source) for config in made.configs}
        assert shown["retention.ms"] == ("1000", 1)
        assert shown["segment.bytes"] == ("1073741824", 5)
    if version >= 7:
        assert made.topic_id == topic.id


async def test_minus_one_lets_the_broker_choose(client: RawClient, served: Served) -> None:
    await create(client, ("new", {"num_partitions": -1, "replication_factor": -1}))
    assert len(served.topic("new").partitions) == 1


async def test_replicas_can_only_be_here(client: RawClient, served: Served) -> None:
    (made,) = await create(client, ("new", assigned([1], [1])))
    assert made.error_code == 0
    assert len(served.topic("new").partitions) == 2


@pytest.mark.parametrize(
    ("name", "settings", "error"),
    [
        ("a", {}, ErrorCode.TOPIC_ALREADY_EXISTS),
        ("no/slash", {}, ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("..", {}, ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("n", {"num_partitions": 0}, ErrorCode.INVALID_PARTITIONS),
        ("n", {"num_partitions": -2}, ErrorCode.INVALID_PARTITIONS),
        ("n", {"replication_factor": 0}, ErrorCode.INVALID_REPLICATION_FACTOR),
        ("n", {"replication_factor": 3}, ErrorCode.INVALID_REPLICATION_FACTOR),
        ("n", assigned([7]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        ("n", assigned([1, 1]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        ("n", assigned([]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        ("n", {**assigned([1]), "num_partitions": 1}, ErrorCode.INVALID_REQUEST),
        ("n", configured(retention_ms="soon"), ErrorCode.INVALID_CONFIG),
        ("n", configured(no_such="1"), ErrorCode.INVALID_CONFIG),
        ("n", configured(retention_ms=None), ErrorCode.INVALID_CONFIG),
    ],
)
async def test_bad_topics_are_refused_and_others_are_not(
    client: RawClient, served: Served, name: str, settings: dict[str, Any], error: ErrorCode
) -> None:
    bad, good = await create(client, (name, settings), ("good", {}))
    assert bad.error_code == error
    assert bad.error_message
    assert good.error_code == 0
    assert served.broker.topics.names() == [OFFSETS, "__transaction_state", "a", "good"]


async def test_partitions_must_be_assigned_from_0_on(client: RawClient) -> None:
    settings = assigned([1], [1])
    settings["assignments"][1].partition_index = 5
    (bad,) = await create(client, ("n", settings))
    assert bad.error_code == ErrorCode.INVALID_REPLICA_ASSIGNMENT


async def test_a_topic_named_twice_in_a_request_is_not_made(
    client: RawClient, served: Served
) -> None:
    (twice,) = await create(client, ("twin", {}), ("twin", {}))
    assert twice.error_code == ErrorCode.INVALID_REQUEST
    assert served.broker.topics.get("twin") is None


async def test_validation_alone_makes_nothing(client: RawClient, served: Served) -> None:
    good, bad = await create(client, ("new", {}), ("a", {}), validate_only=True)
    assert (good.error_code, good.num_partitions) == (0, 1)
    assert bad.error_code == ErrorCode.TOPIC_ALREADY_EXISTS
    assert served.broker.topics.get("new") is None


async def delete(
    client: RawClient, version: int, *topics: tuple[str | None, uuid.UUID | None]
) -> Any:
    request = delete_topics_request.DeleteTopicsRequest(
        [
            delete_topics_request.DeleteTopicState(name, topic_id or uuid.UUID(int=0))
            for name, topic_id in topics
        ],
        [name for name, _ in topics if name is not None],
    )
    return (await client.call("delete_topics", version, request)).responses


@pytest.mark.parametrize("version", range(1, 7))
async def test_topics_are_deleted_by_name(client: RawClient, served: Served, version: int) -> None:
    deleted, unknown = await delete(client, version, ("a", None), ("not-there", None))
    assert (deleted.name, deleted.error_code) == ("a", 0)
    assert unknown.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert served.broker.topics.get("a") is None


async def test_topics_are_deleted_by_id(client: RawClient, served: Served) -> None:
    topic_id = served.topic("a").id
    deleted, unknown = await delete(client, 6, (None, topic_id), (None, uuid.uuid4()))
    assert (deleted.name, deleted.topic_id, deleted.error_code) == ("a", topic_id, 0)
    assert unknown.error_code == ErrorCode.UNKNOWN_TOPIC_ID


async def test_a_topic_must_be_named_in_one_way(client: RawClient, served: Served) -> None:
    topic_id = served.topic("a").id
    both, neither = await delete(client, 6, ("a", topic_id), (None, None))
    assert both.error_code == neither.error_code == ErrorCode.INVALID_REQUEST
    (twice,) = await delete(client, 6, ("a", None), ("a", None))
    assert twice.error_code == ErrorCode.INVALID_REQUEST
    assert served.broker.topics.get("a") is not None


async def test_the_brokers_own_topics_cannot_be_touched(client: RawClient, served: Served) -> None:
    (deleted,) = await delete(client, 6, (OFFSETS, None))
    assert deleted.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    (enlarged,) = await enlarge(client, OFFSETS, 5)
    assert enlarged.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert await delete_records(client, OFFSETS, 0, 0) == (
        ErrorCode.INVALID_TOPIC_EXCEPTION,
        -1,
    )
    assert len(served.topic(OFFSETS).partitions) == 1


async def enlarge(
    client: RawClient,
    name: str,
    count: int,
    assignments: list[list[int]] | None = None,
    validate_only: bool = False,
    version: int = 3,
) -> list[Any]:
    wanted = (
        None
        if assignments is None
        else [create_partitions_request.CreatePartitionsAssignment(ids) for ids in assignments]
    )
    request = create_partitions_request.CreatePartitionsRequest(
        [create_partitions_request.CreatePartitionsTopic(name, count, wanted)],
        validate_only=validate_only,
    )
    return list((await client.call("create_partitions", version, request)).results)


@pytest.mark.parametrize("version", range(4))
async def test_a_topic_gets_more_partitions(
    client: RawClient, served: Served, version: int
) -> None:
    (done,) = await enlarge(client, "a", 4, version=version)
    assert (done.name, done.error_code) == ("a", 0)
    assert len(served.topic("a").partitions) == 4


@pytest.mark.parametrize(
    ("name", "count", "assignments", "error"),
    [
        ("a", 2, None, ErrorCode.INVALID_PARTITIONS),
        ("a", 1, [[1]], ErrorCode.INVALID_PARTITIONS),
        ("nope", 3, None, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("a", 3, [[1], [1]], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        ("a", 3, [[2]], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
    ],
)
async def test_invalid_partition_counts_are_refused(
    client: RawClient,
    served: Served,
    name: str,
    count: int,
    assignments: list[list[int]] | None,
    error: ErrorCode,
) -> None:
    (bad,) = await enlarge(client, name, count, assignments)
    assert bad.error_code == error
    assert len(served.topic("a").partitions) == 2


async def test_validation_alone_adds_no_partition(client: RawClient, served: Served) -> None:
    (good,) = await enlarge(client, "a", 3, [[1]], validate_only=True)
    assert good.error_code == 0
    assert len(served.topic("a").partitions) == 2


async def delete_records(
    client: RawClient, topic: str, partition: int, offset: int, version: int = 2
) -> tuple[int, int]:
    request = delete_records_request.DeleteRecordsRequest(
        [
            delete_records_request.DeleteRecordsTopic(
                topic, [delete_records_request.DeleteRecordsPartition(partition, offset)]
            )
        ]
    )
    response = await client.call("delete_records", version, request)
    result = response.topics[0].partitions[0]
    return result.error_code, result.low_watermark


async def put(client: RawClient, topic: str, count: int) -> None:
    for _ in range(count):
        await client.send(produce_frame(topic, 0, b"v"))
        await client.reply("produce", 9)


@pytest.mark.parametrize("version", range(3))
async def test_records_before_an_offset_are_deleted(client: RawClient, version: int) -> None:
    await put(client, "a", 5)
    assert await delete_records(client, "a", 0, 3, version) == (0, 3)
    assert await delete_records(client, "a", 0, 1, version) == (0, 3)
    assert await delete_records(client, "a", 0, -1, version) == (0, 5)


@pytest.mark.parametrize(
    ("topic", "partition", "offset", "error"),
    [
        ("a", 0, 6, ErrorCode.OFFSET_OUT_OF_RANGE),
        ("a", 0, -2, ErrorCode.OFFSET_OUT_OF_RANGE),
        ("a", 9, 0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("nope", 0, 0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("compacted", 0, 0, ErrorCode.POLICY_VIOLATION),
    ],
)
async def test_records_that_cannot_be_deleted_stay(
    client: RawClient, topic: str, partition: int, offset: int, error: ErrorCode
) -> None:
    await create(client, ("compacted", configured(cleanup_policy="compact")))
    await put(client, "a", 5)
    assert await delete_records(client, topic, partition, offset) == (error, -1)


async def describe(
    client: RawClient, topics: list[str], limit: int = 2_000, cursor: tuple[str, int] | None = None
) -> Any:
    module = describe_topic_partitions_request
    request = module.DescribeTopicPartitionsRequest(
        [module.TopicRequest(name) for name in topics],
        limit,
        None if cursor is None else module.Cursor(*cursor),
    )
    return await client.call("describe_topic_partitions", 0, request)


async def test_topics_are_described_page_by_page(client: RawClient) -> None:
    await create(client, ("b", {"num_partitions": 3}), ("c", {}))
    names = ["c", "b", "a", "missing"]
    pages, cursor = [], None
    while True:
        page = await describe(client, names, 2, cursor)
        pages.append(
            [(t.name, t.error_code, [p.partition_index for p in t.partitions]) for t in page.topics]
        )
        if page.next_cursor is None:
            break
        cursor = (page.next_cursor.topic_name, page.next_cursor.partition_index)
    assert pages == [
        [("a", 0, [0, 1])],
        [("b", 0, [0, 1])],
        [("b", 0, [2]), ("c", 0, [0])],
        [("missing", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, [])],
    ]


async def test_without_names_every_topic_is_described(client: RawClient, served: Served) -> None:
    page = await describe(client, [])
    assert [topic.name for topic in page.topics] == served.broker.topics.names()
    assert {topic.name for topic in page.topics if topic.is_internal} == {
        OFFSETS,
        "__transaction_state",
    }
    (topic,) = [topic for topic in page.topics if topic.name == "a"]
    assert topic.topic_id == served.topic("a").id
    assert all(
        (p.leader_id, p.replica_nodes, p.isr_nodes) == (1, [1], [1]) for p in topic.partitions
    )


async def test_cursor_of_a_deleted_topic_continues_at_the_next_one(client: RawClient) -> None:
    await create(client, ("c", {}))
    page = await describe(client, ["a", "c"], cursor=("b", 7))
    assert [(t.name, len(t.partitions)) for t in page.topics] == [("c", 1)]


@pytest.mark.parametrize("version", range(1, 5))
async def test_log_directories_show_sizes(client: RawClient, served: Served, version: int) -> None:
    await put(client, "a", 3)
    module = describe_log_dirs_request
    asked = module.DescribeLogDirsRequest([module.DescribableLogDirTopic("a", [0, 9])])
    (found,) = (await client.call("describe_log_dirs", version, asked)).results
    assert found.log_dir == str(served.broker.settings.data_dir)
    (topic,) = found.topics
    (partition,) = topic.partitions
    assert partition.partition_size == served.partition("a", 0).log.size_bytes > 0
    if version >= 4:
        assert 0 < found.usable_bytes <= found.total_bytes
    everything = await client.call(
        "describe_log_dirs", version, module.DescribeLogDirsRequest(None)
    )
    names = {topic.name for topic in everything.results[0].topics}
    assert names == set(served.broker.topics.names())


@pytest.mark.parametrize("version", [0, 1])
async def test_the_cluster_is_one_broker(client: RawClient, served: Served, version: int) -> None:
    request = describe_cluster_request.DescribeClusterRequest(True)
    found = await client.call("describe_cluster", version, request)
    (node,) = found.brokers
    assert (node.broker_id, node.host, node.port) == (1, "127.0.0.1", served.port)
    assert (found.controller_id, found.cluster_id) == (1, served.broker.metadata.cluster_id)
    assert found.cluster_authorized_operations == 0b1_1111_1010_0000


@pytest.mark.parametrize(
    ("endpoint", "error"),
    [(2, ErrorCode.MISMATCHED_ENDPOINT_TYPE), (9, ErrorCode.UNSUPPORTED_ENDPOINT_TYPE)],
)
async def test_there_are_no_other_endpoints_than_brokers(
    client: RawClient, endpoint: int, error: ErrorCode
) -> None:
    request = describe_cluster_request.DescribeClusterRequest(endpoint_type=endpoint)
    assert (await client.call("describe_cluster", 1, request)).error_code == error
