"""Retention: the segments that a log deletes and keeps."""

from pathlib import Path

import pytest
from tests.unit.broker.log.world import LogUnderTest

from holdfast.broker.log import OffsetOutOfRange
from holdfast.broker.topic_config import TopicConfig
from holdfast.broker.work import finish


def world_of(tmp_path: Path, **settings: object) -> LogUnderTest:
    """Ten records, a second apart, two to a segment."""
    world = LogUnderTest(tmp_path / "t-0", segment_bytes=160, **settings)
    for n in range(10):
        world.put(f"{n}")
        world.now += 1000
    world.flush()
    assert len(world.log.segments) == 5
    return world


def test_segments_go_when_their_latest_record_is_too_old(tmp_path: Path) -> None:
    world = world_of(tmp_path, retention_ms=5000)
    finish(world.log.retain(world.now))
    assert world.log.log_start_offset == 4
    assert world.values() == [str(n) for n in range(4, 10)]
    assert len(list(world.directory.glob("*.log"))) == 3


def test_all_records_may_be_deleted_and_offsets_continue(tmp_path: Path) -> None:
    world = world_of(tmp_path, retention_ms=5000)
    done = finish(world.log.retain(world.now + 60_000))
    assert len(done) == 1
    assert "retention.ms" in done[0]
    assert (world.log.log_start_offset, world.log.end_offset) == (10, 10)
    for open_again in (world.crash, world.reopen):
        open_again()
        assert (world.log.log_start_offset, world.log.end_offset) == (10, 10)
    assert world.put("10").base_offset == 10


def test_oldest_segments_go_when_there_is_too_much(tmp_path: Path) -> None:
    world = world_of(tmp_path, retention_bytes=400)
    finish(world.log.retain(world.now))
    assert 400 <= world.log.size_bytes < 400 + 160
    assert world.values()[-1] == "9"


def test_retention_keeps_unflushed_records(tmp_path: Path) -> None:
    world = LogUnderTest(tmp_path / "t-0", segment_bytes=160, retention_ms=1000)
    for n in range(6):
        world.put(str(n))
    assert finish(world.log.retain(world.now + 10_000)) == []
    world.flush()
    assert finish(world.log.retain(world.now + 10_000)) != []


def test_expiry_never_means_no_expiry(tmp_path: Path) -> None:
    world = world_of(tmp_path, retention_ms=-1, retention_bytes=-1)
    assert finish(world.log.retain(world.now + 10**12)) == []
    assert len(world.values()) == 10


def test_compacted_log_keeps_old_segments(tmp_path: Path) -> None:
    world = world_of(tmp_path, retention_ms=1000, cleanup_policy="compact")
    assert finish(world.log.retain(world.now + 100_000)) == []


def test_log_with_both_policies_drops_old_segments(tmp_path: Path) -> None:
    world = world_of(tmp_path, retention_ms=1000, cleanup_policy="compact,delete")
    assert finish(world.log.retain(world.now + 100_000)) != []


def test_new_settings_act_at_once(tmp_path: Path) -> None:
    world = world_of(tmp_path)
    assert finish(world.log.retain(world.now)) == []
    world.log.apply_config(TopicConfig.of({"retention.ms": "5000"}))
    assert finish(world.log.retain(world.now)) != []


def test_deleted_records_are_out_of_range_and_their_segments_gone(tmp_path: Path) -> None:
    world = world_of(tmp_path)
    assert finish(world.log.delete_records_before(5)) == 5
    assert world.values() == ["5", "6", "7", "8", "9"]
    assert len(list(world.directory.glob("*.log"))) == 3
    with pytest.raises(OffsetOutOfRange):
        world.log.read(4, 100, limit=10)
    assert finish(world.log.delete_records_before(3)) == 5


def test_records_past_the_high_watermark_cannot_be_deleted(tmp_path: Path) -> None:
    world = world_of(tmp_path)
    world.put("10")
    with pytest.raises(OffsetOutOfRange):
        finish(world.log.delete_records_before(11))
    assert finish(world.log.delete_records_before(10)) == 10


def test_producers_are_known_after_their_records_are_gone(tmp_path: Path) -> None:
    world = LogUnderTest(tmp_path / "t", segment_bytes=160)
    for n in range(10):
        world.send(7, n)
    world.flush()
    finish(world.log.delete_records_before(10))
    world.crash()
    assert world.send(7, 9).duplicate
    assert not world.send(7, 10).duplicate


def test_producers_are_known_after_all_segments_were_dropped_at_once(tmp_path: Path) -> None:
    world = LogUnderTest(tmp_path / "t", retention_ms=1000)
    world.send(7, 0)
    world.flush()
    world.send(7, 1)
    world.flush()
    finish(world.log.retain(world.now + 1001))
    assert world.log.log_start_offset == 2
    world.crash()
    assert world.send(7, 1).duplicate


def test_open_transaction_whose_records_are_gone_does_not_hold_back_readers(tmp_path: Path) -> None:
    world = LogUnderTest(tmp_path / "t", segment_bytes=160)
    world.send(7, 0, transactional=True)
    for n in range(10):
        world.put(str(n))
    world.flush()
    assert world.log.last_stable_offset == 0
    finish(world.log.delete_records_before(6))
    assert world.log.last_stable_offset == 6
