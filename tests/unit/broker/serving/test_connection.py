"""Frames come in any pieces, replies go out in order, and a bad client hurts itself alone."""

import asyncio
import contextlib
import random
import struct
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from tests.unit.broker.serving.raw import RawClient, Served, frame, produce_frame, serving

from holdfast.broker import listener
from holdfast.broker.api import fetch
from holdfast.broker.api.metadata import ON_CLUSTER, ON_TOPIC
from holdfast.broker.connection import RECEIVE_BYTES
from holdfast.broker.security.endpoints import Endpoint, Protocol
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
from holdfast.wire.protocol.generated.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from holdfast.wire.records.batch import build_batch, iterate_batches
from holdfast.wire.records.compression import Compression

MIB = 1024 * 1024


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
async def test_frames_are_parsed_from_pieces_of_any_size(tmp_path: Path, seed: int) -> None:
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


async def test_fetch_waits_until_min_bytes_have_arrived(tmp_path: Path) -> None:
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
        assert (produce.min_version, produce.max_version) == (0, 12)
        assert [each.name for each in answer.finalized_features] == [
            "group.version",
            "transaction.version",
        ]


async def test_longest_idle_connection_makes_room_for_a_new_one(tmp_path: Path) -> None:
    async with (
        serving(tmp_path / "data", max_connections=3) as served,
        await served.client() as waiting,
        await served.client() as idle,
        await served.client() as active,
    ):
        await waiting.send(metadata_frame("t"))
        await waiting.reply("metadata", 9)
        await waiting.send(fetch_frame("t", wait_ms=3_000))
        for client in (idle, active):
            assert await client.call("api_versions", 0, ApiVersionsRequest())
        async with await served.client() as another:
            assert await another.call("api_versions", 0, ApiVersionsRequest())
            assert await idle.closed()
        assert await active.call("api_versions", 0, ApiVersionsRequest())
        correlation_id, _ = await waiting.reply("fetch", 12)
        assert correlation_id == 1
        assert served.broker.metrics.refused_connections == 0


async def test_connection_is_refused_if_all_others_have_a_request_under_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        serving(tmp_path / "data", max_connections=1) as served,
        await served.client() as first,
    ):
        await first.send(metadata_frame("t"))
        await first.reply("metadata", 9)
        await first.send(fetch_frame("t", wait_ms=3_000_000))
        await until(lambda: bool(served.broker.waiting_fetches))
        async with await served.client() as second:
            assert await second.closed()
        assert served.broker.metrics.refused_connections == 1
        # One that has waited for a minute is not worth more than everybody else.
        monkeypatch.setattr(listener, "BUSY_SECONDS", 0.0)
        async with await served.client() as third:
            assert await third.call("api_versions", 0, ApiVersionsRequest())
        assert await first.closed()


async def test_host_at_its_limit_takes_no_connection_from_other_hosts(tmp_path: Path) -> None:
    async with (
        serving(tmp_path / "data", max_connections=10, max_connections_per_host=2) as served,
        await served.client(host="127.0.0.2") as innocent,
        contextlib.AsyncExitStack() as crowd,
    ):
        assert await innocent.call("api_versions", 0, ApiVersionsRequest())
        clients = [await crowd.enter_async_context(await served.client()) for _ in range(5)]
        assert await clients[-1].call("api_versions", 0, ApiVersionsRequest())
        for client in clients[:3]:
            assert await client.closed()
        assert served.broker.metrics.connections == 3
        assert await innocent.call("api_versions", 0, ApiVersionsRequest())


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
        await hoarder.send(large[:-1])  # takes the memory and does not finish
        await until(lambda: served.listener.request_memory.taken == len(large) - 4)
        await other.send(large)
        assert await still_served(served.port)
        assert served.listener.request_memory.taken == len(large) - 4
        hoarder.writer.close()  # gives it back
        _, answer = await other.reply("produce", 9)
        assert answer.responses[0].partition_responses[0].error_code == ErrorCode.NONE
        assert served.listener.request_memory.taken == 0


