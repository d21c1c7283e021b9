"""How Spark's process starts, and what if it is killed before the pipeline has come to run."""

import gc
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.brokers import DIES_WITH_PARENT, EmbeddedBroker
from tests.clients import DEADLINE_S, wait_until

from holdfast.jars import shared_classes
from holdfast.pipeline.parts.ticket import START_AGAIN

pytestmark = pytest.mark.spark


def written_classes() -> bool:
    return shared_classes().exists() and shared_classes().stat().st_size > 0


def java_of(pid: int) -> psutil.Process | None:
    """A process of Spark's start, not the one that tells which Java this is."""
    for child in psutil.Process(pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # Spark's start scripts come and go
            if child.name() == "java" and "-version" not in child.cmdline():
                return child
    return None


def connected_java(pid: int) -> psutil.Process | None:
    """Spark's process, once Python speaks with it; its session takes seconds from there."""
    java = java_of(pid)
    if java is None:
        return None
    with suppress(psutil.NoSuchProcess):
        connections = java.net_connections()
        if any(each.status == psutil.CONN_ESTABLISHED for each in connections):
            return java
    return None


def start_pipeline(broker: EmbeddedBroker, folder: Path) -> subprocess.Popen[bytes]:
    options = ["--kafka", broker.bootstrap, "--data-dir", str(folder / "data")]
    options += ["--lake", str(folder / "lake")]
    command = [*DIES_WITH_PARENT, sys.executable, "-m", "holdfast.cli", "pipeline", *options]
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)


def test_a_pipeline_whose_spark_is_killed_while_it_starts_asks_to_be_started_again(
    embedded_broker: EmbeddedBroker, tmp_path: Path
) -> None:
    process = start_pipeline(embedded_broker, tmp_path)
    try:
        wait_until(lambda: connected_java(process.pid), "Spark's process", 120).kill()
        assert process.wait(DEADLINE_S) == START_AGAIN, (tmp_path / "log").read_text()
    finally:
        process.kill()
        process.wait()
    said = (tmp_path / "log").read_text()
    assert "Spark's process has ended while it was starting" in said
    assert "Traceback" not in said


def test_spark_is_started_again_if_its_process_is_killed_before_it_listens(
    embedded_broker: EmbeddedBroker, tmp_path: Path
) -> None:
    process = start_pipeline(embedded_broker, tmp_path)
    try:
        first = wait_until(lambda: java_of(process.pid), "Spark's process", 120)
        first.kill()
        first.wait(DEADLINE_S)
        wait_until(
            lambda: connected_java(process.pid) or process.poll() is not None, "another", 120
        )
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()


@pytest.mark.skipif(not written_classes(), reason="`make setup` was not run, or could not write it")
def test_spark_maps_the_classes_that_were_written_for_it(spark: SparkSession) -> None:
    gateway = spark.sparkContext._gateway
    assert gateway is not None
    java = psutil.Process(gateway.proc.pid)
    assert str(shared_classes().resolve()) in {each.path for each in java.memory_maps()}


def test_workers_start_with_loaded_modules_outside_of_garbage_collection(
    spark: SparkSession,
) -> None:
    def look(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        loaded = "holdfast.pipeline.gate.tasks" in sys.modules
        frozen, others = gc.get_freeze_count(), len(gc.get_objects())
        list(rows)
        yield pa.RecordBatch.from_pydict({"ready": [loaded and frozen > others]})

    assert spark.range(0, 1, 1, 1).mapInArrow(look, "ready boolean").collect() == [(True,)]
