"""A short fuzz of the API and the pages; `make fuzz` goes on for longer and with other seeds."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.brokers import EmbeddedBroker
from tests.fuzz.api import ApiAttack, ApiBroken
from tests.integration.api.served import Api, serving

SEED = 20_262
ROUNDS = 300


@pytest.fixture
def attacked(tmp_path: Path) -> Iterator[Api]:
    """Nobody else's: it is left full of odd flows."""
    with EmbeddedBroker(tmp_path) as broker, serving(broker) as api:
        yield api


def test_no_request_makes_the_web_process_fail(attacked: Api) -> None:
    with ApiAttack(attacked, SEED) as attack:
        for _ in range(ROUNDS):
            attack.round()
        attack.check()
    assert attack.rounds["requests answered 200"] > ROUNDS / 10

    @attacked.app.get("/api/v1/fails")
    def fails() -> None:
        raise RuntimeError("on purpose")

    with (
        ApiAttack(attacked, SEED) as attack,
        pytest.raises(ApiBroken, match="/api/v1/fails None failed"),
    ):
        attack.send(random.Random(SEED), "GET", "/api/v1/fails")
