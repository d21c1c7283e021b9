"""Nothing is visible to any reader before it is on disk, shown with a disk that can be held up."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kafka.protocol.consumer import OffsetCommitRequest
from kafka.protocol.producer import EndTxnRequest
from tests.brokers import EmbeddedBroker
from tests.chaos.broker.load import committed_offset
from tests.clients import create_topic, read, values, wait_until
from tests.wire import (
    Wire,
    add_partitions,
    batch,
    batches,
    fetch,
    fetch_request,
    init_producer,
    join,
    produce,
    produce_request,
    transactional_batch,
)

TOPIC = "synced"
KAFKA_STORAGE_ERROR = 56


class Disk:
    """The syncs of one broker: they wait, fail, or do what they do."""

    def __init__(self, gate: Path) -> None:
        self._gate = gate

    def hold(self) -> None:
        self._gate.touch()

    def fail(self) -> None:
        self._gate.write_text("fail")

    def heal(self) -> None:
        self._gate.unlink(missing_ok=True)


@pytest.fixture(scope="module")
def sync_gate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler to build the stand-in for a slow disk with")
    library = tmp_path_factory.mktemp("sync-gate") / "sync_gate.so"
    source = Path(__file__).parent / "sync_gate.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True)
    return library


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    found = Disk(tmp_path / "gate")
    yield found
    found.heal()


@pytest.fixture
def broker(tmp_path: Path, sync_gate: Path, disk: Disk) -> Iterator[EmbeddedBroker]:
    environment = {"LD_PRELOAD": str(sync_gate), "SYNC_GATE": str(tmp_path / "gate")}
    with EmbeddedBroker(tmp_path, environment=environment) as broker:
        create_topic(broker, TOPIC, 2)
        with Wire(broker) as wire:  # so that the coordinators are there
            join(wire, "other")
            init_producer(wire, "other")
        yield broker


@pytest.mark.parametrize("acks", [-1, 1, 0])
def test_a_record_is_shown_only_when_it_is_synced(
    broker: EmbeddedBroker, disk: Disk, acks: int
) -> None:
    with Wire(broker) as writer, Wire(broker) as reader:
        disk.hold()
        request = produce_request(TOPIC, batch([b"v"]), acks=acks)
        writer.send(request)
        for _ in range(20):
            seen = fetch(reader, TOPIC, 0, max_wait_ms=20)
            assert (seen.high_watermark, batches(seen.records)) == (0, [])
        disk.heal()
        if acks != 0:
            assert writer.receive(request).responses[0].partition_responses[0].error_code == 0
        wait_until(lambda: fetch(reader, TOPIC, 0).high_watermark == 1, "the synced record")


def test_a_waiting_fetch_is_woken_by_the_sync_and_not_by_the_append(
    broker: EmbeddedBroker, disk: Disk
) -> None:
    with Wire(broker) as writer, Wire(broker) as waiting, Wire(broker) as reader:
        disk.hold()
        wanted = fetch_request(TOPIC, 0, max_wait_ms=60_000)
        waiting.send(wanted)
        writer.send(produce_request(TOPIC, batch([b"v"])))
        for _ in range(10):
            assert fetch(reader, TOPIC, 0, max_wait_ms=20).high_watermark == 0
        disk.heal()
        (partition,) = waiting.receive(wanted).responses[0].partitions
        assert len(batches(partition.records)) == 1


def test_a_committed_offset_is_shown_only_when_it_is_synced(
    broker: EmbeddedBroker, disk: Disk
) -> None:
    topics = OffsetCommitRequest.OffsetCommitRequestTopic
    request = OffsetCommitRequest(
        version=7, group_id="g", generation_id_or_member_epoch=-1, member_id="",
        topics=[topics(version=7, name=TOPIC, partitions=[
            topics.OffsetCommitRequestPartition(
                version=7, partition_index=0, committed_offset=5, committed_leader_epoch=-1,
                committed_metadata="",
            )
        ])],
    )  # fmt: skip
    with Wire(broker) as writer, Wire(broker) as reader:
        disk.hold()
        writer.send(request)
        for _ in range(20):
            assert committed_offset(reader, "g", TOPIC, 0) == -1
            fetch(reader, TOPIC, 0, max_wait_ms=10)
        disk.heal()
        assert writer.receive(request).topics[0].partitions[0].error_code == 0
        assert committed_offset(reader, "g", TOPIC, 0) == 5


def test_a_commit_of_a_transaction_is_shown_only_when_it_is_synced(
    broker: EmbeddedBroker, disk: Disk
) -> None:
    with Wire(broker) as writer, Wire(broker) as reader:
        owner = init_producer(writer, "t")
        assert add_partitions(writer, "t", owner, TOPIC, [0, 1]) == 0
        records = batch(
            [b"v"], producer_id=owner[0], epoch=owner[1], sequence=0, transactional=True
        )
        for partition in (0, 1):
            reply = produce(writer, TOPIC, records, partition=partition, transactional_id="t")
            assert reply.error_code == 0
        disk.hold()
        request = EndTxnRequest(
            version=3, transactional_id="t", producer_id=owner[0], producer_epoch=owner[1],
            committed=True,
        )  # fmt: skip
        writer.send(request)
        for _ in range(20):
            for partition in (0, 1):
                seen = fetch(reader, TOPIC, 0, partition=partition, isolation=1, max_wait_ms=10)
                assert (seen.last_stable_offset, batches(seen.records)) == (0, [])
        disk.heal()
        assert writer.receive(request).error_code == 0
    for partition in (0, 1):

        def committed(partition: int = partition) -> bool:
            return values(read(broker, TOPIC, partition)) == [b"v"]

        wait_until(committed, "the committed record")


def test_transaction_of_version_2_survives_kill_9_and_none_is_left_open(
    broker: EmbeddedBroker, disk: Disk
) -> None:
    """Its partitions are added by the batches: the addition is on disk before the first batch."""

    def records(owner: tuple[int, int], value: bytes, sequence: int = 0) -> Any:
        data = transactional_batch(owner, [value], sequence)
        return produce_request(TOPIC, data, transactional_id="t", version=12)

    def end(wire: Wire, owner: tuple[int, int]) -> tuple[int, int]:
        reply = wire.ask(
            EndTxnRequest(
                version=5, transactional_id="t", producer_id=owner[0], producer_epoch=owner[1],
                committed=True,
            )
        )  # fmt: skip
        assert reply.error_code == 0
        return reply.producer_id, reply.producer_epoch

    with Wire(broker) as wire:
        first = init_producer(wire, "t")
        reply = wire.ask(records(first, b"a"))
        assert reply.responses[0].partition_responses[0].error_code == 0
    broker.kill()
    broker.start()
    with Wire(broker) as wire:
        reply = wire.ask(records(first, b"b", sequence=1))
        assert reply.responses[0].partition_responses[0].error_code == 0
        second = end(wire, first)
        assert second == (first[0], first[1] + 1)
    broker.kill()
    broker.start()
    with Wire(broker) as wire:
        assert end(wire, first) == second  # repeated, because its reply may have been lost
        disk.hold()
        wire.send(records(second, b"never acknowledged"))
        broker.kill()
    disk.heal()
    broker.start()
    with Wire(broker) as wire:
        init_producer(wire, "t")
        assert produce(wire, TOPIC, batch([b"plain"])).error_code == 0
    wait_until(lambda: values(read(broker, TOPIC)) == [b"a", b"b", b"plain"], "what is committed")


def test_failed_sync_is_reported_and_its_records_never_appear(
    broker: EmbeddedBroker, disk: Disk
) -> None:
    with Wire(broker) as wire:
        producer_id, epoch = init_producer(wire)

        def put(sequence: int) -> tuple[int, int]:
            records = batch(
                [b"%d" % sequence], producer_id=producer_id, epoch=epoch, sequence=sequence
            )
            reply = produce(wire, TOPIC, records)
            return int(reply.error_code), int(reply.base_offset)

        assert put(0) == (0, 0)
        disk.fail()
        assert put(1)[0] == KAFKA_STORAGE_ERROR
        assert fetch(wire, TOPIC, 0).high_watermark == 1
        assert put(1)[0] == KAFKA_STORAGE_ERROR
        disk.heal()
        # The retry is taken as new, under the offset that was never given to anybody.
        assert put(1) == (0, 1)
        assert put(2) == (0, 2)
    broker.kill()
    broker.start()
    assert values(read(broker, TOPIC)) == [b"0", b"1", b"2"]


def test_sigterm_finishes_running_requests_and_exits_0(broker: EmbeddedBroker, disk: Disk) -> None:
    with Wire(broker) as writer, Wire(broker) as idle:
        disk.hold()
        request = produce_request(TOPIC, batch([b"in flight"]))
        writer.send(request)
        fetch(idle, TOPIC, 0)
        broker.terminate()
        assert idle.closed_by_peer()
        assert broker.running
        disk.heal()
        assert writer.receive(request).responses[0].partition_responses[0].error_code == 0
        assert broker.wait() == 0
    broker.start()
    assert values(read(broker, TOPIC)) == [b"in flight"]
