"""Pauses between attempts grow up to a limit, and start over after success."""

from holdfast.backoff import Backoff


def test_pause_doubles_up_to_the_limit_and_starts_over_after_a_reset() -> None:
    backoff = Backoff(1.0, 5.0)
    assert [backoff.next() for _ in range(5)] == [1.0, 2.0, 4.0, 5.0, 5.0]
    backoff.reset()
    assert backoff.next() == 1.0


def test_pause_starts_over_after_a_steady_time_that_excludes_the_pause_itself() -> None:
    now = 0.0
    backoff = Backoff(40.0, 80.0, steady=60.0, clock=lambda: now)
    assert backoff.next() == 40.0
    now = 100.0  # 60 s after the pause
    assert backoff.next() == 80.0
    now = 240.1  # more than 60 s after the pause
    assert backoff.next() == 40.0
