"""Checks of quality: what they see, and where the report is found."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.brokers import EmbeddedBroker
from tests.clients import read
from tests.integration.lake.test_tables import Lake

from holdfast.client.connection import Connection
from holdfast.client.settings import ClientSettings
from holdfast.errors import InvalidArgumentError
from holdfast.flows.quality import QUALITY_TOPIC, QualityReport, decode_quality
from holdfast.pipeline.tables.quality import QualityOptions, check_quality

pytestmark = pytest.mark.spark

GOOD = [b'{"id": "%d", "total": %d}' % (i, i) for i in range(20)]
BAD = [b'{"id": "3", "total": 4}', b'{"total": -1}', b'{"id": "x", "total": "much"}', b"no JSON"]


@pytest.fixture
def lake(spark: SparkSession, tmp_path: Path) -> Lake:
    checks = ("required id", "range total 0..100", "unique id", "fresh 1h", "volume 50..200 3")
    return Lake(spark, tmp_path, checks=checks)


def report(lake: Lake, broker: EmbeddedBroker) -> QualityReport:
    connection = Connection(ClientSettings(bootstrap=broker.bootstrap))
    return check_quality(lake.spark, connection, lake.flow, QualityOptions(lake=lake.path))


def land_days_ago(lake: Lake, days: float, values: Iterable[bytes]) -> None:
    lake.land(values, at=datetime.now(UTC) - timedelta(days=days, minutes=30))


def test_valid_events_pass_and_the_report_is_read_without_spark(
    lake: Lake, embedded_broker: EmbeddedBroker
) -> None:
    land_days_ago(lake, 1, [v.replace(b'"id": "', b'"id": "y') for v in GOOD])
    land_days_ago(lake, 0, GOOD)
    found = report(lake, embedded_broker)
    assert found.passed, found
    assert found.events == 40
    assert "100 % of the mean of 1 days" in found.results[4].says
    stored = [m for m in read(embedded_broker, QUALITY_TOPIC) if m.key() == b"orders"]
    assert decode_quality(stored[-1].key(), stored[-1].value()) == found


def test_each_check_fails_on_its_own_violation_with_a_count(
    lake: Lake, embedded_broker: EmbeddedBroker
) -> None:
    land_days_ago(lake, 3, GOOD)
    land_days_ago(lake, 2, BAD)
    found = report(lake, embedded_broker)
    assert not found.passed
    assert [(result.passed, result.failed) for result in found.results] == [
        (False, 2),  # one has no id, one is no JSON
        (False, 2),  # one is below, one is no number
        (False, 1),
        (False, 1),
        (False, 1),
    ]
    assert [result.examples for result in found.results] == [
        ("0:21", "0:23"), ("0:21", "0:22"), ("0:20",), (), ()
    ], "the events that break each check"  # fmt: skip


def test_the_error_for_a_flow_without_checks_explains_how_to_declare_one(
    spark: SparkSession, tmp_path: Path, embedded_broker: EmbeddedBroker
) -> None:
    with pytest.raises(InvalidArgumentError, match="--check"):
        report(Lake(spark, tmp_path), embedded_broker)
