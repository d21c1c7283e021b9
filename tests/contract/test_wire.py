"""Promises of the protocol, tested without a client library."""

import gzip
import struct
import time

import crc32c
import pytest
from kafka.protocol.consumer import (
    ListOffsetsRequest,
    OffsetForLeaderEpochRequest,
)
from kafka.protocol.metadata import (
    ApiVersionsRequest,
    FindCoordinatorRequest,
    MetadataRequest,
)
from tests.brokers import BrokerProcess
from tests.clients import KEPT, create_topic, read, values, wait_until
from tests.wire import Wire, batch, batches, fetch, fetch_request, join, produce, produce_request

OFFSET_OUT_OF_RANGE = 1
CORRUPT_MESSAGE = 2
UNKNOWN_TOPIC_OR_PARTITION = 3
INVALID_REQUIRED_ACKS = 21
UNSUPPORTED_VERSION = 35
INVALID_RECORD = 87

EARLIEST, LATEST, MAX_TIMESTAMP = -2, -1, -3


@pytest.mark.parametrize("version", range(5))
def test_api_versions_is_answered_in_every_version(kafka: BrokerProcess, version: int) -> None:
    with Wire(kafka) as wire:
        request = ApiVersionsRequest(
            version=version, client_software_name="wire", client_software_version="1"
        )
        reply = wire.ask(request)
        ranges = {api.api_key: (api.min_version, api.max_version) for api in reply.api_keys}
        assert reply.error_code == 0
        # Old librdkafka turns compression off unless Produce is offered from 0.
        assert ranges[0][0] == 0
        assert ranges[1][1] >= 12


def test_an_unknown_version_of_api_versions_is_answered_in_version_0(
    kafka: BrokerProcess,
) -> None:
    with Wire(kafka) as wire:
        header = struct.pack(">hhih", 18, 99, 7, 4) + b"wire" + b"\x00"
        wire.send_bytes(struct.pack(">i", len(header)) + header)
        correlation, error, count = struct.unpack_from(">ihi", reply := wire.frame())
        assert (correlation, error) == (7, UNSUPPORTED_VERSION)
        offered = [struct.unpack_from(">hhh", reply, 10 + 6 * i) for i in range(count)]
        assert any(key == 18 and low == 0 and high >= 3 for key, low, high in offered)
        # The connection can still be used.
        assert wire.ask(ApiVersionsRequest(version=0)).error_code == 0


def test_replies_come_in_the_order_of_the_requests(kafka: BrokerProcess, topic: str) -> None:
    create_topic(kafka, topic)
    with Wire(kafka) as wire:
        # The first one waits for data; the others could be answered at once.
        slow = fetch_request(topic, 0, max_wait_ms=500)
        others = [ApiVersionsRequest(version=0) for _ in range(5)]
        for request in (slow, *others):
            wire.send(request)
        for request in (slow, *others):
            wire.receive(request)


def test_acks_0_gets_no_reply(kafka: BrokerProcess, topic: str) -> None:
    create_topic(kafka, topic)
    with Wire(kafka) as wire:
        wire.send(produce_request(topic, batch([b"v"]), acks=0))
        following = ApiVersionsRequest(version=0)
        wire.send(following)
        wire.receive(following)
    # Nobody said when the record is synced, and it can be read only then.
    wait_until(lambda: read(kafka, topic), "the record")
    assert values(read(kafka, topic)) == [b"v"]


def test_other_acks_than_0_1_and_all_are_refused(kafka: BrokerProcess, topic: str) -> None:
    create_topic(kafka, topic)
    with Wire(kafka) as wire:
        assert produce(wire, topic, batch([b"v"]), acks=2).error_code == INVALID_REQUIRED_ACKS
    assert read(kafka, topic) == []


