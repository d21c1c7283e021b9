"""`holdfast web`: the REST API and the dashboard."""

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
def web(
    listen: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT", help="Address to listen on.", show_default="127.0.0.1:8600"
        ),
    ] = None,
    kafka: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Brokers.", show_default="those of [client]"),
    ] = None,
    tls_cert: Annotated[
        str | None, typer.Option(metavar="FILE", help="Certificate chain (PEM): serve HTTPS.")
    ] = None,
    tls_key: Annotated[
        str | None, typer.Option(metavar="FILE", help="Its private key (PEM).")
    ] = None,
    hosts: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...", help="More names that browsers may call it by, as through a proxy."
        ),
    ] = None,
    wait: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", help="Wait this long for a broker to answer.", show_default="0"
        ),
    ] = None,
    log_format: Annotated[
        LogFormat | None, typer.Option(help="Form of the log.", show_default="text")
    ] = None,
    access_log: Annotated[
        bool | None, typer.Option(help="A line for each request.", show_default="access-log")
    ] = None,
    config: Config = None,
) -> None:
    """Run the REST API and the dashboard until SIGTERM or Ctrl-C.

    On loopback without tokens it runs open, and prints that. On other addresses it does not start
    until there is a token ('holdfast token create'). Several instances may run side by side.
    Any setting can also be given as HOLDFAST_WEB_<NAME> or under [web] in holdfast.toml.

    \b
    Exit codes: 0 stopped, 1 failed, 2 usage, 4 no broker answers.

    \b
    Examples:
      holdfast web
      holdfast web --kafka kafka-1:9092 --listen 0.0.0.0:8600 --tls-cert web.pem --tls-key web.key
    """
    from holdfast.client.settings import ClientSettings
    from holdfast.config import load
    from holdfast.web import server
    from holdfast.web.settings import WebSettings

    flags = {
        "listen": listen,
        "tls_cert": tls_cert,
        "tls_key": tls_key,
        "hosts": hosts,
        "wait": wait,
        "log_format": log_format and log_format.value,
        "access_log": access_log,
    }
    settings = load(WebSettings, "web", flags=flags, file=config)
    address = {"bootstrap": kafka, "client_id": "holdfast-web"}
    client = load(ClientSettings, "client", flags=address, file=config)
    raise typer.Exit(server.run(settings, client))
