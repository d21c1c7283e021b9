"""The plan of faults: it follows from the seed, and an hour of it has what an hour should."""

from collections import Counter

from tests.chaos.system.plan import LARGEST_JUMP_S, Kind, make_plan

HOUR = 3600.0


def test_the_same_seed_gives_the_same_faults_and_another_seed_others() -> None:
    assert make_plan(7, HOUR, 10) == make_plan(7, HOUR, 10)
    assert make_plan(7, HOUR, 10) != make_plan(8, HOUR, 10)


def test_an_hour_has_more_than_five_hundred_faults_of_every_kind() -> None:
    for seed in range(20):
        plan = make_plan(seed, HOUR, 10)
        assert len(plan) > 500, f"seed {seed}"
        assert set(Counter(fault.kind for fault in plan)) == set(Kind), f"seed {seed}"
        assert all(abs(fault.ahead) <= LARGEST_JUMP_S for fault in plan)


def test_only_the_kinds_that_are_asked_for_come() -> None:
    kinds = {Kind.BROKER_KILLED, Kind.DISK_FULL}
    assert {fault.kind for fault in make_plan(3, HOUR, 10, kinds)} == kinds
