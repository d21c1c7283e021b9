"""Thousands of random histories, each reproduced by its seed."""

import logging
from collections.abc import Iterator

import arroyo.processing.processor
import pytest
from tests.unit.processing.histories import World, broken_promise

HISTORIES = 10_000


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    real_time = arroyo.processing.processor.time  # type: ignore[attr-defined]
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)
    arroyo.processing.processor.time = real_time  # type: ignore[attr-defined]


def test_random_histories_keep_every_promise() -> None:
    broken = [b for seed in range(HISTORIES) if (b := broken_promise(seed, "holdfast"))]
    assert not broken, f"{len(broken)} histories, first: {broken[:3]}"


def test_the_histories_find_the_known_bugs_of_sentry_arroyos_loop() -> None:
    broken = [b for seed in range(300) if (b := broken_promise(seed, "sentry-arroyo"))]
    assert len(broken) > 100
    for fault in ("strategy told", "unpaused itself", "TransportError", "others' pauses"):
        assert any(fault in b for b in broken), fault


def test_the_histories_contain_rebalances_pauses_and_errors() -> None:
    """Otherwise they prove nothing."""
    seen: dict[str, int] = {}
    for seed in range(200):
        world = World(seed, "holdfast")
        world.run()
        for event, count in world.events.items():
            seen[event] = seen.get(event, 0) + count
    assert set(seen) == {"_eager", "_give", "_take", "_pause", "_resume", "_fail"}
    assert min(seen.values()) > 100
