"""Frames come in any pieces, replies go out in order, and a bad client hurts itself alone."""

import asyncio
import random
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.broker.serving.raw import RawClient, frame, produce_frame, serving

from holdfast.broker.operations import ON_CLUSTER, ON_TOPIC
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.protocol.generated.api_versions_request import ApiVersionsRequest
from holdfast.wire.protocol.generated.api_versions_response import ApiVersionsResponse
from holdfast.wire.protocol.generated.fetch_request import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
)
from holdfast.wire.protocol.generated.fetch_response import FetchResponse
from holdfast.wire.protocol.generated.metadata_request import (
    MetadataRequest,
    MetadataRequestTopic,
)
from holdfast.wire.protocol.generated.metadata_response import MetadataResponse
from holdfast.wire.records.compression import Compression


def metadata_frame(topic: str, correlation_id: int = 1) -> bytes:
    request = MetadataRequest(topics=[MetadataRequestTopic(name=topic)])
    return frame("metadata", 9, request, correlation_id)


def fetch_frame(
    topic: str, offset: int = 0, *, wait_ms: int = 0, min_bytes: int = 1, correlation_id: int = 1
) -> bytes:
    request = FetchRequest(
        replica_id=-1,
        max_wait_ms=wait_ms,
        min_bytes=min_bytes,
        max_bytes=50_000_000,
        topics=[
            FetchTopic(
                topic=topic,
                partitions=[
                    FetchPartition(
                        partition=0,
                        fetch_offset=offset,
                        partition_max_bytes=50_000_000,
                        current_leader_epoch=-1,
                    )
                ],
            )
        ],
    )
    return frame("fetch", 12, request, correlation_id)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.001)


async def still_served(port: int) -> bool:
    async with RawClient(*await asyncio.open_connection("127.0.0.1", port)) as client:
        answer: ApiVersionsResponse = await client.call("api_versions", 0, ApiVersionsRequest())
        return bool(answer.api_keys)