def test_a_fetch_in_mid_batch_returns_the_whole_batch(kafka: BrokerProcess, topic: str) -> None:
    create_topic(kafka, topic)
    with Wire(kafka) as wire:
        produce(wire, topic, batch([b"a", b"b", b"c"]))
        produce(wire, topic, batch([b"d"]))
        found = batches(fetch(wire, topic, 1).records)
        assert [(b.base_offset, b.records_count) for b in found] == [(0, 3), (3, 1)]


def test_a_fetch_limit_below_one_batch_still_returns_it(kafka: BrokerProcess, topic: str) -> None:
    create_topic(kafka, topic)
    with Wire(kafka) as wire:
        produce(wire, topic, batch([bytes(5_000)]))
        produce(wire, topic, batch([b"next"]))
        first, *_ = batches(fetch(wire, topic, 0, max_bytes=100).records)
        assert first.base_offset == 0
        assert first.size_in_bytes > 5_000


def test_a_fetch_waits_for_data_up_to_its_timeout(kafka: BrokerProcess, topic: str) -> None:
    create_topic(kafka, topic)
    with Wire(kafka) as waiting, Wire(kafka) as other:
        request = fetch_request(topic, 0, max_wait_ms=600_000)
        waiting.send(request)
        produce(other, topic, batch([b"v"]))
        # Well before the ten minutes that it was ready to wait: the socket gives up sooner.
        (partition,) = waiting.receive(request).responses[0].partitions
        assert len(batches(partition.records)) == 1
        before = time.monotonic()
        assert batches(fetch(other, topic, 1, max_wait_ms=300).records) == []
        assert time.monotonic() - before >= 0.29


def test_fetch_waits_for_min_bytes(kafka: BrokerProcess, topic: str) -> None:
    create_topic(kafka, topic)
    with Wire(kafka) as waiting, Wire(kafka) as other:
        request = fetch_request(topic, 0, max_wait_ms=60_000, min_bytes=3_000)
        waiting.send(request)
        for _ in range(3):
            produce(other, topic, batch([bytes(1_000)]))
        (partition,) = waiting.receive(request).responses[0].partitions
        assert len(batches(partition.records)) == 3


def test_offsets_outside_the_log_are_reported_with_its_bounds(
    kafka: BrokerProcess, topic: str
) -> None:
    create_topic(kafka, topic)
    with Wire(kafka) as wire:
        produce(wire, topic, batch([b"v"]))
        assert fetch(wire, topic, 1).error_code == 0
        assert fetch(wire, topic, 2).error_code == OFFSET_OUT_OF_RANGE
        assert fetch(wire, f"{topic}-not-there", 0).error_code == UNKNOWN_TOPIC_OR_PARTITION
        assert fetch(wire, topic, 0, partition=7).error_code == UNKNOWN_TOPIC_OR_PARTITION


def test_a_corrupt_batch_is_refused_and_not_stored(kafka: BrokerProcess, topic: str) -> None:
    create_topic(kafka, topic)
    with Wire(kafka) as wire:
        records = bytearray(batch([b"value"]))
        records[-3] ^= 0xFF
        assert produce(wire, topic, bytes(records)).error_code == CORRUPT_MESSAGE
        assert fetch(wire, topic, 0).high_watermark == 0


def test_two_batches_in_one_request_are_refused(kafka: BrokerProcess, topic: str) -> None:
    create_topic(kafka, topic)
    with Wire(kafka) as wire:
        reply = produce(wire, topic, batch([b"a"]) + batch([b"b"]))
        assert reply.error_code == INVALID_RECORD
        assert fetch(wire, topic, 0).high_watermark == 0


@pytest.mark.parametrize("magic", [0, 1])
def test_old_message_formats_are_refused(kafka: BrokerProcess, topic: str, magic: int) -> None:
    create_topic(kafka, topic)
    records = bytearray(batch([b"v"]))
    records[16] = magic
    with Wire(kafka) as wire:
        assert produce(wire, topic, bytes(records)).error_code == INVALID_RECORD
        assert fetch(wire, topic, 0).high_watermark == 0


