"""Requests about thousands of partitions at once, of each API that takes a list of them."""

import dataclasses
import time
from collections.abc import Callable
from typing import Any

from tests.bombs import BY_NAME, explode, frame
from tests.frames import codec, decode_response

from holdfast.wire.protocol.generated.fetch_request import FetchPartition, FetchRequest, FetchTopic
from holdfast.wire.records.batch import (
    HEADER,
    HEADER_SIZE,
    TRANSACTIONAL_BIT,
    build_batch,
    header_of,
    seal,
)

TOPICS, PARTITIONS = 400, 10
NAMES = [f"wide-{number:04}" for number in range(TOPICS)]
INDEXES = range(PARTITIONS)
GROUP = "wide-group"
TRANSACTION = "wide-transaction"


def _topics(api: str, topic: str, partition: str, **fields: Any) -> list[Any]:
    """Every topic with all its partitions, as the request of this API lists them."""
    module = codec(BY_NAME[api], "request")
    of_topic, of_partition = getattr(module, topic), getattr(module, partition)
    partitions = dataclasses.fields(of_topic)[-1].name
    return [
        of_topic(name, **{partitions: [of_partition(index, **fields) for index in INDEXES]})
        for name in NAMES
    ]


def _named(api: str, topic: str) -> list[Any]:
    return [getattr(codec(BY_NAME[api], "request"), topic)(name, list(INDEXES)) for name in NAMES]


def request(api: str, version: int, **fields: Any) -> bytes:
    module = codec(BY_NAME[api], "request")
    kind = "".join(word.capitalize() for word in api.split("_")) + "Request"
    return frame(api, version, getattr(module, kind)(**fields))


def ask(port: int, api: str, version: int, frames: bytes) -> Any:
    """The decoded answer to one request."""
    (answer,) = explode(port, frames)
    return decode_response(BY_NAME[api], version, answer)


def create_topics() -> bytes:
    topic = codec(BY_NAME["create_topics"], "request").CreatableTopic
    return request("create_topics", 7, topics=[topic(name, PARTITIONS, 1) for name in NAMES])


def fetch(max_wait_ms: int) -> bytes:
    topics = [
        FetchTopic(
            topic=name, partitions=[FetchPartition(i, partition_max_bytes=1024) for i in INDEXES]
        )
        for name in NAMES
    ]
    return frame("fetch", 11, FetchRequest(max_wait_ms=max_wait_ms, min_bytes=1, topics=topics))


