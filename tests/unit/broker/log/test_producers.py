"""Idempotent and transactional producers: what is taken, what is a repeat, what is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.broker.log.world import LogUnderTest, flip

from holdfast.broker.log import RecordsRejected, partition_log
from holdfast.broker.log.index import ABORTED_ENTRY, AbortedTransaction
from holdfast.wire.protocol.errors import ErrorCode
from holdfast.wire.records.batch import build_batch, iterate_batches


@pytest.fixture
def world(tmp_path: Path) -> LogUnderTest:
    return LogUnderTest(tmp_path / "t-0")


@pytest.fixture(params=["running", "crash", "clean stop"])
def again(request: pytest.FixtureRequest, world: LogUnderTest) -> Callable[[], None]:
    """Producers are known the same in the running log, after a crash and after a clean stop."""

    def reopen() -> None:
        world.flush()
        if request.param == "crash":
            world.crash()
        elif request.param == "clean stop":
            world.reopen()
            assert not world.reports

    return reopen


def refusal(call: Callable[..., object], *args: Any, **fields: Any) -> ErrorCode:
    with pytest.raises(RecordsRejected) as rejected:
        call(*args, **fields)
    return rejected.value.error_code


def test_repeat_of_any_of_the_last_five_batches_gets_its_first_offset(
    world: LogUnderTest, again: Callable[[], None]
) -> None:
    first = [world.send(7, 3 * n, 3) for n in range(8)]
    again()
    for n in range(3, 8):
        repeated = world.send(7, 3 * n, 3)
        assert repeated.duplicate
        assert (repeated.base_offset, repeated.last_offset) == (
            first[n].base_offset,
            first[n].last_offset,
        )
    assert world.log.end_offset == 24


def test_repeat_of_an_older_batch_is_out_of_order(
    world: LogUnderTest, again: Callable[[], None]
) -> None:
    for n in range(8):
        world.send(7, n)
    again()
    assert refusal(world.send, 7, 2) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_gap_in_sequences_is_out_of_order(world: LogUnderTest, again: Callable[[], None]) -> None:
    world.send(7, 0)
    again()
    assert refusal(world.send, 7, 2) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert refusal(world.send, 7, 0, 2) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert not world.send(7, 1).duplicate


def test_sequences_wrap_around(world: LogUnderTest, again: Callable[[], None]) -> None:
    world.send(7, 2**31 - 2)
    world.send(7, 2**31 - 1, 3)
    again()
    assert world.send(7, 2**31 - 1, 3).duplicate
    assert not world.send(7, 2).duplicate
    world.send(8, 2**31 - 1)
    assert not world.send(8, 0).duplicate


def test_unknown_producer_may_begin_anywhere(world: LogUnderTest) -> None:
    assert world.send(7, 41).base_offset == 0
    assert world.send(7, 42).base_offset == 1


def test_older_epoch_is_fenced(world: LogUnderTest, again: Callable[[], None]) -> None:
    world.send(7, 0, epoch=3)
    again()
    assert refusal(world.send, 7, 1, epoch=2) == ErrorCode.INVALID_PRODUCER_EPOCH


def test_new_epoch_begins_at_zero(world: LogUnderTest, again: Callable[[], None]) -> None:
    world.send(7, 0)
    again()
    assert refusal(world.send, 7, 1, epoch=1) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert not world.send(7, 0, epoch=1).duplicate


def test_producers_are_kept_apart(world: LogUnderTest) -> None:
    world.send(7, 0)
    world.send(8, 0)
    assert not world.send(7, 1).duplicate
    assert not world.send(8, 1).duplicate


def test_open_transaction_holds_the_last_stable_offset(
    world: LogUnderTest, again: Callable[[], None]
) -> None:
    world.put("plain")
    world.send(7, 0, transactional=True)
    world.put("behind")
    again()
    assert (world.log.last_stable_offset, world.log.high_watermark) == (1, 3)
    world.end(7, commit=True)
    assert world.log.last_stable_offset == 1
    world.flush()
    assert world.log.last_stable_offset == 4


def test_oldest_of_several_transactions_counts(
    world: LogUnderTest, again: Callable[[], None]
) -> None:
    world.send(7, 0, transactional=True)
    world.send(8, 0, transactional=True)
    world.end(7, commit=True)
    world.send(7, 1, transactional=True)
    again()
    assert world.log.last_stable_offset == 1
    world.end(8, commit=False)
    world.flush()
    assert world.log.last_stable_offset == 3


def test_marker_that_is_not_flushed_decides_nothing(world: LogUnderTest) -> None:
    world.send(7, 0, transactional=True)
    world.flush()
    world.end(7, commit=False)
    world.put("x")
    assert world.log.last_stable_offset == 0


@pytest.mark.parametrize("synced", [True, False])
def test_ended_transactions_are_forgotten_without_any_reader(
    world: LogUnderTest, synced: bool
) -> None:
    for n in range(50):
        world.send(7, n, transactional=True)
        world.end(7, commit=True)
        if synced:
            world.flush()
        else:
            world.log.expose()
    assert len(world.log._producers._ending) == 0
    assert world.log.last_stable_offset == 100
    (world.directory / "checkpoint").unlink(missing_ok=True)
    world.crash()
    assert len(world.log._producers._ending) == 0


def test_aborted_transactions_are_found_by_range(
    world: LogUnderTest, again: Callable[[], None]
) -> None:
    world.send(7, 0, transactional=True)  # 0
    world.put("x")  # 1
    world.end(7, commit=False)  # 2
    world.send(8, 0, transactional=True)  # 3
    world.end(8, commit=True)  # 4
    world.send(7, 1, transactional=True)  # 5
    world.end(7, commit=False)  # 6
    again()
    found = world.log.aborted_transactions(0, 7)
    assert [(a.producer_id, a.first_offset, a.last_offset) for a in found] == [
        (7, 0, 2),
        (7, 5, 6),
    ]
    assert [a.first_offset for a in world.log.aborted_transactions(3, 7)] == [5]
    assert [a.first_offset for a in world.log.aborted_transactions(0, 3)] == [0]
    assert world.log.aborted_transactions(3, 5) == []


def test_reader_gets_exactly_the_aborted_transactions_of_its_records(
    tmp_path: Path,
) -> None:
    world = LogUnderTest(tmp_path / "t", segment_bytes=400)
    for n in range(100):
        world.send(7, n, transactional=True)
        world.end(7, commit=False)
    world.flush()
    offset = 0
    while data := world.log.read(offset, 300, limit=world.log.last_stable_offset):
        headers = [header for header, _ in iterate_batches(data)]
        told = {a.first_offset for a in world.log.aborted_in(offset, data)}
        assert told == {h.base_offset - h.is_control for h in headers}
        offset = headers[-1].last_offset + 1
    assert offset == 200
    assert world.log.aborted_in(0, b"") == []


def test_reader_reads_few_of_many_aborted_transactions(
    world: LogUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(2_000):
        world.send(7, n, transactional=True)
        world.end(7, commit=False)
    world.flush()
    parsed: list[int] = []
    crc = vars(AbortedTransaction)["crc"].fget

    def counted(entry: AbortedTransaction) -> int:
        parsed.append(1)
        value: int = crc(entry)
        return value

    monkeypatch.setattr(AbortedTransaction, "crc", property(counted))
    for start in (0, 1_000, 3_998):
        parsed.clear()
        found = world.log.aborted_transactions(start, start + 2)
        assert [a.first_offset for a in found] == [start]
        assert len(parsed) < 20


def test_damaged_entry_on_the_way_to_another_one_is_noticed(world: LogUnderTest) -> None:
    """The search for a reader's first transaction must not be misled."""
    for n in range(200):
        world.send(7, n, transactional=True)
        world.end(7, commit=False)
    world.flush()
    (segment,) = world.log.segments
    segment.write_indexes()
    flip(Path(segment.aborted_index.path), 100 * ABORTED_ENTRY.size + 17)
    found = world.log.aborted_transactions(100, 102)
    assert [a.first_offset for a in found] == [100]


