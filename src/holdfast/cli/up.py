"""`holdfast up`: broker, pipeline, dashboard and demo traffic, all on this machine."""

from collections.abc import Sequence
from typing import Annotated

import typer

from holdfast.cli.program import Config, application, run_application

app = application()


@app.command()
def up(
    demo: Annotated[
        bool, typer.Option("--demo", help="Make flows with traffic, to look around.")
    ] = False,
    kafka: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Use this Kafka, not the embedded broker."),
    ] = None,
    spark_master: Annotated[
        str | None, typer.Option(metavar="URL", help="Where Spark runs.", show_default="local[*]")
    ] = None,
    data_dir: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="All data of all parts.", show_default="holdfast-data"),
    ] = None,
    lake: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Folder or URL of the lake.", show_default="DIR/lake"),
    ] = None,
    broker_port: Annotated[
        int | None,
        typer.Option(metavar="PORT", help="Of the broker.", show_default="9092 or a free one"),
    ] = None,
    metrics_port: Annotated[
        int | None,
        typer.Option(
            metavar="PORT", help="Of the pipeline's metrics.", show_default="9600 or a free one"
        ),
    ] = None,
    web_port: Annotated[
        int | None,
        typer.Option(
            metavar="PORT", help="Of API and dashboard.", show_default="8600 or a free one"
        ),
    ] = None,
    web: Annotated[
        bool | None, typer.Option(help="Run API and dashboard.", show_default="web")
    ] = None,
    config: Config = None,
) -> None:
    """Run everything on this machine until Ctrl-C.

    The broker, the pipeline and the dashboard run as children, which are watched, and started
    again if they fall. The dashboard listens on this machine alone; for others run it by itself,
    with --no-web here and 'holdfast web' beside.

    \b
    Examples:
      holdfast up --demo
      holdfast up --kafka kafka-1:9092 --spark-master spark://master:7077
    """
    from holdfast.config import load
    from holdfast.up import command
    from holdfast.up.settings import UpSettings

    flags = {
        "demo": demo or None,
        "kafka": kafka,
        "spark_master": spark_master,
        "data_dir": data_dir,
        "lake": lake,
        "broker_port": broker_port,
        "metrics_port": metrics_port,
        "web_port": web_port,
        "web": web,
    }
    raise typer.Exit(command.run(load(UpSettings, "up", flags=flags, file=config), config))


def run(name: str, arguments: Sequence[str]) -> int:
    return run_application(app, name, arguments)
