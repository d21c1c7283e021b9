"""Compaction: what stays, what goes and when, and what a crash in the middle does."""

import asyncio
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.broker.log.world import NOW, LogUnderTest, batch_positions, flip

from holdfast.broker.log import PartitionLog, compaction
from holdfast.broker.log.cleaning import MAX_KEYS, CompactionPlan, KeyMap, clean
from holdfast.broker.log.compaction import (
    CompactionResult,
    _decide,
    _decode,
    _encode,
    compact,
    compact_needed,
    plan,
)
from holdfast.broker.log.directory import CLEANED_DIRECTORY
from holdfast.broker.work import finish
from holdfast.wire.records.batch import build_batch
from holdfast.wire.records.compression import Compression
from holdfast.wire.records.record import Record


def world_of(tmp_path: Path, **settings: object) -> LogUnderTest:
    return LogUnderTest(
        tmp_path / "t-0",
        **{"cleanup_policy": "compact", "segment_bytes": 400, **settings},
    )


def close_segment(world: LogUnderTest) -> None:
    """Everything so far becomes compactable."""
    world.log._roll(world.now)
    world.flush()


def run(world: LogUnderTest) -> CompactionResult:
    """The work of the process of its own, in this one."""
    job = plan(world.log, world.now)
    assert job is not None
    return asyncio.run(_compact_here(world.log, job))


async def _compact_here(log: PartitionLog, job: CompactionPlan) -> CompactionResult:
    target = log.directory / CLEANED_DIRECTORY
    target.mkdir()
    end, written = clean(str(log.directory), str(target), job)
    size = 0
    for facts, group in zip(written, job.groups, strict=False):
        number = job.groups.index(group) + 1
        group_end = job.groups[number][0].base_offset if number < len(job.groups) else job.end
        _decide(str(log.directory), str(target), facts.base_offset, group_end)
        assert log.adopt(facts, [old.base_offset for old in group], group_end, str(target))
        size += facts.size
    log.cleaned_offset = end
    shutil.rmtree(target)
    return CompactionResult(0, size, end)


def table(world: LogUnderTest) -> list[tuple[int, str, str | None]]:
    return [
        (r.offset, (r.key or b"").decode(), None if r.value is None else r.value.decode())
        for r in world.records()
    ]


def test_last_record_of_each_key_stays_at_its_offset(tmp_path: Path) -> None:
    world = world_of(tmp_path)
    for n in range(20):
        world.put(f"v{n}", key=f"k{n % 3}")
    close_segment(world)
    run(world)
    assert table(world) == [(17, "k2", "v17"), (18, "k0", "v18"), (19, "k1", "v19")]
    assert world.log.end_offset == 20
    assert world.put("new", key="k0").base_offset == 20


def test_compaction_runs_in_a_separate_process(tmp_path: Path) -> None:
    world = world_of(tmp_path)
    world.send(7, 0)
    for n in range(20):
        world.put(f"v{n}", key=f"k{n % 3}")
    world.put("active", key="k0")
    close_segment(world)
    world.put("later", key="k1")
    world.flush()
    assert compact_needed(world.log, world.now)
    result = asyncio.run(compact(world.log, world.now))
    assert result.failure is None
    assert result.bytes_after < result.bytes_before
    assert not compact_needed(world.log, world.now)
    assert [row[1:] for row in table(world)] == [
        ("k", "7/0"),
        ("k2", "v17"),
        ("k1", "v19"),
        ("k0", "active"),
        ("k1", "later"),
    ]
    assert not (world.directory / CLEANED_DIRECTORY).exists()
    expected = table(world)
    for open_again in (world.crash, world.reopen, world.reopen):
        open_again()
        assert table(world) == expected


@pytest.mark.parametrize("codec", list(Compression))
def test_batches_keep_their_codec_and_their_offsets(tmp_path: Path, codec: Compression) -> None:
    world = world_of(tmp_path)
    for n in range(6):
        records = [(b"stays%d" % n, b"x" * 50), (b"goes", b"y")]
        batch = build_batch(records, timestamp=NOW + n, compression=codec)
        world.log.append(memoryview(batch), now_ms=NOW)
    close_segment(world)
    run(world)
    headers = world.batches()
    assert [(h.base_offset, h.last_offset) for h in headers] == [
        (2 * n, 2 * n + 1) for n in range(6)
    ]
    assert {h.compression for h in headers} == {codec}
    assert [r.timestamp for r in world.records()] == [NOW, NOW + 1, NOW + 2, NOW + 3, NOW + 4] + [
        NOW + 5
    ] * 2
    assert [r.offset for r in world.records()] == [0, 2, 4, 6, 8, 10, 11]


