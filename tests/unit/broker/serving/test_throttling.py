"""A client over its quota is told so, and the broker does not read from it meanwhile."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.unit.broker.serving.raw import RawClient, frame, produce_frame, serving

from holdfast.broker.api import alter_client_quotas
from holdfast.broker.broker import Broker
from holdfast.broker.context import RequestContext
from holdfast.broker.dynamic_file import FILE_NAME, DynamicFile
from holdfast.broker.settings import BrokerSettings
from holdfast.broker.work import OnThread
from holdfast.errors import DataDirectoryError
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from holdfast.wire.protocol.generated.api_versions_request import ApiVersionsRequest
from holdfast.wire.protocol.generated.describe_client_quotas_request import (
    DescribeClientQuotasRequest,
)
from holdfast.wire.protocol.generated.fetch_request import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
)
from holdfast.wire.protocol.generated.metadata_request import MetadataRequest

METADATA = frame("metadata", 9, MetadataRequest(topics=[]), 2)
TOPIC = "topic"


async def set_quota(client: RawClient, key: str, value: float, **entity: str | None) -> Any:
    named = [EntityData(kind.replace("_", "-"), name) for kind, name in entity.items()]
    request = AlterClientQuotasRequest([EntryData(named, [OpData(key, value)])])
    (entry,) = (await client.call("alter_client_quotas", 1, request)).entries
    return entry


async def is_silent(client: RawClient, seconds: float = 0.4) -> bool:
    """Returns True if the broker sends nothing for a while."""
    try:
        await asyncio.wait_for(asyncio.shield(client.reader.read(1)), seconds)
    except TimeoutError:
        return True
    return False


def fetch_frame(max_bytes: int = 1_000_000) -> bytes:
    partition = FetchPartition(0, partition_max_bytes=max_bytes)
    topics = [FetchTopic(TOPIC, partitions=[partition])]
    return frame("fetch", 11, FetchRequest(max_bytes=max_bytes, topics=topics))


async def test_throttled_producer_gets_its_reply_and_is_muted(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, await served.client() as client:
        served.broker.topics.create(TOPIC, 1, {})
        assert not (await set_quota(client, "producer_byte_rate", 1e3, client_id="test")).error_code
        await client.send(produce_frame(TOPIC, 0, b"v" * 10_200))
        _, reply = await client.reply("produce", 9)
        assert reply.responses[0].partition_responses[0].error_code == 0
        assert 0 < reply.throttle_time_ms <= 5_000
        await client.send(METADATA)
        async with await served.client() as other:
            await other.send(METADATA)  # other connections are read
            assert (await other.reply("metadata", 9))[0] == 2
        correlation_id, _ = await client.reply("metadata", 9)
        assert correlation_id == 2
        assert served.broker.metrics.throttled_requests == 1


async def test_muted_client_is_read_only_after_the_throttle_time(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, await served.client() as client:
        served.broker.topics.create(TOPIC, 1, {})
        await set_quota(client, "producer_byte_rate", 1, client_id="test")
        await client.send(produce_frame(TOPIC, 0, b"v" * 1_000) + METADATA)
        _, reply = await client.reply("produce", 9)
        assert reply.throttle_time_ms > 100_000
        assert await is_silent(client)
        async with asyncio.timeout(5):
            await served.listener.stop(1)  # does not wait for the end of the throttle time


async def test_producer_without_acknowledgements_is_muted_too(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, await served.client() as client:
        served.broker.topics.create(TOPIC, 1, {})
        await set_quota(client, "producer_byte_rate", 1, client_id="test")
        await client.send(produce_frame(TOPIC, 0, b"v" * 1_000, acks=0) + METADATA)
        assert await is_silent(client)
        assert served.partition(TOPIC, 0).log.high_watermark == 1


async def test_throttled_producer_keeps_no_memory_that_others_need(tmp_path: Path) -> None:
    large = produce_frame(TOPIC, 0, b"v" * 200_000, correlation_id=2)
    async with serving(tmp_path) as served, await served.client() as client:
        served.broker.topics.create(TOPIC, 1, {})
        await set_quota(client, "producer_byte_rate", 1, client_id="test")
        await client.send(produce_frame(TOPIC, 0, b"v" * 1_000) + large[:60_000])
        _, reply = await client.reply("produce", 9)
        assert reply.throttle_time_ms > 100_000
        assert served.listener.request_memory.taken > 0
        await client.send(large[60_000:] + METADATA)
        correlation_id, _ = await client.reply("produce", 9)
        assert correlation_id == 2
        assert served.listener.request_memory.taken == 0
        assert await is_silent(client)


async def test_throttled_reader_gets_its_records_later(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, await served.client() as client:
        served.broker.topics.create(TOPIC, 1, {})
        for _ in range(30):
            await client.send(produce_frame(TOPIC, 0, b"v" * 700))
            await client.reply("produce", 9)
        await set_quota(client, "consumer_byte_rate", 2_000, user="ANONYMOUS")
        await client.send(fetch_frame())
        _, first = await client.reply("fetch", 11)
        assert first.throttle_time_ms == 0
        size = len(first.responses[0].partitions[0].records)
        assert 19_000 < size <= 20_000  # what the quota allows at once
        await client.send(fetch_frame(1_000))
        _, second = await client.reply("fetch", 11)
        assert (second.error_code, second.responses) == (0, [])
        assert second.throttle_time_ms > 0
        while not second.responses:  # the client waits as it is told
            await client.send(fetch_frame(1_000))
            _, second = await client.reply("fetch", 11)
        assert len(second.responses[0].partitions[0].records) > 700


async def test_record_batch_above_the_quota_reaches_its_reader(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, await served.client() as client:
        served.broker.topics.create(TOPIC, 1, {})
        await client.send(produce_frame(TOPIC, 0, b"v" * 10_000))
        await client.reply("produce", 9)
        await set_quota(client, "consumer_byte_rate", 5, client_id=None)
        await client.send(fetch_frame())
        _, reply = await client.reply("fetch", 11)
        assert len(reply.responses[0].partitions[0].records) > 10_000
        assert reply.throttle_time_ms > 0


async def test_time_on_the_loop_is_limited(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, await served.client() as client:
        await set_quota(client, "request_percentage", 1e-6, user=None)
        await client.send(METADATA)
        _, reply = await client.reply("metadata", 9)
        assert reply.throttle_time_ms > 0
        versions = await client.call("api_versions", 3, ApiVersionsRequest("x", "1"))
        assert versions.throttle_time_ms > 0


async def test_change_of_many_quotas_lets_other_requests_run(tmp_path: Path) -> None:
    entries = [
        EntryData([EntityData("user", str(number))], [OpData("producer_byte_rate", 5)])
        for number in range(100)
    ]
    async with serving(tmp_path) as served:
        context = RequestContext(1, "test", "127.0.0.1", ("127.0.0.1", 9092))
        work = alter_client_quotas.handle(served.broker, AlterClientQuotasRequest(entries), context)
        pauses = 0
        for step in work:
            if isinstance(step, OnThread):
                assert pauses >= 2 * len(entries), "the quotas are counted, and checked"
                step.run()
            pauses += 1
        assert pauses > 3 * len(entries)
        assert len(served.broker.dynamic.entries.quotas) == len(entries)


async def test_quotas_survive_a_restart(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, await served.client() as client:
        await set_quota(client, "producer_byte_rate", 5, user="alice", client_id=None)
        await set_quota(client, "request_percentage", 2.5, user=None)
    async with serving(tmp_path) as served, await served.client() as client:
        described = await client.call("describe_client_quotas", 1, DescribeClientQuotasRequest())
        found = {
            tuple((e.entity_type, e.entity_name) for e in entry.entity): {
                value.key: value.value for value in entry.values
            }
            for entry in described.entries
        }
        assert found == {
            (("user", "alice"), ("client-id", None)): {"producer_byte_rate": 5.0},
            (("user", None),): {"request_percentage": 2.5},
        }
        assert served.broker.quotas.keys == {"producer_byte_rate", "request_percentage"}


async def test_unsaved_quota_has_no_effect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: DynamicFile, entries: object) -> None:
        raise OSError("disk full")

    async with serving(tmp_path) as served, await served.client() as client:
        monkeypatch.setattr(DynamicFile, "save", full)
        entry = await set_quota(client, "producer_byte_rate", 5, user="alice")
        assert entry.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert not served.broker.quotas.keys


async def test_unreadable_file_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text('{"format": 1, "quotas": [7]}')
    with pytest.raises(DataDirectoryError, match="quotas"):
        Broker(BrokerSettings(data_dir=tmp_path))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("controller_mutation_rate", 5),
        ("connection_creation_rate", 5),
        ("producer_byte_rate", 1.5),
        ("producer_byte_rate", 0),
        ("request_percentage", float("nan")),
        ("request_percentage", -1),
        ("x", 1),
    ],
)
async def test_quota_that_would_mean_nothing_is_refused(
    tmp_path: Path, key: str, value: float
) -> None:
    async with serving(tmp_path) as served, await served.client() as client:
        entry = await set_quota(client, key, value, user="alice")
        assert entry.error_code == ErrorCode.INVALID_REQUEST
        assert key in entry.error_message
        assert not served.broker.quotas.keys
