"""Which of a pipeline's processes a fault is meant for."""

from tests.chaos.system.processes import is_spark, is_task_worker

from holdfast.pipeline.spark.session import WORKER_DAEMON

WORKER = ["/venv/bin/python", "-m", WORKER_DAEMON, "pyspark.worker"]
JVM = [
    "/usr/bin/java", "-cp", "/jars/*", "org.apache.spark.deploy.SparkSubmit",
    "--conf", f"spark.python.daemon.module={WORKER_DAEMON}", "pyspark-shell",
]  # fmt: skip
OTHERS = [
    ["/venv/bin/python", "-m", "holdfast.cli", "pipeline"],
    ["java", "kafka.Kafka"],
    ["-m"],
    [],
]


def test_faults_of_tasks_and_of_spark_find_their_own_processes_alone() -> None:
    assert [is_task_worker(command) for command in (WORKER, JVM, *OTHERS)] == [True] + 5 * [False]
    assert [is_spark(command) for command in (JVM, WORKER, *OTHERS)] == [True] + 5 * [False]