def test_reading_from_any_offset_continues_over_the_gaps(tmp_path: Path) -> None:
    world = world_of(tmp_path, index_interval_bytes=0)
    for n in range(30):
        world.put(f"v{n}", key="same" if n % 4 else f"k{n}")
    close_segment(world)
    run(world)
    expected = table(world)
    for start in range(30):
        got = [r.offset for r in world.records(start)]
        assert got == [offset for offset, _, _ in expected if offset >= start]


def test_reader_behind_everything_removed_still_reaches_the_end(tmp_path: Path) -> None:
    world = world_of(tmp_path, delete_retention_ms=0)
    world.put("v", key="k")
    world.put(None, key="k")
    close_segment(world)
    run(world)
    world.now += 1
    run(world)
    assert table(world) == []
    assert world.batches()[-1].last_offset == 1
    assert world.batches()[-1].record_count == 0


def test_tombstone_stays_for_its_time_and_then_goes(tmp_path: Path) -> None:
    world = world_of(tmp_path, delete_retention_ms=1000)
    world.put("v", key="k")
    world.put(None, key="k")
    world.put("v", key="other")
    close_segment(world)
    run(world)
    assert table(world) == [(1, "k", None), (2, "other", "v")]
    assert world.records()[0].timestamp == NOW
    world.now += 999
    run(world)
    assert len(table(world)) == 2
    world.now += 1
    run(world)
    assert table(world) == [(2, "other", "v")]


def test_records_not_yet_mapped_are_kept(tmp_path: Path) -> None:
    world = world_of(tmp_path)
    for n in range(30):
        world.put(f"v{n}", key=f"k{n % 15}")
    close_segment(world)
    job = plan(world.log, world.now)
    assert job is not None
    small = CompactionPlan(
        **{name: getattr(job, name) for name in job.__slots__ if name != "max_keys"}, max_keys=5
    )
    rounds = 0
    while world.log.cleaned_offset < job.end:
        asyncio.run(_compact_here(world.log, small))
        rounds += 1
        job_now = plan(world.log, world.now)
        assert job_now is not None
        small = CompactionPlan(
            **{n: getattr(job_now, n) for n in job.__slots__ if n != "max_keys"}, max_keys=5
        )
    assert rounds >= 3
    assert table(world) == [(n, f"k{n % 15}", f"v{n}") for n in range(15, 30)]


def run_with_few_keys(world: LogUnderTest, max_keys: int) -> None:
    """A compaction whose map of keys is full before the end."""
    job = plan(world.log, world.now)
    assert job is not None
    asyncio.run(_compact_here(world.log, replace(job, max_keys=max_keys)))
    assert world.log.cleaned_offset < job.end


def test_tombstone_past_the_map_stays_until_its_records_are_gone(tmp_path: Path) -> None:
    world = world_of(tmp_path, segment_bytes=10_000, delete_retention_ms=1000)
    world.put("old", key="deleted")
    for n in range(6):
        world.put("v", key=f"k{n}")
    world.put(None, key="deleted")
    world.put("end", key="end")
    close_segment(world)
    run_with_few_keys(world, 3)  # rewrites the segment, and with it the time of the tombstone
    world.now += 2000
    run_with_few_keys(world, 3)
    assert (0, "deleted", "old") in table(world)
    assert (7, "deleted", None) in table(world)
    run(world)
    assert "deleted" not in {key for _, key, _ in table(world)}


def test_keyless_records_past_the_map_stay_for_now(tmp_path: Path) -> None:
    world = world_of(tmp_path, cleanup_policy="delete", segment_bytes=10_000)
    for n in range(4):
        world.put(f"v{n}", key=f"k{n}")
    world.put("keyless", key=None)
    world.put("end", key="end")
    close_segment(world)
    world.settings["cleanup.policy"] = "compact"
    world.log.apply_config(world.config)
    run_with_few_keys(world, 2)
    assert "keyless" in world.values()
    run(world)
    assert "keyless" not in world.values()