def test_a_record_count_that_does_not_fit_is_refused(kafka: BrokerProcess, topic: str) -> None:
    create_topic(kafka, topic)
    with Wire(kafka) as wire:
        records = recounted(batch([b"a", b"b"]), last_offset_delta=6, count=2)
        assert produce(wire, topic, records).error_code == INVALID_RECORD
        assert fetch(wire, topic, 0).high_watermark == 0


GOOD_RECORD = bytes((16, 0, 0, 0, 2)) + b"k" + bytes((2,)) + b"v" + bytes((0,))
"""Length, attributes, time, offset, key, value, number of headers."""
UNREADABLE = {
    "garbage": b"garbage of no shape at all",
    "more records than counted": GOOD_RECORD * 2,
    "fewer records than counted": b"",
    "a record longer than its batch": bytes((100,)) + GOOD_RECORD[1:],
    "a record shorter than its fields": bytes((14,)) + GOOD_RECORD[1:],
    "a key longer than its record": GOOD_RECORD[:4] + bytes((80,)) + GOOD_RECORD[5:],
    "a negative number of headers": GOOD_RECORD[:-1] + bytes((1,)),
    "more headers than bytes": GOOD_RECORD[:-1] + bytes((20,)),
}


@pytest.mark.parametrize("codec", [0, 1])
@pytest.mark.parametrize("payload", UNREADABLE.values(), ids=UNREADABLE)
def test_batch_that_readers_cannot_parse_is_refused(
    kafka: BrokerProcess, topic: str, payload: bytes, codec: int
) -> None:
    create_topic(kafka, topic)
    with Wire(kafka) as wire:
        assert produce(wire, topic, repacked(GOOD_RECORD, codec)).error_code == 0
        refused = produce(wire, topic, repacked(payload, codec)).error_code
        if codec and payload[1:] == GOOD_RECORD[1:] and kafka.kind == "apache":
            assert refused == 0  # Apache Kafka does not look at the length of a compressed record
        else:
            assert refused == INVALID_RECORD
            assert fetch(wire, topic, 0).high_watermark == 1


def repacked(payload: bytes, codec: int) -> bytes:
    """A batch of one record whose inside is this."""
    body = gzip.compress(payload) if codec == 1 else payload
    changed = bytearray(batch([b"v"])[:61]) + body
    struct.pack_into(">i", changed, 8, len(changed) - 12)
    struct.pack_into(">h", changed, 21, codec)
    struct.pack_into(">I", changed, 17, crc32c.crc32c(changed[21:]))
    return bytes(changed)


def test_special_timestamps_ask_for_first_last_and_newest(kafka: BrokerProcess, topic: str) -> None:
    create_topic(kafka, topic, config=KEPT)
    base = 1_700_000_000_000
    with Wire(kafka) as wire:
        for delta in (5, 9, 3):
            produce(wire, topic, batch([b"v"], timestamp=base + delta))
        assert list_offset(wire, topic, EARLIEST) == (0, -1)
        assert list_offset(wire, topic, LATEST) == (3, -1)
        assert list_offset(wire, topic, MAX_TIMESTAMP) == (1, base + 9)
        assert list_offset(wire, topic, base + 4) == (0, base + 5)
        assert list_offset(wire, topic, base + 6) == (1, base + 9)


def test_a_leader_epoch_ends_where_the_log_ends(kafka: BrokerProcess, topic: str) -> None:
    create_topic(kafka, topic)
    with Wire(kafka) as wire:
        produce(wire, topic, batch([b"a", b"b"]))
        asked = OffsetForLeaderEpochRequest.OffsetForLeaderTopic
        reply = wire.ask(
            OffsetForLeaderEpochRequest(
                version=3, replica_id=-1,
                topics=[asked(version=3, topic=topic, partitions=[
                    asked.OffsetForLeaderPartition(
                        version=3, partition=0, current_leader_epoch=-1, leader_epoch=0
                    )
                ])],
            )
        )  # fmt: skip
        (partition,) = reply.topics[0].partitions
        assert (partition.error_code, partition.leader_epoch, partition.end_offset) == (0, 0, 2)


