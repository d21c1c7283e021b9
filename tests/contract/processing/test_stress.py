"""Fifteen seconds of what `make chaos` does for two minutes."""

import secrets

import pytest
from tests.brokers import BrokerProcess
from tests.chaos.processing import ASSIGNORS, stress


@pytest.mark.parametrize("assignor", ASSIGNORS)
def test_members_that_come_and_go_and_pauses_by_others_lose_nothing(
    kafka: BrokerProcess, assignor: str
) -> None:
    seed = secrets.randbelow(1 << 32)
    ledger = stress(kafka, assignor, seconds=15, seed=seed, rate=10_000)
    assert not ledger.faults, f"seed {seed}: {ledger.faults[:5]}"
    assert ledger.ownerships > 2, f"seed {seed}: no rebalance"
