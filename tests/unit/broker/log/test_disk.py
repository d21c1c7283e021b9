"""A full or broken disk: no partial batch is visible, and the log continues when it works again."""

import errno
import os
from pathlib import Path

import pytest
from tests.unit.broker.log.world import NOW, FaultyDisk, LogUnderTest

from holdfast.broker.log import StorageFailed, files
from holdfast.broker.log.files import File, OpenFiles, replace_file
from holdfast.broker.work import finish
from holdfast.wire.records.batch import build_batch


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> FaultyDisk:
    disk = FaultyDisk()
    monkeypatch.setattr(files, "disk", disk)
    return disk


@pytest.fixture
def world(tmp_path: Path, disk: FaultyDisk) -> LogUnderTest:
    world = LogUnderTest(tmp_path / "t-0", segment_bytes=400, index_interval_bytes=0)
    world.send(7, 0)
    world.send(7, 1)
    world.flush()
    return world


def test_full_disk_refuses_and_works_again_when_there_is_room(
    world: LogUnderTest, disk: FaultyDisk
) -> None:
    for room in range(72):
        disk.room = room
        with pytest.raises(StorageFailed):
            world.send(7, 2)
        assert world.log.end_offset == 2
        assert world.values() == ["7/0", "7/1"]
    disk.room = None
    assert not world.send(7, 2).duplicate
    world.flush()
    assert world.values() == ["7/0", "7/1", "7/2"]
    world.crash()
    assert world.values() == ["7/0", "7/1", "7/2"]


def test_crash_right_after_a_full_disk_finds_only_whole_batches(
    world: LogUnderTest, disk: FaultyDisk
) -> None:
    disk.room = 40
    disk.failing = {"ftruncate"}
    with pytest.raises(StorageFailed):
        world.send(7, 2)
    disk.room, disk.failing = None, set()
    world.crash()
    assert world.values() == ["7/0", "7/1"]
    assert world.reported("torn tail of 40 bytes")


def test_log_whose_end_cannot_be_repaired_refuses_appends_until_it_can(
    world: LogUnderTest, disk: FaultyDisk
) -> None:
    disk.room, disk.failing = 10, {"ftruncate"}
    with pytest.raises(StorageFailed):
        world.send(7, 2)
    disk.room = None
    with pytest.raises(StorageFailed):
        world.send(7, 2)
    disk.failing = set()
    assert world.send(7, 2).base_offset == 2


def test_roll_without_room_for_a_file_refuses_and_recovers(
    world: LogUnderTest, disk: FaultyDisk
) -> None:
    while world.log.segments.active.size + 150 < 400:
        world.put("x")
    world.flush()
    end = world.log.end_offset
    disk.failing = {"create"}
    with pytest.raises(StorageFailed):
        world.put("y" * 300)
    assert len(world.log.segments) == 1
    disk.failing = set()
    for _ in range(5):
        world.put("z" * 60)
    world.flush()
    assert len(world.log.segments) > 1
    assert world.log.end_offset >= end + 5
    world.crash()
    assert [r.offset for r in world.records()] == list(range(world.log.end_offset))


