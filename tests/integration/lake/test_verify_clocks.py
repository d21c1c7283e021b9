"""Verify compares expiries with the broker's clock, and accuses by no ordinary difference."""

from dataclasses import astuple, dataclass
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.brokers import BrokerProcess
from tests.integration.lake.history import faults
from tests.integration.pipeline.world import WallClock, World, running

from holdfast.flows.journal import Outcome
from holdfast.pipeline.audit.clocks import TOLERANCE_MS, expired_early
from holdfast.pipeline.audit.verification import Fault
from holdfast.pipeline.audit.verify import VerifyOptions, verify

pytestmark = pytest.mark.spark

HOUR = 3_600_000
NOON = 1_700_000_000_000


@dataclass(frozen=True)
class Expiry:
    """A hold of an hour from noon on, and when each clock said that it ended."""

    asked_at: int = NOON
    expires_at: int = NOON + HOUR
    given_at: int | None = NOON
    appended_at: int | None = NOON + HOUR


CASES = {
    "in time": (Expiry(), False),
    "half an hour early": (Expiry(appended_at=NOON + HOUR // 2), True),
    "at once": (Expiry(appended_at=NOON), True),
    "as early as clocks may differ": (Expiry(appended_at=NOON + HOUR - TOLERANCE_MS), False),
    "earlier": (Expiry(appended_at=NOON + HOUR - TOLERANCE_MS - 1), True),
    "the broker's clock is always behind": (Expiry(given_at=NOON - HOUR, appended_at=NOON), False),
    "the broker's clock is always ahead": (
        Expiry(given_at=NOON + HOUR, appended_at=NOON + 2 * HOUR),
        False,
    ),
    "the broker's clock was set back meanwhile": (Expiry(appended_at=NOON - HOUR), False),
    "the sender's clock was behind": (
        Expiry(given_at=NOON + HOUR, appended_at=NOON + HOUR + 1),
        False,
    ),
    "the sender's clock was ahead": (Expiry(given_at=NOON - HOUR), False),
    "the producer's time on control": (Expiry(given_at=None, appended_at=NOON), False),
    "the producer's time on the journal": (Expiry(appended_at=None), False),
}


def test_an_expiry_is_early_only_beyond_the_usual_clock_difference(
    spark: SparkSession,
) -> None:
    rows = [(name, *astuple(expiry)) for name, (expiry, _) in CASES.items()]
    columns = "name STRING, asked_at LONG, expires_at LONG, given_at LONG, appended_at LONG"
    judged = spark.createDataFrame(rows, columns).select("name", expired_early().alias("early"))
    assert {row["name"]: row["early"] for row in judged.collect()} == {
        name: early for name, (_, early) in CASES.items()
    }


def test_holds_expired_early_by_a_fast_clock_are_found(
    kafka: BrokerProcess,
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    wall = WallClock(monkeypatch)
    world = World(kafka, partitions=1)
    options = VerifyOptions(lake=str(tmp_path), raw_zone=False, full=True)
    with running(world):
        world.flow.hold("short", expires_in=0.5).wait()
        world.send(b"short", b"1")
        world.wait_for(Outcome.DRAINED, b"short")
    assert verify(spark, world.connection, world.flow.describe(), options).clean
    wall.ahead = 3 * 3_600
    with running(world):
        world.flow.hold("early", expires_in=3_600).wait()
        world.wait_for(Outcome.EXPIRED, b"early")
        wall.ahead = 0
    found = verify(spark, world.connection, world.flow.describe(), options)
    assert list(faults(found)) == [Fault.EXPIRED_EARLY]
    (check,) = [check for check in found.checks if check.found]
    (example,) = check.found[0].examples
    assert "the gate's clock was" in example.detail
    assert "the broker's" in example.detail
