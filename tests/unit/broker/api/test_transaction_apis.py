"""The transaction APIs on the wire, in their oldest and newest versions."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.unit.broker.serving.raw import DEADLINE_SECONDS, RawClient, Served, serving

from holdfast.broker.log import Appended, RecordsRejected, Source
from holdfast.broker.transactions.markers import Markers
from holdfast.broker.transactions.transaction import TopicPartition
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated import (
    add_offsets_to_txn_request,
    add_partitions_to_txn_request,
    describe_producers_request,
    describe_transactions_request,
    end_txn_request,
    init_producer_id_request,
    list_transactions_request,
    produce_request,
    write_txn_markers_request,
)
from holdfast.wire.records.batch import build_batch


async def init(client: RawClient, version: int = 4, **fields: Any) -> Any:
    request = init_producer_id_request.InitProducerIdRequest(
        **{"transactional_id": "t", "transaction_timeout_ms": 60_000, **fields}
    )
    return await client.call("init_producer_id", version, request)


async def add(
    client: RawClient, who: Any, partitions: list[int], *, topic: str = "a", version: int = 3
) -> dict[int, int]:
    request = add_partitions_to_txn_request.AddPartitionsToTxnRequest(
        v3_and_below_transactional_id="t",
        v3_and_below_producer_id=who.producer_id,
        v3_and_below_producer_epoch=who.producer_epoch,
        v3_and_below_topics=[
            add_partitions_to_txn_request.AddPartitionsToTxnTopic(topic, partitions)
        ],
    )
    response = await client.call("add_partitions_to_txn", version, request)
    return {
        result.partition_index: result.partition_error_code
        for topic in response.results_by_topic_v3_and_below
        for result in topic.results_by_partition
    }


async def end(client: RawClient, who: Any, commit: bool, version: int = 3) -> int:
    request = end_txn_request.EndTxnRequest("t", who.producer_id, who.producer_epoch, commit)
    return int((await client.call("end_txn", version, request)).error_code)


async def write(client: RawClient, who: Any, partition: int, sequence: int = 0) -> int:
    batch = build_batch(
        [(b"k", b"v")],
        timestamp=1_000,
        producer_id=who.producer_id,
        producer_epoch=who.producer_epoch,
        base_sequence=sequence,
        transactional=True,
    )
    data = produce_request.PartitionProduceData(partition, memoryview(batch))
    request = produce_request.ProduceRequest(
        transactional_id="t", acks=-1, topic_data=[produce_request.TopicProduceData("a", [data])]
    )
    response = await client.call("produce", 9, request)
    return int(response.responses[0].partition_responses[0].error_code)


@pytest.mark.parametrize("version", [0, 5])
async def test_producers_without_a_transactional_id_get_ids_of_their_own(
    client: RawClient, version: int
) -> None:
    first = await init(client, version, transactional_id=None)
    second = await init(client, version, transactional_id=None)
    assert first.error_code == second.error_code == 0
    assert first.producer_epoch == second.producer_epoch == 0
    assert first.producer_id != second.producer_id


async def test_an_identity_must_be_given_whole(client: RawClient) -> None:
    for fields in ({"producer_id": 5}, {"producer_epoch": 5}):
        assert (await init(client, **fields)).error_code == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    ("version", "error"),
    [(3, ErrorCode.INVALID_PRODUCER_EPOCH), (4, ErrorCode.PRODUCER_FENCED)],
)
async def test_a_fenced_producer_gets_the_error_code_of_its_version(
    client: RawClient, version: int, error: ErrorCode
) -> None:
    first = await init(client)
    await init(client)
    again = await init(
        client, version, producer_id=first.producer_id, producer_epoch=first.producer_epoch
    )
    assert (again.error_code, again.producer_id) == (error, -1)


@pytest.mark.parametrize(
    ("version", "error"),
    [(1, ErrorCode.INVALID_PRODUCER_EPOCH), (2, ErrorCode.PRODUCER_FENCED)],
)
async def test_a_fenced_producer_can_neither_add_nor_end(
    client: RawClient, version: int, error: ErrorCode
) -> None:
    old = await init(client)
    await init(client)
    assert await add(client, old, [0], version=version) == {0: error}
    assert await end(client, old, True, version) == error
    offsets = add_offsets_to_txn_request.AddOffsetsToTxnRequest(
        "t", old.producer_id, old.producer_epoch, "g"
    )
    assert (await client.call("add_offsets_to_txn", version, offsets)).error_code == error


async def test_one_unknown_partition_keeps_the_others_out(client: RawClient) -> None:
    who = await init(client)
    assert await add(client, who, [0, 7]) == {
        0: ErrorCode.OPERATION_NOT_ATTEMPTED,
        7: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
    assert await write(client, who, 0) == ErrorCode.INVALID_TXN_STATE


@pytest.mark.parametrize("version", [0, 3])
async def test_a_transaction_from_begin_to_end(
    client: RawClient, served: Served, version: int
) -> None:
    who = await init(client)
    assert await add(client, who, [0, 1], version=version) == {0: 0, 1: 0}
    assert await write(client, who, 0) == 0
    log = served.partition("a", 0).log
    assert log.last_stable_offset == 0
    assert await end(client, who, True, version) == 0
    assert log.last_stable_offset == log.high_watermark == 2  # the record and its marker
    assert await end(client, who, True, version) == 0
    assert await end(client, who, False, version) == ErrorCode.INVALID_TXN_STATE


async def test_transactions_are_described_and_listed(client: RawClient) -> None:
    who = await init(client)
    await add(client, who, [1, 0])
    names = describe_transactions_request.DescribeTransactionsRequest(["t", "nobody", ""])
    found, unknown, empty = (
        await client.call("describe_transactions", 0, names)
    ).transaction_states
    assert (found.error_code, found.transaction_state) == (0, "Ongoing")
    assert (found.producer_id, found.producer_epoch) == (who.producer_id, who.producer_epoch)
    assert found.transaction_timeout_ms == 60_000
    assert found.transaction_start_time_ms > 0
    assert [(topic.topic, topic.partitions) for topic in found.topics] == [("a", [0, 1])]
    assert unknown.error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
    assert empty.error_code == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    ("filters", "listed"),
    [
        ({}, True),
        ({"state_filters": ["Ongoing"]}, True),
        ({"state_filters": ["Empty"]}, False),
        ({"state_filters": ["Ongoing", "Odd"]}, True),
        ({"producer_id_filters": [123_456]}, False),
        ({"duration_filter": 0}, True),
        ({"duration_filter": 3_600_000}, False),
    ],
)
async def test_transactions_are_listed_by_state_producer_and_age(
    client: RawClient,
    served: Served,
    filters: dict[str, Any],
    listed: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    who = await init(client)
    await add(client, who, [0])
    begun = served.broker.clock()
    monkeypatch.setattr(served.broker, "clock", lambda: begun + 10)
    request = list_transactions_request.ListTransactionsRequest(**filters)
    response = await client.call("list_transactions", 1, request)
    assert [state.transactional_id for state in response.transaction_states] == ["t"] * listed
    assert response.unknown_state_filters == [
        name for name in filters.get("state_filters", []) if name == "Odd"
    ]


async def test_an_administrator_can_end_a_hanging_transaction(
    client: RawClient, served: Served
) -> None:
    who = await init(client)
    await add(client, who, [0])
    await write(client, who, 0)
    producers = describe_producers_request.DescribeProducersRequest(
        [describe_producers_request.TopicRequest("a", [0, 9])]
    )
    known, unknown = (await client.call("describe_producers", 0, producers)).topics[0].partitions
    (active,) = known.active_producers
    assert (active.producer_id, active.current_txn_start_offset) == (who.producer_id, 0)
    assert unknown.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    markers = write_txn_markers_request.WriteTxnMarkersRequest(
        [
            write_txn_markers_request.WritableTxnMarker(
                who.producer_id,
                who.producer_epoch,
                False,
                [write_txn_markers_request.WritableTxnMarkerTopic("a", [0, 9])],
            )
        ]
    )
    written = await client.call("write_txn_markers", 1, markers)
    assert [
        (result.partition_index, result.error_code)
        for result in written.markers[0].topics[0].partitions
    ] == [(0, 0), (9, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)]
    log = served.partition("a", 0).log
    assert log.last_stable_offset == log.high_watermark == 2
    assert [t.producer_id for t in log.aborted_transactions(0, 2)] == [who.producer_id]


async def mark(client: RawClient, who: Any, commit: bool = False, **fields: Any) -> int:
    """The error code for a client that writes a marker to the first partition."""
    marker = write_txn_markers_request.WritableTxnMarker(
        **{
            "producer_id": who.producer_id,
            "producer_epoch": who.producer_epoch,
            "transaction_result": commit,
            "topics": [write_txn_markers_request.WritableTxnMarkerTopic("a", [0])],
            **fields,
        }
    )
    request = write_txn_markers_request.WriteTxnMarkersRequest([marker])
    answer = await client.call("write_txn_markers", 1, request)
    return int(answer.markers[0].topics[0].partitions[0].error_code)


async def test_coordinator_epoch_of_a_client_does_not_fence_the_coordinator(
    client: RawClient, served: Served
) -> None:
    who = await init(client)
    await add(client, who, [0])
    await write(client, who, 0)
    assert await mark(client, who, coordinator_epoch=1) == 0
    # The abort ended the transaction as a whole: its producer cannot commit what is gone.
    assert await end(client, who, True) == ErrorCode.PRODUCER_FENCED
    who = await init(client)
    await add(client, who, [0])
    assert await write(client, who, 0) == 0
    assert await end(client, who, True) == 0
    log = served.partition("a", 0).log
    assert log.last_stable_offset == log.high_watermark == 4


async def test_client_cannot_commit_a_transaction_of_another_producer(
    client: RawClient, served: Served
) -> None:
    who = await init(client)
    await add(client, who, [0])
    await write(client, who, 0)
    assert await mark(client, who, True) == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    assert served.partition("a", 0).log.last_stable_offset == 0
    assert await end(client, who, True) == 0


async def test_marker_of_a_client_cannot_raise_an_epoch(client: RawClient, served: Served) -> None:
    who = await init(client)
    await add(client, who, [0])
    await write(client, who, 0)
    for producer_id in (who.producer_id, who.producer_id + 1):  # the next one to be given out
        error = await mark(client, who, producer_id=producer_id, producer_epoch=32_767)
        assert error == ErrorCode.INVALID_PRODUCER_EPOCH
    fenced = await mark(client, who, coordinator_epoch=-1)
    assert fenced == ErrorCode.TRANSACTION_COORDINATOR_FENCED
    assert await end(client, who, True) == 0
    log = served.partition("a", 0).log
    assert log.last_stable_offset == log.high_watermark == 2


@pytest.mark.parametrize("later", ["nothing", "another producer", "another transaction"])
@pytest.mark.parametrize("commit", [True, False])
async def test_transaction_left_open_by_an_earlier_release_ends_as_decided_at_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, commit: bool, later: str
) -> None:
    """Earlier releases took a refused marker for written."""
    write_marker = Markers.write

    async def lose_marker(self: Markers, partition: TopicPartition, *rest: Any) -> None:
        if partition != ("a", 0):
            await write_marker(self, partition, *rest)

    async with serving(tmp_path) as served, await served.client() as client:
        served.broker.topics.create("a", 2, {})
        who = await init(client)
        await add(client, who, [0, 1])
        await write(client, who, 0)
        monkeypatch.setattr(Markers, "write", lose_marker)
        assert await end(client, who, commit) == 0
        if later == "another producer":
            await init(client)
        if later == "another transaction":
            await add(client, who, [1])
    monkeypatch.undo()
    async with serving(tmp_path) as served:
        partition = served.partition("a", 0)
        log = partition.log
        async with asyncio.timeout(DEADLINE_SECONDS):
            await partition.when_durable(1)
        assert log.last_stable_offset == log.high_watermark == 2
        assert [t.producer_id for t in log.aborted_transactions(0, 2)] == [who.producer_id] * (
            not commit
        )


async def test_commit_is_not_acknowledged_while_a_partition_has_the_transaction_open(
    client: RawClient, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    who = await init(client)
    await add(client, who, [0])
    await write(client, who, 0)
    partition = served.partition("a", 0)
    append = partition.append
    refusals: list[Source] = []

    def refuse_markers(batches: memoryview, source: Source) -> Appended:
        refusals.append(source)
        if len(refusals) < 3:
            raise RecordsRejected(ErrorCode.INVALID_PRODUCER_EPOCH, "injected")
        return append(batches, source)

    monkeypatch.setattr(partition, "append", refuse_markers)
    assert await end(client, who, True) == 0
    assert len(refusals) == 3
    assert partition.log.last_stable_offset == partition.log.high_watermark == 2
