"""Which partitions go to one task."""

import random

import pytest

from holdfast.pipeline.copies import Copy
from holdfast.pipeline.tasks import Share, split


def shares(sizes: list[int]) -> dict[int, Share]:
    copy = Copy("", b"", (), b"")
    return {p: Share(100, 100 + size, copy, 0, "") for p, size in enumerate(sizes)}


@pytest.mark.parametrize("seed", range(20))
def test_every_partition_is_in_one_task_and_no_task_waits_for_more_than_the_largest(
    seed: int,
) -> None:
    random_ = random.Random(seed)
    sizes = [random_.randrange(1, 100_000) for _ in range(random_.randrange(1, 40))]
    most = random_.randrange(1, 8)
    groups = split(shares(sizes), most)
    assert len(groups) == min(most, len(sizes))
    assert sorted(p for group in groups for p in group) == list(range(len(sizes)))
    loads = [sum(sizes[p] for p in group) for group in groups]
    assert max(loads) - min(loads) <= max(sizes)


def test_with_room_for_all_each_partition_has_a_task_of_its_own() -> None:
    assert sorted(split(shares([5, 1, 9]), 16)) == [[0], [1], [2]]
