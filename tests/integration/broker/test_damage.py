"""A broker that finds its files other than it left them: it loads, and says what it did."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.brokers import EmbeddedBroker
from tests.clients import KEPT, create_topic, offsets, producer, read, send, transactional, values
from tests.wire import Wire, batch, batches, fetch, produce

TOPIC = "damaged"
RECORDS = 50

CORRUPT_MESSAGE = 2


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[EmbeddedBroker]:
    """Killed, with fifty acknowledged batches of one record each."""
    with EmbeddedBroker(tmp_path) as broker:
        create_topic(broker, TOPIC, config={**KEPT, "index.interval.bytes": "100"})
        with Wire(broker) as wire:
            for i in range(RECORDS):
                assert produce(wire, TOPIC, batch([b"value %d" % i])).base_offset == i
        broker.kill()
        yield broker


def log_file(broker: EmbeddedBroker, suffix: str = ".log") -> Path:
    (found,) = (broker.data_dir / f"{TOPIC}-0").glob(f"*{suffix}")
    return found


def log_since(broker: EmbeddedBroker, before: str) -> str:
    return broker.log_text().removeprefix(before)


def batch_ends(data: bytes | bytearray) -> list[int]:
    """Where the batches of an active segment end; room for more follows the last."""
    ends = [0]
    while (length := int.from_bytes(data[ends[-1] + 8 : ends[-1] + 12], "big")) > 0:
        ends.append(ends[-1] + 12 + length)
    return ends


def test_torn_tail_is_truncated_and_logged(broker: EmbeddedBroker) -> None:
    before = broker.log_text()
    path = log_file(broker)
    with path.open("r+b") as file:
        file.seek(batch_ends(path.read_bytes())[-1])
        file.write(batch([b"torn" * 100])[:-17])
    broker.start()
    assert "torn tail" in log_since(broker, before)
    assert offsets(read(broker, TOPIC)) == list(range(RECORDS))
    assert send(producer(broker), TOPIC, [b"next"]) == [RECORDS]


@pytest.mark.parametrize("zeros", [0, 5_000, 200_000])
def test_room_after_the_log_is_cut_off(broker: EmbeddedBroker, zeros: int) -> None:
    """A file system may leave more of it when the power goes: it grew, the data did not come."""
    before = broker.log_text()
    path = log_file(broker)
    data = path.read_bytes()
    written = data[: batch_ends(data)[-1]]
    assert len(data) > len(written) + 5_000, "an active segment has room"
    if zeros:
        path.write_bytes(written + bytes(zeros))
    broker.start()
    assert ("torn tail" in log_since(broker, before)) is (zeros == 200_000)
    assert path.read_bytes() == written
    assert offsets(read(broker, TOPIC)) == list(range(RECORDS))
    assert send(producer(broker), TOPIC, [b"next"]) == [RECORDS]
    assert broker.stop() == 0
    assert len(path.read_bytes()) == batch_ends(path.read_bytes())[-1]


def test_a_flipped_byte_in_the_tail_costs_that_batch_alone(broker: EmbeddedBroker) -> None:
    before = broker.log_text()
    path = log_file(broker)
    data = bytearray(path.read_bytes())
    data[batch_ends(data)[-2] + 65] ^= 0x01
    path.write_bytes(data)
    broker.start()
    said = log_since(broker, before)
    assert str(path.name) in said
    assert values(read(broker, TOPIC))[: RECORDS - 1] == [
        b"value %d" % i for i in range(RECORDS - 1)
    ]
    assert b"value %d" % (RECORDS - 1) not in values(read(broker, TOPIC))


@pytest.mark.parametrize("clean", [True, False], ids=["after-a-stop", "after-kill-9"])
@pytest.mark.parametrize("suffix", [".index", ".timeindex"])
@pytest.mark.parametrize("damage", ["deleted", "truncated"])
def test_lost_index_is_rebuilt_and_reported(
    broker: EmbeddedBroker, suffix: str, damage: str, clean: bool
) -> None:
    broker.start()
    if clean:
        assert broker.stop() == 0
    else:
        broker.kill()
    path = log_file(broker, suffix)
    assert path.stat().st_size > 20, "there must be something to lose"
    if damage == "deleted":
        path.unlink()
    else:
        with path.open("r+b") as file:
            file.truncate(path.stat().st_size // 2)
    before = broker.log_text()
    broker.start()
    for start in (0, 1, RECORDS // 2, RECORDS - 1):
        assert offsets(read(broker, TOPIC, start=start)) == list(range(start, RECORDS))
    assert path.name in log_since(broker, before) or "Rebuilding" in log_since(broker, before)


def test_a_flipped_byte_in_the_middle_is_reported_and_not_served(broker: EmbeddedBroker) -> None:
    broker.start()
    assert broker.stop() == 0
    path = log_file(broker)
    data = bytearray(path.read_bytes())
    position = data.index(b"value 20")
    data[position] ^= 0x01
    path.write_bytes(data)
    before = broker.log_text()
    broker.start()
    assert served_from(broker, 0) == [b"value %d" % i for i in range(20)]
    with Wire(broker) as wire:
        assert fetch(wire, TOPIC, 20).error_code == CORRUPT_MESSAGE
        # What comes after the damage can be had by whoever asks for it.
        assert batches(fetch(wire, TOPIC, 21).records)[0].base_offset == 21
    assert "damaged" in log_since(broker, before)
    assert send(producer(broker), TOPIC, [b"next"]) == [RECORDS]


def test_damage_in_the_middle_is_kept_by_recovery_after_kill_9(broker: EmbeddedBroker) -> None:
    """It is no torn tail: what follows was acknowledged, and stays."""
    before = broker.log_text()
    path = log_file(broker)
    data = bytearray(path.read_bytes())
    data[data.index(b"value 20")] ^= 0x01
    path.write_bytes(data)
    broker.start()
    with Wire(broker) as wire:
        assert fetch(wire, TOPIC, 20).error_code == CORRUPT_MESSAGE
        assert fetch(wire, TOPIC, 21).high_watermark == RECORDS
    assert "damaged" in log_since(broker, before)


def test_lost_producer_snapshots_are_made_again_from_the_log(tmp_path: Path) -> None:
    with EmbeddedBroker(tmp_path) as broker:
        create_topic(broker, TOPIC)
        writer = transactional(broker, TOPIC)
        writer.begin_transaction()
        send(writer, TOPIC, [b"open"])
        assert broker.stop() == 0
        for snapshot in (broker.data_dir / f"{TOPIC}-0").glob("*.snapshot"):
            snapshot.unlink()
        broker.start()
        # The open transaction is known, so that nobody reads past it.
        assert read(broker, TOPIC) == []
        assert values(read(broker, TOPIC, isolation="read_uncommitted")) == [b"open"]
        transactional(broker, TOPIC)
        assert send(producer(broker), TOPIC, [b"after"]) == [2]
        assert values(read(broker, TOPIC)) == [b"after"]


def served_from(broker: EmbeddedBroker, start: int) -> list[bytes]:
    """Values of the first fetch: up to the damage, and no further."""
    with Wire(broker) as wire:
        found = batches(fetch(wire, TOPIC, start).records)
    return [record.value for one in found for record in one]
