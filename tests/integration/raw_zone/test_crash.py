"""The process that lands events is killed (kill -9) around Delta's commit."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from pyspark.sql import SparkSession
from tests.brokers import DIES_WITH_PARENT, EmbeddedBroker
from tests.clients import producer, send, wait_until
from tests.integration.raw_zone.conftest import LANDS_WITHIN_S, Zone

pytestmark = pytest.mark.spark

BATCH = 20


@pytest.mark.parametrize(
    ("point", "landed"),
    [
        ("raw-zone-before-commit", 0),
        ("raw-zone-after-commit", BATCH),
        ("raw-zone-after-vacuum", BATCH),
    ],
)
def test_each_event_lands_once_after_a_kill(
    point: str,
    landed: int,
    embedded_broker: EmbeddedBroker,
    spark: SparkSession,
    make_zone: Callable[..., Zone],
    tmp_path: Path,
) -> None:
    zone = make_zone(embedded_broker, partitions=2)
    client = producer(embedded_broker)
    for partition in (0, 1):
        send(client, zone.topic, [b"v"] * (BATCH // 2), partition=partition)
    reached = tmp_path / "reached"
    process = start_landing(zone, tmp_path, {"HOLDFAST_FAULT": f"{point}@1={reached}"})
    try:
        wait_until(lambda: reached.exists() or process.poll() is not None, point, LANDS_WITHIN_S)
        assert process.poll() is None, (tmp_path / "landing.log").read_text()
        assert len(zone.offsets()) == landed
        send(client, zone.topic, [b"later"] * 5)
    finally:
        kill_all(process)
    zone.run_until(spark, BATCH + 5)
    half = BATCH // 2
    assert zone.offsets() == [*((0, o) for o in range(half + 5)), *((1, o) for o in range(half))]


def kill_all(process: "subprocess.Popen[bytes]") -> None:
    """Kill Python and its JVM, and wait until both are gone."""
    jvm = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    psutil.wait_procs(jvm, 20)


def start_landing(
    zone: Zone, folder: Path, environment: dict[str, str]
) -> "subprocess.Popen[bytes]":
    given = {
        "scratch": str(folder / "scratch"),
        "bootstrap": zone.broker.bootstrap,
        "flow": zone.flow.name,
        "partitions": zone.flow.partitions,
        "lake": zone.lake,
    }
    command = [sys.executable, "-m", "tests.integration.raw_zone.landing", json.dumps(given)]
    with (folder / "landing.log").open("wb") as log:
        return subprocess.Popen(
            [*DIES_WITH_PARENT, *command],
            stdout=log,
            stderr=log,
            env={**os.environ, **environment},
            start_new_session=True,
        )
