"""How many events a batch takes."""

from holdfast.pipeline.batch_size import (
    JOB_SECONDS,
    LONGEST_JOB_SECONDS,
    SMALL_BYTES,
    SMALL_ROWS,
    BatchSize,
)


def warm() -> BatchSize:
    size = BatchSize()
    for _ in range(2):
        size.took(size.limit, 60.0)
    assert not size.changed, "the first jobs tell nothing"
    return size


def test_a_batch_of_unknown_size_is_not_taken_by_the_driver() -> None:
    size = BatchSize()
    assert not size.is_small(1)
    size.seen(10, 1_000)
    assert size.is_small(SMALL_ROWS)
    assert not size.is_small(SMALL_ROWS + 1)


def test_few_large_events_are_not_a_small_batch() -> None:
    size = BatchSize()
    size.seen(1, 1_000_000)
    assert not size.is_small(SMALL_BYTES // 1_000_000 + 1)


def test_a_job_that_takes_too_long_lowers_the_limit() -> None:
    size = warm()
    before = size.limit
    size.took(before, 1.6 * JOB_SECONDS)
    assert size.changed
    size.settle()
    assert before // 4 < size.limit < before
    assert not size.changed


def test_the_limit_is_lowered_to_a_floor_that_large_events_have_lower() -> None:
    size = warm()
    for _ in range(5):
        size.took(size.limit, 60.0)
        size.settle()
    assert size.limit == 150_000
    size.seen(10, 10_000_000)
    for _ in range(10):
        size.took(size.limit, 60.0)
        size.settle()
    assert size.limit < 100


def test_quick_full_jobs_raise_the_limit_and_others_tell_nothing() -> None:
    size = warm()
    before = size.limit
    size.took(before // 2, 0.01)
    assert not size.changed
    size.took(before, 0.01)
    size.settle()
    assert size.limit == 4 * before


def test_a_small_difference_is_not_worth_a_new_query() -> None:
    size = warm()
    for seconds in (LONGEST_JOB_SECONDS, JOB_SECONDS, 0.8 * JOB_SECONDS):
        size.took(size.limit, seconds)
        assert not size.changed
