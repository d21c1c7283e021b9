"""A full disk: producers are told, readers go on, and all is well again when there is room."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.brokers import EmbeddedBroker
from tests.clients import KEPT, create_topic, offsets, producer, read, send, wait_until
from tests.small_disk import mounted
from tests.wire import Wire, batch, fetch, init_producer, produce

TOPIC = "filling"
KAFKA_STORAGE_ERROR = 56
CHUNK = bytes(100_000)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 8 MB at the broker's data directory."""
    with mounted(tmp_path / "data", "8m") as data:
        yield data


def fill(wire: Wire, producer: tuple[int, int], sequence: int) -> int:
    """Produce until the disk is full. -> the sequence that was refused"""
    while True:
        records = batch([CHUNK], producer_id=producer[0], epoch=producer[1], sequence=sequence)
        reply = produce(wire, TOPIC, records)
        if reply.error_code != 0:
            assert reply.error_code == KAFKA_STORAGE_ERROR
            return sequence
        assert reply.base_offset == sequence
        sequence += 1
        assert sequence < 200, "the disk does not fill up"


def test_a_full_disk_refuses_producers_serves_readers_and_recovers(
    tmp_path: Path, small_disk: Path
) -> None:
    with EmbeddedBroker(tmp_path) as broker:
        create_topic(broker, TOPIC, config=KEPT)
        with Wire(broker) as wire:
            identity = init_producer(wire)
            full_at = fill(wire, identity, 0)
            assert fill(wire, identity, full_at) == full_at, "it goes on refusing"
            assert fetch(wire, TOPIC, 0).high_watermark == full_at
            assert offsets(read(broker, TOPIC)) == list(range(full_at))
            subprocess.run(["mount", "-o", "remount,size=16m", str(small_disk)], check=True)

            def taken() -> bool:
                records = batch(
                    [CHUNK], producer_id=identity[0], epoch=identity[1], sequence=full_at
                )
                reply = produce(wire, TOPIC, records)
                return bool(reply.error_code == 0 and reply.base_offset == full_at)

            wait_until(taken, "the refused batch being taken, with nothing done to the broker")
        assert send(producer(broker), TOPIC, [b"after"]) == [full_at + 1]
        for end in (broker.kill, broker.stop):
            end()
            broker.start()
            assert offsets(read(broker, TOPIC)) == list(range(full_at + 2))


def test_a_broker_starts_and_serves_readers_on_a_full_disk(
    tmp_path: Path, small_disk: Path
) -> None:
    with EmbeddedBroker(tmp_path) as broker:
        create_topic(broker, TOPIC, config=KEPT)
        with Wire(broker) as wire:
            full_at = fill(wire, init_producer(wire), 0)
        filler = small_disk / "filler"
        with filler.open("wb", buffering=0) as file:  # not a byte is left
            try:
                while True:
                    file.write(bytes(4_096))
            except OSError:
                pass
        broker.kill()
        broker.start()
        assert offsets(read(broker, TOPIC)) == list(range(full_at))
        filler.unlink()
        with Wire(broker) as wire:
            wait_until(
                lambda: produce(wire, TOPIC, batch([b"after"])).base_offset == full_at,
                "a record taken once there is room",
            )