def test_transaction_aborted_in_a_later_segment_is_found(tmp_path: Path) -> None:
    world = LogUnderTest(tmp_path / "t", segment_bytes=300)
    world.send(7, 0, transactional=True)
    for n in range(20):
        world.put(str(n))
    world.end(7, commit=False)
    world.flush()
    assert len(world.log.segments) > 3
    assert [a.producer_id for a in world.log.aborted_transactions(0, 3)] == [7]
    world.crash()
    assert [a.producer_id for a in world.log.aborted_transactions(0, 3)] == [7]


def test_marker_fences_older_epochs(world: LogUnderTest, again: Callable[[], None]) -> None:
    world.send(7, 0, transactional=True)
    world.end(7, commit=False, epoch=1)
    again()
    assert refusal(world.send, 7, 1, transactional=True) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert refusal(world.end, 7, commit=True, epoch=0) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert not world.send(7, 0, epoch=1, transactional=True).duplicate


def test_no_coordinator_epoch_in_the_log_fences_the_coordinator(
    world: LogUnderTest, again: Callable[[], None]
) -> None:
    world.end(7, commit=True, coordinator_epoch=5)
    world.send(7, 0, transactional=True)
    again()
    world.end(7, commit=True, coordinator_epoch=0)
    world.flush()
    assert world.log.last_stable_offset == world.log.end_offset


