"""`holdfast up`: broker, pipeline, dashboard and demo traffic, all on this machine."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.options import Config
from holdfast.cli.program import application, fail

if TYPE_CHECKING:
    from holdfast.up.settings import UpSettings

app = application()


@app.command()
def up(
    demo: Annotated[
        bool, typer.Option("--demo", help="Create flows with traffic, to explore.")
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

    The broker, the pipeline and the dashboard run as child processes and are restarted if they
    fail. The dashboard listens only on this machine. For other machines, start it separately: use
    --no-web here and run 'holdfast web'. The first time it fetches the jars that Spark needs (see
    'holdfast jars').

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
    settings = load(UpSettings, "up", flags=flags, file=config)
    _prepare(settings, config)
    raise typer.Exit(command.run(settings, config))


def _prepare(settings: "UpSettings", config: Path | None) -> None:
    """Ends here, with what to do, if a part could not start; fetches the jars the first time."""
    from holdfast.cli.jars import fetch_shown
    from holdfast.errors import ConfigError
    from holdfast.extras import install_command, missing
    from holdfast.jars import SPARK, jars
    from holdfast.java import require_java

    wanted = {"broker": settings.kafka is None, "pipeline": True, "web": settings.web}
    absent = missing(part for part, runs in wanted.items() if runs)
    if absent:
        fail(f"not all parts are installed. Run `{install_command(absent)}`.")
    require_java()
    try:
        jars(SPARK)
    except ConfigError:
        fetch_shown(None, config)
