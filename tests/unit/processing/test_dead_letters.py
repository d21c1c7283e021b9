"""Invalid messages: each dead-lettered once, in order, and no more than the limit allows."""

import random
from concurrent.futures import Future
from typing import Any

import pytest
from arroyo.dlq import DlqLimit, DlqLimitState, DlqPolicy, DlqProducer, InvalidMessage
from arroyo.types import BrokerValue, Partition
from tests.unit.processing.scripted import (
    P0,
    P1,
    Loop,
    PromiseBrokenError,
    fails_on_sentry_arroyo,
    holds_on_both,
)

from holdfast.processing import DlqLimitExceededError
from holdfast.processing.dead_letters import InvalidCounts


class MemoryDlq(DlqProducer[int]):
    """Keeps the produced messages. Futures are done at once unless the test holds them."""

    def __init__(self) -> None:
        self.produced: list[tuple[Partition, int]] = []
        self.futures: list[Future[BrokerValue[int]]] = []
        self.done_at_once = True
        self.error: Exception | None = None

    def produce(
        self, value: BrokerValue[int], reason: str | None = None
    ) -> Future[BrokerValue[int]]:
        if self.error is not None:
            raise self.error
        self.produced.append((value.partition, value.offset))
        future: Future[BrokerValue[int]] = Future()
        self.futures.append(future)
        if self.done_at_once:
            future.set_result(value)
        return future

    @classmethod
    def build_initial_state(cls, limit: DlqLimit | None, assignment: Any) -> DlqLimitState:
        return DlqLimitState(
            limit, last_invalid_offsets={p: offset - 1 for p, offset in assignment.items()}
        )


def start(loop: Loop, dlq: MemoryDlq, *, limit: DlqLimit | None = None, **options: Any) -> None:
    loop.start(P0, P1, assigned=[P0], dlq_policy=DlqPolicy(dlq, limit), **options)


def expect_stop_at_the_limit(loop: Loop) -> None:
    try:
        loop.turn(200)
    except DlqLimitExceededError:
        return
    raise PromiseBrokenError("went on past the limit")


@holds_on_both
def test_invalid_messages_are_dead_lettered_once_and_in_order(loop: Loop) -> None:
    dlq = MemoryDlq()
    start(loop, dlq)
    loop.factory.invalid = {(P0, 2), (P0, 3), (P0, 7)}
    loop.expect_submitted(P0, [0, 1, 4, 5, 6, 8, 9])
    assert dlq.produced == [(P0, 2), (P0, 3), (P0, 7)]


@fails_on_sentry_arroyo(PromiseBrokenError, "went on past the limit")
def test_limit_of_consecutive_dead_letters_stops_the_consumer_at_the_exact_count(
    loop: Loop,
) -> None:
    dlq = MemoryDlq()
    start(loop, dlq, limit=DlqLimit(max_consecutive_count=3))
    loop.factory.invalid = {(P0, offset) for offset in range(2, 10)}
    expect_stop_at_the_limit(loop)
    assert dlq.produced == [(P0, 2), (P0, 3), (P0, 4)]
    assert loop.consumer.committed[P0] == 2, "the message at the limit is not committed"


@fails_on_sentry_arroyo(PromiseBrokenError, "went on past the limit")
def test_limit_on_the_ratio_of_dead_letters_counts_exactly(loop: Loop) -> None:
    """Every second message is invalid: one for each valid one, twice what is allowed."""
    dlq = MemoryDlq()
    start(loop, dlq, limit=DlqLimit(max_invalid_ratio=0.5), messages=40)
    loop.factory.invalid = {(P0, offset) for offset in [10, *range(12, 40, 2)]}
    expect_stop_at_the_limit(loop)
    # 10 valid messages come first, then one before each invalid one: after n invalid ones there
    # are 9 + n valid ones. n / (9 + n) passes one half at the tenth.
    assert len(dlq.produced) == 9


@fails_on_sentry_arroyo(PromiseBrokenError, "went on past the limit")
def test_assigning_other_partitions_does_not_reset_the_count(loop: Loop) -> None:
    dlq = MemoryDlq()
    start(loop, dlq, limit=DlqLimit(max_consecutive_count=4))
    loop.factory.invalid = {(P0, offset) for offset in range(10)}
    loop.until(lambda: len(dlq.produced) == 3, "three dead letters")
    loop.script(lambda: loop.consumer.assign(P1))
    expect_stop_at_the_limit(loop)
    assert len(dlq.produced) == 4


@fails_on_sentry_arroyo(PromiseBrokenError, "p0: lost")
def test_a_dead_letter_received_again_is_not_sent_or_counted_again(loop: Loop) -> None:
    dlq = MemoryDlq()
    start(loop, dlq, limit=DlqLimit(max_consecutive_count=1), messages=3)
    loop.factory.finishes_at_once = loop.factory.finishes_in_join = False
    loop.factory.invalid = {(P0, 1)}
    loop.expect_submitted(P0, [0, 2])
    loop.factory.submitted.clear()
    loop.script(lambda: loop.consumer.assign(P1))  # 0 is not finished: all comes again
    loop.expect_submitted(P0, [0, 2])
    assert dlq.produced == [(P0, 1)]


