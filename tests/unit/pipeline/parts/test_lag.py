"""How long the first event that was not taken has been there."""

from holdfast.pipeline.parts.lag import Waiting


def test_lag_is_the_age_of_the_first_untaken_event() -> None:
    now = [0.0]
    waiting = Waiting(lambda: now[0])
    assert waiting.since({0: 5}, {0: 5}) == 0
    now[0] = 10
    assert waiting.since({0: 5}, {0: 8}) == 0, "seen just now"
    now[0] = 14
    assert waiting.since({0: 6}, {0: 20}) == 4
    now[0] = 16
    assert waiting.since({0: 8}, {0: 20}) == 2, "up to 8 all is taken; the rest came at 14"
    now[0] = 17
    assert waiting.since({0: 20}, {0: 20}) == 0


def test_lag_is_that_of_the_slowest_partition() -> None:
    now = [0.0]
    waiting = Waiting(lambda: now[0])
    waiting.since({0: 0, 1: 0}, {0: 1, 1: 1})
    now[0] = 3
    assert waiting.since({0: 1, 1: 0}, {0: 1, 1: 1}) == 3
