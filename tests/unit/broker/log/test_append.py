"""Appends that a log accepts or refuses, with Kafka's error codes."""

import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.broker.log.world import NOW, LogUnderTest

from holdfast.broker.log import NeedsTime, RecordsRejected, Source
from holdfast.broker.log.inspection import MOST_UNFOLDED, UNFOLDED_ANYWAY
from holdfast.broker.work import finish
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.records.batch import (
    HEADER,
    HEADER_SIZE,
    LOG_APPEND_TIME_BIT,
    MIN_LENGTH,
    BatchHeader,
    build_batch,
    control_batch,
    crc_of,
    header_of,
    seal,
)
from holdfast.wire.records.compression import Compression, compress
from holdfast.wire.records.record import Record, encode_record


@pytest.fixture
def world(tmp_path: Path) -> LogUnderTest:
    return LogUnderTest(tmp_path / "t-0")


def refusal(world: LogUnderTest, batch: bytearray, source: Source = Source.CLIENT) -> ErrorCode:
    end = world.log.end_offset
    with pytest.raises(RecordsRejected) as rejected:
        world.log.append(memoryview(batch), now_ms=world.now, source=source)
    assert world.log.end_offset == end
    return rejected.value.error_code


def simple_batch(**fields: object) -> bytearray:
    return build_batch([(b"k", b"v")], timestamp=NOW, **fields)  # type: ignore[arg-type]


def changed(position: int, form: str, value: int) -> bytearray:
    """A good batch but for one field of its header."""
    batch = simple_batch()
    struct.pack_into(form, batch, position, value)
    seal(batch)
    return batch


def test_request_with_many_batches_is_refused_at_the_second(world: LogUnderTest) -> None:
    batches = 2 * simple_batch() + bytearray(b"\xff" * 100)
    assert refusal(world, batches) is ErrorCode.INVALID_RECORD  # nobody has read the third


def test_offsets_are_dense_from_zero(world: LogUnderTest) -> None:
    assert [world.put(str(n)).base_offset for n in range(5)] == [0, 1, 2, 3, 4]
    assert world.put("a", "b", "c").last_offset == 7
    assert world.put("d").base_offset == 8


def test_received_buffer_gets_its_offset_and_keeps_its_crc(world: LogUnderTest) -> None:
    world.put("first")
    batch = simple_batch()
    world.log.append(memoryview(batch), now_ms=NOW)
    assert header_of(batch).base_offset == 1
    assert crc_of(batch) == header_of(batch).crc


@pytest.mark.parametrize(
    ("batch", "code"),
    [
        (bytearray, ErrorCode.INVALID_RECORD),
        (lambda: simple_batch()[:40], ErrorCode.INVALID_RECORD),
        (lambda: simple_batch()[:-1], ErrorCode.INVALID_RECORD),
        (lambda: simple_batch() + simple_batch(), ErrorCode.INVALID_RECORD),
        (lambda: simple_batch() + b"\0", ErrorCode.INVALID_RECORD),
        (lambda: changed(16, ">b", 0), ErrorCode.INVALID_RECORD),
        (lambda: changed(16, ">b", 1), ErrorCode.INVALID_RECORD),
        (lambda: changed(16, ">b", 3), ErrorCode.CORRUPT_MESSAGE),
        (lambda: changed(8, ">i", 12), ErrorCode.CORRUPT_MESSAGE),
        (lambda: changed(8, ">i", -1), ErrorCode.CORRUPT_MESSAGE),
        (lambda: changed(0, ">q", 5), ErrorCode.INVALID_RECORD),
        (lambda: changed(57, ">i", 0), ErrorCode.INVALID_RECORD),
        (lambda: changed(57, ">i", -3), ErrorCode.INVALID_RECORD),
        (lambda: changed(57, ">i", 2), ErrorCode.INVALID_RECORD),
        (lambda: changed(23, ">i", 1), ErrorCode.INVALID_RECORD),
        (lambda: changed(21, ">h", 7), ErrorCode.INVALID_RECORD),
        (lambda: changed(21, ">h", LOG_APPEND_TIME_BIT), ErrorCode.INVALID_TIMESTAMP),
        (lambda: simple_batch(producer_id=4, producer_epoch=0), ErrorCode.INVALID_RECORD),
        (lambda: simple_batch(transactional=True), ErrorCode.INVALID_RECORD),
        (lambda: control_batch(1, 0, True, 0, NOW), ErrorCode.INVALID_RECORD),
    ],
)  # fmt: skip
def test_malformed_batches_are_refused_as_kafka_refuses_them(
    world: LogUnderTest, batch: Callable[[], bytearray], code: ErrorCode
) -> None:
    assert refusal(world, batch()) == code
    world.put("still works")


