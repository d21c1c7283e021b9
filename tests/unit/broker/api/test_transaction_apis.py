"""The transaction APIs on the wire, in their oldest and newest versions."""

from typing import Any

import pytest
from tests.unit.broker.serving.raw import RawClient

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
        "t",
        who.producer_id,
        who.producer_epoch,
        [add_partitions_to_txn_request.AddPartitionsToTxnTopic(topic, partitions)],
    )
    response = await client.call("add_partitions_to_txn", version, request)
    return {
        result.partition_index: result.partition_error_code
        for topic in response.results_by_topic_v3_and_below
        for result in topic.results_by_partition
    }


async def end(client: RawClient, who: Any, commit: bool, version: int = 3) -> int:
    request = end_txn_request.EndTxnRequest("t", who.producer_id, who.producer_epoch, commit)
    return (await client.call("end_txn", version, request)).error_code


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
    return response.responses[0].partition_responses[0].error_code


@pytest.mark.parametrize("version", [0, 5])
async def test_producers_without_a_transactional_id_get_ids_of_their_own(client, version):
    first = await init(client, version, transactional_id=None)
    second = await init(client, version, transactional_id=None)
    assert first.error_code == second.error_code == 0
    assert first.producer_epoch == second.producer_epoch == 0
    assert first.producer_id != second.producer_id


async def test_an_identity_must_be_given_whole(client):
    for fields in ({"producer_id": 5}, {"producer_epoch": 5}):
        assert (await init(client, **fields)).error_code == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    ("version", "error"),
    [(3, ErrorCode.INVALID_PRODUCER_EPOCH), (4, ErrorCode.PRODUCER_FENCED)],
)
async def test_a_fenced_producer_hears_it_in_the_words_of_its_version(client, version, error):
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
async def test_a_fenced_producer_can_neither_add_nor_end(client, version, error):
    old = await init(client)
    await init(client)
    assert await add(client, old, [0], version=version) == {0: error}
    assert await end(client, old, True, version) == error
    offsets = add_offsets_to_txn_request.AddOffsetsToTxnRequest(
        "t", old.producer_id, old.producer_epoch, "g"
    )
    assert (await client.call("add_offsets_to_txn", version, offsets)).error_code == error


async def test_one_unknown_partition_keeps_the_others_out(client):
    who = await init(client)
    assert await add(client, who, [0, 7]) == {
        0: ErrorCode.OPERATION_NOT_ATTEMPTED,
        7: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
    assert await write(client, who, 0) == ErrorCode.INVALID_TXN_STATE


@pytest.mark.parametrize("version", [0, 3])
async def test_a_transaction_from_begin_to_end(client, served, version):
    who = await init(client)
    assert await add(client, who, [0, 1], version=version) == {0: 0, 1: 0}
    assert await write(client, who, 0) == 0
    log = served.broker.partition("a", 0).log
    assert log.last_stable_offset == 0
    assert await end(client, who, True, version) == 0
    assert log.last_stable_offset == log.high_watermark == 2  # the record and its marker
    assert await end(client, who, True, version) == 0
    assert await end(client, who, False, version) == ErrorCode.INVALID_TXN_STATE


async def test_transactions_are_described_and_listed(client):
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
async def test_transactions_are_listed_by_state_producer_and_age(client, served, filters, listed):
    who = await init(client)
    await add(client, who, [0])
    begun = served.broker.clock()
    served.broker.clock = lambda: begun + 10
    request = list_transactions_request.ListTransactionsRequest(**filters)
    response = await client.call("list_transactions", 1, request)
    assert [state.transactional_id for state in response.transaction_states] == ["t"] * listed
    assert response.unknown_state_filters == [
        name for name in filters.get("state_filters", []) if name == "Odd"
    ]


async def test_an_administrator_can_end_what_hangs(client, served):
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
    log = served.broker.partition("a", 0).log
    assert log.last_stable_offset == log.high_watermark == 2
    assert [t.producer_id for t in log.aborted_transactions(0, 2)] == [who.producer_id]
