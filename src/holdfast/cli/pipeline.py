"""`holdfast pipeline`: run the gate and the raw zone of every flow."""

from enum import StrEnum
from typing import Annotated

import typer

from holdfast.cli.options import Config
from holdfast.cli.program import application

app = application()


class LogFormat(StrEnum):
    TEXT = "text"
    JSON = "json"


@app.command()
def pipeline(
    kafka: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Brokers.", show_default="those of [client]"),
    ] = None,
    spark_master: Annotated[
        str | None, typer.Option(metavar="URL", help="Where Spark runs.", show_default="local[*]")
    ] = None,
    spark_memory: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Heap of the driver.", show_default="1g")
    ] = None,
    spark_ui_port: Annotated[
        int | None, typer.Option(metavar="PORT", help="Port of Spark's own pages.")
    ] = None,
    lake: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Folder or URL of the lake.", show_default="holdfast-data/lake"
        ),
    ] = None,
    data_dir: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", help="For scratch files.", show_default="holdfast-data/pipeline"
        ),
    ] = None,
    http: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Address of /metrics and /healthz.")
    ] = None,
    gate: Annotated[
        bool | None, typer.Option(help="Hold and release.", show_default="gate")
    ] = None,
    raw_zone: Annotated[
        bool | None, typer.Option(help="Land every event in Delta.", show_default="raw-zone")
    ] = None,
    accept_loss: Annotated[
        str | None,
        typer.Option(
            metavar="FLOW,...", help="Go on although events were deleted before they were read."
        ),
    ] = None,
    log_format: Annotated[
        LogFormat | None, typer.Option(help="Form of the log.", show_default="text")
    ] = None,
    config: Config = None,
) -> None:
    """Run the gate and the raw zone of every flow until SIGTERM or Ctrl-C.

    New and changed flows are picked up. Any setting can also be given as
    HOLDFAST_PIPELINE_<NAME> or under [pipeline] in holdfast.toml.

    \b
    Exit codes: 0 stopped, 1 failed, 2 usage, 3 another pipeline has taken over (do not start this
    one again), 4 start again.

    \b
    Examples:
      holdfast pipeline
      holdfast pipeline --kafka kafka-1:9092,kafka-2:9092 --spark-master spark://master:7077
    """
    from holdfast.client.settings import ClientSettings
    from holdfast.config import load
    from holdfast.pipeline.process import application as process
    from holdfast.pipeline.process.settings import PipelineSettings

    flags = {
        "spark_master": spark_master,
        "spark_memory": spark_memory,
        "spark_ui_port": spark_ui_port,
        "lake": lake,
        "data_dir": data_dir,
        "http": http,
        "gate": gate,
        "raw_zone": raw_zone,
        "accept_loss": accept_loss,
        "log_format": log_format and log_format.value,
    }
    settings = load(PipelineSettings, "pipeline", flags=flags, file=config)
    address = {"bootstrap": kafka, "client_id": "holdfast-pipeline"}
    client = load(ClientSettings, "client", flags=address, file=config)
    raise typer.Exit(process.run(settings, client))
