"""Recovery after a crash or a failing disk."""

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.broker.log.world import LogUnderTest, batch_positions, flip, written_bytes

from holdfast.broker.log import CorruptRecords
from holdfast.broker.log.leftovers import swap_name
from holdfast.broker.log.segment import ROOM_BYTES
from holdfast.broker.work import finish
from holdfast.wire.records.batch import iterate_batches

SETTINGS = {"segment_bytes": 600, "index_interval_bytes": 100}
EXPECTED = [f"{n:02}" for n in range(20)]


@pytest.fixture
def world(tmp_path: Path) -> LogUnderTest:
    """Twenty records in several segments, flushed, as a crash leaves them."""
    world = LogUnderTest(tmp_path / "t-0", **SETTINGS)
    for n in range(20):
        world.put(f"{n:02}")
    world.flush()
    assert len(world.log.segments) == 3
    return world


def test_crash_loses_nothing_that_was_written(world: LogUnderTest) -> None:
    world.put("20")
    world.crash()
    assert world.values() == [*EXPECTED, "20"]
    assert world.put("21").base_offset == 21


def test_start_after_a_clean_stop_reads_and_logs_nothing(world: LogUnderTest) -> None:
    world.reopen()
    assert world.reports == []
    assert world.values() == EXPECTED
    assert world.put("20").base_offset == 20


def test_untouched_log_closes_without_writing(world: LogUnderTest) -> None:
    world.reopen()
    before = {path: path.stat().st_mtime_ns for path in world.directory.iterdir()}
    world.reopen()
    assert before == {path: path.stat().st_mtime_ns for path in world.directory.iterdir()}


def test_clean_state_that_does_not_match_the_files_is_ignored(world: LogUnderTest) -> None:
    state = world.log.close()
    last = world.file(".log")
    last.write_bytes(last.read_bytes()[:-3])
    world.open(state)
    assert world.reported("do not match the state of the last stop")
    assert world.values() == EXPECTED[:-1]


def test_torn_tail_is_truncated_and_reported(world: LogUnderTest) -> None:
    world.put("20")
    last = world.file(".log")
    whole = written_bytes(last)
    start = batch_positions(last)[-1]
    for end in range(start + 1, len(whole)):
        last.write_bytes(whole[:end])
        world.crash()
        assert world.values() == EXPECTED
        # A batch begins with zeros: they cannot be told from room for it.
        assert world.reported("torn tail") is any(whole[start:end])
        assert world.put("20").base_offset == 20


def test_flipped_byte_in_the_tail_batch_is_truncated(world: LogUnderTest) -> None:
    world.put("20")
    last = world.file(".log")
    whole = written_bytes(last)
    for position in range(batch_positions(last)[-1], len(whole)):
        last.write_bytes(whole)
        flip(last, position)
        world.crash()
        assert world.values() == EXPECTED, position
        assert world.reported("torn tail")


def test_trailing_zeros_are_truncated_silently(world: LogUnderTest) -> None:
    last = world.file(".log")
    written = written_bytes(last)
    last.write_bytes(written + bytes(5000))
    world.crash()
    assert world.values() == EXPECTED
    assert last.read_bytes() == written
    assert not world.reported("torn tail")


def test_torn_tail_before_the_allocated_room_is_reported_with_its_own_size(
    world: LogUnderTest,
) -> None:
    last = world.file(".log")
    last.write_bytes(written_bytes(last) + b"\1" * 30 + bytes(ROOM_BYTES - 30))
    world.crash()
    assert world.values() == EXPECTED
    assert world.reported("torn tail of 30 bytes")


@pytest.mark.parametrize("checkpointed", [True, False])
def test_any_flipped_byte_in_the_middle_is_reported_and_not_served(
    world: LogUnderTest, tmp_path: Path, checkpointed: bool
) -> None:
    segment = world.log.segments[1]
    start, following = batch_positions(Path(segment.path))[2:4]
    bad = segment.base_offset + 2
    for position in range(start, following):
        copy = tmp_path / str(position)
        shutil.copytree(world.directory, copy)
        flip(copy / Path(segment.path).name, position)
        if not checkpointed:
            (copy / "checkpoint").unlink()
        damaged = LogUnderTest(copy, **SETTINGS)
        assert damaged.values(bad + 1) == EXPECTED[bad + 1 :], position
        served = damaged.log.read(bad - 1, 9_999, limit=20)
        assert [h.base_offset for h, _ in iterate_batches(served)] == [bad - 1]
        with pytest.raises(CorruptRecords):
            damaged.log.read(bad, 100, limit=20)
        assert damaged.reported("damaged"), position
        assert damaged.put("20").base_offset == 20