def test_bad_crc_is_corrupt_message(world: LogUnderTest) -> None:
    batch = simple_batch()
    batch[-1] ^= 1
    assert refusal(world, batch) == ErrorCode.CORRUPT_MESSAGE


def test_large_batch_is_copied_on_a_thread(tmp_path: Path) -> None:
    """A topic that bounds timestamps looks at each record, and a copy of 16 MiB takes time."""
    world = LogUnderTest(
        tmp_path / "t-0", message_timestamp_before_max_ms=1_000_000, max_message_bytes=16 * 1024**2
    )
    large = build_batch([(b"k", bytes(8 * 1024**2))], timestamp=world.now)
    work = world.log.inspect(memoryview(large), world.now)
    copied_on_loop, result = 0, None
    tracemalloc.start()
    try:
        while True:
            tracemalloc.reset_peak()
            before, _ = tracemalloc.get_traced_memory()
            try:
                step = work.send(result)
            except StopIteration:
                break
            finally:
                _, peak = tracemalloc.get_traced_memory()
                copied_on_loop = max(copied_on_loop, peak - before)
            result = step() if callable(step) else None
    finally:
        tracemalloc.stop()
    assert copied_on_loop < 1024**2


def test_batch_over_max_message_bytes_is_too_large(tmp_path: Path) -> None:
    batch = simple_batch()
    exact = LogUnderTest(tmp_path / "a", max_message_bytes=len(batch))
    exact.log.append(memoryview(bytearray(batch)), now_ms=NOW)
    less = LogUnderTest(tmp_path / "b", max_message_bytes=len(batch) - 1)
    assert refusal(less, batch) == ErrorCode.MESSAGE_TOO_LARGE
    less.log.append(memoryview(batch), now_ms=NOW, source=Source.COORDINATOR)


def test_time_bounds_are_those_of_the_topic(tmp_path: Path) -> None:
    world = LogUnderTest(
        tmp_path / "t", message_timestamp_before_max_ms=1000, message_timestamp_after_max_ms=500
    )

    def at(*times: int) -> bytearray:
        return build_batch([Record(0, NOW + t, b"k", b"v") for t in times], timestamp=NOW)

    world.log.append(memoryview(at(-1000, 500)), now_ms=NOW)
    assert refusal(world, at(501)) == ErrorCode.INVALID_TIMESTAMP
    assert refusal(world, at(-1001)) == ErrorCode.INVALID_TIMESTAMP
    assert refusal(world, at(0, -1001, 0)) == ErrorCode.INVALID_TIMESTAMP
    world.log.append(memoryview(build_batch([(b"k", b"v")], timestamp=-1)), now_ms=NOW)


def test_records_an_hour_ahead_are_refused_by_default(world: LogUnderTest) -> None:
    batch = build_batch([(b"k", b"v")], timestamp=NOW + 3_600_001)
    assert refusal(world, batch) == ErrorCode.INVALID_TIMESTAMP


def test_log_append_time_stamps_every_record(tmp_path: Path) -> None:
    world = LogUnderTest(tmp_path / "t", message_timestamp_type="LogAppendTime")
    batch = build_batch([Record(0, 5, b"k", b"v"), Record(0, 9, b"k", b"v")], timestamp=5)
    world.now += 10
    appended = world.log.append(memoryview(batch), now_ms=world.now)
    world.flush()
    assert appended.append_time == world.now
    assert [r.timestamp for r in world.records()] == [world.now, world.now]
    assert finish(world.log.offset_for_time(world.now, 2)) == (0, world.now)


@pytest.mark.parametrize("codec", list(Compression))
def test_compacted_topic_takes_no_record_without_a_key(tmp_path: Path, codec: Compression) -> None:
    world = LogUnderTest(tmp_path / "t", cleanup_policy="compact")
    good = build_batch([(b"a", b"1"), (b"", b"2")], timestamp=NOW, compression=codec)
    world.log.append(memoryview(good), now_ms=NOW)
    bad = build_batch([(b"a", b"1"), (None, b"2")], timestamp=NOW, compression=codec)
    assert refusal(world, bad) == ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("codec", list(Compression))
