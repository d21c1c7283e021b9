"""The whole system, broken at random for a while. `make chaos` does the same for an hour."""

import secrets
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.chaos.system.flows import ChaosFlow
from tests.chaos.system.machine import Machine
from tests.chaos.system.plan import Kind
from tests.chaos.system.trial import Settings, run

from holdfast.client.connection import Connection
from holdfast.client.flow import Flow
from holdfast.client.producer import Producer
from holdfast.client.settings import ClientSettings
from holdfast.pipeline.audit.verify import VerifyOptions, verify

FLOW = ChaosFlow("payments", 2, schema="id BIGINT NOT NULL")
SECONDS = 12.0
PER_MINUTE = 60.0
CHEAP = set(Kind) - {
    Kind.SPARK_KILLED,
    Kind.DRIVER_KILLED,
    Kind.TASK_KILLED,
    Kind.PIPELINE_REPLACED,
}
"""Faults that need neither another start of Spark nor a burst of events. The others have their own
tests."""


@pytest.mark.spark
def test_nothing_is_lost_doubled_or_reordered_whatever_breaks(
    spark: SparkSession, tmp_path: Path
) -> None:
    seed = secrets.randbelow(1 << 32)
    print(f"seed {seed}")

    def audit(machine: Machine, flow: ChaosFlow) -> str:
        connection = Connection(ClientSettings(bootstrap=machine.broker.bootstrap))
        definition = Flow(connection, flow.name, lambda: Producer(connection)).describe()
        options = VerifyOptions(lake=str(machine.folder / "lake"), full=True)
        found = verify(spark, connection, definition, options)
        return "" if found.clean else str(found.document())

    settings = Settings(
        seed=seed, seconds=SECONDS, faults_per_minute=PER_MINUTE, flows=[FLOW], kinds=CHEAP
    )
    report = run(settings, tmp_path, audit)
    assert report.as_promised, [*report.findings.lines(), report.verify]
    assert report.faults
    assert report.processed > 0
