"""The plan of faults: it follows from the seed, and an hour of it has what an hour should."""

from collections import Counter

from tests.chaos.system.plan import LARGEST_JUMP_S, PIPELINE_JUMP_S, Kind, make_plan

HOUR = 3600.0


def test_the_same_seed_gives_the_same_faults_and_another_seed_others() -> None:
    assert make_plan(7, HOUR, 10) == make_plan(7, HOUR, 10)
    assert make_plan(7, HOUR, 10) != make_plan(8, HOUR, 10)


def test_an_hour_has_more_than_five_hundred_faults_of_every_kind() -> None:
    for seed in range(20):
        plan = make_plan(seed, HOUR, 10)
        assert len(plan) > 500, f"seed {seed}"
        assert set(Counter(fault.kind for fault in plan)) == set(Kind), f"seed {seed}"
        for fault in plan:
            pipeline = fault.kind in (Kind.PIPELINE_CLOCK, Kind.PIPELINE_CLOCK_AHEAD)
            assert abs(fault.ahead) <= (PIPELINE_JUMP_S if pipeline else LARGEST_JUMP_S)


def test_stream_has_only_the_requested_kinds() -> None:
    kinds = {Kind.BROKER_KILLED, Kind.DISK_FULL}
    assert {fault.kind for fault in make_plan(3, HOUR, 10, kinds)} == kinds