@pytest.mark.parametrize("seed", range(20))
async def test_frames_are_understood_in_whatever_pieces_they_come(
    tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    async with serving(tmp_path / "data", flush="os") as served, await served.client() as client:
        sizes = [chance.choice([1, 100, 70_000, 300_000]) for _ in range(6)]
        stream = metadata_frame("t", 99) + b"".join(
            produce_frame("t", 0, bytes(size), correlation_id=number)
            for number, size in enumerate(sizes)
        )
        while stream:
            cut = chance.choice([1, 3, 5, 1_000, 65_536, len(stream)])
            await client.send(stream[:cut])
            stream = stream[cut:]
            await asyncio.sleep(0)
        assert (await client.reply("metadata", 9))[0] == 99
        for number in range(len(sizes)):
            correlation_id, answer = await client.reply("produce", 9)
            partition = answer.responses[0].partition_responses[0]
            assert (correlation_id, partition.error_code, partition.base_offset) == (
                number,
                ErrorCode.NONE,
                number,
            ), f"seed {seed}"


async def test_replies_come_in_the_order_of_their_requests(tmp_path: Path) -> None:
    async with serving(tmp_path / "data") as served, await served.client() as client:
        await client.send(metadata_frame("t"))
        await client.reply("metadata", 9)
        # The fetch waits for records; the produce behind it must not overtake it.
        await client.send(
            fetch_frame("t", wait_ms=200, correlation_id=7)
            + produce_frame("t", 0, b"x", correlation_id=8)
        )
        first, fetched = await client.reply("fetch", 12)
        second, _ = await client.reply("produce", 9)
        assert (first, second) == (7, 8)
        assert not fetched.responses[0].partitions[0].records


async def test_pipelined_produces_are_all_taken_and_answered_in_order(tmp_path: Path) -> None:
    async with serving(tmp_path / "data") as served, await served.client() as client:
        await client.send(metadata_frame("t"))
        await client.reply("metadata", 9)
        many = 200  # more than may be in flight: the rest waits unread
        await client.send(
            b"".join(produce_frame("t", 0, b"x", correlation_id=n) for n in range(many))
        )
        for number in range(many):
            correlation_id, answer = await client.reply("produce", 9)
            assert correlation_id == number
            assert answer.responses[0].partition_responses[0].base_offset == number


async def test_fetch_waits_for_records_and_returns_as_soon_as_they_come(tmp_path: Path) -> None:
    async with (
        serving(tmp_path / "data") as served,
        await served.client() as reader,
        await served.client() as writer,
    ):
        await writer.send(metadata_frame("t"))
        await writer.reply("metadata", 9)
        await reader.send(fetch_frame("t", wait_ms=60_000))
        await writer.send(produce_frame("t", 0, b"hello"))
        _, answer = await reader.reply("fetch", 12)
        assert b"hello" in bytes(answer.responses[0].partitions[0].records)


async def test_fetch_with_min_bytes_waits_for_as_many(tmp_path: Path) -> None:
    async with (
        serving(tmp_path / "data", flush="os") as served,
        await served.client() as reader,
        await served.client() as writer,
    ):
        await writer.send(metadata_frame("t"))
        await writer.reply("metadata", 9)
        await reader.send(fetch_frame("t", wait_ms=60_000, min_bytes=1_000))
        for _ in range(10):
            await writer.send(produce_frame("t", 0, b"v" * 100))
            await writer.reply("produce", 9)
        _, answer = await reader.reply("fetch", 12)
        assert len(answer.responses[0].partitions[0].records) >= 1_000


async def test_produce_without_acks_gets_no_reply(tmp_path: Path) -> None:
    async with serving(tmp_path / "data") as served, await served.client() as client:
        await client.send(
            metadata_frame("t", 1)
            + produce_frame("t", 0, b"x", acks=0, correlation_id=2)
            + metadata_frame("t", 3)
        )
        assert (await client.reply("metadata", 9))[0] == 1
        assert (await client.reply("metadata", 9))[0] == 3


async def test_refused_produce_without_acks_closes_the_connection(tmp_path: Path) -> None:
    async with (
        serving(tmp_path / "data", auto_create_topics=False) as served,
        await served.client() as client,
    ):
        await client.send(produce_frame("nowhere", 0, b"x", acks=0))
        assert await client.closed()


@pytest.mark.parametrize(
    "garbage",
    [
        pytest.param(struct.pack(">i", -5), id="negative size"),
        pytest.param(struct.pack(">i", 0), id="empty frame"),
        pytest.param(struct.pack(">i", 2_000_000_000), id="oversized"),
        pytest.param(struct.pack(">ihhih", 10, 999, 0, 1, -1), id="unknown API"),
        pytest.param(struct.pack(">ihhih", 10, 3, 99, 1, -1), id="unknown version"),
        pytest.param(struct.pack(">ihhih", 10, 3, 9, 1, 500), id="client id beyond the end"),
        pytest.param(struct.pack(">ihhih", 10, 0, 9, 1, -1), id="truncated body"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", id="HTTP"),
    ],
)
async def test_garbage_closes_its_connection_and_no_other(tmp_path: Path, garbage: bytes) -> None:
    async with serving(tmp_path / "data") as served, await served.client() as client:
        await client.send(garbage)
        assert await client.closed()
        assert served.broker.metrics.bad_frames == 1
        assert await still_served(served.port)


async def test_unknown_version_of_api_versions_is_answered_in_version_0(tmp_path: Path) -> None:
    async with serving(tmp_path / "data") as served, await served.client() as client:
        await client.send(struct.pack(">ihhih", 10, 18, 77, 5, -1))
        correlation_id, answer = await client.reply("api_versions", 0)
        assert correlation_id == 5
        assert answer.error_code == ErrorCode.UNSUPPORTED_VERSION
        own = next(a for a in answer.api_keys if a.api_key == 18)
        assert (own.min_version, own.max_version) == (0, 4)


async def test_produce_is_announced_from_version_0(tmp_path: Path) -> None:
    async with serving(tmp_path / "data") as served, await served.client() as client:
        answer: ApiVersionsResponse = await client.call("api_versions", 3, ApiVersionsRequest())
        produce = next(a for a in answer.api_keys if a.api_key == 0)
        assert (produce.min_version, produce.max_version) == (0, 11)
        assert answer.finalized_features == []


async def test_connections_past_the_limit_are_refused(tmp_path: Path) -> None:
    async with (
        serving(tmp_path / "data", max_connections=1) as served,
        await served.client() as first,
    ):
        assert await first.call("api_versions", 0, ApiVersionsRequest())
        async with await served.client() as second:
            assert await second.closed()
        assert served.broker.metrics.refused_connections == 1
        assert await first.call("api_versions", 0, ApiVersionsRequest())


async def test_idle_connection_is_closed_and_one_that_waits_is_not(tmp_path: Path) -> None:
    async with (
        serving(tmp_path / "data", idle_connection_seconds=0.5) as served,
        await served.client() as idle,
        await served.client() as waiting,
    ):
        await waiting.send(metadata_frame("t"))
        await waiting.reply("metadata", 9)
        await waiting.send(fetch_frame("t", wait_ms=3_000))
        assert await idle.closed()
        correlation_id, _ = await waiting.reply("fetch", 12)
        assert correlation_id == 1


async def test_large_requests_wait_for_the_memory_they_share(tmp_path: Path) -> None:
    async with (
        serving(tmp_path / "data", flush="os", request_memory_bytes=400_000) as served,
        await served.client() as hoarder,
        await served.client() as other,
    ):
        await other.send(metadata_frame("t"))
        await other.reply("metadata", 9)
        large = produce_frame("t", 0, bytes(300_000))
        await hoarder.send(large[:100_000])  # takes the memory and does not finish
        while not served.listener.request_memory.taken:
            await asyncio.sleep(0.001)
        await other.send(large)
        assert await still_served(served.port)
        assert served.listener.request_memory.taken == len(large) - 4
        hoarder.writer.close()  # gives it back
        _, answer = await other.reply("produce", 9)
        assert answer.responses[0].partition_responses[0].error_code == ErrorCode.NONE
        assert served.listener.request_memory.taken == 0


async def test_client_that_does_not_read_its_replies_is_not_read_from(tmp_path: Path) -> None:
    async with serving(tmp_path / "data", flush="os") as served, await served.client() as client:
        await client.send(metadata_frame("t"))
        await client.reply("metadata", 9)
        for _ in range(8):
            await client.send(produce_frame("t", 0, bytes(900_000)))
            await client.reply("produce", 9)
        # Asks for 7 MB again and again and reads nothing of it.
        flood = b"".join(fetch_frame("t", correlation_id=n) for n in range(1_000))
        client.writer.transport.pause_reading()  # type: ignore[attr-defined]
        client.writer.write(flood)
        async with asyncio.timeout(10):
            while not served.listener.unsent_replies:
                await asyncio.sleep(0.01)
        before = served.broker.metrics.requests[1].count
        for _ in range(50):
            await asyncio.sleep(0)
        assert served.broker.metrics.requests[1].count == before
        assert served.listener.unsent_replies < 16_000_000
        assert await still_served(served.port)
        client.writer.transport.resume_reading()  # type: ignore[attr-defined]
        for number in range(20):
            correlation_id, answer = await client.reply("fetch", 12)
            assert correlation_id == number
            assert isinstance(answer, FetchResponse)


async def test_fetch_returns_less_when_unsent_replies_fill_the_memory(tmp_path: Path) -> None:
    async with serving(tmp_path / "data", flush="os") as served, await served.client() as client:
        await client.send(metadata_frame("t"))
        await client.reply("metadata", 9)
        for _ in range(5):
            await client.send(produce_frame("t", 0, bytes(100_000)))
            await client.reply("produce", 9)
        served.broker.reply_room = lambda: 0
        await client.send(fetch_frame("t"))
        _, answer = await client.reply("fetch", 12)
        size = len(answer.responses[0].partitions[0].records)
        assert 100_000 <= size < 200_000  # one batch: the reader must get past it


async def test_metadata_names_the_address_to_connect_to(tmp_path: Path) -> None:
    async with serving(tmp_path / "data") as served, await served.client() as client:
        served.listener.advertised = ("example.test", 1234)
        async with await served.client() as later:
            answer: MetadataResponse = await later.call("metadata", 9, MetadataRequest(topics=[]))
        assert (answer.brokers[0].host, answer.brokers[0].port) == ("example.test", 1234)
        assert answer.topics == []
        assert answer.cluster_authorized_operations == -(2**31)  # not asked for
        assert await client.call("metadata", 9, MetadataRequest(topics=None))


async def test_metadata_tells_what_a_client_may_do_when_asked(tmp_path: Path) -> None:
    async with serving(tmp_path / "data") as served, await served.client() as client:
        request = MetadataRequest(
            topics=[MetadataRequestTopic(name="t")],
            include_cluster_authorized_operations=True,
            include_topic_authorized_operations=True,
        )
        answer: MetadataResponse = await client.call("metadata", 9, request)
        assert answer.cluster_authorized_operations == ON_CLUSTER
        assert answer.topics[0].topic_authorized_operations == ON_TOPIC


async def test_fetch_of_a_client_that_went_away_waits_no_longer(tmp_path: Path) -> None:
    async with serving(tmp_path / "data", flush="os") as served:
        partition = served.broker.topics.create("t", 1, {}).partitions[0]
        for leaves in (RawClient.__aexit__, lambda client: client.writer.transport.abort()):
            client = await served.client()
            await client.send(fetch_frame("t", wait_ms=2**31 - 1))
            await until(lambda: bool(served.broker.waiting_fetches and partition._readers))
            left = leaves(client)
            if left is not None:
                await left
            await until(lambda: not served.broker.waiting_fetches and not partition._readers)


async def test_large_request_behind_a_fetch_that_waits_takes_no_shared_memory(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path / "data", flush="os", request_memory_bytes=200_000) as served:
        served.broker.topics.create("t", 1, {})
        served.broker.topics.create("idle", 1, {})
        for cut in (4, 5, 6, 1_000):
            async with await served.client() as hog, await served.client() as other:
                large = produce_frame("t", 0, bytes(150_000))
                await hog.send(fetch_frame("idle", wait_ms=600_000) + large[:cut])
                await until(lambda: bool(served.broker.waiting_fetches))
                hog.writer.write(large[cut:])
                await asyncio.sleep(0)
                await other.send(large)
                _, answer = await other.reply("produce", 9)
                assert answer.responses[0].partition_responses[0].error_code == ErrorCode.NONE


async def test_long_client_ids_are_not_kept(tmp_path: Path) -> None:
    async with serving(tmp_path / "data", flush="os") as served, await served.client() as client:
        for number in range(20):
            name = b"%05d" % number + b"x" * 30_000
            body = struct.pack(">hhih", 18, 0, number, len(name)) + name
            await client.send(struct.pack(">i", len(body)) + body)
            assert (await client.reply("api_versions", 0))[0] == number
        known = served.dispatcher._client_ids
        assert sum(map(len, known)) < 30_000


async def test_waiting_fetches_are_answered_when_the_broker_stops(tmp_path: Path) -> None:
    async with serving(tmp_path / "data") as served, await served.client() as client:
        await client.send(metadata_frame("t"))
        await client.reply("metadata", 9)
        await client.send(fetch_frame("t", wait_ms=60_000))
        while not served.broker.waiting_fetches:
            await asyncio.sleep(0.001)
        served.broker.answer_who_waits()
        _, answer = await client.reply("fetch", 12)
        assert not answer.responses[0].partitions[0].records
        assert not served.broker.waiting_fetches


@pytest.mark.parametrize(
    ("version", "error_code"),
    [(6, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE), (7, ErrorCode.NONE)],
)
async def test_zstd_needs_a_version_of_produce_that_knows_it(
    tmp_path: Path, version: int, error_code: ErrorCode
) -> None:
    async with serving(tmp_path / "data") as served, await served.client() as client:
        await client.send(metadata_frame("t"))
        await client.reply("metadata", 9)
        await client.send(
            produce_frame("t", 0, b"x" * 100, version=version, compression=Compression.ZSTD)
        )
        _, answer = await client.reply("produce", version)
        assert answer.responses[0].partition_responses[0].error_code == error_code