def test_messages_received_again_are_kept_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = Loop("holdfast", monkeypatch)
    start(loop, MemoryDlq(), messages=3)
    loop.factory.finishes_at_once = loop.factory.finishes_in_join = False
    loop.expect_all_submitted(P0)
    loop.script(lambda: loop.consumer.assign(P1))
    loop.until(lambda: len(loop.submitted(P0)) == 6, "all submitted again")
    states = loop.processor._dead_letters._partitions
    assert [message.offset for message in states[P0].in_flight] == [0, 1, 2]


def test_a_late_commit_of_a_closed_strategy_drops_no_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop = Loop("holdfast", monkeypatch)
    dlq = MemoryDlq()
    start(loop, dlq, messages=3)
    loop.factory.finishes_at_once = loop.factory.finishes_in_join = False
    loop.expect_all_submitted(P0)
    loop.script(lambda: loop.consumer.assign(P1))
    loop.until(lambda: len(loop.submitted(P0)) == 6, "all submitted again")
    loop.factory.strategies[0].commit({P0: 3}, force=True)
    loop.factory.invalid_in_poll.append((P0, 1))
    loop.turn(2)
    assert dlq.produced == [(P0, 1)]


@holds_on_both
def test_commit_waits_for_the_dead_letters_below_it(loop: Loop) -> None:
    dlq = MemoryDlq()
    dlq.done_at_once = False
    start(loop, dlq)
    loop.factory.finishes_at_once = False
    loop.factory.invalid = {(P0, 4)}
    loop.until(lambda: len(loop.submitted(P0)) == 9, "all submitted")
    dlq.futures[0].set_exception(OSError("the dead letter was not written"))
    with pytest.raises(OSError, match="not written"):
        loop.factory.strategies[0].finish()
    assert loop.consumer.committed[P0] == 4, "no commit passes a dead letter that is not safe"


@holds_on_both
def test_a_dead_letter_that_the_producer_refuses_is_dropped_and_counted(
    loop: Loop,
) -> None:
    dlq = MemoryDlq()
    dlq.error = BufferError("queue full")
    start(loop, dlq)
    loop.factory.invalid = {(P0, 2)}
    loop.expect_submitted(P0, [0, 1, 3, 4, 5, 6, 7, 8, 9])


@fails_on_sentry_arroyo(PromiseBrokenError, "p0: 2 was not dead-lettered")
def test_messages_before_an_invalid_one_can_still_be_dead_lettered(loop: Loop) -> None:
    dlq = MemoryDlq()
    start(loop, dlq)
    loop.factory.finishes_at_once = False
    loop.until(lambda: len(loop.submitted(P0)) == 10, "all submitted")
    loop.factory.invalid_in_poll.extend([(P0, 5), (P0, 2)])
    loop.turn(3)
    if dlq.produced != [(P0, 5), (P0, 2)]:
        raise PromiseBrokenError("p0: 2 was not dead-lettered")


@holds_on_both
def test_a_limit_on_messages_in_flight_keeps_the_latest(loop: Loop) -> None:
    dlq = MemoryDlq()
    policy = DlqPolicy(dlq, None, max_buffered_messages_per_partition=3)
    loop.start(P0, dlq_policy=policy)
    loop.factory.finishes_at_once = False
    loop.until(lambda: len(loop.submitted(P0)) == 10, "all submitted")
    loop.factory.invalid_in_poll.extend([(P0, 2), (P0, 8)])
    loop.turn(3)
    assert dlq.produced == [(P0, 8)], "2 was forgotten"


class TestInvalidCounts:
    def test_counts_agree_with_a_recount_in_any_order(self) -> None:
        for seed in range(300):
            rng = random.Random(seed)
            invalid = rng.sample(range(20), rng.randint(1, 12))
            if rng.random() < 0.7:
                invalid.sort()
            counts = InvalidCounts.starting_at(0)
            for offset in invalid:
                counts.record(offset)
            top = max(invalid)
            run = next(n for n in range(1, 22) if top - n not in invalid)
            assert counts.invalid == len(invalid), f"seed {seed}"
            assert counts.valid == top + 1 - len(invalid), f"seed {seed}"
            assert counts.consecutive <= run, f"seed {seed}"
            if invalid == sorted(invalid):
                assert counts.consecutive == run, f"seed {seed}"

    def test_no_valid_message_exceeds_any_ratio(self) -> None:
        counts = InvalidCounts.starting_at(5)
        counts.record(5)
        assert not counts.allowed_by(DlqLimit(max_invalid_ratio=100.0))


def test_a_producers_own_counts_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    class Never(DlqLimitState):
        def record_invalid_message(self, value: BrokerValue[Any]) -> bool:
            return False

    class Strict(MemoryDlq):
        @classmethod
        def build_initial_state(cls, limit: DlqLimit | None, assignment: Any) -> DlqLimitState:
            return Never(limit)

    loop = Loop("holdfast", monkeypatch)
    dlq = Strict()
    start(loop, dlq)
    loop.factory.invalid = {(P0, 2)}
    with pytest.raises(DlqLimitExceededError):
        loop.turn(20)
    assert dlq.produced == []


def test_an_invalid_message_of_a_revoked_partition_is_only_logged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop = Loop("holdfast", monkeypatch)
    start(loop, MemoryDlq())
    loop.turn(3)
    loop.processor._reject(InvalidMessage(P1, 0))
