"""The Spark session in which all queries of a pipeline run."""

import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from pyspark import SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from holdfast.errors import ConfigError, HoldfastError, UnavailableError
from holdfast.jars import jars, shared_classes
from holdfast.pipeline.query_errors import said_by

GATE_POOL = "gate"
LAKE_POOL = "lake"
RUNS_POOL = "runs"
"""Pools of `fairscheduler.xml`; see `use_pool`."""

_LOOPBACK = "127.0.0.1"
_END_SECONDS = 1.0
"""So long after its last answer failed, a process that was killed is gone."""

# Promises rest on these: nobody can set them otherwise.
_FIXED = {
    # A second attempt of a task beside the first would be one more writer of the same step.
    "spark.speculation": "false",
    # Dates of events are those of UTC, wherever the pipeline runs.
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.scheduler.mode": "FAIR",
}

_DEFAULTS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    # A pipeline runs for months, so what Spark remembers of finished work is kept short.
    "spark.sql.streaming.numRecentProgressUpdates": "20",
    "spark.ui.retainedJobs": "50",
    "spark.ui.retainedStages": "50",
    "spark.ui.retainedTasks": "1000",
    "spark.sql.ui.retainedExecutions": "20",
    "spark.sql.streaming.ui.retainedQueries": "20",
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.python.daemon.module": "holdfast.pipeline.worker_daemon",
    # A worker allocates and frees tens of megabytes with each step. Without these it gives the
    # memory back each time, and faults it in again: an eighth of its processor time.
    "spark.executorEnv.MALLOC_TRIM_THRESHOLD_": str(512 * 1024**2),
    "spark.executorEnv.MALLOC_TOP_PAD_": str(64 * 1024**2),
    "spark.executorEnv.MALLOC_MMAP_THRESHOLD_": str(32 * 1024**2),
}

# Hadoop's own local file system forks a chmod for each file of a checkpoint, 70 ms a batch. This
# one does not, but Spark uses it for checkpoints only if it goes through `FileSystem`.
_LOCAL_FILES = {
    "spark.hadoop.fs.file.impl": "com.globalmentor.apache.hadoop.fs.BareLocalFileSystem",
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing."
        "FileSystemBasedCheckpointFileManager"
    ),
    "spark.delta.logStore.file.impl": "io.delta.storage.LocalLogStore",
}


class SparkEndedError(HoldfastError):
    """Spark's process was there, and is gone: nothing is wrong with how it was started."""


def create_session(
    folder: Path,
    *,
    master: str = "local[*]",
    driver_memory: str = "1g",
    ui_port: int | None = None,
    log_format: Literal["text", "json"] = "text",
    more: Mapping[str, str] | None = None,
) -> SparkSession:
    """Start Spark as the pipeline needs it. A process can have one session at a time.

    `folder` is for Spark's scratch files. `more` are further Spark settings by name; one that a
    promise rests on is a ConfigError.
    """
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    if is_local(master):
        os.environ.setdefault("SPARK_LOCAL_IP", _LOOPBACK)  # where Spark's web UI listens
    builder = SparkSession.builder.master(master).appName("holdfast")
    settings = _settings(folder, master, driver_memory, ui_port, log_format, more or {})
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        return _begun(builder)
    except Exception as error:
        if _has_ended():
            raise SparkEndedError("Spark's process has ended while it was starting.") from error
        raise UnavailableError(
            f"Spark could not be started at {master}: {said_by(error)} "
            "`holdfast doctor` looks at what it needs on this machine."
        ) from error


def _begun(builder: SparkSession.Builder) -> SparkSession:
    """The session. Spark's process may end before it has said where it listens: once may be an
    accident."""
    try:
        return builder.getOrCreate()
    except PySparkRuntimeError as error:
        if error.getCondition() != "JAVA_GATEWAY_EXITED":
            raise
    return builder.getOrCreate()


def _has_ended() -> bool:
    """Whether Spark's process is gone. Errors that this led to come in many kinds."""
    gateway: Any = SparkContext._gateway
    if gateway is None:
        return False
    with suppress(subprocess.TimeoutExpired):
        gateway.proc.wait(_END_SECONDS)
    return gateway.proc.poll() is not None


def use_pool(session: SparkSession, pool: str) -> None:
    """What this thread starts from now on, jobs and queries, runs in that pool."""
    session.sparkContext.setLocalProperty("spark.scheduler.pool", pool)


def for_few_rows(session: SparkSession) -> SparkSession:
    """A session beside this one, which shares all with it but that its queries are neither compiled
    nor planned again after each stage: over few rows that takes longer than to run them."""
    beside = session.newSession()
    beside.conf.set("spark.sql.codegen.wholeStage", "false")
    beside.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    beside.conf.set("spark.sql.adaptive.enabled", "false")
    return beside


def _settings(
    folder: Path,
    master: str,
    driver_memory: str,
    ui_port: int | None,
    log_format: str,
    more: Mapping[str, str],
) -> dict[str, str]:
    for name in more.keys() & _FIXED.keys():
        if more[name] != _FIXED[name]:
            raise ConfigError(
                f"The Spark setting {name} must be {_FIXED[name]!r}: without it the pipeline "
                f"cannot keep its promises. Leave {name}={more[name]!r} out."
            )
    return {
        **_DEFAULTS,
        **_of_this_machine(folder, driver_memory, log_format),
        **_of_ui(ui_port),
        **(_of_one_machine() if is_local(master) else _of_a_cluster()),
        **more,
        **_FIXED,
    }


def is_local(master: str) -> bool:
    """Whether driver and tasks are one process."""
    return master == "local" or master.startswith("local[")


def _of_this_machine(folder: Path, driver_memory: str, log_format: str) -> dict[str, str]:
    return {
        "spark.driver.memory": driver_memory,
        # Stopping a query in mid-batch overflowed a stack of the default size.
        "spark.driver.extraJavaOptions": (
            f"-Xss16m -Dholdfast.log.format={log_format} "
            f"-Dlog4j2.configurationFile={_own_file('log4j2.properties').as_uri()}"
            f"{_class_sharing()}"
        ),
        "spark.driver.extraClassPath": os.pathsep.join(map(str, jars("spark"))),
        "spark.scheduler.allocation.file": _own_file("fairscheduler.xml").as_uri(),
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }


def _class_sharing() -> str:
    """A JVM that cannot use the file begins without it; what it would say of that is of no use."""
    file = shared_classes()
    if not file.exists() or not file.stat().st_size:  # empty: it could not be written here
        return ""
    return f' "-XX:SharedArchiveFile={file}" -Xlog:cds=off -Xlog:cds+dynamic=off'


def _of_ui(port: int | None) -> dict[str, str]:
    if port is None:
        return {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    return {
        "spark.ui.enabled": "true",
        "spark.ui.port": str(port),
        "spark.ui.showConsoleProgress": "false",
    }


def _of_one_machine() -> dict[str, str]:
    loopback = {"spark.driver.host": _LOOPBACK, "spark.driver.bindAddress": _LOOPBACK}
    return {**loopback, **_LOCAL_FILES}


def _of_a_cluster() -> dict[str, str]:
    # Executors have neither the driver's class path nor its file system.
    return {"spark.jars": ",".join(map(str, jars("spark")))}


def _own_file(name: str) -> Path:
    return Path(str(files("holdfast.pipeline") / name))
