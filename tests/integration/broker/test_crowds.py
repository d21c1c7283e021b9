"""Many partitions, many connections, and clients that do not behave."""

import contextlib
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from confluent_kafka import TopicPartition
from kafka.protocol.consumer import JoinGroupRequest
from kafka.protocol.metadata import ApiVersionsRequest, MetadataRequest
from tests.brokers import EmbeddedBroker
from tests.clients import (
    DEADLINE_S,
    create_topic,
    open_consumer,
    producer,
    read,
    send,
    to_end,
    values,
    wait_until,
)
from tests.wire import (
    Request,
    Wire,
    batch,
    batches,
    fetch,
    fetch_request,
    produce,
    produce_request,
)

MB = 1_000_000
MIB = 1024 * 1024
INVALID_REQUEST = 42


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(tmp_path_factory.mktemp("crowds")) as broker:
        yield broker


def resident(broker: EmbeddedBroker) -> int:
    return int(psutil.Process(broker.pid).memory_info().rss)


def test_frame_takes_memory_as_it_arrives(broker: EmbeddedBroker) -> None:
    announced, sent = 100 * MIB, 65 * MIB  # it had memory for 64, and needs more now
    before = resident(broker)
    with socket.create_connection(("127.0.0.1", broker.port), DEADLINE_S) as connection:
        connection.sendall(struct.pack(">ihh", announced, 3, 9) + bytes(sent - 4))
        wait_until(lambda: resident(broker) - before > sent - MIB, "the frame is received")
        assert resident(broker) - before < sent + 16 * MIB


@pytest.mark.parametrize("ending", ["stop", "kill"])
def test_a_thousand_partitions_are_written_read_and_found_again(
    tmp_path: Path, ending: str
) -> None:
    with EmbeddedBroker(tmp_path) as broker:
        create_topic(broker, "many", partitions=1_000)
        client = producer(broker)
        for partition in range(1_000):
            client.produce("many", b"%d" % partition, partition=partition)
        assert client.flush(DEADLINE_S) == 0
        getattr(broker, ending)()
        broker.start()
        with open_consumer(broker, "g") as reader:
            reader.assign([TopicPartition("many", p, 0) for p in range(1_000)])
            found = to_end(reader, 1_000)
        assert {m.partition(): m.value() for m in found} == {p: b"%d" % p for p in range(1_000)}
        assert len(found) == 1_000


def test_five_hundred_connections_are_served_at_once(broker: EmbeddedBroker) -> None:
    create_topic(broker, "crowd", partitions=5)
    with contextlib.ExitStack() as stack:
        wires = [stack.enter_context(Wire(broker)) for _ in range(500)]
        requests = [
            produce_request("crowd", batch([b"%d" % i]), partition=i % 5) for i in range(500)
        ]
        for wire, request in zip(wires, requests, strict=True):
            wire.send(request)
        for wire, request in zip(wires, requests, strict=True):
            assert wire.receive(request).responses[0].partition_responses[0].error_code == 0
        for i, wire in enumerate(wires):
            assert fetch(wire, "crowd", 0, partition=i % 5).high_watermark == 100
    found = {v for p in range(5) for v in values(read(broker, "crowd", p))}
    assert found == {b"%d" % i for i in range(500)}


def test_a_reader_that_does_not_take_its_data_does_not_hold_up_others(
    broker: EmbeddedBroker,
) -> None:
    fill(broker, "slow", megabytes=20)
    with Wire(broker) as slow, Wire(broker) as fast:
        slow.send(fetch_request("slow", 0, max_bytes=50 * MB))  # and never reads the answer
        for _ in range(5):
            assert read_through(fast, "slow") == 20 * 2
        assert produce(fast, "slow", batch([b"more"])).error_code == 0
        # Once it reads, it gets what it asked for, whole.
        reply = slow.frame()
        assert len(reply) > 15 * MB


def test_clients_that_never_read_replies_do_not_grow_the_broker(tmp_path: Path) -> None:
    limit = 32 * 1024 * 1024
    settings = {"reply_memory_bytes": limit, "request_memory_bytes": limit}
    with EmbeddedBroker(tmp_path, settings) as broker, contextlib.ExitStack() as stack:
        fill(broker, "flood", megabytes=20)
        with Wire(broker) as calm:
            read_through(calm, "flood")
            before = resident(broker)
            for _ in range(30):
                flood = stack.enter_context(Wire(broker))
                for _ in range(100):
                    flood.send(fetch_request("flood", 0, max_bytes=20 * MB))
            assert read_through(calm, "flood") == 40
            grown = resident(broker) - before
            # 30 connections with a reply of 20 MB each would be 600 MB.
            assert grown < 150 * MB, f"grew by {grown / MB:.0f} MB"


def test_a_flood_of_small_requests_does_not_grow_the_broker(broker: EmbeddedBroker) -> None:
    with Wire(broker, timeout=1) as flood, Wire(broker) as calm:
        before = resident(broker)
        send_until_blocked(flood, MetadataRequest(version=7, topics=None), 100 * MB)
        assert calm.ask(ApiVersionsRequest(version=0)).error_code == 0
        grown = resident(broker) - before
        assert grown < 30 * MB, f"grew by {grown / MB:.0f} MB"


