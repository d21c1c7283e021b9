"""What commands that run a job in Spark share: where the lake is, and a session of their own."""

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from holdfast.client.connection import Connection
    from holdfast.flows.registry import FlowDefinition

FlowName = Annotated[str, typer.Argument(metavar="FLOW", help="The flow's name.")]
Lake = Annotated[
    str | None,
    typer.Option(
        "--lake",
        metavar="URL",
        help="Folder or URL of the lake.",
        show_default="that of [pipeline]: holdfast-data/lake",
    ),
]
SparkMaster = Annotated[
    str | None,
    typer.Option(
        "--spark-master", metavar="URL", help="Where Spark runs.", show_default="local[*]"
    ),
]
SparkMemory = Annotated[
    str | None,
    typer.Option("--spark-memory", metavar="SIZE", help="Heap of the driver.", show_default="1g"),
]
AsRun = Annotated[
    bool,
    typer.Option(
        "--run",
        help="Ask the running pipeline for it, as a run, instead of starting Spark here.",
    ),
]

COULD_NOT = 5
"""The job could not be carried out, so nothing is known. (1 says that something is wrong.)"""


@dataclass(frozen=True, slots=True)
class Job:
    """All that a job on a flow is given."""

    session: "SparkSession"
    connection: "Connection"
    flow: "FlowDefinition"
    lake: str
    progress: Callable[[float, str], None]


@contextmanager
def spark_job(
    flow: str,
    *,
    bootstrap: str | None,
    config: Path | None,
    lake: str | None,
    spark_master: str | None,
    spark_memory: str | None,
) -> Iterator[Job]:
    """A job on a flow that exists, in a Spark session that ends with it.

    What keeps it from being done ends the command with a sentence, and never with the code 1.
    """
    from holdfast.cli.program import exit_code, fail
    from holdfast.client.connection import Connection
    from holdfast.client.flow import Flow
    from holdfast.client.producer import Producer
    from holdfast.client.settings import ClientSettings
    from holdfast.config import load
    from holdfast.errors import HoldfastError
    from holdfast.pipeline.query_errors import said_by
    from holdfast.pipeline.session import create_session
    from holdfast.pipeline.settings import PipelineSettings

    flags = {"lake": lake, "spark_master": spark_master, "spark_memory": spark_memory}
    try:
        settings = load(PipelineSettings, "pipeline", flags=flags, file=config)
        address = {"bootstrap": bootstrap}
        connection = Connection(load(ClientSettings, "client", flags=address, file=config))
        connection.check()
        definition = Flow(connection, flow, lambda: Producer(connection)).describe()
        with (
            tempfile.TemporaryDirectory(prefix="holdfast-") as folder,
            _progress() as progress,
        ):
            progress(0.0, "Starting Spark")
            session = create_session(
                Path(folder), master=settings.spark_master, driver_memory=settings.spark_memory
            )
            session.sparkContext.setLogLevel("ERROR")
            try:
                yield Job(session, connection, definition, settings.lake_root, progress)
            finally:
                session.stop()
    except HoldfastError as error:
        fail(str(error), exit_code(error) if exit_code(error) != 1 else COULD_NOT)
    except typer.Exit:
        raise
    except Exception as error:
        if not type(error).__module__.startswith(("py4j", "pyspark")):
            raise
        fail(f"Spark could not do this: {said_by(error)}", COULD_NOT)


@contextmanager
def _progress() -> Iterator[Callable[[float, str], None]]:
    """A bar on standard error while somebody watches."""
    if not sys.stderr.isatty():
        yield lambda share, what: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=1.0)
        yield lambda share, what: progress.update(task, completed=share, description=what)
