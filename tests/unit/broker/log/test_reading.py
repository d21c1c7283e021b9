"""Reads return whole batches, from the right one on, never past the limit."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.broker.log.world import NOW, LogUnderTest, flip

from holdfast.broker.log import OffsetOutOfRange, reading, segment
from holdfast.broker.log.scanning import walk_headers
from holdfast.broker.work import finish
from holdfast.wire.records.batch import build_batch, iterate_batches
from holdfast.wire.records.compression import Compression
from holdfast.wire.records.record import Record


@pytest.fixture
def world(tmp_path: Path) -> LogUnderTest:
    return LogUnderTest(tmp_path / "t-0", segment_bytes=2000, index_interval_bytes=200)


def test_seek_to_two_returns_two_three_four_and_stops(world: LogUnderTest) -> None:
    for n in range(5):
        world.put(str(n))
    world.flush()
    assert world.values(2) == ["2", "3", "4"]
    assert world.log.read(5, 1000, limit=5) == b""


def test_offset_in_mid_batch_returns_the_whole_batch(world: LogUnderTest) -> None:
    world.put("a", "b", "c")
    world.put("d")
    world.flush()
    data = world.log.read(1, 1000, limit=4)
    assert [header.base_offset for header, _ in iterate_batches(data)] == [0, 3]


def test_read_returns_a_bounded_number_of_batches(
    world: LogUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each batch costs time, whatever its size."""
    monkeypatch.setattr(reading, "MOST_BATCHES", 3)
    for n in range(8):
        world.put(str(n))
    world.flush()
    data = world.log.read(0, 1 << 20, limit=8)
    assert [header.base_offset for header, _ in iterate_batches(data)] == [0, 1, 2]
    assert world.values() == [str(n) for n in range(8)]


def test_search_for_an_offset_is_bounded_whatever_the_index_interval_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = LogUnderTest(tmp_path / "t-0", index_interval_bytes=2**31 - 1)
    for n in range(3_000):
        world.put(str(n))
    world.flush()
    seen: list[int] = []

    def counted(*where: Any) -> Iterator[Any]:
        for found in walk_headers(*where):
            seen.append(found.position)
            yield found

    monkeypatch.setattr(segment, "walk_headers", counted)
    assert world.values(2_999) == ["2999"]
    assert len(seen) < 1_100


def test_nothing_is_visible_before_it_is_flushed(world: LogUnderTest) -> None:
    world.put("a")
    world.flush()
    world.put("b")
    assert world.values() == ["a"]
    assert world.log.read(1, 1000, limit=world.log.high_watermark) == b""


def test_exposed_records_are_visible_without_a_flush(world: LogUnderTest) -> None:
    world.put("a")
    world.log.expose()
    assert world.values() == ["a"]


def test_offsets_outside_the_log_are_refused(world: LogUnderTest) -> None:
    for n in range(4):
        world.put(str(n))
    world.flush()
    finish(world.log.delete_records_before(2))
    for offset in (-1, 0, 1, 5):
        with pytest.raises(OffsetOutOfRange):
            world.log.read(offset, 1000, limit=4)
    assert world.values() == ["2", "3"]


def test_limits_are_kept_to_the_batch(world: LogUnderTest) -> None:
    for n in range(100):
        world.put(f"{n:03}")
    world.flush()
    for limit in range(1, 101, 7):
        for start in range(0, limit, 5):
            offset, seen = start, []
            while data := world.log.read(offset, 300, limit=limit):
                for header, _ in iterate_batches(data):
                    seen.append(header.base_offset)
                    offset = header.last_offset + 1
            assert seen == list(range(start, limit))


def test_max_bytes_is_kept_but_for_one_large_batch(world: LogUnderTest) -> None:
    world.put("x" * 500)
    world.put("y")
    world.put("z" * 500)
    world.flush()
    assert len(world.batches()) == 3
    assert [h.base_offset for h, _ in iterate_batches(world.log.read(0, 100, limit=3))] == [0]
    assert world.log.read(0, 100, limit=3, at_least_one=False) == b""
    assert world.log.read(0, 0, limit=3, at_least_one=False) == b""
    assert len(world.log.read(1, 600, limit=3)) < 200
    assert [h.base_offset for h, _ in iterate_batches(world.log.read(0, 0, limit=3))] == [0]


def test_reads_from_any_offset_return_the_appended_batches(world: LogUnderTest) -> None:
    seed = random.randrange(10**9)
    randomness = random.Random(seed)
    expected: list[str] = []
    for n in range(300):
        values = [f"{n}.{i}" for i in range(randomness.randint(1, 4))]
        world.put(*values)
        expected += values
    world.flush()
    for _ in range(300):
        start = randomness.randrange(len(expected))
        got = world.records(start, randomness.choice([50, 300, 5000]))
        assert [r.value.decode() for r in got if r.value] == expected[start:], f"seed {seed}"


def test_damage_met_while_running_ends_the_read_before_it(world: LogUnderTest) -> None:
    world.put("a")
    size = world.log.size_bytes
    world.put("b")
    world.flush()
    flip(world.file(".log"), size + 65)
    data = world.log.read(0, 1000, limit=2)
    assert len(data) == size
    assert world.reported("damaged at byte")


@pytest.mark.parametrize("codec", list(Compression))
def test_lookup_by_time_finds_the_exact_record(tmp_path: Path, codec: Compression) -> None:
    world = LogUnderTest(tmp_path / "t", segment_bytes=600, index_interval_bytes=50)
    times = [10, 30, 20, 50, 40, 40, 60, 5, 70, 80, 75, 90] * 4
    times = [t + 100 * (n // 12) for n, t in enumerate(times)]
    for n in range(0, len(times), 3):
        records = [Record(0, NOW + t, b"k", b"v") for t in times[n : n + 3]]
        batch = build_batch(records, timestamp=NOW, compression=codec)
        world.log.append(memoryview(batch), now_ms=NOW)
    world.flush()
    end = len(times)
    for limit in (end, end // 2):
        for wanted in range(0, 500, 5):
            expected = next(
                ((n, NOW + t) for n, t in enumerate(times[:limit]) if t >= wanted), None
            )
            assert finish(world.log.offset_for_time(NOW + wanted, limit)) == expected
    latest = max(range(end), key=lambda n: (times[n], -n))
    assert finish(world.log.max_timestamp(end)) == (latest, NOW + times[latest])
    for limit in range(3, end, 3):
        latest = max(range(limit), key=lambda n: (times[n], -n))
        assert finish(world.log.max_timestamp(limit)) == (latest, NOW + times[latest])


def test_lookup_by_time_in_an_empty_log_finds_nothing(world: LogUnderTest) -> None:
    assert finish(world.log.offset_for_time(0, 0)) is None
    assert finish(world.log.max_timestamp(0)) is None
