"""A deleted topic lets go of its files and of those who wait, and never touches its successor's."""

import asyncio
import errno
import os
import threading
from pathlib import Path

import pytest
from tests.unit.broker.log.world import written_bytes
from tests.unit.broker.serving.raw import serving
from tests.unit.broker.serving.test_connection import fetch_frame
from tests.unit.broker.serving.test_durability import GatedDisk, batch
from tests.unit.broker.serving.test_topics import result_of

from holdfast.broker.broker import Broker
from holdfast.broker.log import files
from holdfast.broker.log.compaction import compact_needed
from holdfast.broker.partition import Partition
from holdfast.broker.settings import BrokerSettings
from holdfast.broker.work import finish
from holdfast.wire.protocol.errors import ErrorCode

LONG_AFTER_MS = 10**12


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> GatedDisk:
    gated = GatedDisk()
    gated.gate.set()
    monkeypatch.setattr(files, "disk", gated)
    return gated


def open_files_of(data_dir: Path) -> set[str]:
    """The files below `data_dir` that this process holds open. Folders do not count: a thread
    that removes one has it open while it does."""
    found = set()
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            path, is_file = os.readlink(descriptor), descriptor.is_file()
        except FileNotFoundError:  # the one that listed them
            continue
        if path.startswith(str(data_dir)) and is_file:
            found.add(path)
    return found


def fill(partition: Partition, count: int = 5) -> None:
    for _ in range(count):
        partition.append(batch())


def values_on_disk(broker: Broker) -> int:
    """Records of t-0 as a crash would leave them."""
    partition = Broker(broker.settings).partition("t", 0)
    assert partition is not None
    return partition.log.end_offset


async def test_deleted_topic_holds_no_file_open_so_that_its_room_is_free(tmp_path: Path) -> None:
    broker = Broker(BrokerSettings(data_dir=tmp_path, flush="os"))
    before = open_files_of(tmp_path)
    fill(broker.topics.create("t", 1, {"segment.bytes": "100"}).partitions[0])
    assert open_files_of(tmp_path) > before
    broker.topics.delete("t")
    assert open_files_of(tmp_path) == before


class NotingDisk(files.Disk):
    """Notes the threads that unlink files."""

    def __init__(self) -> None:
        self.threads: list[int] = []

    def unlink(self, path: str) -> None:  # type: ignore[override]
        self.threads.append(threading.get_ident())
        os.unlink(path)


@pytest.mark.parametrize("how", ["deleted", "expired"])
async def test_segments_are_unlinked_on_a_thread_because_the_system_takes_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    broker = Broker(BrokerSettings(data_dir=tmp_path, flush="os"))
    settings = {"segment.bytes": "100", "retention.ms": "1"}
    partition = broker.topics.create("t", 1, settings).partitions[0]
    log = partition.log
    fill(partition)
    disk = NotingDisk()
    monkeypatch.setattr(files, "disk", disk)
    later = LONG_AFTER_MS * 10
    drop = log.delete_records_before(4) if how == "deleted" else log.retain(later)
    await result_of(broker.workshop.answer(drop))
    assert log.log_start_offset >= 4
    assert len(disk.threads) >= 4
    assert threading.get_ident() not in disk.threads


async def test_housekeeping_that_is_late_spares_the_topic_of_the_same_name(tmp_path: Path) -> None:
    broker = Broker(BrokerSettings(data_dir=tmp_path, flush="os"))
    settings = {"segment.bytes": "100", "retention.ms": "1", "cleanup.policy": "compact,delete"}
    old = broker.topics.create("t", 1, settings).partitions[0]
    fill(old)
    broker.topics.delete("t")
    fill(broker.topics.create("t", 1, {"segment.bytes": "100"}).partitions[0])
    files_of_new = sorted(os.listdir(tmp_path / "t-0"))
    assert finish(old.log.retain(LONG_AFTER_MS * 10)) == []
    await old.sync_in_background()
    assert not compact_needed(old.log, LONG_AFTER_MS * 10)
    assert sorted(os.listdir(tmp_path / "t-0")) == files_of_new
    assert values_on_disk(broker) == 5


async def test_failed_sync_that_outlives_its_topic_spares_the_topic_of_the_same_name(
    tmp_path: Path, disk: GatedDisk
) -> None:
    broker = Broker(BrokerSettings(data_dir=tmp_path))
    assert broker._flusher is not None
    old = broker.topics.create("t", 1, {}).partitions[0]
    before = disk.syncs
    disk.gate.clear()
    fill(old, 2)
    while disk.syncs == before:
        await asyncio.sleep(0.001)
    broker.topics.delete("t")
    new = broker.topics.create("t", 1, {}).partitions[0]
    new.log.append(batch(b"longer than what was there before" * 9), now_ms=0)
    disk.failure = OSError(errno.EIO, "Input/output error")
    disk.gate.set()
    while old in broker._flusher._syncing:
        await asyncio.sleep(0.001)
    assert len(written_bytes(tmp_path / "t-0" / f"{0:020d}.log")) == new.log.size_bytes
    assert broker.metrics.storage_failures == 0


async def test_checkpoint_of_a_deleted_topic_is_not_left_to_its_successor(
    tmp_path: Path, disk: GatedDisk
) -> None:
    broker = Broker(BrokerSettings(data_dir=tmp_path))
    old = broker.topics.create("t", 1, {}).partitions[0]
    before = disk.syncs
    disk.gate.clear()
    fill(old, 2)
    while disk.syncs == before:
        await asyncio.sleep(0.001)
    broker.topics.delete("t")
    broker.topics.create("t", 1, {})
    disk.gate.set()
    assert broker._flusher is not None
    while old in broker._flusher._syncing:
        await asyncio.sleep(0.001)
    assert sorted(os.listdir(tmp_path / "t-0")) == [f"{0:020d}.log"]


async def test_topic_created_again_after_a_clean_stop_is_not_the_old_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broker = Broker(BrokerSettings(data_dir=tmp_path, flush="os"))
    fill(broker.topics.create("t", 1, {}).partitions[0])
    await broker.close()
    broker = Broker(BrokerSettings(data_dir=tmp_path, flush="os"))
    broker.topics.delete("t")
    assert broker.topics.create("t", 1, {}).partitions[0].log.end_offset == 0
    assert caplog.text == ""


async def test_waiting_fetch_ends_when_its_topic_is_deleted(tmp_path: Path) -> None:
    async with serving(tmp_path / "data", flush="os") as served, await served.client() as client:
        served.broker.topics.create("t", 1, {})
        await client.send(fetch_frame("t", wait_ms=600_000))
        while not served.broker.waiting_fetches:
            await asyncio.sleep(0.001)
        served.broker.topics.delete("t")
        _, fetched = await client.reply("fetch", 12)
        answered = fetched.responses[0].partitions[0]
        assert answered.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