def test_batch_that_readers_cannot_parse_is_refused(
    world: LogUnderTest, codec: Compression
) -> None:
    batch = build_batch([(b"k", b"v" * 50)], timestamp=NOW, compression=codec)
    batch[HEADER_SIZE + 1 : HEADER_SIZE + 11] = b"0123456789"
    seal(batch)
    assert refusal(world, batch) == ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("codec", list(Compression))
def test_batch_with_offset_deltas_that_do_not_count_up_is_refused(
    world: LogUnderTest, codec: Compression
) -> None:
    twice = bytearray()
    for _ in range(2):
        encode_record(twice, Record(0, NOW, b"k", b"v"), 0, NOW)
    header = header_of(build_batch([(b"k", b"v")] * 2, timestamp=NOW, compression=codec))
    assert refusal(world, with_payload(header, twice)) == ErrorCode.INVALID_RECORD


def test_batch_of_many_records_is_appended_after_it_was_inspected_in_slices(
    world: LogUnderTest,
) -> None:
    batch = build_batch([(b"k", None)] * 20_000, timestamp=NOW, compression=Compression.ZSTD)
    with pytest.raises(NeedsTime):
        world.log.append(memoryview(batch), now_ms=NOW)
    finish(world.log.inspect(memoryview(batch), NOW))
    appended = world.log.append(memoryview(batch), now_ms=NOW, inspected=True)
    assert appended.last_offset == 19_999


def test_batch_that_claims_more_records_than_its_bytes_can_hold_is_refused_unread(
    world: LogUnderTest,
) -> None:
    """24 million records in a few kilobytes: what a bomb looks like."""
    for codec, count in ((Compression.ZSTD, 24_000_000), (Compression.NONE, 100)):
        header = header_of(build_batch([(b"k", b"v")], timestamp=NOW, compression=codec))
        header = header._replace(record_count=count, last_offset_delta=count - 1)
        batch = with_payload(header, bytes(100))
        assert refusal(world, batch) == ErrorCode.INVALID_RECORD


def test_batch_that_unfolds_to_far_more_than_its_size_is_refused(world: LogUnderTest) -> None:
    value = bytes(UNFOLDED_ANYWAY)
    batch = build_batch([(b"k", value)], timestamp=NOW, compression=Compression.ZSTD)
    assert len(batch) * MOST_UNFOLDED < len(value)
    with pytest.raises(RecordsRejected) as refused:
        finish(world.log.inspect(memoryview(batch), NOW))
    assert refused.value.error_code == ErrorCode.INVALID_RECORD


def with_payload(header: BatchHeader, payload: bytes | bytearray) -> bytearray:
    body = compress(Compression(header.compression), payload)
    batch = bytearray(HEADER_SIZE)
    HEADER.pack_into(batch, 0, *header._replace(batch_length=MIN_LENGTH + len(body)))
    batch += body
    seal(batch)
    return batch


def test_coordinator_may_append_several_batches_at_once(world: LogUnderTest) -> None:
    appended = world.log.append(
        memoryview(simple_batch() + simple_batch()), now_ms=NOW, source=Source.COORDINATOR
    )
    world.flush()
    assert (appended.base_offset, appended.last_offset) == (0, 1)
    assert [header.base_offset for header in world.batches()] == [0, 1]


def test_segments_roll_by_size(tmp_path: Path) -> None:
    world = LogUnderTest(tmp_path / "t", segment_bytes=200)
    for n in range(9):
        world.put(str(n))
    world.flush()
    assert len(world.log.segments) > 3
    assert all(segment.size <= 200 for segment in world.log.segments)
    assert world.values() == [str(n) for n in range(9)]


def test_segments_roll_by_the_time_of_their_records(tmp_path: Path) -> None:
    world = LogUnderTest(tmp_path / "t", segment_ms=1000)
    world.put("a")
    world.now += 1000
    world.put("b")
    assert len(world.log.segments) == 1
    world.now += 1
    world.put("c")
    assert len(world.log.segments) == 2


def test_records_of_long_ago_share_a_segment(tmp_path: Path) -> None:
    world = LogUnderTest(tmp_path / "t", segment_ms=1000)
    for _ in range(5):
        batch = build_batch([(b"k", b"v")], timestamp=NOW - 10**9)
        world.log.append(memoryview(batch), now_ms=world.now)
        world.now += 500
    assert len(world.log.segments) == 1


def test_idle_segment_is_closed_when_its_time_is_over(tmp_path: Path) -> None:
    world = LogUnderTest(tmp_path / "t", segment_ms=1000)
    world.put("a")
    world.now += 1001
    finish(world.log.retain(world.now))
    assert len(world.log.segments) == 2