def produce() -> bytes:
    batch = memoryview(build_batch([(b"k", b"v")], timestamp=time.time_ns() // 1_000_000))
    topics = _topics("produce", "TopicProduceData", "PartitionProduceData", records=batch)
    return request("produce", 9, acks=-1, timeout_ms=60_000, topic_data=topics)


def produce_in_transaction(producer_id: int, epoch: int) -> bytes:
    """In version 2 of transactions: the request adds its partitions."""
    batch = bytearray(build_batch([(b"k", b"v")], timestamp=time.time_ns() // 1_000_000))
    header = header_of(batch)._replace(
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=0,
        attributes=TRANSACTIONAL_BIT,
    )
    batch[:HEADER_SIZE] = HEADER.pack(*header)
    seal(batch)
    topics = _topics(
        "produce", "TopicProduceData", "PartitionProduceData", records=memoryview(batch)
    )
    return request(
        "produce",
        12,
        transactional_id=TRANSACTION,
        acks=-1,
        timeout_ms=60_000,
        topic_data=topics,
    )


def offset_commit() -> bytes:
    topics = _topics(
        "offset_commit",
        "OffsetCommitRequestTopic",
        "OffsetCommitRequestPartition",
        committed_offset=1,
    )
    return request("offset_commit", 8, group_id=GROUP, topics=topics)


def init_producer(transactional_id: str | None) -> bytes:
    return request(
        "init_producer_id",
        4,
        transactional_id=transactional_id,
        transaction_timeout_ms=600_000,
    )


def add_partitions(producer_id: int, epoch: int) -> bytes:
    return request(
        "add_partitions_to_txn",
        3,
        v3_and_below_transactional_id=TRANSACTION,
        v3_and_below_producer_id=producer_id,
        v3_and_below_producer_epoch=epoch,
        v3_and_below_topics=_named("add_partitions_to_txn", "AddPartitionsToTxnTopic"),
    )


def add_offsets(producer_id: int, epoch: int) -> bytes:
    return request(
        "add_offsets_to_txn",
        3,
        transactional_id=TRANSACTION,
        producer_id=producer_id,
        producer_epoch=epoch,
        group_id=GROUP,
    )


def end_transaction(producer_id: int, epoch: int, version: int = 3) -> bytes:
    return request(
        "end_txn",
        version,
        transactional_id=TRANSACTION,
        producer_id=producer_id,
        producer_epoch=epoch,
        committed=True,
    )


def txn_offset_commit(producer_id: int, epoch: int, version: int = 3) -> bytes:
    topics = _topics(
        "txn_offset_commit",
        "TxnOffsetCommitRequestTopic",
        "TxnOffsetCommitRequestPartition",
        committed_offset=2,
    )
    return request(
        "txn_offset_commit",
        version,
        transactional_id=TRANSACTION,
        group_id=GROUP,
        producer_id=producer_id,
        producer_epoch=epoch,
        topics=topics,
    )


def _resources(api: str, kind: str, *more: Any) -> list[Any]:
    resource = getattr(codec(BY_NAME[api], "request"), kind)
    return [resource(2, name, *more) for name in NAMES]


def alter_configs() -> bytes:
    config = codec(BY_NAME["incremental_alter_configs"], "request").AlterableConfig
    resources = _resources(
        "incremental_alter_configs",
        "AlterConfigsResource",
        [config("retention.ms", 0, "100000000")],
    )
    return request("incremental_alter_configs", 1, resources=resources)


def create_partitions(total: int) -> bytes:
    topic = codec(BY_NAME["create_partitions"], "request").CreatePartitionsTopic
    topics = [topic(name, total, None) for name in NAMES]
    return request("create_partitions", 3, topics=topics, timeout_ms=60_000)


def delete_records() -> bytes:
    topics = _topics("delete_records", "DeleteRecordsTopic", "DeleteRecordsPartition", offset=-1)
    return request("delete_records", 1, topics=topics, timeout_ms=60_000)


def offset_delete() -> bytes:
    topics = _topics("offset_delete", "OffsetDeleteRequestTopic", "OffsetDeleteRequestPartition")
    return request("offset_delete", 0, group_id=GROUP, topics=topics)


def write_markers() -> bytes:
    marker = codec(BY_NAME["write_txn_markers"], "request").WritableTxnMarker
    topics = _named("write_txn_markers", "WritableTxnMarkerTopic")
    return request("write_txn_markers", 1, markers=[marker(5, 0, False, topics, 0)])


def delete_topics() -> bytes:
    topic = codec(BY_NAME["delete_topics"], "request").DeleteTopicState
    return request("delete_topics", 6, topics=[topic(name) for name in NAMES], timeout_ms=60_000)


READS: dict[str, Callable[[], bytes]] = {
    "metadata": lambda: request("metadata", 9, topics=None),
    "fetch": lambda: fetch(0),
    "fetch that waits": lambda: fetch(300),
    "list_offsets": lambda: request(
        "list_offsets",
        5,
        topics=_topics("list_offsets", "ListOffsetsTopic", "ListOffsetsPartition", timestamp=-1),
    ),
    "list_offsets by time": lambda: request(
        "list_offsets",
        5,
        topics=_topics("list_offsets", "ListOffsetsTopic", "ListOffsetsPartition", timestamp=5),
    ),
    "offset_fetch of all": lambda: request("offset_fetch", 7, group_id=GROUP, topics=None),
    "offset_fetch": lambda: request(
        "offset_fetch",
        7,
        group_id=GROUP,
        topics=_named("offset_fetch", "OffsetFetchRequestTopic"),
        require_stable=True,
    ),
    "offset_for_leader_epoch": lambda: request(
        "offset_for_leader_epoch",
        3,
        topics=_topics(
            "offset_for_leader_epoch", "OffsetForLeaderTopic", "OffsetForLeaderPartition"
        ),
    ),
    "describe_configs": lambda: request(
        "describe_configs",
        4,
        resources=_resources("describe_configs", "DescribeConfigsResource", None),
        include_synonyms=True,
        include_documentation=True,
    ),
    "describe_log_dirs": lambda: request("describe_log_dirs", 1, topics=None),
    "describe_producers": lambda: request(
        "describe_producers", 0, topics=_named("describe_producers", "TopicRequest")
    ),
    "elect_leaders": lambda: request(
        "elect_leaders", 2, topic_partitions=_named("elect_leaders", "TopicPartitions")
    ),
    "elect_leaders of all": lambda: request("elect_leaders", 2, topic_partitions=None),
    "alter_partition_reassignments": lambda: request(
        "alter_partition_reassignments",
        1,
        topics=_topics(
            "alter_partition_reassignments",
            "ReassignableTopic",
            "ReassignablePartition",
            replicas=[1],
        ),
    ),
    "alter_replica_log_dirs": lambda: request(
        "alter_replica_log_dirs",
        2,
        dirs=[
            codec(BY_NAME["alter_replica_log_dirs"], "request").AlterReplicaLogDir(
                "/nowhere", _named("alter_replica_log_dirs", "AlterReplicaLogDirTopic")
            )
        ],
    ),
    "describe_quorum": lambda: request(
        "describe_quorum", 2, topics=_topics("describe_quorum", "TopicData", "PartitionData")
    ),
    "list_config_resources": lambda: request("list_config_resources", 1),
    "describe_topic_partitions": lambda: request(
        "describe_topic_partitions", 0, response_partition_limit=100_000
    ),
}
