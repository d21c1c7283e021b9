"""Random histories of a log. To see one again: `run_history(seed, root)`. More: `make fuzz`."""

from tests.unit.broker.log.history import run_history, world_of_histories

HISTORIES = 300


def test_random_histories_with_crashes_agree_with_the_model() -> None:
    with world_of_histories() as root:
        for seed in range(HISTORIES):
            run_history(seed, root)
