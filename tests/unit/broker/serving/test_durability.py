"""Nothing is acknowledged or seen before it is on disk; a failed sync takes it back."""

import asyncio
import errno
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from holdfast.broker.broker import Broker
from holdfast.broker.log import StorageFailed, files
from holdfast.broker.partition import Partition
from holdfast.broker.settings import BrokerSettings
from holdfast.wire.records.batch import build_batch


class GatedDisk(files.Disk):
    """Syncs wait until the test opens the gate; then they work, or fail."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.failure: OSError | None = None
        self.syncs = 0
        self.seconds = 0.0
        self.synced_by = 0

    def fdatasync(self, fd: int) -> None:  # type: ignore[override]
        self.syncs += 1
        self.synced_by = threading.get_ident()
        assert self.gate.wait(10)
        time.sleep(self.seconds)
        if self.failure is not None:
            raise self.failure


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> GatedDisk:
    gated = GatedDisk()
    gated.gate.set()
    monkeypatch.setattr(files, "disk", gated)
    return gated


def batch(value: bytes = b"v", **producer: Any) -> memoryview:
    return memoryview(build_batch([(b"k", value)], timestamp=1_000, **producer))


def open_partition(tmp_path: Path) -> Partition:
    broker = Broker(BrokerSettings(data_dir=tmp_path))
    return broker.topics.create("t", 1, {}).partitions[0]


async def test_nothing_is_visible_or_acknowledged_before_it_is_synced(
    tmp_path: Path, disk: GatedDisk
) -> None:
    partition = open_partition(tmp_path)
    disk.gate.clear()
    appended = partition.append(batch())
    durable = partition.when_durable(appended.last_offset)
    while not disk.syncs:
        await asyncio.sleep(0.001)
    assert (partition.log.high_watermark, partition.log.last_stable_offset) == (0, 0)
    assert not partition.log.read(0, 1_000, limit=partition.log.high_watermark)
    assert not durable.done()
    disk.gate.set()
    await asyncio.wait_for(durable, 10)
    assert partition.log.high_watermark == 1


async def test_one_sync_covers_all_that_was_appended_meanwhile(
    tmp_path: Path, disk: GatedDisk
) -> None:
    partition = open_partition(tmp_path)
    disk.gate.clear()
    partition.append(batch())
    while not disk.syncs:
        await asyncio.sleep(0.001)
    before = disk.syncs
    waiting = [partition.when_durable(partition.append(batch()).last_offset) for _ in range(100)]
    disk.gate.set()
    await asyncio.wait_for(asyncio.gather(*waiting), 10)
    assert disk.syncs - before <= 3  # one for the hundred, and one for an index or two


async def test_failed_sync_is_reported_and_its_records_were_never_visible(
    tmp_path: Path, disk: GatedDisk
) -> None:
    partition = open_partition(tmp_path)
    await partition.when_durable(partition.append(batch(b"kept")).last_offset)
    disk.failure = OSError(errno.EIO, "Input/output error")
    futures = [partition.when_durable(partition.append(batch()).last_offset) for _ in range(3)]
    for future in futures:
        with pytest.raises(StorageFailed, match="could not be synced"):
            await asyncio.wait_for(future, 10)
    assert (partition.log.high_watermark, partition.log.end_offset) == (1, 1)
    disk.failure = None
    again = partition.append(batch(b"again"))
    assert again.base_offset == 1
    await asyncio.wait_for(partition.when_durable(again.last_offset), 10)
    assert b"again" in bytes(partition.log.read(1, 1_000, limit=2))


async def test_retry_after_a_failed_sync_is_taken_as_new(tmp_path: Path, disk: GatedDisk) -> None:
    partition = open_partition(tmp_path)
    producer: dict[str, Any] = {"producer_id": 7, "producer_epoch": 0}
    await partition.when_durable(partition.append(batch(base_sequence=0, **producer)).last_offset)
    disk.failure = OSError(errno.EIO, "Input/output error")
    lost = partition.append(batch(base_sequence=1, **producer))
    with pytest.raises(StorageFailed):
        await asyncio.wait_for(partition.when_durable(lost.last_offset), 10)
    disk.failure = None
    retried = partition.append(batch(base_sequence=1, **producer))
    assert not retried.duplicate
    assert retried.base_offset == 1


async def test_duplicate_waits_for_the_sync_of_the_first(tmp_path: Path, disk: GatedDisk) -> None:
    partition = open_partition(tmp_path)
    disk.gate.clear()
    producer: dict[str, Any] = {"producer_id": 7, "producer_epoch": 0}
    partition.append(batch(base_sequence=0, **producer))
    partition.append(batch(base_sequence=1, **producer))
    duplicate = partition.append(batch(base_sequence=0, **producer))
    assert duplicate.duplicate
    future = partition.when_durable(duplicate.last_offset)
    await asyncio.sleep(0)
    assert not future.done()
    disk.gate.set()
    await asyncio.wait_for(future, 10)


async def test_without_sync_the_page_cache_counts_and_is_synced_in_the_background(
    tmp_path: Path, disk: GatedDisk
) -> None:
    broker = Broker(BrokerSettings(data_dir=tmp_path, flush="os"))
    partition = broker.topics.create("t", 1, {}).partitions[0]
    before = disk.syncs
    appended = partition.append(batch())
    assert partition.log.high_watermark == appended.last_offset + 1
    assert disk.syncs == before
    await partition.sync_in_background()
    assert disk.syncs > before
    assert partition.log.flush_targets() is None


async def test_flusher_stops_though_there_is_nothing_to_sync(tmp_path: Path) -> None:
    broker = Broker(BrokerSettings(data_dir=tmp_path))
    partition = broker.topics.create("t", 1, {}).partitions[0]
    await partition.when_durable(partition.append(batch()).last_offset)
    await partition.sync_in_background()  # marks it, and it is clean
    async with asyncio.timeout(10):
        await broker.close()


@pytest.mark.parametrize("failure", [None, OSError(errno.EIO, "Input/output error")])
async def test_stop_waits_for_a_background_sync_and_repeats_one_that_failed(
    tmp_path: Path, disk: GatedDisk, failure: OSError | None
) -> None:
    broker = Broker(BrokerSettings(data_dir=tmp_path, flush="os"))
    partition = broker.topics.create("t", 1, {"segment.bytes": "100"}).partitions[0]
    for _ in range(4):
        partition.append(batch())
    before = disk.syncs
    disk.gate.clear()
    sync = asyncio.create_task(partition.sync_in_background())
    while disk.syncs == before:
        await asyncio.sleep(0.001)
    sync.cancel()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not sync.done()
    disk.failure = failure
    disk.gate.set()
    await asyncio.wait([sync], timeout=10)
    assert sync.cancelled()
    disk.failure, before = None, disk.syncs
    await broker.close()
    assert (disk.syncs - before >= 4) == (failure is not None)


async def test_small_syncs_of_a_quick_disk_are_done_on_the_loop_and_a_slow_one_is_not(
    tmp_path: Path, disk: GatedDisk
) -> None:
    partition = open_partition(tmp_path)
    loop_thread = threading.get_ident()

    async def send() -> None:
        await asyncio.wait_for(partition.when_durable(partition.append(batch()).last_offset), 10)

    await send()
    assert disk.synced_by != loop_thread  # nobody knows yet how quick the disk is
    for _ in range(20_000):  # beside load a sync now and then seems slow, and it is measured again
        await send()
        if disk.synced_by == loop_thread:
            break
    assert disk.synced_by == loop_thread
    disk.seconds = 0.02
    await send()
    disk.seconds = 0.0
    await send()
    assert disk.synced_by != loop_thread