def test_plain_batch_inside_a_transaction_is_refused(
    world: LogUnderTest, again: Callable[[], None]
) -> None:
    world.send(7, 0, transactional=True)
    again()
    assert refusal(world.send, 7, 1) == ErrorCode.INVALID_TXN_STATE


def test_sequences_continue_after_a_marker(world: LogUnderTest, again: Callable[[], None]) -> None:
    world.send(7, 0, transactional=True)
    world.end(7, commit=True)
    again()
    assert world.send(7, 0, transactional=True).duplicate
    assert not world.send(7, 1, transactional=True).duplicate


def test_producer_of_old_records_is_not_taken_for_silent(world: LogUnderTest) -> None:
    an_old_record = build_batch(
        [(b"k", b"v")], timestamp=1, producer_id=7, producer_epoch=0, base_sequence=0
    )
    world.log.append(memoryview(an_old_record), now_ms=world.now)
    assert world.log.expire_producers(world.now + 999, 1000) == 0
    assert world.send(7, 0).duplicate


@pytest.mark.parametrize("clean", [True, False])
def test_silence_of_producers_starts_again_when_the_log_is_opened(
    world: LogUnderTest, clean: bool
) -> None:
    world.send(7, 0)
    world.flush()
    world.reopen() if clean else world.crash()
    later = world.now + 10_000_000
    assert world.log.expire_producers(later, 1000) == 0
    assert world.log.expire_producers(later + 1000, 1000) == 1


def test_silent_producers_expire_but_not_with_an_open_transaction(world: LogUnderTest) -> None:
    world.send(7, 0)
    world.send(8, 0, transactional=True)
    assert world.log.expire_producers(world.now + 999, 1000) == 0
    assert world.log.expire_producers(world.now + 1000, 1000) == 1
    assert [p.producer_id for p in world.log.producers()] == [8]
    assert world.send(7, 9).base_offset == 2


def test_described_producer(world: LogUnderTest) -> None:
    world.send(7, 4, 2, epoch=3, transactional=True)
    (found,) = world.log.producers()
    assert (found.producer_id, found.epoch, found.last_sequence) == (7, 3, 5)
    assert (found.transaction_start, found.last_timestamp) == (0, world.now)


def test_batches_dropped_by_a_failed_flush_are_new_again(world: LogUnderTest) -> None:
    world.send(7, 0)
    world.flush()
    world.send(7, 1)
    world.send(9, 0, transactional=True)
    world.fail_flush()
    assert world.log.end_offset == 1
    assert not world.send(7, 1).duplicate
    world.flush()
    assert world.log.last_stable_offset == 2
    assert world.values() == ["7/0", "7/1"]


def test_producers_are_bounded_and_the_longest_silent_is_forgotten(
    world: LogUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partition_log, "MOST_PRODUCERS", 20)
    world.send(0, 0, transactional=True)
    for producer in range(1, 100):
        world.now += 1
        world.send(producer, 0)
        assert world.log.producer_count <= 20
    known = {producer.producer_id for producer in world.log.producers()}
    assert {0, 99, 98, 97} <= known  # an open transaction is never forgotten
    assert world.send(99, 0).duplicate


def test_log_of_many_segments_begins_no_small_ones(
    world: LogUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partition_log, "MANY_SEGMENTS", 5)
    world.settings["segment.bytes"] = "100"
    world.log.apply_config(world.config)
    for n in range(30):
        world.put(str(n))
    world.flush()
    assert len(world.log.segments) == 5
    world.crash()
    assert world.values() == [str(n) for n in range(30)]