def test_damaged_end_of_a_segment_with_good_ones_after_it_is_kept(world: LogUnderTest) -> None:
    victim = world.file(".log", 0)
    whole = victim.stat().st_size
    flip(victim, whole - 1)
    (world.directory / "checkpoint").unlink()
    world.crash()
    assert world.reported("damaged")
    assert victim.stat().st_size == whole
    bad = world.log.segments[1].base_offset - 1
    assert world.values(bad + 1) == EXPECTED[bad + 1 :]
    with pytest.raises(CorruptRecords):
        world.log.read(bad, 1000, limit=20)


def test_damaged_length_does_not_hide_later_batches(world: LogUnderTest) -> None:
    victim = world.file(".log", 0)
    start = batch_positions(victim)[1]
    flip(victim, start + 8)  # the highest byte of the length
    (world.directory / "checkpoint").unlink()
    world.crash()
    assert world.reported("damaged")
    assert world.values(2) == EXPECTED[2:]
    with pytest.raises(CorruptRecords):
        world.log.read(1, 1000, limit=20)


@pytest.mark.parametrize("suffix", [".index", ".timeindex"])
@pytest.mark.parametrize("number", [0, -1])
@pytest.mark.parametrize("stop", ["crash", "clean"])
@pytest.mark.parametrize("damage", ["deleted", "truncated"])
def test_lost_index_is_made_again(
    world: LogUnderTest, suffix: str, number: int, stop: str, damage: str
) -> None:
    state = world.log.close()
    victim = world.file(suffix, number)
    whole = victim.read_bytes()
    if damage == "deleted":
        victim.unlink()
    else:
        victim.write_bytes(whole[:-5])
    world.open(state if stop == "clean" else None)
    assert world.reported("missing or cut")
    for offset in range(20):
        assert world.values(offset) == EXPECTED[offset:]
    world.put("20")
    world.log.close()
    assert victim.read_bytes()[: len(whole)] == whole


def test_garbage_in_an_index_is_noticed_when_it_is_used(world: LogUnderTest) -> None:
    state = world.log.close()
    randomness = random.Random(5)
    for suffix in (".index", ".timeindex"):
        for path in world.directory.glob(f"*{suffix}"):
            path.write_bytes(randomness.randbytes(path.stat().st_size))
    world.open(state)
    for offset in range(20):
        assert world.values(offset) == EXPECTED[offset:]
    assert world.reported("does not match the log") or world.reported("points past the end")
    assert finish(world.log.offset_for_time(world.now, 20)) == (0, world.now)


def test_lost_index_of_aborted_transactions_is_made_again(tmp_path: Path) -> None:
    world = LogUnderTest(tmp_path / "t", segment_bytes=400)
    world.send(7, 0, transactional=True)
    for n in range(10):
        world.put(str(n))
    world.end(7, commit=False)
    for n in range(10):
        world.put(str(n))
    world.flush()
    state = world.log.close()
    expected = world.log.aborted_transactions(0, 22)
    assert len(expected) == 1
    for clean in (state, None):
        world.file(".txnindex").unlink()
        world.open(clean)
        assert world.reported("txnindex")
        assert world.log.aborted_transactions(0, 22) == expected
        for segment in world.log.segments:
            segment.write_indexes()


