"""How many events a batch takes."""

from holdfast.pipeline.gate.batch_size import (
    JOB_SECONDS,
    LONGEST_JOB_SECONDS,
    SMALL_BYTES,
    SMALL_ROWS,
    BatchSize,
    seconds_apart,
)


def warm() -> BatchSize:
    size = BatchSize()
    before = size.limit
    for _ in range(2):
        size.took(size.limit, 60.0)
    assert size.limit == before, "the first jobs tell nothing"
    return size


def test_a_batch_of_unknown_size_is_small_if_its_events_are_few() -> None:
    size = BatchSize()
    assert size.may_be_small(SMALL_ROWS)
    assert not size.may_be_small(SMALL_ROWS + 1)


def test_a_few_large_events_are_not_a_small_batch() -> None:
    size = BatchSize()
    size.seen(1, 1_000_000)
    assert not size.may_be_small(SMALL_BYTES // 1_000_000 + 1)


def test_a_job_that_takes_too_long_lowers_the_limit() -> None:
    size = warm()
    before = size.limit
    size.took(before, 1.6 * JOB_SECONDS)
    assert before // 4 < size.limit < before


def test_the_limit_has_a_floor_which_is_lower_for_large_events() -> None:
    size = warm()
    for _ in range(5):
        size.took(size.limit, 60.0)
    assert size.limit == 150_000
    size.seen(10, 10_000_000)
    for _ in range(10):
        size.took(size.limit, 60.0)
    assert size.limit < 100


def test_only_fast_full_jobs_raise_the_limit() -> None:
    size = warm()
    before = size.limit
    size.took(before // 2, 0.01)
    assert size.limit == before
    size.took(before, 0.01)
    assert size.limit == 4 * before


def test_a_small_difference_does_not_change_the_limit() -> None:
    size = warm()
    before = size.limit
    for seconds in (LONGEST_JOB_SECONDS, JOB_SECONDS, 0.8 * JOB_SECONDS):
        size.took(size.limit, seconds)
        assert size.limit == before


def test_batches_are_further_apart_with_few_events_and_many_busy_flows() -> None:
    assert seconds_apart(1, busy=1) == 0.1
    assert seconds_apart(100, busy=1) < seconds_apart(1, busy=1)
    assert seconds_apart(1, busy=100) == 0.4
    assert seconds_apart(1, busy=10_000) == 0.5