async def test_announced_request_takes_memory_only_as_it_arrives(tmp_path: Path) -> None:
    """Connections that announce the largest request and send a little of it lock nobody out."""
    async with serving(tmp_path / "data", flush="os", request_memory_bytes=16 * MIB) as served:
        served.broker.topics.create("t", 1, {"max.message.bytes": str(8 * MIB)})
        announced = produce_frame("t", 0, bytes(6 * MIB))
        async with (
            await served.client() as one,
            await served.client() as two,
            await served.client() as three,
            await served.client() as other,
        ):
            for loris in (one, two, three):
                await loris.send(announced[:100_000])
            memory = served.listener.request_memory
            await until(lambda: memory.taken >= 3 * 100_000)
            assert memory.taken <= 3 * 2 * 100_000
            await other.send(announced)
            _, answer = await other.reply("produce", 9)
            assert answer.responses[0].partition_responses[0].error_code == ErrorCode.NONE
            for loris in (one, two, three):
                await loris.send(announced[100_000:])
                _, answer = await loris.reply("produce", 9)
                assert answer.responses[0].partition_responses[0].error_code == ErrorCode.NONE
            assert memory.taken == 0


async def test_crowd_that_announces_requests_does_not_lock_out_others(tmp_path: Path) -> None:
    """Half of the memory is for one host, and on loopback everybody is one host."""
    async with serving(tmp_path / "data", flush="os", request_memory_bytes=16 * MIB) as served:
        served.broker.topics.create("t", 1, {"max.message.bytes": str(8 * MIB)})
        announced = produce_frame("t", 0, bytes(6 * MIB))
        async with contextlib.AsyncExitStack() as crowd:
            for _ in range(100):
                loris = await crowd.enter_async_context(await served.client())
                await loris.send(announced[:1_000])
            async with await served.client() as other:
                await other.send(produce_frame("t", 0, bytes(200_000)))
                _, answer = await other.reply("produce", 9)
            assert answer.responses[0].partition_responses[0].error_code == ErrorCode.NONE
            assert served.listener.request_memory.taken == 0


async def test_requests_that_are_half_received_do_not_wait_for_each_other_for_ever(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path / "data", flush="os", request_memory_bytes=4 * MIB) as served:
        served.broker.topics.create("t", 1, {"max.message.bytes": str(8 * MIB)})
        large = produce_frame("t", 0, bytes(5 * MIB))

        async def send() -> None:
            async with await served.client() as client:
                client.writer.write(large)
                _, answer = await client.reply("produce", 9)
                assert answer.responses[0].partition_responses[0].error_code == ErrorCode.NONE

        await asyncio.gather(*(send() for _ in range(8)))
        assert served.listener.request_memory.taken == 0