def test_damaged_checkpoint_and_snapshots_mean_reading_the_log(tmp_path: Path) -> None:
    world = LogUnderTest(tmp_path / "t", segment_bytes=400)
    for n in range(20):
        world.send(7, n)
    world.send(8, 0, transactional=True)
    world.flush()
    world.log.close()
    for path in (world.directory / "checkpoint", *world.directory.glob("*.snapshot")):
        flip(path, path.stat().st_size // 2)
    world.crash()
    assert world.reported("checkpoint is damaged")
    assert world.send(7, 19).duplicate
    assert world.log.last_stable_offset == 20


def test_sequences_survive_when_all_records_are_deleted_and_snapshots_are_lost(
    tmp_path: Path,
) -> None:
    """The copy of the snapshot is at the log's start offset, and nothing else has the sequences."""
    world = LogUnderTest(tmp_path / "t", segment_bytes=100)
    world.send(7, 0)
    world.send(7, 1)
    world.flush()
    world.put("in a new segment, which is empty after the failed flush")
    world.fail_flush()
    finish(world.log.delete_records_before(2))
    assert world.log.segments.first.base_offset == 2
    for path in world.directory.glob("*.snapshot"):
        path.unlink()
    world.crash()
    assert world.send(7, 1).duplicate


def test_recovery_reads_only_after_the_checkpoint(world: LogUnderTest) -> None:
    world.log.close()
    world.crash()
    assert not world.reported("read")
    world.put("20")
    world.crash()
    size = world.log.segments.active.size - batch_positions(world.file(".log"))[-1]
    assert world.reported(f"read {size} bytes")


def test_segment_that_lost_synced_bytes_is_reported(world: LogUnderTest) -> None:
    world.log.close()
    last = world.file(".log")
    last.write_bytes(last.read_bytes()[: batch_positions(last)[-2]])
    world.crash()
    assert world.reported("Offsets 18 to 19 had been synced, and are lost")
    assert world.log.end_offset == 18
    world.put("new")
    world.crash()
    assert world.values() == [*EXPECTED[:18], "new"]


def test_torn_segment_before_an_empty_one_is_the_tail(world: LogUnderTest) -> None:
    world.put("20")
    torn = world.file(".log")
    torn.write_bytes(written_bytes(torn)[:-1])
    (world.directory / f"{21:020}.log").touch()
    world.crash()
    assert world.values() == EXPECTED
    assert world.put("20").base_offset == 20
    assert len(world.log.segments) == 3


def test_roll_that_was_never_used_is_dropped(world: LogUnderTest) -> None:
    (world.directory / f"{20:020}.log").touch()  # the log went on in the segment before
    world.put("20")
    world.crash()
    assert world.values() == [*EXPECTED, "20"]
    assert world.put("21").base_offset == 21
    world.flush()
    world.crash()
    assert world.values() == [*EXPECTED, "20", "21"]


def test_leftovers_of_unfinished_work_are_removed(world: LogUnderTest) -> None:
    cleaned = world.directory / "compaction.cleaned"
    cleaned.mkdir()
    (cleaned / f"{0:020}.log").write_bytes(b"half")
    for name in (
        f"{0:020}.log.deleted",
        "checkpoint.tmp",
        f"{7:020}.log.cleaned",
        f"{3:020}.index",
    ):
        (world.directory / name).write_bytes(b"left")
    world.crash()
    left = {path.name for path in world.directory.iterdir()}
    assert not any(name.endswith((".deleted", ".tmp", ".cleaned")) for name in left)
    assert f"{3:020}.index" not in left
    assert world.values() == EXPECTED


def test_decided_swap_is_finished(world: LogUnderTest) -> None:
    first, second, _ = list(world.log.segments)
    end = world.log.segments[2].base_offset
    merged = Path(first.path).read_bytes() + Path(second.path).read_bytes()
    (world.directory / swap_name(0, end)).write_bytes(merged)
    world.crash()
    assert world.reported("Finished the compaction")
    assert [segment.base_offset for segment in world.log.segments] == [0, end]
    assert world.values() == EXPECTED


def test_deleted_start_survives(world: LogUnderTest) -> None:
    finish(world.log.delete_records_before(9))
    world.crash()
    assert world.log.log_start_offset == 9
    assert world.values() == EXPECTED[9:]
    world.reopen()
    assert world.log.log_start_offset == 9


def test_everything_deleted_keeps_the_offsets(world: LogUnderTest) -> None:
    finish(world.log.delete_records_before(20))
    for open_again in (world.crash, world.reopen):
        open_again()
        assert (world.log.log_start_offset, world.log.end_offset) == (20, 20)
    assert world.put("20").base_offset == 20


def test_log_that_lost_deleted_records_continues_at_its_start(world: LogUnderTest) -> None:
    """Without syncs the deletion is on disk, and what was deleted may not be."""
    world.put("20")
    world.put("21")
    world.log.expose()
    last = world.file(".log")
    kept = last.read_bytes()[: batch_positions(last)[-2]]
    finish(world.log.delete_records_before(22))
    last.write_bytes(kept)
    world.crash()
    assert (world.log.log_start_offset, world.log.end_offset) == (22, 22)
    assert world.put("22").base_offset == 22
    world.flush()
    openings: list[Callable[[], object]] = [
        lambda: world.log,
        world.crash,
        world.reopen,
        world.crash,
    ]
    for open_again in openings:
        open_again()
        assert world.values() == ["22"]


def test_snapshots_of_deleted_offsets_are_ignored(tmp_path: Path) -> None:
    world = LogUnderTest(tmp_path / "t")
    world.send(7, 0)
    world.log.close()
    world.crash()
    world.send(7, 1)
    world.send(7, 2)
    world.log.close()  # a snapshot at offset 3
    last = world.file(".log")
    last.write_bytes(last.read_bytes()[: batch_positions(last)[1]])
    world.crash()
    world.send(8, 0)
    world.send(8, 1)
    world.crash()
    assert not world.send(7, 1).duplicate
