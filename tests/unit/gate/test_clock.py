"""The time that the gate goes by, made of a wall clock that jumps and a monotonic one."""

import random

import pytest

from holdfast.clock import utc_text
from holdfast.gate.clock import (
    CONFIRMED_AFTER_MS,
    REPORTED_FOR_MS,
    TOLERATED_MS,
    Clock,
    Now,
)

BOOTED = 1_700_000_000_000
"""The true time when the monotonic clock was 0."""
MINUTE = 60_000


class Machine:
    """A machine whose wall clock is `ahead` of the true time."""

    def __init__(self) -> None:
        self.monotonic = 7_000
        self.ahead = 0
        self.clock = Clock(self.true, self.monotonic)

    @property
    def true(self) -> int:
        return BOOTED + self.monotonic

    def wait(self, milliseconds: int, readings: int = 1) -> Now:
        for _ in range(readings):
            self.monotonic += milliseconds // readings
            now = self.read()
        return now

    def read(self) -> Now:
        now = self.clock.read(self.true + self.ahead, self.monotonic)
        assert now.monotonic == self.monotonic
        return now

    def trouble(self) -> str | None:
        return self.clock.trouble(self.read())


def test_a_short_jump_ahead_is_ignored() -> None:
    machine = Machine()
    machine.ahead = 50 * MINUTE
    for _ in range(20):
        assert machine.wait(100).wall <= machine.true + TOLERATED_MS
    machine.ahead = 0
    assert machine.wait(100).wall == machine.true


def test_a_jump_ahead_is_followed_once_confirmed() -> None:
    machine = Machine()
    machine.ahead = 50 * MINUTE
    machine.read()
    machine.wait(CONFIRMED_AFTER_MS - 1_000, 5)
    assert machine.wait(999).wall <= machine.true + TOLERATED_MS
    assert machine.wait(1).wall == machine.true + machine.ahead


def test_a_second_jump_ahead_waits_for_its_own_confirmation() -> None:
    machine = Machine()
    machine.ahead = 10 * MINUTE
    machine.read()
    machine.wait(CONFIRMED_AFTER_MS - 1)
    machine.ahead = 60 * MINUTE
    assert machine.wait(2).wall <= machine.true + TOLERATED_MS


def test_a_jump_back_is_followed_at_once() -> None:
    machine = Machine()
    machine.ahead = -50 * MINUTE
    assert machine.wait(20).wall == machine.true - 50 * MINUTE


def test_a_clock_that_started_wrong_is_followed_once_it_is_corrected() -> None:
    machine = Machine()
    machine.clock = Clock(machine.true + 50 * MINUTE, machine.monotonic)
    assert machine.wait(20).wall == machine.true


@pytest.mark.parametrize(
    ("ahead", "words"), [(50 * MINUTE, "jumped ahead by 3000 s"), (-90_000, "jumped back by 90 s")]
)
def test_a_jump_is_counted_and_reported_for_a_while(ahead: int, words: str) -> None:
    machine = Machine()
    assert machine.trouble() is None
    machine.ahead = ahead
    assert words in str(machine.trouble())
    assert utc_text(machine.true + ahead) in str(machine.trouble())
    assert machine.clock.jumps == 1
    machine.wait(REPORTED_FOR_MS - 1_000, 100)
    machine.wait(999)
    assert words in str(machine.trouble())
    machine.wait(1)
    assert machine.trouble() is None
    assert machine.clock.jumps == 1


def test_a_jump_and_its_reversal_count_as_two_jumps() -> None:
    machine = Machine()
    machine.ahead = 50 * MINUTE
    machine.wait(2_000, 4)
    machine.ahead = 0
    assert "jumped back by 3000 s" in str(machine.trouble())
    assert machine.clock.jumps == 2


def test_small_differences_and_slow_corrections_are_not_jumps() -> None:
    machine = Machine()
    for _ in range(1_000):
        machine.ahead += 50  # a twentieth of the time, for longer than any tolerance
        assert machine.wait(1_000).wall == machine.true + machine.ahead
    machine.ahead += TOLERATED_MS - 100
    assert machine.wait(20).wall == machine.true + machine.ahead
    assert (machine.clock.jumps, machine.trouble()) == (0, None)


def test_many_small_jumps_are_not_mistaken_for_slow_corrections() -> None:
    machine = Machine()
    for _ in range(10):
        machine.ahead += 4_000
        machine.wait(100)
    assert machine.clock.jumps
    assert machine.read().wall < machine.true + 2 * TOLERATED_MS


def test_a_steady_difference_to_the_broker_is_reported_with_both_times() -> None:
    machine = Machine()
    for ahead in (-4_000, 0, 4_000):
        machine.clock.compare_with_broker(ahead, machine.true)
        assert machine.trouble() is None
    machine.clock.compare_with_broker(65 * MINUTE, machine.true)
    said = str(machine.trouble())
    assert "3900 s ahead of the broker's" in said
    assert utc_text(machine.true) in said
    assert utc_text(machine.true - 65 * MINUTE) in said
    machine.wait(MINUTE, 10)
    machine.clock.compare_with_broker(65 * MINUTE + 20, machine.true)
    assert machine.trouble() == said, "what is hardly news would be written all the time"
    machine.clock.compare_with_broker(-65 * MINUTE, machine.true)
    assert "3900 s behind the broker's" in str(machine.trouble())
    machine.clock.compare_with_broker(0, machine.true)
    assert machine.trouble() is None


@pytest.mark.parametrize("wall", [-(10**15), 0, 10**18])
def test_any_time_can_be_formatted(wall: int) -> None:
    assert utc_text(wall).endswith("UTC")


@pytest.mark.parametrize("seed", range(200))
def test_holds_expire_early_only_if_the_clock_was_ahead_for_long(seed: int) -> None:
    """Jumps at random; the promise is checked from outside, by when the clock was set."""
    random_, machine = random.Random(seed), Machine()
    settings = [(machine.monotonic, 0)]
    for _ in range(200):
        if random_.random() < 0.1:
            ahead = random_.choice((0, 0, -50, -5, -1, 1, 5, 50, 500)) * MINUTE
            if ahead != machine.ahead:
                machine.ahead = ahead
                settings.append((machine.monotonic, ahead))
        now = machine.wait(random_.choice((20, 500, 4_000)))
        ends = [*(at for at, _ in settings[1:]), machine.monotonic]
        shown = [
            ahead
            for (at, ahead), end in zip(settings, ends, strict=True)
            if end - at >= CONFIRMED_AFTER_MS or ahead <= 0
        ]
        assert now.wall <= machine.true + max(shown) + TOLERATED_MS, f"seed {seed}"
        if machine.monotonic - settings[-1][0] >= CONFIRMED_AFTER_MS + 4_000:
            assert now.wall == machine.true + machine.ahead, f"seed {seed}"
