"""A soak tells growth from what only moves."""

import math
import random
from collections.abc import Callable

import pytest
from bench.soak.verdict import TOLERANCES, Sample, Verdict, judge

EVERY_S = 5.0
MINUTES = 30


Shape = Callable[[float], float]
"""A value at a time in minutes since the start."""


def samples(line: str, value: Shape, minutes: float = MINUTES) -> list[Sample]:
    times = [n * EVERY_S for n in range(int(minutes * 60 / EVERY_S))]
    return [{"at": at, line: value(at / 60)} for at in times]


def verdict(line: str, value: Shape, minutes: float = MINUTES) -> Verdict:
    (found,) = judge(samples(line, value, minutes))
    return found


def test_flat_line_is_flat() -> None:
    found = verdict("broker.memory_mb", lambda _: 60.0)
    assert found.flat
    assert found.growth_percent == found.per_hour == 0


def test_leak_is_found_and_its_growth_is_given_by_the_hour() -> None:
    found = verdict("broker.memory_mb", lambda minute: 60 + 1.0 * minute)
    assert not found.flat
    assert found.per_hour == pytest.approx(60, rel=0.02)
    assert found.growth_percent == pytest.approx(100 * 10 / 75, rel=0.02)


def test_handle_that_is_never_closed_is_found() -> None:
    assert not verdict("driver.handles", lambda minute: 90 + int(minute)).flat


def test_growth_only_in_the_first_third_is_flat() -> None:
    assert verdict("spark-jvm.memory_mb", lambda minute: min(400 + 80 * minute, 1_100)).flat


def test_steady_sawtooth_is_flat() -> None:
    assert verdict("spark-jvm.memory_mb", lambda minute: 600 + 400 * (minute % 1.7) / 1.7).flat


def test_rising_sawtooth_is_growth() -> None:
    found = verdict(
        "spark-jvm.memory_mb", lambda minute: 600 + 8 * minute + 400 * (minute % 1.7) / 1.7
    )
    assert not found.flat
    assert found.per_hour == pytest.approx(480, rel=0.2)


def test_single_outlier_is_not_growth() -> None:
    assert verdict("latency.p99_ms", lambda minute: 9_000 if 24 < minute < 26 else 700).flat


def test_noise_is_not_growth() -> None:
    seed = random.randrange(1 << 32)
    dice = random.Random(seed)
    found = verdict("latency.p50_ms", lambda _: 200 * math.exp(dice.gauss(0, 0.3)))
    assert found.flat, f"seed {seed}: {found}"


def test_latency_that_doubles_is_growth() -> None:
    assert not verdict("latency.p50_ms", lambda minute: 200 * 2 ** (minute / 10)).flat


def test_falling_line_is_flat_and_its_growth_is_below_zero() -> None:
    found = verdict("web.memory_mb", lambda minute: 120 - minute)
    assert found.flat
    assert found.per_hour < 0


def test_small_absolute_increase_is_not_growth() -> None:
    assert verdict("worker.threads", lambda minute: 5 if minute < 20 else 7).flat


def test_lake_grows_by_design_and_is_shown_but_not_judged() -> None:
    found = verdict("lake.disk_mb", lambda minute: 10 * minute)
    assert found.flat is None
    assert found.per_hour == pytest.approx(600, rel=0.02)


def test_line_that_is_missing_in_some_samples_is_judged_by_the_others() -> None:
    taken = samples("latency.p50_ms", lambda minute: 100 * 2 ** (minute / 10))
    taken = [s if n % 3 else {"at": s["at"]} for n, s in enumerate(taken)]
    (found,) = judge(taken)
    assert not found.flat


def test_series_with_too_few_samples_is_not_judged() -> None:
    assert judge(samples("web.threads", lambda minute: 5 + minute, minutes=0.5)) == []


def test_every_kind_of_figure_has_a_tolerance() -> None:
    for figure, tolerance in TOLERANCES.items():
        assert tolerance.allows(1_000, 1_000 * (1 + tolerance.share)), figure
        assert not tolerance.allows(1_000, 1_001 + max(1_000 * tolerance.share, tolerance.amount))
