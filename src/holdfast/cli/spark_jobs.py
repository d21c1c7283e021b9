"""Options and sessions of commands that run a job in Spark."""

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.options import Cluster, OptionGroup

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from holdfast.client.connection import Connection
    from holdfast.flows.registry import FlowDefinition

AsRun = Annotated[
    bool,
    typer.Option(
        "--run",
        help="Let the running pipeline do it, as a run, instead of starting Spark here.",
    ),
]


@dataclass(frozen=True, slots=True)
class FlowSession:
    """A flow and the Spark session for a job on it."""

    session: "SparkSession"
    connection: "Connection"
    flow: "FlowDefinition"
    lake: str
    progress: Callable[[float, str], None]


@dataclass(frozen=True, slots=True)
class SparkOptions(OptionGroup):
    """Options of commands that start Spark."""

    lake: Annotated[
        str | None,
        typer.Option("--lake", metavar="URL", help="Folder or URL of the lake.",
                     show_default="that of [pipeline]: holdfast-data/lake"),
    ] = None  # fmt: skip
    spark_master: Annotated[
        str | None,
        typer.Option("--spark-master", metavar="URL", help="Where Spark runs.",
                     show_default="local[*]"),
    ] = None  # fmt: skip
    spark_memory: Annotated[
        str | None,
        typer.Option("--spark-memory", metavar="SIZE", help="Heap of the driver.",
                     show_default="1g"),
    ] = None  # fmt: skip


@contextmanager
def spark_job(flow: str, spark: SparkOptions, cluster: Cluster) -> Iterator[FlowSession]:
    """A job on an existing flow, in a Spark session that ends with it. See `no_verdict`."""
    with no_verdict(), _spark_job(flow, spark, cluster) as job:
        yield job


@contextmanager
def _spark_job(flow: str, spark: SparkOptions, cluster: Cluster) -> Iterator[FlowSession]:
    from holdfast.cli import COULD_NOT
    from holdfast.cli.program import fail
    from holdfast.client.flow import Flow
    from holdfast.client.producer import Producer
    from holdfast.config import load
    from holdfast.errors import ConflictError, HoldfastError
    from holdfast.pipeline.process.settings import PipelineSettings
    from holdfast.pipeline.spark.errors import root_cause
    from holdfast.pipeline.spark.session import create_session

    try:
        settings = load(PipelineSettings, "pipeline", flags=asdict(spark), file=cluster.config)
        connection = cluster.connection()
        connection.check()
        definition = Flow(connection, flow, lambda: Producer(connection)).describe()
        if definition.is_guard:
            raise ConflictError(f"{flow!r} is a guard: this needs a flow with a gate.")
        with (
            tempfile.TemporaryDirectory(prefix="holdfast-") as folder,
            progress_bar() as progress,
        ):
            progress(0.0, "Starting Spark")
            session = create_session(
                Path(folder), master=settings.spark_master, driver_memory=settings.spark_memory
            )
            session.sparkContext.setLogLevel("ERROR")
            try:
                yield FlowSession(session, connection, definition, settings.lake_root, progress)
            finally:
                session.stop()
    except (HoldfastError, typer.Exit):
        raise
    except Exception as error:
        if not type(error).__module__.startswith(("py4j", "pyspark")):
            raise
        fail(f"Spark could not do this: {root_cause(error)}", COULD_NOT)


@contextmanager
def no_verdict() -> Iterator[None]:
    """An error ends the command with a sentence, and never with the exit code 1, which means that
    the flow is faulty."""
    from holdfast.cli import COULD_NOT
    from holdfast.cli.program import exit_code, fail
    from holdfast.errors import HoldfastError

    try:
        yield
    except HoldfastError as error:
        fail(str(error), exit_code(error) if exit_code(error) != 1 else COULD_NOT)


@contextmanager
def progress_bar() -> Iterator[Callable[[float, str], None]]:
    """A progress bar, if standard error is a terminal."""
    if not sys.stderr.isatty():
        yield lambda share, what: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=1.0)
        yield lambda share, what: progress.update(task, completed=share, description=what)