@pytest.mark.parametrize("size", [1_000, 300_000])
async def test_client_that_takes_too_long_to_send_a_request_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """However steadily it sends: a byte now and then keeps nothing."""
    monkeypatch.setattr(listener, "WHOLE_FRAME_SECONDS", 1.0)
    async with serving(tmp_path / "data", flush="os") as served, await served.client() as loris:
        served.broker.topics.create("t", 1, {})
        frame = produce_frame("t", 0, bytes(size))
        await loris.send(frame[: size // 2])
        with contextlib.suppress(ConnectionError):
            for place in range(size // 2, size):
                loris.writer.write(frame[place : place + 1])
                await asyncio.sleep(0.1)
                if loris.reader.at_eof() or not served.broker.metrics.connections:
                    break
        await until(lambda: served.broker.metrics.connections == 0)
        assert served.broker.metrics.idle_closed == 1
        assert served.listener.request_memory.taken == 0


async def test_batch_that_is_inspected_in_slices_stays_before_those_that_follow_it(
    tmp_path: Path,
) -> None:
    """And other connections, which use the same buffer, do not change it meanwhile."""
    async with (
        serving(tmp_path / "data", flush="os") as served,
        await served.client() as client,
        await served.client() as other,
    ):
        served.broker.topics.create("t", 1, {})
        many = build_batch([(b"k", None)] * 60_000, timestamp=1_000, compression=Compression.ZSTD)
        assert len(many) < RECEIVE_BYTES
        await client.send(batch_frame("t", many) + produce_frame("t", 0, b"v", correlation_id=2))
        for _ in range(5):
            assert await other.call("api_versions", 0, ApiVersionsRequest())
        for correlation_id, offset in ((1, 0), (2, 60_000)):
            number, answer = await client.reply("produce", 9)
            assert number == correlation_id
            (partition,) = answer.responses[0].partition_responses
            assert (partition.error_code, partition.base_offset) == (ErrorCode.NONE, offset)
        log = served.broker.topics.get("t").partitions[0].log  # type: ignore[union-attr]
        data = log.read(0, 1 << 20, limit=log.high_watermark)
        assert [header.record_count for header, _ in iterate_batches(data)] == [60_000, 1]


def batch_frame(topic: str, batch: bytearray) -> bytes:
    data = PartitionProduceData(0, memoryview(batch))
    return frame("produce", 9, ProduceRequest(None, -1, 1_000, [TopicProduceData(topic, [data])]))


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


def _has_answered(served: Served, fetches: int) -> bool:
    return served.broker.metrics.requests[1].count >= fetches


def _waits(served: Served, fetches: int) -> bool:
    return len(served.broker.waiting_fetches) == fetches


async def test_unread_replies_are_bounded_and_those_that_are_read_arrive(tmp_path: Path) -> None:
    limit, large = 20_000_000, 14_000_000
    async with (
        serving(tmp_path / "data", flush="os", reply_memory_bytes=limit) as served,
        contextlib.AsyncExitStack() as all_,
    ):
        served.broker.topics.create("t", 1, {"max.message.bytes": "16000000"})
        reader = await all_.enter_async_context(await served.client())
        await reader.send(produce_frame("t", 0, bytes(large)))
        await reader.reply("produce", 9)
        deaf = [await all_.enter_async_context(await served.client()) for _ in range(8)]
        for client in deaf:  # a fetch gives at least one batch, whatever its size
            client.writer.transport.pause_reading()  # type: ignore[attr-defined]
            await client.send(fetch_frame("t"))
            await until(partial(_has_answered, served, 1 + deaf.index(client)))
            assert served.listener.unsent_replies <= limit
        assert served.broker.metrics.idle_closed >= len(deaf) - 3
        await reader.send(fetch_frame("t"))
        _, answer = await reader.reply("fetch", 12)
        assert len(answer.responses[0].partitions[0].records) > large
    assert served.listener.unsent_replies == 0


async def test_fetches_that_wait_for_many_partitions_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "MOST_WAITING", 2)
    async with serving(tmp_path / "data") as served, contextlib.AsyncExitStack() as all_:
        served.broker.topics.create("t", 1, {})
        clients = [await all_.enter_async_context(await served.client()) for _ in range(4)]
        for client in clients:
            await client.send(fetch_frame("t", wait_ms=600_000))
            await until(partial(_waits, served, min(1 + clients.index(client), 2)))
        for client in clients[:2]:  # those that have waited longest
            _, answer = await client.reply("fetch", 12)
            assert answer.responses[0].partitions[0].error_code == ErrorCode.NONE
        assert served.broker.waiting_partitions == 2
        await clients[0].send(produce_frame("t", 0, b"v"))
        await clients[0].reply("produce", 9)
        for client in clients[2:]:
            _, answer = await client.reply("fetch", 12)
            assert len(answer.responses[0].partitions[0].records)
        assert served.broker.waiting_partitions == 0


async def test_metadata_names_the_address_to_connect_to(tmp_path: Path) -> None:
    async with serving(tmp_path / "data") as served, await served.client() as client:
        other = Endpoint(Protocol.PLAINTEXT, "127.0.0.1", 0, advertised=("example.test", 1234))
        async with await served.client(port=await served.listener.start(other)) as later:
            answer: MetadataResponse = await later.call("metadata", 9, MetadataRequest(topics=[]))
        assert (answer.brokers[0].host, answer.brokers[0].port) == ("example.test", 1234)
        assert answer.topics == []
        assert answer.cluster_authorized_operations == -(2**31)  # not asked for
        assert await client.call("metadata", 9, MetadataRequest(topics=None))


async def test_metadata_lists_allowed_operations_on_request(tmp_path: Path) -> None:
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
async def test_zstd_needs_a_version_of_produce_that_supports_it(
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
