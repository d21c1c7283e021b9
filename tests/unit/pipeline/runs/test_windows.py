"""Windows: a long range in pieces, of which none overlap and none is missing."""

import random
from collections import defaultdict

import pytest

from holdfast.pipeline.runs.windows import Windows


@pytest.mark.parametrize("seed", range(20))
def test_windows_cover_every_offset_once_and_in_order(seed: int) -> None:
    chance = random.Random(seed)
    slices = {
        number: (start, start + chance.choice([0, 1, 7, 1_000, 10**6]))
        for number in range(chance.randint(1, 8))
        for start in [chance.randint(0, 1_000)]
    }
    windows = Windows(dict(slices), rows=chance.randint(1, 10**4), total=chance.randint(0, 10**6))
    reached: dict[int, int] = defaultdict(int, {n: start for n, (start, _) in slices.items()})
    turns = 0
    while (window := windows.take()) is not None:
        turns += 1
        assert turns < 10_000, f"seed {seed}"
        for number, (start, end) in window.items():
            assert start == reached[number], f"seed {seed}"
            assert start < end
            reached[number] = end
        # As many rows as there are offsets, or none: then windows grow, and it ends soon.
        windows.learn(sum(e - s for s, e in window.values()) if chance.random() < 0.1 else 0)
    assert dict(reached) == {n: end for n, (_, end) in slices.items()}, f"seed {seed}"


def test_windows_shrink_at_once_for_dense_rows_and_grow_step_by_step() -> None:
    windows = Windows({0: (0, 10**9)}, rows=1_000, total=10**6)
    (start, end) = (windows.take() or {})[0]
    assert end - start == 10**6, "a row in a thousand offsets"
    windows.learn(10**6)
    (start, end) = (windows.take() or {})[0]
    assert end - start == 1_000
    windows.learn(0)
    (start, end) = (windows.take() or {})[0]
    assert end - start == 4_000
