"""The Spark session in which all queries of a pipeline run."""

import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from holdfast.errors import ConfigError, HoldfastError, UnavailableError
from holdfast.jars import jars, shared_classes
from holdfast.java import require_java
from holdfast.pipeline.spark.errors import root_cause

GATE_POOL = "gate"
LAKE_POOL = "lake"
RUNS_POOL = "runs"
"""Pools of `fairscheduler.xml`; see `use_pool`."""

_LOOPBACK = "127.0.0.1"
_END_SECONDS = 1.0
"""A killed process has ended this long after its last failed response."""

WORKER_DAEMON = "holdfast.pipeline.process.worker_daemon"
"""The module that Spark starts its Python workers from."""

# The gate's promises need these values: users cannot change them.
_FIXED = {
    # A second attempt of a task beside the first would be a second writer of the same step.
    "spark.speculation": "false",
    # Dates of events are in UTC, wherever the pipeline runs.
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.scheduler.mode": "FAIR",
}

_DEFAULTS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    # A pipeline runs for months, so Spark's history of finished work is kept short.
    "spark.sql.streaming.numRecentProgressUpdates": "20",
    "spark.ui.retainedJobs": "50",
    "spark.ui.retainedStages": "50",
    "spark.ui.retainedTasks": "1000",
    "spark.sql.ui.retainedExecutions": "20",
    "spark.sql.streaming.ui.retainedQueries": "20",
    "spark.databricks.delta.snapshotPartitions": "2",
    # Delta lists the files of a table in as many tasks as this; 10,000 of them take minutes.
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "8",
    "spark.python.daemon.module": WORKER_DAEMON,
    # A worker allocates and frees tens of megabytes in each step. By default it returns the memory
    # to the system each time and gets it back by page faults: an eighth of its processor time.
    "spark.executorEnv.MALLOC_TRIM_THRESHOLD_": str(512 * 1024**2),
    "spark.executorEnv.MALLOC_TOP_PAD_": str(64 * 1024**2),
    "spark.executorEnv.MALLOC_MMAP_THRESHOLD_": str(32 * 1024**2),
}

# Hadoop's own local file system forks a chmod for each checkpoint file: 70 ms per batch. This one
# does not, but Spark uses it for checkpoints only through `FileSystem`.
_LOCAL_FILES = {
    "spark.hadoop.fs.file.impl": "com.globalmentor.apache.hadoop.fs.BareLocalFileSystem",
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing."
        "FileSystemBasedCheckpointFileManager"
    ),
    "spark.delta.logStore.file.impl": "io.delta.storage.LocalLogStore",
}


class SparkEndedError(HoldfastError):
    """Spark's process started and then ended: the way it was started is not the problem."""


def create_session(
    folder: Path,
    *,
    master: str = "local[*]",
    driver_memory: str = "1g",
    ui_port: int | None = None,
    log_format: Literal["text", "json"] = "text",
    more: Mapping[str, str] | None = None,
) -> SparkSession:
    """Start Spark with the pipeline's settings. A process can have one session at a time.

    `folder` is for Spark's scratch files. `more` are additional Spark settings; one that would
    change a fixed setting raises ConfigError.
    """
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    if is_local(master):
        os.environ.setdefault("SPARK_LOCAL_IP", _LOOPBACK)  # where Spark's web UI listens
    builder = SparkSession.builder.master(master).appName("holdfast")
    settings = _settings(folder, master, driver_memory, ui_port, log_format, more or {})
    require_java()
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        return _start(builder)
    except Exception as error:
        if _has_ended(error):
            raise SparkEndedError("Spark's process has ended while it was starting.") from error
        raise UnavailableError(
            f"Spark could not be started at {master}: {root_cause(error)} "
            "`holdfast doctor` checks what it needs on this machine."
        ) from error


def _start(builder: SparkSession.Builder) -> SparkSession:
    """The session. If Spark's process ends before it reports its port, it is started once more."""
    try:
        return builder.getOrCreate()
    except PySparkRuntimeError as error:
        if error.getCondition() != "JAVA_GATEWAY_EXITED":
            raise
    return builder.getOrCreate()


def _has_ended(error: Exception) -> bool:
    """Returns True if Spark's process has ended, which can cause many kinds of errors."""
    gateway: Any = SparkContext._gateway
    if gateway is None:
        # PySpark stores the gateway only after its first calls. A process that reported its port
        # and then fails one of these calls has ended; one that did not report it never started.
        return isinstance(error, Py4JError)
    with suppress(subprocess.TimeoutExpired):
        gateway.proc.wait(_END_SECONDS)
    return gateway.proc.poll() is not None


def use_pool(session: SparkSession, pool: str) -> None:
    """Jobs and queries that this thread starts from now on run in that pool."""
    session.sparkContext.setLocalProperty("spark.scheduler.pool", pool)


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
                f"The Spark setting {name} must be {_FIXED[name]!r}: with another value the "
                f"pipeline cannot keep its promises. Remove {name}={more[name]!r}."
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
    """Returns True if driver and tasks run in one JVM."""
    return master == "local" or master.startswith("local[")


def _of_this_machine(folder: Path, driver_memory: str, log_format: str) -> dict[str, str]:
    return {
        "spark.driver.memory": driver_memory,
        # Stopping a query in the middle of a batch overflowed a stack of the default size.
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
    """The Java option for the archive of Spark's classes. A JVM that cannot use the archive starts
    without it; its messages about that are not useful and are turned off."""
    file = shared_classes()
    if not file.exists() or not file.stat().st_size:  # empty: it could not be written
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