def test_index_that_cannot_be_written_does_not_break_the_log(
    tmp_path: Path, disk: FaultyDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = LogUnderTest(tmp_path / "t", segment_bytes=2000, index_interval_bytes=0)

    def no_index(path: str, flags: int, mode: int = 0o777) -> int:
        if path.endswith("index"):
            raise OSError(errno.ENOSPC, "injected")
        return FaultyDisk.open(disk, path, flags, mode)

    monkeypatch.setattr(disk, "open", no_index)
    world.send(7, 0, transactional=True)
    for n in range(100):
        world.put(str(n))
    world.end(7, commit=False)
    world.flush()
    assert [r.offset for r in world.records(57)] == list(range(57, 101))
    assert len(world.log.aborted_transactions(0, 102)) == 1
    monkeypatch.undo()
    world.log.close()
    world.crash()
    assert [r.offset for r in world.records(57)] == list(range(57, 101))
    assert len(world.log.aborted_transactions(0, 102)) == 1


def test_checkpoint_that_cannot_be_written_does_not_fail_the_flush(
    world: LogUnderTest, disk: FaultyDisk
) -> None:
    world.log._roll(NOW)
    world.send(7, 2)
    ticket = world.log.flush_targets()
    assert ticket is not None
    disk.failing = {"create"}
    ticket.sync()
    world.log.flushed(ticket)
    assert world.log.high_watermark == 3
    assert world.reported("No checkpoint")
    disk.failing = set()
    world.put("x")
    world.flush()
    world.crash()
    assert not world.reported("read")


@pytest.mark.parametrize("rolled", [False, True])
def test_failed_flush_drops_records_that_were_never_visible(
    world: LogUnderTest, rolled: bool
) -> None:
    for n in range(2, 8 if rolled else 3):
        world.send(7, n)
    assert (len(world.log.segments) > 1) is rolled
    world.fail_flush()
    assert (world.log.end_offset, world.log.high_watermark) == (2, 2)
    assert world.values() == ["7/0", "7/1"]
    assert world.send(7, 2).base_offset == 2
    world.flush()
    world.crash()
    assert world.values() == ["7/0", "7/1", "7/2"]


def test_failed_flush_is_repaired_later_if_the_disk_refuses_at_first(
    world: LogUnderTest, disk: FaultyDisk
) -> None:
    for n in range(2, 8):
        world.send(7, n)
    for broken in ("unlink", "ftruncate", "pread"):
        disk.failing = {broken}
        if broken == "unlink":
            world.fail_flush()
        with pytest.raises(StorageFailed):
            world.send(7, 2)
        disk.failing = set()
    assert world.values() == ["7/0", "7/1"]
    assert world.send(7, 2).base_offset == 2
    world.flush()
    world.crash()
    assert world.values() == ["7/0", "7/1", "7/2"]


def test_late_ticket_reply_after_a_failure_is_ignored(
    world: LogUnderTest,
) -> None:
    world.send(7, 2)
    old = world.log.flush_targets()
    assert old is not None
    world.send(7, 3)
    world.fail_flush()
    world.log.flushed(old)
    assert world.log.high_watermark == 2


def test_unreadable_disk_is_a_storage_failure(world: LogUnderTest, disk: FaultyDisk) -> None:
    disk.failing = {"pread"}
    with pytest.raises(StorageFailed):
        world.log.read(0, 100, limit=2)


def test_start_offset_that_cannot_be_written_does_not_move(
    world: LogUnderTest, disk: FaultyDisk
) -> None:
    disk.failing = {"fsync"}
    with pytest.raises(StorageFailed):
        finish(world.log.delete_records_before(1))
    assert world.log.log_start_offset == 0
    disk.failing = set()
    assert finish(world.log.delete_records_before(1)) == 1


def test_replaced_file_is_the_old_or_the_new(tmp_path: Path, disk: FaultyDisk) -> None:
    path = tmp_path / "f"
    replace_file(path, b"old")
    for disk.room in range(3):
        with pytest.raises(OSError, match="injected"):
            replace_file(path, b"new")
        assert path.read_bytes() == b"old"
        assert list(tmp_path.iterdir()) == [path]
    disk.room = None
    disk.failing = {"fsync"}
    with pytest.raises(OSError, match="injected"):
        replace_file(path, b"new")
    assert path.read_bytes() == b"old"
    disk.failing = set()
    replace_file(path, b"new")
    assert path.read_bytes() == b"new"


def test_nothing_is_durable_before_its_directory_entries_are(
    tmp_path: Path, disk: FaultyDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []

    def fsync(fd: int) -> None:
        synced.append(str(Path(f"/proc/self/fd/{fd}").readlink()))

    monkeypatch.setattr(disk, "fsync", fsync)
    world = LogUnderTest(tmp_path / "t")
    world.put("a")
    world.flush()
    assert {str(tmp_path), str(tmp_path / "t")} <= set(synced)
    synced.clear()
    world.put("b")
    world.flush()
    assert synced == []
    world.log._roll(NOW)
    world.put("c")
    world.flush()
    assert str(tmp_path / "t") in synced


def test_old_snapshots_that_cannot_be_removed_do_not_fail_the_flush(
    world: LogUnderTest, disk: FaultyDisk
) -> None:
    disk.failing = {"unlink"}
    for n in range(2, 30):
        world.send(7, n)
        world.flush()
        assert world.log.high_watermark == n + 1
    assert len(list(world.directory.glob("*.snapshot"))) > 3
    assert world.reported("injected: unlink")


def test_new_segment_is_durable_before_all_that_it_follows_is_dropped(
    tmp_path: Path, disk: FaultyDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a crash could leave no segment, and offsets would begin again at 0."""
    world = LogUnderTest(tmp_path / "t-0", segment_bytes=160, retention_ms=1000)
    for n in range(4):
        world.put(str(n))
    world.flush()
    names_on_disk: set[str] = set()
    monkeypatch.setattr(disk, "fsync", lambda fd: names_on_disk.update(os.listdir(fd)))
    seen: list[bool] = []

    def unlink(path: str) -> None:
        seen.append(f"{4:020d}.log" in names_on_disk)
        os.unlink(path)

    monkeypatch.setattr(disk, "unlink", unlink)
    finish(world.log.retain(world.now + 5000))
    assert (world.log.log_start_offset, world.log.end_offset) == (4, 4)
    assert seen
    assert all(seen)


@pytest.fixture
def few_files(monkeypatch: pytest.MonkeyPatch) -> OpenFiles:
    limited = OpenFiles(limit=3)
    for module in ("files", "segment", "index"):
        monkeypatch.setattr(f"holdfast.broker.log.{module}.open_files", limited)
    return limited


def test_open_files_are_bounded(tmp_path: Path, few_files: OpenFiles) -> None:
    worlds = [LogUnderTest(tmp_path / str(n), segment_bytes=200) for n in range(5)]
    for n in range(20):
        for world in worlds:
            world.put(str(n))
            assert len(few_files) <= 3
    for world in worlds:
        world.flush()
        assert world.values() == [str(n) for n in range(20)]


def test_file_in_use_outlives_eviction(tmp_path: Path) -> None:
    few = OpenFiles(limit=1)
    held: File = few.create(str(tmp_path / "a"))
    few.create(str(tmp_path / "b"))
    files.write_at(held, build_batch([], timestamp=0), 0)
    assert (tmp_path / "a").stat().st_size == 61
