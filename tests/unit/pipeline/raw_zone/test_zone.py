"""The parts of the raw zone that need no Spark."""

from collections.abc import Iterator

from holdfast.pipeline.raw_zone.spacing import Spacing
from holdfast.pipeline.raw_zone.zone import table_location

BOUND_S = 60.0


def test_flows_land_at_different_times() -> None:
    waits = set()
    for number in range(50):
        spacing = Spacing(BOUND_S, f"flow-{number}")
        spacing.lands(1, 0.0)
        waits.add(spacing.wait(1, 0.0))
    assert len(waits) > 40
    assert all(7.5 <= wait <= 10 for wait in waits)


def commits(spacing: Spacing, rate: float, until: float) -> Iterator[float]:
    """Commits of a flow with an event each `1 / rate` seconds: the time since the one before."""
    now, landed_at = 0.0, 0.0
    while now < until:
        backlog = int(rate * (now - landed_at))
        if backlog and spacing.wait(backlog, now) <= 0:
            yield now - landed_at
            spacing.lands(backlog, now)
            landed_at = now
        now += 0.5


def test_commits_of_a_slow_flow_get_rarer_up_to_the_bound() -> None:
    apart = list(commits(Spacing(BOUND_S, "orders"), 15, 3600))
    assert apart[1] < 10.5, "the first commits come soon"
    assert apart[1:] == sorted(apart[1:])
    assert 0.75 * BOUND_S <= apart[-1] <= BOUND_S + 0.5


def test_commits_of_a_fast_flow_stay_close_together() -> None:
    assert max(commits(Spacing(BOUND_S, "orders"), 5_000, 3600)) < 10.5


def test_burst_in_a_slow_flow_does_not_wait_for_the_bound() -> None:
    spacing = Spacing(BOUND_S, "orders")
    list(commits(spacing, 15, 3600))
    spacing.lands(1, 3600.0)
    assert spacing.wait(1, 3600.0) > 40
    assert spacing.wait(20_000, 3600.0) <= 10


def test_first_event_after_a_pause_lands_at_once() -> None:
    spacing = Spacing(BOUND_S, "orders")
    list(commits(spacing, 15, 3600))
    spacing.lands(1, 3600.0)
    assert spacing.wait(1, 3600.0 + BOUND_S) <= 0
    spacing.lands(1, 3600.0 + 3 * BOUND_S)
    assert spacing.wait(1, 3600.0 + 3 * BOUND_S) <= 10


def test_each_flow_has_its_own_table() -> None:
    assert table_location("s3://bucket/lake/", "orders") == "s3://bucket/lake/raw/orders"