def test_latest_time_is_that_of_a_record_that_stayed(tmp_path: Path) -> None:
    world = world_of(tmp_path, segment_bytes=10_000, index_interval_bytes=0)

    def put(*records: tuple[str, int]) -> None:
        batch = build_batch(
            [Record(-1, NOW + at, key.encode(), b"v", ()) for key, at in records],
            timestamp=NOW,
            producer_id=7,
            producer_epoch=0,
            base_sequence=world.log.end_offset,
        )
        world.log.append(memoryview(batch), now_ms=NOW)

    put(("first", 5))
    put(("a", 1), ("superseded", 9))
    put(("superseded", 2))
    put(("shell", 20))
    close_segment(world)
    world.put("v", key="shell")  # its producer is another: the batch before must stay as a shell
    world.now -= 1000
    world.put("end", key="end")
    close_segment(world)
    run(world)
    world.reports.clear()
    assert finish(world.log.offset_for_time(NOW + 3, 6)) == (0, NOW + 5)
    assert finish(world.log.max_timestamp(5)) == (0, NOW + 5)
    assert world.reports == []  # an index that contradicts the log would have been made again


def test_active_segment_and_open_transactions_are_not_compacted(tmp_path: Path) -> None:
    world = world_of(tmp_path)
    world.put("1", key="k")
    world.flush()
    assert plan(world.log, world.now) is None
    world.put("2", key="k")
    close_segment(world)
    world.send(7, 0, transactional=True)
    close_segment(world)
    job = plan(world.log, world.now)
    assert job is not None
    assert job.end == 2


def test_young_records_are_not_compacted(tmp_path: Path) -> None:
    world = world_of(tmp_path, min_compaction_lag_ms=1000)
    world.put("1", key="k")
    world.put("2", key="k")
    close_segment(world)
    world.now += 999
    assert not compact_needed(world.log, world.now)
    assert plan(world.log, world.now) is None
    world.now += 1
    assert compact_needed(world.log, world.now)


def test_compaction_starts_at_the_dirty_ratio(tmp_path: Path) -> None:
    world = world_of(tmp_path, min_cleanable_dirty_ratio=0.5)
    for n in range(10):
        world.put(f"v{n}", key=f"k{n}")
    close_segment(world)
    assert compact_needed(world.log, world.now)
    run(world)
    assert not compact_needed(world.log, world.now)
    world.put("x", key="k1")
    close_segment(world)
    assert not compact_needed(world.log, world.now)
    for n in range(10):
        world.put(f"w{n}", key=f"k{n}")
    close_segment(world)
    assert compact_needed(world.log, world.now)


def test_compaction_starts_at_the_maximum_lag(tmp_path: Path) -> None:
    world = world_of(tmp_path, min_cleanable_dirty_ratio=1, max_compaction_lag_ms=1000)
    for n in range(10):
        world.put(f"v{n}", key=f"k{n}")
    world.flush()
    world.now += 1001
    finish(world.log.retain(world.now))
    world.flush()
    assert compact_needed(world.log, world.now)


def test_topic_without_compaction_is_not_compacted(tmp_path: Path) -> None:
    world = world_of(tmp_path, cleanup_policy="delete")
    world.put("1")
    close_segment(world)
    assert not compact_needed(world.log, world.now)


def test_small_segments_are_merged(tmp_path: Path) -> None:
    world = world_of(tmp_path)
    for n in range(30):
        world.put(f"v{n}", key=f"k{n % 2}")
    close_segment(world)
    before = len(world.log.segments)
    run(world)
    run(world)
    assert len(world.log.segments) < before
    assert [row[2] for row in table(world)] == ["v28", "v29"]


def test_aborted_records_go_and_committed_ones_supersede(tmp_path: Path) -> None:
    world = world_of(tmp_path, segment_bytes=10_000)
    world.put("old", key="a")  # 0
    world.put("old", key="b")  # 1
    fields = {"producer_id": 7, "producer_epoch": 0, "transactional": True}
    world.put("aborted", key="a", base_sequence=0, **fields)  # 2
    world.end(7, commit=False)  # 3
    world.put("committed", key="b", base_sequence=1, **fields)  # 4
    world.end(7, commit=True)  # 5
    world.put("last", key="z")
    close_segment(world)
    run(world)
    assert table(world) == [(0, "a", "old"), (4, "b", "committed"), (6, "z", "last")]