def test_coordinators_are_found_for_groups_and_transactions(
    kafka: BrokerProcess, group: str
) -> None:
    with Wire(kafka) as wire:
        join(wire, group)  # so that the internal topics are there
        for kind in (0, 1):
            for _ in range(100):
                found = wire.ask(FindCoordinatorRequest(version=2, key=group, key_type=kind))
                if found.error_code == 0:
                    break
                time.sleep(0.1)
            assert (found.error_code, found.port) == (0, kafka.port)
            many = wire.ask(
                FindCoordinatorRequest(version=4, key_type=kind, coordinator_keys=[group, "b"])
            )
            assert [(c.key, c.port) for c in many.coordinators] == [
                (group, kafka.port), ("b", kafka.port),
            ]  # fmt: skip


def test_metadata_names_this_broker_and_every_partition(kafka: BrokerProcess, topic: str) -> None:
    create_topic(kafka, topic, partitions=3)
    with Wire(kafka) as wire:
        asked = MetadataRequest.MetadataRequestTopic
        for version in (1, 7, 9, 12):
            reply = wire.ask(
                MetadataRequest(
                    version=version, topics=[asked(version=version, name=topic)],
                    allow_auto_topic_creation=False,
                )
            )  # fmt: skip
            (broker,) = reply.brokers
            assert (broker.host, broker.port) == ("127.0.0.1", kafka.port)
            (found,) = reply.topics
            assert sorted(p.partition_index for p in found.partitions) == [0, 1, 2]
            assert {p.leader_id for p in found.partitions} == {broker.node_id}


@pytest.mark.parametrize(
    "garbage",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        struct.pack(">i", -1),
        struct.pack(">i", 2**31 - 1),
        struct.pack(">ihhih", 10, 0, 9, 1, -1),  # a produce request without a body
        struct.pack(">ihhih", 10, 9_999, 0, 1, -1),  # an unknown API
        struct.pack(">ihhih", 10, 1, 99, 1, -1),  # an unknown version
        struct.pack(">i", 1_020) + bytes(range(255)) * 4,
    ],
)
def test_garbage_closes_its_connection_and_nothing_else(
    kafka: BrokerProcess, garbage: bytes
) -> None:
    with Wire(kafka) as good, Wire(kafka) as bad:
        assert good.ask(ApiVersionsRequest(version=0)).error_code == 0
        bad.send_bytes(garbage)
        assert bad.closed_by_peer()
        assert good.ask(ApiVersionsRequest(version=0)).error_code == 0
    assert kafka.running


def recounted(records: bytes, *, last_offset_delta: int, count: int) -> bytes:
    """The batch with other counts in its header, and a checksum that fits them."""
    changed = bytearray(records)
    struct.pack_into(">i", changed, 23, last_offset_delta)
    struct.pack_into(">i", changed, 57, count)
    struct.pack_into(">I", changed, 17, crc32c.crc32c(changed[21:]))
    return bytes(changed)


def list_offset(wire: Wire, topic: str, timestamp: int) -> tuple[int, int]:
    """Returns offset and timestamp."""
    asked = ListOffsetsRequest.ListOffsetsTopic
    reply = wire.ask(
        ListOffsetsRequest(
            version=7, replica_id=-1, isolation_level=0,
            topics=[asked(version=7, name=topic, partitions=[
                asked.ListOffsetsPartition(
                    version=7, partition_index=0, current_leader_epoch=-1, timestamp=timestamp
                )
            ])],
        )
    )  # fmt: skip
    (partition,) = reply.topics[0].partitions
    assert partition.error_code == 0
    return int(partition.offset), int(partition.timestamp)