def test_large_requests_that_are_never_finished_do_not_grow_the_broker(tmp_path: Path) -> None:
    with EmbeddedBroker(tmp_path, {"request_memory_bytes": 64 * MB}) as broker:
        with contextlib.ExitStack() as stack:
            before = resident(broker)
            for _ in range(8):
                unfinished = stack.enter_context(Wire(broker, timeout=0.3))
                unfinished.send_bytes((50 * MB).to_bytes(4, "big"))
                with contextlib.suppress(TimeoutError):
                    unfinished.send_bytes(bytes(20 * MB))
            calm = stack.enter_context(Wire(broker))
            assert calm.ask(ApiVersionsRequest(version=0)).error_code == 0
            grown = resident(broker) - before
            assert grown < 150 * MB, f"grew by {grown / MB:.0f} MB"


def test_idle_connections_are_closed_and_waiting_ones_are_not(tmp_path: Path) -> None:
    with EmbeddedBroker(tmp_path, {"idle_connection_seconds": 1}) as broker:
        create_topic(broker, "idle")
        with Wire(broker) as idle, Wire(broker) as waiting:
            request = fetch_request("idle", 0, max_wait_ms=4_000)
            waiting.send(request)
            assert idle.closed_by_peer()
            waiting.receive(request)


def test_idle_sockets_do_not_lock_out_other_clients(broker: EmbeddedBroker) -> None:
    create_topic(broker, "locked-out")
    with contextlib.ExitStack() as stack:
        idle = [stack.enter_context(Wire(broker)) for _ in range(1_200)]
        assert send(producer(broker), "locked-out", [b"v"]) == [0]
        assert values(read(broker, "locked-out")) == [b"v"]
        assert idle[0].closed_by_peer()


def test_members_with_oversized_requests_leave_no_state(tmp_path: Path) -> None:
    with EmbeddedBroker(tmp_path) as broker:
        before = resident(broker)
        for n in range(30):
            with Wire(broker, timeout=DEADLINE_S) as wire:
                request = JoinGroupRequest(
                    version=0, group_id=f"g{n}", session_timeout_ms=30_000, member_id="",
                    protocol_type="consumer",
                    protocols=[JoinGroupRequest.JoinGroupRequestProtocol("range", bytes(40 * MB))],
                )  # fmt: skip
                assert wire.ask(request).error_code == INVALID_REQUEST
        wait_until(
            lambda: resident(broker) - before < 250 * MB,
            "memory of refused members that is given back",
        )


def test_a_request_above_the_limit_closes_its_connection(tmp_path: Path) -> None:
    with EmbeddedBroker(tmp_path, {"max_request_bytes": 100_000}) as broker:
        create_topic(broker, "limit")
        with Wire(broker) as wire:
            assert produce(wire, "limit", batch([bytes(90_000)])).error_code == 0
            with contextlib.suppress(ConnectionError):
                wire.send(produce_request("limit", batch([bytes(110_000)])))
            assert wire.closed_by_peer()
        assert len(read(broker, "limit")) == 1


def test_clients_that_break_off_in_mid_frame_leave_nothing_behind(broker: EmbeddedBroker) -> None:
    create_topic(broker, "broken-off")
    request = produce_request("broken-off", batch([bytes(200_000)]))
    request.with_header(correlation_id=1, client_id="x")
    frame = request.encode(header=True, framed=True)
    for cut in (1, 3, 4, 7, 100, 70_000, len(frame) - 1):
        with Wire(broker) as wire:
            wire.send_bytes(frame[:cut])
    assert read(broker, "broken-off") == []
    assert send(producer(broker), "broken-off", [b"v"]) == [0]


def fill(broker: EmbeddedBroker, topic: str, megabytes: int) -> None:
    create_topic(broker, topic)
    with Wire(broker) as wire:
        for _ in range(2 * megabytes):
            assert produce(wire, topic, batch([bytes(MB // 2)])).error_code == 0


def read_through(wire: Wire, topic: str) -> int:
    """Returns the number of batches."""
    offset = count = 0
    while True:
        found = batches(fetch(wire, topic, offset, max_bytes=5 * MB).records)
        if not found:
            return count
        count += len(found)
        offset = found[-1].last_offset + 1


def send_until_blocked(wire: Wire, request: Request, most_bytes: int) -> None:
    """Send the same request again and again, until the broker takes no more of them."""
    request.with_header(correlation_id=1, client_id="flood")
    many = bytes(request.encode(header=True, framed=True)) * 1_000
    for _ in range(0, most_bytes, len(many)):
        try:
            wire.send_bytes(many)
        except TimeoutError:
            return
    raise AssertionError(f"the broker took {most_bytes} bytes without a reply being read")


def pages_mapped(broker: EmbeddedBroker) -> int:
    """How often the system had to find memory for the broker."""
    after_the_name = Path(f"/proc/{broker.pid}/stat").read_text().rpartition(")")[2]
    return int(after_the_name.split()[7])


def test_large_replies_reuse_the_memory_of_earlier_ones(tmp_path: Path) -> None:
    partitions, values = range(6), [bytes(100_000)] * 150
    with EmbeddedBroker(tmp_path) as broker:
        create_topic(broker, "large", partitions=len(partitions))
        client = producer(broker)
        for partition in partitions:
            send(client, "large", values, partition)
        mapped = []
        for _ in range(3):
            before = pages_mapped(broker)
            with open_consumer(broker, "g") as reader:
                reader.assign([TopicPartition("large", p, 0) for p in partitions])
                assert len(to_end(reader, len(partitions))) == len(partitions) * len(values)
            mapped.append(pages_mapped(broker) - before)
    of_all_records = len(partitions) * len(values) * 100_000 // 4096
    assert min(mapped) < of_all_records / 4, mapped
