"""Random histories against the naive model. To see one again: `run_history(seed)`."""

import pytest
from tests.unit.gate.history import run_history

HISTORIES = 10_000
_BLOCK = 1_000


@pytest.mark.parametrize("first", range(0, HISTORIES, _BLOCK))
def test_random_histories_with_crashes_keep_every_promise(first: int) -> None:
    for seed in range(first, first + _BLOCK):
        run_history(seed)