def test_markers_go_once_nothing_of_their_transaction_is_left(tmp_path: Path) -> None:
    world = world_of(tmp_path, segment_bytes=10_000, delete_retention_ms=1000)
    fields = {"producer_id": 7, "producer_epoch": 0, "transactional": True}
    world.put("aborted", key="a", base_sequence=0, **fields)
    world.end(7, commit=False)
    world.put("superseded", key="b", base_sequence=1, **fields)
    world.end(7, commit=True)
    world.put("b", key="b")
    world.send(7, 2)
    world.put("end", key="end")
    close_segment(world)

    def markers() -> list[int]:
        return [h.base_offset for h in world.batches() if h.is_control and h.record_count]

    run(world)
    assert markers() == [1, 3]
    assert len(world.log.aborted_transactions(0, 7)) == 1
    run(world)  # nothing of the transactions is seen any more: from now on the time counts
    assert markers() == [1, 3]
    assert world.log.aborted_transactions(0, 7) == []
    world.now += 1000
    run(world)
    assert markers() == []
    assert [row[1] for row in table(world)] == ["b", "k", "end"]


def test_last_batch_of_a_producer_stays_if_only_as_a_shell(tmp_path: Path) -> None:
    world = world_of(tmp_path, segment_bytes=10_000)
    world.send(7, 0)
    world.send(7, 1)
    world.put("newer", key="k")
    close_segment(world)
    run(world)
    assert [(h.base_offset, h.record_count) for h in world.batches()] == [(1, 0), (2, 1)]
    world.log.close()
    for path in (world.directory / "checkpoint", *world.directory.glob("*.snapshot")):
        path.unlink()
    world.crash()
    assert world.send(7, 1).duplicate
    assert not world.send(7, 2).duplicate


def test_damaged_segment_is_not_rewritten(tmp_path: Path) -> None:
    world = world_of(tmp_path)
    for n in range(10):
        world.put(f"v{n}", key="k")
    close_segment(world)
    victim = world.file(".log", 0)
    whole = victim.read_bytes()
    flip(victim, batch_positions(victim)[1] + 64)
    result = asyncio.run(compact(world.log, world.now))
    assert result.failure is not None
    assert "damaged" in result.failure
    assert len(victim.read_bytes()) == len(whole)
    assert not compact_needed(world.log, world.now)


def test_segments_deleted_meanwhile_are_not_brought_back(tmp_path: Path) -> None:
    world = world_of(tmp_path)
    for n in range(20):
        world.put(f"v{n}", key="k")
    close_segment(world)
    job = plan(world.log, world.now)
    assert job is not None
    target = world.directory / CLEANED_DIRECTORY
    target.mkdir()
    _, written = clean(str(world.directory), str(target), job)
    end = job.groups[1][0].base_offset
    bases = [facts.base_offset for facts in job.groups[0]]
    _decide(str(world.directory), str(target), 0, end)
    finish(world.log.delete_records_before(end))
    assert not world.log.adopt(written[0], bases, end, str(target))
    assert not list(world.directory.glob("*.swap"))
    assert world.records()[0].offset == end


def test_lookup_by_time_after_compaction(tmp_path: Path) -> None:
    world = world_of(tmp_path, index_interval_bytes=0)
    for n in range(20):
        world.put(f"v{n}", key=f"k{n % 7}")
        world.now += 10
    close_segment(world)
    run(world)
    assert finish(world.log.offset_for_time(NOW, 20)) == (13, NOW + 130)
    assert finish(world.log.offset_for_time(NOW + 171, 20)) == (18, NOW + 180)
    assert finish(world.log.max_timestamp(20)) == (19, NOW + 190)


def test_keys_of_any_length_are_kept_apart() -> None:
    keys = KeyMap()
    for length in range(40):
        keys.put(b"x" * length, length)
    assert all(keys.is_superseded(b"x" * length, length - 1) for length in range(1, 40))
    assert not any(keys.is_superseded(b"x" * length, length) for length in range(40))


def test_compaction_plan_survives_encoding_and_decoding(tmp_path: Path) -> None:
    world = world_of(tmp_path)
    world.send(7, 0, transactional=True)
    world.end(7, commit=False)
    close_segment(world)
    job = plan(world.log, world.now)
    assert job is not None
    assert job.max_keys == MAX_KEYS
    assert len(job.aborted) == len(job.producers) == 1
    assert _decode(_encode(job)) == job


def test_compaction_whose_broker_has_ended_says_nothing(tmp_path: Path) -> None:
    world = world_of(tmp_path)
    world.put("v", key="k")
    close_segment(world)
    job = plan(world.log, world.now)
    assert job is not None
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", compaction.__name__, str(world.log.directory), str(os.getpid())],
            input=_encode(job), stdout=writing, stderr=subprocess.PIPE, check=False,
        )  # fmt: skip
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")
