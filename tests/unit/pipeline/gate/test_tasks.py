"""Which partitions go to one task."""

import random
from typing import Any

import pytest

from holdfast.pipeline.gate.replicas import ReplicaUpdate
from holdfast.pipeline.gate.tasks import PlannedRange, split


def planned(sizes: list[int]) -> dict[int, PlannedRange]:
    copy: ReplicaUpdate[Any] = ReplicaUpdate("", b"", (), b"")
    return {p: PlannedRange(100, 100 + size, copy, 0, "") for p, size in enumerate(sizes)}


@pytest.mark.parametrize("seed", range(20))
def test_every_partition_is_in_one_task_and_tasks_are_balanced(
    seed: int,
) -> None:
    random_ = random.Random(seed)
    sizes = [random_.randrange(1, 100_000) for _ in range(random_.randrange(1, 40))]
    most = random_.randrange(1, 8)
    groups = split(planned(sizes), most)
    assert len(groups) == min(most, len(sizes))
    assert sorted(p for group in groups for p in group) == list(range(len(sizes)))
    loads = [sum(sizes[p] for p in group) for group in groups]
    assert max(loads) - min(loads) <= max(sizes)


def test_each_partition_has_its_own_task_if_there_are_enough_cores() -> None:
    assert sorted(split(planned([5, 1, 9]), 16)) == [[0], [1], [2]]
